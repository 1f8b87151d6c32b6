//! What attempts and the end of a call tell, as events and spans.

use crate::core::decide::{AttemptOutcome, CallOutcome, DelaySource, GiveUp};
use crate::core::moment::Moment;
use crate::core::signal::{LimitClass, Signal};
use crate::error::Error;
use crate::event::{Event, GateResult};
use crate::run::going::{Going, Step};

impl Going<'_> {
    /// Ends a call well that somebody watches.
    #[cold]
    pub(super) fn succeeded_watched(&mut self, status: Option<u16>) {
        let now = self.attempt_succeeded(status);
        self.spans.done(self.course.attempts());
        self.tell_end(now, CallOutcome::Ok, LimitClass::None, DelaySource::None);
    }

    /// Ends a call whose attempt was observed as a success, but holds no value.
    #[cold]
    pub(in crate::run) fn succeeded_in_vain<R>(&mut self, status: Option<u16>, last: R) -> Error<R> {
        let now = self.attempt_succeeded(status);
        self.course.after_first_attempt(self.clock()).now = now;
        self.give_up(GiveUp::not_retryable(), Some(last))
    }

    /// Ends the call for this reason; `last` is what its last attempt returned.
    #[cold]
    pub(in crate::run) fn give_up<R>(&mut self, give_up: GiveUp, last: Option<R>) -> Error<R> {
        let (whose, labels) = (self.whose(), self.pool.labels().clone());
        self.spans.gave_up(whose, &give_up, self.course.attempts());
        self.tell_end(self.began(), give_up.outcome, give_up.class, give_up.source);
        let under_way = self.course.after_first_attempt(self.clock());
        Error::new(labels, give_up, &under_way.core, under_way.now, under_way.last_signal(), last)
    }

    /// Tells that the attempt under way, which began at `began`, failed.
    pub(super) fn tell_failure(&mut self, signal: &Signal, began: Moment, now: Moment) {
        self.tell_attempt(now, began, signal.into(), Some(signal));
        if let Some(part) = signal.unreadable {
            self.shared().tell(now, || Event::SignalUnreadable { part });
        }
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
        let class = self.course.core().map_or(LimitClass::None, |core| core.class());
        self.tell_end(now, CallOutcome::Cancelled, class, DelaySource::None);
    }

    /// Tells that the attempt succeeded, and gives its permit back; gives back when that was.
    fn attempt_succeeded(&mut self, status: Option<u16>) -> Moment {
        let (now, began) = (self.clock().now(), self.began());
        let signal = Signal { status, ..Signal::success() };
        self.tell_attempt(now, began, AttemptOutcome::Ok, Some(&signal));
        self.give_permit_back();
        now
    }

    fn tell_attempt(&mut self, now: Moment, began: Moment, outcome: AttemptOutcome, signal: Option<&Signal>) {
        if let Some(signal) = signal {
            let whose = self.whose();
            self.spans.attempt_ended(whose, outcome, signal);
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

    fn tell_end(&mut self, now: Moment, outcome: CallOutcome, class: LimitClass, delay_source: DelaySource) {
        self.step = Step::Ended;
        let clock = self.clock();
        let core = self.course.core();
        self.shared().tell(now, || Event::CallEnded {
            policy: self.policy.name(),
            outcome,
            class,
            delay_source,
            early: outcome == CallOutcome::DeadlineExceeded
                && core.is_some_and(|core| core.ends_early(self.policy, now)),
            attempts: self.course.attempts(),
            duration: self.course.arrived(clock).until(now),
        });
    }
}
