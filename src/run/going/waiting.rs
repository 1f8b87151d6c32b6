//! Sleeps and waits at the gate.

use crate::core::decide::{DelaySource, GiveUp, Wait};
use crate::core::moment::Moment;
use crate::core::signal::LimitClass;
use crate::event::{Event, GateResult};
use crate::gate::Turn;
use crate::run::going::{Going, Step};
use crate::run::spans::Queue;

impl Going<'_> {
    /// Waits for a permit at the call's place in the queue.
    ///
    /// # Errors
    /// The gate refuses the call, or its deadline came.
    pub(in crate::run) async fn wait_for_turn(&mut self) -> Result<(), GiveUp> {
        let (shared, policy) = (self.shared(), self.policy);
        let core = &self.course.before_first_attempt(shared.clock()).core;
        let turn = Turn::new(&shared.node, core.started(), core.deadline(policy), self.may_wait, core.attempts() == 0);
        let queue = || Queue { depth: shared.node.waiting(), stated: shared.shut_for() };
        self.step = Step::Queued;
        let turn = self.spans.at_gate(turn, queue).await;
        self.step = Step::Attempting;
        let under_way = self.course.before_first_attempt(shared.clock());
        let now = shared.clock().now();
        let waited = std::mem::replace(&mut under_way.now, now).until(now);
        let result = if turn.is_ok() { GateResult::Admitted } else { GateResult::Refused };
        let given = match turn {
            Ok(permit) => {
                under_way.core.waited(DelaySource::Gate, waited);
                self.permit = Some(permit);
                Ok(())
            }
            Err(refusal) => Err(under_way.core.refused(policy, now, refusal.class, refusal.retry_at)),
        };
        self.spans.gate_waited(result, waited);
        let class = given.map_or_else(|refused| refused.class, |()| LimitClass::None);
        shared.tell(now, || Event::GateWaited { waited, result, class });
        given
    }

    /// Begins the wait between two attempts.
    #[inline]
    pub(super) fn goes_to_sleep(&mut self, now: Moment, wait: &Wait) {
        let Wait { delay, source, stated, clamped, .. } = *wait;
        let shared = self.shared();
        shared.tell(now, || Event::DelayScheduled { source, delay, stated, clamped });
        self.spans.delay_begins(wait);
        shared.falls_asleep();
        self.step = Step::Sleeping;
        self.course.after_first_attempt(shared.clock()).source = source;
    }

    /// The wait between two attempts has ended.
    #[inline]
    pub(in crate::run) fn slept(&mut self) {
        let shared = self.shared();
        shared.wakes_up();
        self.step = Step::Attempting;
        self.spans.delay_ended();
        let under_way = self.course.after_first_attempt(shared.clock());
        // Read again although the wake moment is known: a runtime that is late must not send past the deadline.
        let now = shared.clock().now();
        let slept = std::mem::replace(&mut under_way.now, now).until(now);
        under_way.core.waited(under_way.source, slept);
    }
}
