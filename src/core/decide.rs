//! What a call does about what the provider said.

use std::time::Duration;

use crate::core::backoff;
use crate::core::dice::Dice;
use crate::core::moment::Moment;
use crate::core::policy::{HeaderJitter, OnAmbiguous, OnOverCap, Policy};
use crate::core::refusal::Refusal;
use crate::core::signal::{LimitClass, Part, Signal, words};

words! {
    /// Where a wait came from.
    DelaySource {
        /// There was none, or under a millisecond.
        None => "none",
        /// A header stated it.
        Header => "header",
        /// The body stated it.
        Body => "body",
        /// Our own curve.
        Curve => "curve",
        /// The pool's gate.
        Gate => "gate",
    }
}

impl From<Part> for DelaySource {
    fn from(part: Part) -> Self {
        match part {
            Part::Header => Self::Header,
            Part::Body => Self::Body,
        }
    }
}

words! {
    /// How one attempt ended.
    AttemptOutcome {
        /// It succeeded.
        Ok => "ok",
        /// A limit was hit.
        Throttled => "throttled",
        /// It failed in a way that waiting may cure.
        Transient => "transient",
        /// It ended by time.
        Timeout => "timeout",
        /// It failed in a way that waiting does not cure.
        NotRetryable => "not_retryable",
        /// The caller went away.
        Cancelled => "cancelled",
    }
}

impl From<&Signal> for AttemptOutcome {
    fn from(signal: &Signal) -> Self {
        match signal {
            Signal { failed: false, .. } => Self::Ok,
            Signal { timed_out: true, .. } => Self::Timeout,
            signal if signal.is_throttle() => Self::Throttled,
            Signal { retryable: true, .. } => Self::Transient,
            _ => Self::NotRetryable,
        }
    }
}

words! {
    /// How a call ended.
    CallOutcome {
        /// It succeeded.
        Ok => "ok",
        /// Another pool answered in this one's place.
        OkByFallback => "ok_by_fallback",
        /// The deadline came, or the next wait would have passed it.
        DeadlineExceeded => "deadline_exceeded",
        /// Every attempt was used.
        AttemptsExhausted => "attempts_exhausted",
        /// The pool's retry budget was empty.
        RetryBudget => "retry_budget",
        /// The provider stated a wait above the policy's header cap.
        StatedDelayTooLong => "stated_delay_too_long",
        /// The day's quota is used up.
        DailyLimit => "daily_limit",
        /// Credit, balance or budget is used up.
        SpendLimit => "spend_limit",
        /// Waiting does not help.
        NotRetryable => "not_retryable",
        /// The gate said no.
        GateRefused => "gate_refused",
        /// The caller went away.
        Cancelled => "cancelled",
    }
}

/// What a call does next.
///
/// Carried out by the shell: [`Decision::Again`] sleeps until its moment and then asks the gate again, since a wait is no leave
/// to send.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[must_use = "the decision is to be carried out"]
#[non_exhaustive]
pub enum Decision {
    /// The attempt succeeded.
    Done,
    /// Wait, go back to the gate, try again.
    Again(Wait),
    /// Stop, for this reason.
    GiveUp(GiveUp),
}

/// A wait between two attempts.
///
/// `at` is `now` plus `delay`, and always before the deadline; the delay is never zero.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Wait {
    /// When it ends.
    pub at: Moment,
    /// How long it is.
    pub delay: Duration,
    /// Where it came from.
    pub source: DelaySource,
    /// What the provider stated, if it did.
    pub stated: Option<Duration>,
    /// Whether the stated delay was cut to the policy's header cap.
    pub clamped: bool,
}

/// Why a call stops.
///
/// The reason is one word for the label, and the class says what stood in the way: a call refused by the gate for a spent day is
/// `gate_refused` with the class `daily`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct GiveUp {
    /// The reason.
    pub outcome: CallOutcome,
    /// What stood in the way last.
    pub class: LimitClass,
    /// The source of the wait that did not fit, if that was the reason.
    pub source: DelaySource,
    /// The earliest moment at which another call makes sense, if known.
    pub retry_at: Option<Moment>,
    /// Why the gate said no, if it did.
    pub refusal: Option<Refusal>,
}

impl GiveUp {
    /// Waiting does not help, and no limit stood in the way.
    #[must_use]
    pub const fn not_retryable() -> Self {
        let (outcome, class, source) = (CallOutcome::NotRetryable, LimitClass::None, DelaySource::None);
        Self { outcome, class, source, retry_at: None, refusal: None }
    }
}

/// What [`decide`] must know of the call so far.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct Standing {
    /// Attempts made, the one just ended included.
    pub attempts: u32,
    /// When the call must end.
    pub deadline: Moment,
    /// Whether a gate paces the pool: then its pacing is the jitter on stated delays.
    pub gated: bool,
}

impl Standing {
    /// The standing after `attempts` attempts.
    #[must_use]
    pub const fn new(attempts: u32, deadline: Moment, gated: bool) -> Self {
        Self { attempts, deadline, gated }
    }
}

/// Decides what follows an attempt that showed `signal` and ended at `now`.
///
/// `budget` is asked once, last, and only for a transient failure that is otherwise retried; `true` grants the retry.
///
/// The order is: success; never retryable; daily and spend (at once, without another request); ambiguous; attempts; the
/// header cap; the deadline, compared before anybody sleeps; the budget. A wait is never zero, never ends before the
/// stated delay (unless clamped by explicit choice) and never reaches the deadline. Jitter on a stated delay only adds.
///
/// ```
/// use std::time::Duration;
/// use forbear::core::decide::{Decision, Standing, decide};
/// use forbear::core::dice::SeededDice;
/// use forbear::core::moment::Moment;
/// use forbear::core::signal::{Part, Signal, StatedDelay};
/// use forbear::{LimitClass, Policy};
///
/// let policy = Policy::interactive(Duration::from_secs(15)).build()?;
/// let stated = StatedDelay::new(Duration::from_secs(2), Part::Header, "retry-after");
/// let signal = Signal::throttle(LimitClass::RequestRate).stating(stated);
/// let deadline = Moment::START.after(policy.deadline());
/// let standing = Standing::new(1, deadline, true);
/// let decision = decide(&policy, standing, &signal, Moment::START, &mut SeededDice::new(1), &mut || true);
/// let Decision::Again(wait) = decision else { panic!("{decision:?}") };
/// assert_eq!(wait.delay, Duration::from_secs(2), "behind a gate the pacing is the jitter");
/// # Ok::<(), forbear::InvalidSetting>(())
/// ```
#[inline]
pub fn decide(
    policy: &Policy,
    standing: Standing,
    signal: &Signal,
    now: Moment,
    dice: &mut impl Dice,
    budget: &mut dyn FnMut() -> bool,
) -> Decision {
    if !signal.failed {
        return Decision::Done;
    }
    if signal.timed_out && now >= standing.deadline {
        let cut = GiveUp { outcome: CallOutcome::DeadlineExceeded, class: signal.class, ..GiveUp::not_retryable() };
        return Decision::GiveUp(cut);
    }
    let stated = signal.stated.as_ref().filter(|_| policy.manners.honour_header);
    let source = stated.map_or(DelaySource::Curve, |stated| stated.part.into());
    let stated = stated.map(|stated| stated.delay);
    let give_up = |outcome, source| {
        let retry_at = stated.map(|delay| now.after(delay));
        Decision::GiveUp(GiveUp { outcome, class: signal.class, source, retry_at, refusal: None })
    };

    match signal.class {
        LimitClass::Spend => return give_up(CallOutcome::SpendLimit, DelaySource::None),
        _ if signal.larger_than_limit => return give_up(CallOutcome::NotRetryable, DelaySource::None),
        LimitClass::Daily => return give_up(CallOutcome::DailyLimit, DelaySource::None),
        _ if !signal.retryable => return give_up(CallOutcome::NotRetryable, DelaySource::None),
        _ => {}
    }
    if signal.ambiguous && policy.on_ambiguous == OnAmbiguous::Stop {
        return give_up(CallOutcome::NotRetryable, DelaySource::None);
    }
    if standing.attempts >= policy.attempts {
        return give_up(CallOutcome::AttemptsExhausted, DelaySource::None);
    }

    let (delay, clamped) = match stated {
        None => (backoff::wait(policy, standing.attempts, dice), false),
        Some(stated) => {
            // The raw value is compared with the cap before any jitter: otherwise a huge wait sometimes slips under it.
            let over_cap = stated > policy.header_cap;
            let clamped = over_cap && policy.on_over_cap == OnOverCap::Clamp && !standing.gated;
            if over_cap && !clamped {
                return give_up(CallOutcome::StatedDelayTooLong, source);
            }
            let floor = if clamped { policy.header_cap } else { stated };
            (floor.saturating_add(jitter_on(floor, stated, policy, standing, now, dice)), clamped)
        }
    };
    let at = now.after(delay);
    if at >= standing.deadline || delay.is_zero() {
        return give_up(CallOutcome::DeadlineExceeded, source);
    }
    if !signal.is_throttle() && !budget() {
        return give_up(CallOutcome::RetryBudget, DelaySource::None);
    }
    Decision::Again(Wait { at, delay, source, stated, clamped })
}

/// What is added to a wait that the provider stated, of which at least `floor` is waited.
fn jitter_on(
    floor: Duration,
    stated: Duration,
    policy: &Policy,
    standing: Standing,
    now: Moment,
    dice: &mut impl Dice,
) -> Duration {
    // Behind a gate the gate's pacing is the jitter; but a wait is never zero.
    if standing.gated && !stated.is_zero() {
        return Duration::ZERO;
    }
    // Half of what the deadline leaves: the other half is for the answer, without which the request would be spent in vain.
    let room = now.after(floor).until(standing.deadline) / 2;
    dice.within(room.min(match policy.manners.jitter_on_header {
        HeaderJitter::Curve => backoff::bound(policy, standing.attempts),
        HeaderJitter::Second => Duration::from_secs(1),
        HeaderJitter::None => Duration::from_nanos(1),
    }))
}

#[cfg(test)]
#[path = "decide_tests.rs"]
mod tests;
