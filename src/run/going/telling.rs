//! What attempts and the end of a call tell, as events and spans.

use std::sync::atomic::Ordering::Relaxed;

use crate::core::decide::{AttemptOutcome, CallOutcome, DelaySource, GiveUp};
use crate::core::estimate::Estimate;
use crate::core::moment::Moment;
use crate::core::signal::{LimitClass, Signal};
use crate::error::Error;
use crate::event::{Event, GateResult};
use crate::run::fallback::Held;
use crate::run::going::{Going, Step};
use crate::run::progress::Progress;
use crate::run::spans::CallSpans;

impl Going<'_> {
    /// Tells that the call arrived. A nested one does not: the call around it is the one that counts.
    #[cold]
    pub(super) fn tell_arrival(&self, estimate: &Option<Estimate>) {
        if !self.nested {
            let core = self.progress.as_ref().map(|progress| &progress.core);
            let deadline = core.map_or(self.policy.deadline, |core| core.started().until(core.deadline(self.policy)));
            self.shared().tell_arrival(self.arrived, self.policy, deadline, *estimate);
        }
    }

    /// Ends a call well that somebody watches.
    #[cold]
    pub(super) fn succeeded_watched(&mut self, status: Option<u16>) {
        if self.progress.is_none() && !self.nested && !self.spans.are_open() {
            return self.succeeded_at_once(status);
        }
        let now = self.attempt_succeeded(status);
        self.spans.done(self.attempts());
        self.tell_end(now, CallOutcome::Ok, LimitClass::None, DelaySource::None);
    }

    /// Ends a call well at its first attempt, told to a sink alone: what most calls of most services are. Call and attempt
    /// took the same time, and most of what events can say is known beforehand.
    fn succeeded_at_once(&mut self, status: Option<u16>) {
        let (shared, policy) = (self.shared(), self.policy.name());
        let (now, began) = (shared.clock().now(), shared.clock().moment(self.arrived));
        let duration = began.until(now);
        let (class, delay_source) = (LimitClass::None, DelaySource::None);
        let outcome = AttemptOutcome::Ok;
        let number = 1;
        let attempt = Event::AttemptEnded { number, delay_source, outcome, class, token_kind: None, status, duration };
        shared.node.tell(now, &attempt);
        self.give_permit_back();
        let (outcome, early, attempts) = (CallOutcome::Ok, false, 1);
        let call = Event::CallEnded { policy, outcome, class, delay_source, early, attempts, duration };
        shared.node.tell(now, &call);
    }

    /// Tells that the attempt under way, which began at `began`, failed.
    #[inline(never)]
    pub(super) fn tell_failure(&mut self, now: Moment, began: Moment) {
        let signal = *self.progress().core.failure();
        self.tell_attempt(now, began, (&signal).into(), Some(&signal));
        if let Some(part) = signal.unreadable.filter(|_| !self.nested) {
            self.shared().tell(now, || Event::SignalUnreadable { part });
        }
    }

    /// Tells that the attempt succeeded, and gives its permit back; gives back when that was.
    fn attempt_succeeded(&mut self, status: Option<u16>) -> Moment {
        let (now, began) = (self.clock().now(), self.began());
        let signal = Signal { status, ..Signal::success() };
        self.tell_attempt(now, began, AttemptOutcome::Ok, Some(&signal));
        self.give_permit_back();
        now
    }

    /// Ends a call whose attempt was observed as a success, but holds no value.
    #[cold]
    pub(in crate::run) fn succeeded_in_vain<R>(&mut self, status: Option<u16>, last: R) -> Error<R> {
        let now = self.attempt_succeeded(status);
        self.progress().now = now;
        self.give_up(GiveUp::not_retryable(), Some(last))
    }

    /// Ends the call for this reason; `last` is what its last attempt returned.
    #[cold]
    pub(in crate::run) fn give_up<R>(&mut self, give_up: GiveUp, last: Option<R>) -> Error<R> {
        let (whose, labels) = (self.whose(), self.pool.labels().clone());
        if !self.goes_on(&give_up) {
            self.spans.gave_up(whose, &give_up, self.attempts());
            self.tell_end(self.began(), give_up.outcome, give_up.class, give_up.source);
        }
        let Progress { core, now, .. } = self.progress();
        Error::new(labels, give_up, core, *now, last)
    }

    /// Whether the call goes on at another pool; then its end is told when it is known how it ends there.
    fn goes_on(&mut self, give_up: &GiveUp) -> bool {
        let (now, arrived, attempts) = (self.began(), self.clock().moment(self.arrived), self.attempts());
        let Some(progress) = &self.progress else { return false };
        let deadline = progress.core.deadline(self.policy);
        let Some(end) = progress.end.as_ref().filter(|_| Held::may_go_on(give_up, now, deadline)) else { return false };
        let early = self.is_early(give_up.outcome, now);
        end.put(Held {
            pool: self.pool.clone(),
            policy: self.policy.clone(),
            spans: std::mem::replace(&mut self.spans, CallSpans::none()),
            give_up: *give_up,
            early,
            attempts,
            arrived,
            tells: !self.nested,
        });
        self.step = Step::Ended;
        true
    }

    /// Whether a call that ends so gives up with much of its deadline unused.
    fn is_early(&self, outcome: CallOutcome, now: Moment) -> bool {
        let core = self.progress.as_ref().map(|progress| &progress.core);
        outcome == CallOutcome::DeadlineExceeded && core.is_some_and(|core| core.ends_early(self.policy, now))
    }

    /// Attempts begun.
    fn attempts(&self) -> u32 {
        let at_once = || u32::from(self.step != Step::Queued);
        self.progress.as_ref().map_or_else(at_once, |progress| progress.core.attempts())
    }

    /// Tells how the attempt under way ended: closes its span, and hands one event to the sink. A nested call tells the span only: the
    /// attempt around it is the one that counts.
    fn tell_attempt(&mut self, now: Moment, began: Moment, outcome: AttemptOutcome, signal: Option<&Signal>) {
        if let Some(signal) = signal {
            let whose = self.whose();
            self.spans.requests_sent(self.requests.load(Relaxed));
            self.spans.attempt_ended(whose, outcome, signal);
        }
        if self.nested {
            return;
        }
        let plan = self.plan();
        self.shared().tell(now, || Event::AttemptEnded {
            number: plan.number,
            delay_source: plan.delay_source,
            outcome,
            class: signal.map_or(LimitClass::None, |signal| signal.class),
            token_kind: signal.and_then(|signal| signal.token_kind),
            status: signal.and_then(|signal| signal.status),
            duration: began.until(now),
        });
    }

    /// Tells how the call ended, once: whatever happens after it is not told any more.
    fn tell_end(&mut self, now: Moment, outcome: CallOutcome, class: LimitClass, delay_source: DelaySource) {
        let attempts = self.attempts();
        self.step = Step::Ended;
        if self.nested {
            return;
        }
        let started = || self.clock().moment(self.arrived);
        self.shared().tell(now, || Event::CallEnded {
            policy: self.policy.name(),
            outcome,
            class,
            delay_source,
            early: self.is_early(outcome, now),
            attempts,
            duration: started().until(now),
        });
    }

    /// Tells that the call was dropped before its end.
    #[cold]
    pub(super) fn tell_cancelled(&mut self) {
        let (now, began) = (self.clock().now(), self.began());
        if self.step == Step::Sleeping {
            self.shared().wakes_up();
        }
        if self.step == Step::Queued {
            let (waited, result, class) = (began.until(now), GateResult::Cancelled, LimitClass::None);
            self.shared().tell(now, || Event::GateWaited { waited, result, class });
        }
        if self.permit.is_some() {
            self.tell_attempt(now, began, AttemptOutcome::Cancelled, None);
        }
        let class = self.progress.as_ref().map_or(LimitClass::None, |progress| progress.core.failure().class);
        self.tell_end(now, CallOutcome::Cancelled, class, DelaySource::None);
    }
}
