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
/// It keeps of a failed attempt only the limit it hit: calls are many and live long, and what they keep lives in the
/// callers' futures. Whoever drives it keeps the signal where it is needed.
#[derive(Clone, Debug)]
pub struct Call {
    started: Moment,
    longest_wait: Duration,
    longest_source: Option<DelaySource>,
    /// What the last failed attempt hit.
    class: LimitClass,
    attempts: u32,
}

/// An attempt about to be made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct AttemptPlan {
    /// 1 for the first.
    pub number: u32,
    /// When it is cut: the attempt timeout or the deadline, whichever comes first.
    pub cut: Moment,
    /// The source of the longest single wait since the attempt before; `none` where every wait was under a millisecond.
    pub delay_source: DelaySource,
}

impl AttemptPlan {
    /// The plan of the first attempt of a call that did not wait.
    pub(crate) fn first(policy: &Policy, arrived: Moment) -> Self {
        // An attempt timeout is never longer than the deadline.
        let time = policy.attempt_timeout.unwrap_or(policy.deadline);
        Self { number: 1, cut: arrived.after(time), delay_source: DelaySource::None }
    }
}

impl Call {
    /// A call that arrives now.
    #[must_use]
    pub const fn start(now: Moment) -> Self {
        Self { started: now, longest_wait: Duration::ZERO, longest_source: None, class: LimitClass::None, attempts: 0 }
    }

    /// A call whose first attempt began when it arrived.
    pub(crate) const fn in_first_attempt(arrived: Moment) -> Self {
        Self { attempts: 1, ..Self::start(arrived) }
    }

    /// When it arrived: its place in the queue, kept over all its attempts.
    #[must_use]
    pub const fn started(&self) -> Moment {
        self.started
    }

    /// When it must end.
    #[inline]
    #[must_use]
    pub const fn deadline(&self, policy: &Policy) -> Moment {
        self.started.after(policy.deadline)
    }

    /// Attempts begun.
    #[inline]
    #[must_use]
    pub const fn attempts(&self) -> u32 {
        self.attempts
    }

    /// The limit the last failed attempt hit; [`LimitClass::None`] while none has failed.
    #[inline]
    #[must_use]
    pub const fn class(&self) -> LimitClass {
        self.class
    }

    /// Notes a wait that took place, in the gate or between attempts; the longest names the next attempt's delay source.
    #[inline]
    pub fn waited(&mut self, source: DelaySource, waited: Duration) {
        if waited < NOTABLE {
            return;
        }
        if waited > self.longest_wait {
            self.longest_wait = waited;
            self.longest_source = Some(source);
        }
    }

    /// Begins the next attempt.
    ///
    /// # Errors
    /// The deadline has come: no request is sent.
    #[inline]
    pub fn begin_attempt(&mut self, policy: &Policy, now: Moment) -> Result<AttemptPlan, GiveUp> {
        if now >= self.deadline(policy) {
            return Err(self.out_of_time());
        }
        self.attempts += 1;
        self.longest_wait = Duration::ZERO;
        let delay_source = self.longest_source.take().unwrap_or(DelaySource::None);
        Ok(self.plan(policy, now, delay_source))
    }

    /// The plan of the attempt under way, which began at `began` after a wait that came from `delay_source`.
    #[inline]
    pub(crate) fn plan(&self, policy: &Policy, began: Moment, delay_source: DelaySource) -> AttemptPlan {
        let deadline = self.deadline(policy);
        let cut = policy.attempt_timeout.map_or(deadline, |timeout| deadline.min(began.after(timeout)));
        AttemptPlan { number: self.attempts, cut, delay_source }
    }

    /// Decides what follows an attempt that ended at `now`; see [`decide`] for `budget`.
    #[inline]
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
            self.class = signal.class;
        }
        decide(policy, Standing::new(self.attempts, self.deadline(policy), gated), signal, now, dice, budget)
    }

    /// Decides how a call ends that may not make another attempt, whatever its policy allows: never
    /// [`Decision::Again`].
    pub(crate) fn end_only_attempt(
        &mut self,
        policy: &Policy,
        signal: &Signal,
        now: Moment,
        dice: &mut impl Dice,
    ) -> Decision {
        if signal.failed {
            self.class = signal.class;
        }
        let standing = Standing::new(self.attempts.max(policy.attempts), self.deadline(policy), false);
        decide(policy, standing, signal, now, dice, &mut || false)
    }

    /// The end of a call that the gate did not let in by `now`: turned away because of `class`, or the deadline came
    /// while it waited. `retry_at` is when to come back.
    #[must_use]
    pub fn refused(&self, policy: &Policy, now: Moment, class: LimitClass, retry_at: Option<Moment>) -> GiveUp {
        let in_time = now < self.deadline(policy);
        let outcome = if in_time { CallOutcome::GateRefused } else { CallOutcome::DeadlineExceeded };
        GiveUp { outcome, class, source: DelaySource::Gate, retry_at }
    }

    /// The end of a call whose deadline came while it waited or slept.
    #[must_use]
    pub fn out_of_time(&self) -> GiveUp {
        let source = self.longest_source.unwrap_or(DelaySource::None);
        GiveUp { outcome: CallOutcome::DeadlineExceeded, class: self.class, source, retry_at: None }
    }

    /// Whether a call that ends now for want of time leaves a quarter or more of its deadline unused.
    #[must_use]
    pub fn ends_early(&self, policy: &Policy, now: Moment) -> bool {
        now.until(self.deadline(policy)) >= policy.deadline / 4
    }
}
