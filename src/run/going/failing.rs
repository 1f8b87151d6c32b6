//! What a failed attempt means, and what follows.

use crate::core::decide::{Decision, GiveUp};
use crate::core::moment::Moment;
use crate::core::observation::Observation;
use crate::core::signal::Signal;
use crate::run::going::Going;
use crate::run::going::course::UnderWay;
use crate::run::spans::CallSpans;

/// What follows a failed attempt: a wait until a moment, from which [`Going::slept`] leads on, or the call's end.
pub(in crate::run) type Next = Result<Moment, GiveUp>;

impl Going<'_> {
    /// What an observation means to the pool's provider.
    #[inline]
    pub(in crate::run) fn read(&self, observation: &Observation<'_>) -> Signal {
        self.shared().read(observation)
    }

    /// What follows if an observation is a failure; `None` if it is none. Takes it by value, so that one that need not be
    /// read need not be in memory.
    pub(in crate::run) fn if_failure(&mut self, observation: Observation<'_>) -> Option<Next> {
        let signal = self.read(&observation);
        signal.failed.then(|| self.failed(signal))
    }

    /// What follows an attempt that failed like this: tells and reports it, gives its permit back, and decides.
    pub(in crate::run) fn failed(&mut self, signal: Signal) -> Next {
        let (shared, policy) = (self.shared(), self.policy);
        let under_way = self.course.after_first_attempt(shared.clock());
        under_way.failure = signal;
        let began = under_way.now;
        let now = shared.clock().now();
        under_way.now = now;
        if shared.is_heard || CallSpans::LOG {
            self.tell_failure(&signal, began, now);
        }
        if shared.counted {
            self.give_failed_permit_back(&signal, began, now);
        }
        let core = &mut self.course.after_first_attempt(shared.clock()).core;
        let mut dice = shared.dice();
        let decision = if shared.engine.observe_only {
            core.end_only_attempt(policy, &signal, now, &mut dice)
        } else {
            core.end_attempt(policy, &signal, shared.gated, now, &mut dice, &mut || shared.withdraw(now))
        };
        match decision {
            Decision::Again(ref wait) => {
                self.goes_to_sleep(now, wait);
                Ok(wait.at)
            }
            Decision::GiveUp(give_up) => Err(give_up),
            // A failure is never done.
            Decision::Done => Err(GiveUp::not_retryable()),
        }
    }

    /// Gives the permit of an attempt back that failed, and reports with it what it was throttled for, unless the operation
    /// reported as much before.
    fn give_failed_permit_back(&mut self, signal: &Signal, began: Moment, now: Moment) {
        let shared = self.shared();
        let Some(mut permit) = self.permit.take() else { return };
        let UnderWay { core, .. } = self.course.after_first_attempt(shared.clock());
        if shared.gated && signal.is_throttle() && !shared.reported.has(began, core.attempts(), signal) {
            permit.throttled(shared.level(signal.scope), signal, began, now);
        }
    }
}
