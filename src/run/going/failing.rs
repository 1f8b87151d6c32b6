//! What a failed attempt means, and what follows.

use crate::core::decide::{Decision, GiveUp};
use crate::core::estimate::Estimate;
use crate::core::gate::Pass;
use crate::core::moment::Moment;
use crate::core::observation::Observation;
use crate::core::signal::Signal;
use crate::gate::Permit;
use crate::run::going::Going;
use crate::run::seen::Seen;
use crate::run::spans::CallSpans;

impl<'a> Going<'a> {
    /// What an observation means to the pool's provider.
    #[inline]
    pub(in crate::run) fn read(&self, observation: &Observation<'_>) -> Signal {
        self.shared().read(observation)
    }

    /// Whether an observation is a failure; then it is noted. Takes it by value, so that one that need not be read need
    /// not be in memory.
    #[inline]
    pub(in crate::run) fn reads_failure(&mut self, observation: Observation<'_>, estimate: &Option<Estimate>) -> bool {
        let shows_headers = observation.headers.is_some();
        let failed = if observation.is_bare() {
            self.note_if_failed(self.shared().table.read_bare(&observation))
        } else {
            self.reads_all(&observation, estimate)
        };
        if failed && !shows_headers {
            self.headers_were_hidden();
        }
        failed
    }

    /// Tells that a throttle was shown without headers, if what they would have said is missed.
    #[cold]
    fn headers_were_hidden(&mut self) {
        let (shared, policy, nested) = (self.shared(), self.policy, self.nested);
        let signal = self.progress().core.failure();
        if signal.is_throttle() && signal.stated.is_none() && !nested {
            shared.tell_headers_hidden(policy);
        }
    }

    /// The same where there is more to read than a status.
    #[inline(never)]
    fn reads_all(&mut self, observation: &Observation<'_>, estimate: &Option<Estimate>) -> bool {
        let (signal, used) = self.shared().read_all(observation);
        if !used.is_empty() {
            let takes = self.progress.is_some() && self.permit.as_ref().is_some_and(Permit::is_let_in);
            self.shared().settle(*estimate, takes, used);
        }
        self.note_if_failed(signal)
    }

    /// Notes a failure that was read. Says whether it is one.
    #[inline]
    pub(in crate::run) fn note_if_failed(&mut self, signal: Signal) -> bool {
        if signal.failed {
            self.progress().core.note_failure(signal);
        }
        signal.failed
    }

    /// A guard that reports what the head of an answer said, should the call be dropped while the body is read.
    pub(in crate::run) fn seen(&mut self, signal: Signal) -> Seen<'_, 'a> {
        let (shared, sent_at) = (self.shared(), self.began());
        Seen { shared, permit: self.permit.as_mut(), signal, sent_at, spans: &self.spans }
    }

    /// Tells and reports the failure that was noted, gives the attempt's permit back, and decides what follows: a wait
    /// until a moment, from which [`Going::slept`] leads on. Where it cannot be repeated, it was the only attempt.
    ///
    /// # Errors
    /// The call ends.
    pub(in crate::run) fn attempt_failed(&mut self, can_repeat: bool) -> Result<Moment, GiveUp> {
        let (shared, policy) = (self.shared(), self.policy);
        let progress = self.progress();
        let began = progress.look_at(shared.clock());
        let now = progress.now;
        if shared.is_heard || CallSpans::LOG {
            self.tell_failure(now, began);
        }
        if shared.is_gated() {
            self.report(began, now);
        }
        self.permit = None;
        // Who only observes retries nothing. What a nested call would retry is the outer call's affair.
        let only_one = shared.engine.observe_only || self.nested || !can_repeat;
        let core = &self.progress().core;
        let mut dice = shared.dice();
        let decision = if only_one {
            core.end_only_attempt(policy, now, &mut dice)
        } else {
            core.end_failed(policy, shared.is_gated(), now, &mut dice, &mut || shared.withdraw(now))
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

    /// Reports the failure that was noted to the gate, if it is a throttle and the operation did not report as much before.
    #[inline(never)]
    fn report(&mut self, began: Moment, now: Moment) {
        let (shared, permit_number) = (self.shared(), self.permit_number());
        let signal = *self.progress().core.failure();
        if signal.timed_out
            && !signal.is_throttle()
            && let Some(permit) = &mut self.permit
        {
            permit.was_cut(began, now);
        }
        if !signal.is_throttle() || shared.reported.has(began, permit_number, &signal) {
            return;
        }
        let level = shared.level(signal.scope);
        if let Some(permit) = &mut self.permit {
            permit.throttled(level, &signal, began, now);
        } else if self.nested {
            shared.node.report(level, Pass { at: began, probe: false }, &signal, now);
        }
    }
}
