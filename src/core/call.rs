//! The state machine of one logical call.
//!
//! The shell asks in this order, as long as the call goes on: the gate (outside), [`Call::begin_attempt`], the attempt
//! (outside), [`Call::end_attempt`], the wait (outside), [`Call::waited`].

use std::time::Duration;

use crate::core::decide::{CallOutcome, Decision, DelaySource, GiveUp, Standing, decide};
use crate::core::dice::Dice;
use crate::core::moment::Moment;
use crate::core::policy::Policy;
use crate::core::refusal::Refusal;
use crate::core::signal::{LimitClass, Signal};

/// Waits shorter than this are not worth a label.
pub(crate) const NOTABLE: Duration = Duration::from_millis(1);

/// One logical call: it ends once, after any number of attempts.
///
/// ```
/// use std::time::Duration;
/// use forbear::core::call::Call;
/// use forbear::core::decide::Decision;
/// use forbear::core::dice::SeededDice;
/// use forbear::core::moment::Moment;
/// use forbear::{Policy, Signal};
///
/// let policy = Policy::interactive(Duration::from_secs(15)).build()?;
/// let mut call = Call::start(Moment::START);
/// let plan = call.begin_attempt(&policy, Moment::START).expect("there is time");
/// assert_eq!((plan.number, plan.cut), (1, call.deadline(&policy)));
/// let failed = Signal::failure(true);
/// let next = call.end_attempt(&policy, &failed, false, Moment::START, &mut SeededDice::new(1), &mut || true);
/// assert!(matches!(next, Decision::Again(_)));
/// # Ok::<(), forbear::InvalidSetting>(())
/// ```
#[derive(Debug)]
pub struct Call {
    started: Moment,
    attempts: u32,
    /// What the last failed attempt showed; a success while none has failed.
    failure: Signal,
    longest_wait: Duration,
    longest_source: Option<DelaySource>,
    /// When it must end at the latest, whatever its policy allows.
    latest: Moment,
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
        let failure = Signal::success();
        let latest = Moment::NEVER;
        Self { started: now, attempts: 0, failure, longest_wait: Duration::ZERO, longest_source: None, latest }
    }

    /// Sets an end of its own: the earlier of it and the policy's deadline counts.
    pub const fn end_by(&mut self, latest: Moment) {
        self.latest = latest;
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
        self.started.after(policy.deadline).earlier(self.latest)
    }

    /// Attempts begun.
    #[inline]
    #[must_use]
    pub const fn attempts(&self) -> u32 {
        self.attempts
    }

    /// What the last failed attempt showed.
    #[must_use]
    pub fn last_signal(&self) -> Option<Signal> {
        Some(self.failure).filter(|signal| signal.failed)
    }

    /// What the last failed attempt showed; a success while none has failed.
    pub(crate) fn failure(&self) -> &Signal {
        &self.failure
    }

    /// Notes what a failed attempt showed.
    #[inline]
    pub fn note_failure(&mut self, signal: Signal) {
        self.failure = signal;
    }

    /// Notes a wait that took place, in the gate or between attempts; the longest names the next attempt's delay source.
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
    pub fn begin_attempt(&mut self, policy: &Policy, now: Moment) -> Result<AttemptPlan, GiveUp> {
        let deadline = self.deadline(policy);
        if now >= deadline {
            return Err(self.out_of_time());
        }
        let cut = policy.attempt_timeout.map_or(deadline, |timeout| deadline.min(now.after(timeout)));
        self.attempts += 1;
        self.longest_wait = Duration::ZERO;
        let delay_source = self.longest_source.take().unwrap_or(DelaySource::None);
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
        if !signal.failed {
            return Decision::Done;
        }
        self.note_failure(*signal);
        self.end_failed(policy, gated, now, dice, budget)
    }

    /// The same for the attempt whose failure was [noted](Self::note_failure) last.
    pub(crate) fn end_failed(
        &self,
        policy: &Policy,
        gated: bool,
        now: Moment,
        dice: &mut impl Dice,
        budget: &mut dyn FnMut() -> bool,
    ) -> Decision {
        decide(policy, Standing::new(self.attempts, self.deadline(policy), gated), &self.failure, now, dice, budget)
    }

    /// The same for a call that makes no other attempt, whatever its policy allows: never [`Decision::Again`].
    pub(crate) fn end_only_attempt(&self, policy: &Policy, now: Moment, dice: &mut impl Dice) -> Decision {
        let standing = Standing::new(self.attempts.max(policy.attempts), self.deadline(policy), false);
        decide(policy, standing, &self.failure, now, dice, &mut || false)
    }

    /// The end of a call that the gate did not let in by `now`. `class` is what the pool is shut for, `retry_at` when to
    /// come back. Where it waited until its deadline, it is that which ended it.
    #[must_use]
    pub fn refused(
        &self,
        policy: &Policy,
        now: Moment,
        refusal: Refusal,
        class: LimitClass,
        retry_at: Option<Moment>,
    ) -> GiveUp {
        let source = DelaySource::Gate;
        if refusal == Refusal::Deadline && now >= self.deadline(policy) {
            return GiveUp { outcome: CallOutcome::DeadlineExceeded, class, source, retry_at, refusal: None };
        }
        GiveUp { outcome: CallOutcome::GateRefused, class, source, retry_at, refusal: Some(refusal) }
    }

    /// The end of a call whose deadline came while it waited or slept.
    #[must_use]
    pub fn out_of_time(&self) -> GiveUp {
        let source = self.longest_source.unwrap_or(DelaySource::None);
        let class = self.failure.class;
        GiveUp { outcome: CallOutcome::DeadlineExceeded, class, source, ..GiveUp::not_retryable() }
    }

    /// Whether a call that ends now for want of time leaves a quarter or more of its deadline unused.
    #[must_use]
    pub fn ends_early(&self, policy: &Policy, now: Moment) -> bool {
        let deadline = self.deadline(policy);
        let unused = now.until(deadline);
        !unused.is_zero() && unused >= self.started.until(deadline) / 4
    }
}
