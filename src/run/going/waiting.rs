//! Sleeps and waits at the gate.

use crate::core::decide::{DelaySource, GiveUp, Wait};
use crate::core::estimate::Estimate;
use crate::core::moment::Moment;
use crate::core::signal::LimitClass;
use crate::event::{Event, GateResult};
use crate::gate::{Nap, Permit, Refused, Turn};
use crate::run::going::{Going, Step};
use crate::run::progress::Progress;
use crate::run::spans::Queue;

impl<'a> Going<'a> {
    /// Waits for a permit at the call's place in the queue.
    ///
    /// # Errors
    /// The gate refuses the call, or its deadline came.
    pub(in crate::run) async fn wait_for_turn(
        &mut self,
        estimate: &Option<Estimate>,
        may_wait: bool,
    ) -> Result<(), GiveUp> {
        let shared = self.shared();
        let turn = self.turn(estimate, may_wait);
        let queue = || Queue { depth: shared.node.waiting(), stated: shared.shut_for() };
        self.step = Step::Queued;
        let turn = self.spans.at_gate(turn, queue).await;
        self.took_turn(turn)
    }

    fn turn(&self, estimate: &Option<Estimate>, may_wait: bool) -> Turn<'a> {
        // Before the first attempt nothing is kept of a call that waits but what it came with.
        let (arrived, deadline) = match &self.progress {
            None => (self.began(), self.began().after(self.policy.deadline)),
            Some(progress) => (progress.core.started(), progress.core.deadline(self.policy)),
        };
        Turn::new(&self.shared().node, arrived, deadline, may_wait, self.is_first()).estimated(*estimate)
    }

    /// Takes what the turn brought: a permit, with the wait that may name the next attempt's delay source, or a refusal.
    fn took_turn(&mut self, turn: Result<Permit<'a>, Refused>) -> Result<(), GiveUp> {
        let (shared, policy, arrived) = (self.shared(), self.policy, self.began());
        self.step = Step::Attempting;
        let progress = self.progress.get_or_insert_with(|| Box::new(Progress::at_gate(policy, arrived)));
        let waited = progress.look_at(shared.clock()).until(progress.now);
        let now = progress.now;
        let result = turn.as_ref().map_or_else(|refused| refused.why.into(), |_| GateResult::Admitted);
        let given = match turn {
            Ok(permit) => {
                progress.core.waited(DelaySource::Gate, waited);
                self.permit = Some(permit);
                Ok(())
            }
            Err(Refused { why, class, retry_at }) => Err(progress.core.refused(policy, now, why, class, retry_at)),
        };
        self.spans.gate_waited(result, waited);
        let class = given.map_or_else(|refused| refused.class, |()| LimitClass::None);
        shared.tell(now, || Event::GateWaited { waited, result, class });
        given
    }

    /// Sleeps until the next attempt, or until it is known that there will be none.
    pub(in crate::run) fn nap(&self, until: Moment) -> Nap<'a> {
        let shared = self.shared();
        let sleep = shared.clock().sleep_until(until);
        if shared.counted { Nap::cut_by(&shared.node, sleep) } else { Nap::uncut(sleep) }
    }

    /// Begins the wait between two attempts.
    pub(super) fn goes_to_sleep(&mut self, now: Moment, wait: &Wait) {
        let Wait { delay, source, stated, clamped, .. } = *wait;
        let shared = self.shared();
        shared.tell(now, || Event::DelayScheduled { source, delay, stated, clamped });
        self.spans.delay_begins(wait);
        shared.falls_asleep();
        self.step = Step::Sleeping;
        self.progress().sleep_source = source;
    }

    /// A wait between two attempts has ended.
    pub(in crate::run) fn slept(&mut self) {
        let shared = self.shared();
        shared.wakes_up();
        self.step = Step::Attempting;
        let progress = self.progress();
        let slept = progress.look_at(shared.clock()).until(progress.now);
        progress.core.waited(progress.sleep_source, slept);
        self.spans.delay_ended(slept);
    }
}
