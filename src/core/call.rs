//! The state machine of one logical call.
//!
//! The shell asks in this order, as long as the call goes on: the gate (outside), [`Call::begin_attempt`], the attempt
//! (outside), [`Call::end_attempt`], the wait (outside), [`Call::waited`].

use std::time::Duration;

use crate::core::decide::{CallOutcome, Decision, DelaySource, GiveUp, Standing, decide};
use crate::core::dice::Dice;
use crate::core::moment::Moment;
use crate::core::policy::Policy;
use crate::core::signal::{LimitClass, Signal};

/// Waits shorter than this are not worth a label.
const NOTABLE: Duration = Duration::from_millis(1);

/// One logical call: it ends once, after any number of attempts.
///
/// Small on purpose: it lives in the caller's future. What only a failed attempt needs is boxed when one fails.
#[derive(Debug)]
pub struct Call {
    started: Moment,
    attempts: u32,
    past: Option<Box<Past>>,
}

#[derive(Debug, Default)]
struct Past {
    signal: Option<Signal>,
    longest_wait: Duration,
    longest_source: Option<DelaySource>,
}

/// An attempt about to be made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct AttemptPlan {
    /// 1 for the first.
    pub number: u32,
    /// When it is cut: the attempt timeout or the deadline, whichever comes first.
    pub cut: Moment,
    /// The source of the longest single wait since the attempt before.
    pub delay_source: DelaySource,
}

impl Call {
    /// A call that arrives now.
    #[must_use]
    pub const fn start(now: Moment) -> Self {
        Self { started: now, attempts: 0, past: None }
    }

    /// When it arrived: its place in the queue, kept over all its attempts.
    #[must_use]
    pub const fn started(&self) -> Moment {
        self.started
    }

    /// When it must end.
    #[must_use]
    pub const fn deadline(&self, policy: &Policy) -> Moment {
        self.started.after(policy.deadline)
    }

    /// Attempts begun.
    #[must_use]
    pub const fn attempts(&self) -> u32 {
        self.attempts
    }

    /// What the last failed attempt showed.
    #[must_use]
    pub fn last_signal(&self) -> Option<Signal> {
        self.past.as_ref().and_then(|past| past.signal)
    }

    /// Notes a wait that took place, in the gate or between attempts; the longest names the next attempt's delay source.
    pub fn waited(&mut self, source: DelaySource, waited: Duration) {
        if waited < NOTABLE {
            return;
        }
        let past = self.past.get_or_insert_default();
        if waited > past.longest_wait {
            past.longest_wait = waited;
            past.longest_source = Some(source);
        }
    }

    /// Begins the next attempt.
    ///
    /// # Errors
    /// The deadline has come: no request is sent.
    pub fn begin_attempt(&mut self, policy: &Policy, now: Moment) -> Result<AttemptPlan, GiveUp> {
        let deadline = self.deadline(policy);
        if now >= deadline {
            return Err(self.out_of_time());
        }
        let cut = policy.attempt_timeout.map_or(deadline, |timeout| deadline.min(now.after(timeout)));
        self.attempts += 1;
        let delay_source = self.past.as_mut().map_or(DelaySource::None, |past| {
            past.longest_wait = Duration::ZERO;
            past.longest_source.take().unwrap_or(DelaySource::None)
        });
        Ok(AttemptPlan { number: self.attempts, cut, delay_source })
    }

    /// Decides what follows an attempt that ended at `now`; see [`decide`] for `budget`.
    pub fn end_attempt(
        &mut self,
        policy: &Policy,
        signal: &Signal,
        gated: bool,
        now: Moment,
        dice: &mut impl Dice,
        budget: &mut dyn FnMut() -> bool,
    ) -> Decision {
        if signal.failed {
            self.past.get_or_insert_default().signal = Some(*signal);
        }
        decide(policy, Standing::new(self.attempts, self.deadline(policy), gated), signal, now, dice, budget)
    }

    /// The end of a call that the gate turned away because of `class`; `retry_at` is when to come back.
    #[must_use]
    pub fn refused(&self, class: LimitClass, retry_at: Option<Moment>) -> GiveUp {
        GiveUp { outcome: CallOutcome::GateRefused, class, source: DelaySource::Gate, retry_at }
    }

    /// The end of a call whose deadline came while it waited or slept.
    #[must_use]
    pub fn out_of_time(&self) -> GiveUp {
        let source = self.past.as_ref().and_then(|past| past.longest_source).unwrap_or(DelaySource::None);
        let class = self.last_signal().map_or(LimitClass::None, |signal| signal.class);
        GiveUp { outcome: CallOutcome::DeadlineExceeded, class, source, retry_at: None }
    }

    /// Whether a call that ends now for want of time leaves a quarter or more of its deadline unused.
    #[must_use]
    pub fn ends_early(&self, policy: &Policy, now: Moment) -> bool {
        now.until(self.deadline(policy)) >= policy.deadline / 4
    }
}
