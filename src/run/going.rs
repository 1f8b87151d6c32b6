//! A call under way, with what its end must tell even if nobody is left to hear it.

use std::future::Future;
use std::time::Duration;

use crate::core::call::{AttemptPlan, Call as Core};
use crate::core::decide::{AttemptOutcome, CallOutcome, DelaySource, GiveUp, Wait};
use crate::core::estimate::Estimate;
use crate::core::moment::Moment;
use crate::core::policy::Policy;
use crate::core::signal::{LimitClass, Signal};
use crate::error::Error;
use crate::event::{Event, GateResult};
use crate::gate::{Permit, Refusal, Turn};
use crate::run::pool::Shared;
use crate::run::spans::{CallSpans, Queue};

/// A call under way. Dropped before its end it tells that it was cancelled.
pub(super) struct Going<'a> {
    pub(super) shared: &'a Shared,
    pub(super) policy: &'a Policy,
    pub(super) core: Core,
    pub(super) spans: CallSpans,
    flight: Option<Flight>,
    ended: bool,
}

/// An attempt under way; noted only where somebody listens.
#[derive(Clone, Copy)]
struct Flight {
    delay_source: DelaySource,
    began: Moment,
}

impl<'a> Going<'a> {
    pub(super) fn start(shared: &'a Shared, policy: &'a Policy, estimate: Option<Estimate>) -> Self {
        let now = shared.clock().now();
        if shared.node.is_heard() {
            shared.remember(policy);
            shared.node.tell(now, &Event::CallStarted { policy: policy.name(), deadline: policy.deadline, estimate });
        }
        let spans = CallSpans::start(shared.node.labels(), policy.name());
        Self { shared, policy, core: Core::start(now), spans, flight: None, ended: false }
    }

    pub(super) fn deadline(&self) -> Moment {
        self.core.deadline(self.policy)
    }

    /// A permit without waiting, if the pool flows. `now` is the time if it is known: while nothing was waited for, the
    /// call's own arrival is as good as another look at the clock.
    pub(super) fn permit_at_once(&self, now: Moment) -> Option<Permit<'a>> {
        let first = self.core.attempts() == 0;
        let node = &*self.shared.node;
        if self.shared.gated {
            Permit::flowing(node, now, first)
        } else if self.shared.counted {
            Some(Permit::ungated(node, now, first))
        } else {
            Some(Permit::uncounted(node, now))
        }
    }

    /// The wait for a permit.
    pub(super) fn turn(&mut self, may_wait: bool) -> impl Future<Output = <Turn<'a> as Future>::Output> {
        let (shared, first) = (self.shared, self.core.attempts() == 0);
        let turn = Turn::new(&shared.node, self.core.started(), self.deadline(), may_wait, first);
        self.spans.at_gate(turn, || Queue { depth: shared.node.waiting(), stated: shared.shut_for() })
    }

    /// Notes the end of a wait at the gate.
    pub(super) fn admitted(&mut self, asked: Moment, now: Moment) {
        let waited = asked.until(now);
        self.core.waited(DelaySource::Gate, waited);
        self.spans.gate_waited(GateResult::Admitted, waited);
        self.shared.tell(now, || Event::GateWaited { waited, result: GateResult::Admitted, class: LimitClass::None });
    }

    /// Notes a refusal by the gate.
    pub(super) fn refused(&mut self, refusal: Refusal, asked: Moment, now: Moment) -> GiveUp {
        let (class, waited) = (refusal.class, asked.until(now));
        self.spans.gate_waited(GateResult::Refused, waited);
        self.shared.tell(now, || Event::GateWaited { waited, result: GateResult::Refused, class });
        self.core.refused(class, refusal.retry_at)
    }

    /// Begins the next attempt.
    pub(super) fn begin(&mut self, now: Moment) -> Result<AttemptPlan, GiveUp> {
        let plan = self.core.begin_attempt(self.policy, now)?;
        if self.shared.node.is_heard() {
            self.flight = Some(Flight { delay_source: plan.delay_source, began: now });
        }
        self.spans.attempt_begins(&plan);
        Ok(plan)
    }

    /// Tells how the attempt under way ended.
    pub(super) fn attempt_ended(&mut self, signal: &Signal, now: Moment) {
        self.spans.attempt_ended(signal.into(), signal);
        self.tell_attempt(signal.into(), Some(signal), now);
        if let Some(part) = signal.unreadable {
            self.shared.tell(now, || Event::SignalUnreadable { part });
        }
    }

    fn tell_attempt(&mut self, outcome: AttemptOutcome, signal: Option<&Signal>, now: Moment) {
        let Some(Flight { delay_source, began }) = self.flight.take() else { return };
        self.shared.tell(now, || Event::AttemptEnded {
            number: self.core.attempts(),
            delay_source,
            outcome,
            class: signal.map_or(LimitClass::None, |signal| signal.class),
            token_kind: signal.and_then(|signal| signal.token_kind),
            status: signal.and_then(|signal| signal.status),
            duration: began.until(now),
        });
    }

    /// Tells of a wait before the next attempt.
    pub(super) fn delay_begins(&mut self, wait: &Wait, now: Moment) {
        self.spans.delay_begins(wait);
        let Wait { source, delay, stated, clamped, .. } = *wait;
        self.shared.tell(now, || Event::DelayScheduled { source, delay, stated, clamped });
    }

    /// Ends the call well.
    pub(super) fn done(mut self, now: impl FnOnce() -> Moment) {
        self.ended = true;
        self.spans.done(self.core.attempts());
        if self.shared.node.is_heard() {
            self.tell_end(CallOutcome::Ok, LimitClass::None, DelaySource::None, now());
        }
    }

    /// Ends the call for this reason.
    pub(super) fn give_up<R>(mut self, give_up: GiveUp, now: Moment, last: Option<R>) -> Error<R> {
        self.ended = true;
        self.spans.gave_up(&give_up, self.core.attempts());
        self.tell_end(give_up.outcome, give_up.class, give_up.source, now);
        Error::new(
            self.shared.node.labels().clone(),
            give_up,
            (self.core.attempts(), self.core.started(), now),
            self.core.last_signal(),
            last,
        )
    }

    fn tell_end(&self, outcome: CallOutcome, class: LimitClass, delay_source: DelaySource, now: Moment) {
        self.shared.tell(now, || Event::CallEnded {
            policy: self.policy.name(),
            outcome,
            class,
            delay_source,
            early: outcome == CallOutcome::DeadlineExceeded && self.core.ends_early(self.policy, now),
            attempts: self.core.attempts(),
            duration: self.elapsed(now),
        });
    }

    fn elapsed(&self, now: Moment) -> Duration {
        self.core.started().until(now)
    }
}

impl Drop for Going<'_> {
    fn drop(&mut self) {
        if self.ended || !self.shared.node.is_heard() {
            return;
        }
        let now = self.shared.clock().now();
        self.tell_attempt(AttemptOutcome::Cancelled, None, now);
        let class = self.core.last_signal().map_or(LimitClass::None, |signal| signal.class);
        self.tell_end(CallOutcome::Cancelled, class, DelaySource::None, now);
    }
}
