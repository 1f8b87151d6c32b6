//! The peers' rules: when a refused request is sent again.
//!
//! Curves, pauses and their random parts come from the crates themselves where a seed can be given. Where a crate draws
//! from the operating system the curve is its own, and the part of it is drawn here as its documentation says: a table that
//! differs from run to run cannot be held against anything. Curves begin at a tenth of the window, double, and end at two
//! windows.

use std::sync::Arc;
use std::time::{Duration, SystemTime};

use backon::BackoffBuilder;
use forbear::core::dice::{Dice, SeededDice};
use forbear::core::moment::Moment;
use retry_policies::{RetryDecision, RetryPolicy};
use throttle_net::{ManualClock, Throttle};

/// A tenth of the window.
const BASE: Duration = Duration::from_secs(6);
/// Two windows.
const CAP: Duration = Duration::from_secs(120);
/// What "sleep Retry-After" sleeps where none is stated.
const SECOND: Duration = Duration::from_secs(1);

/// A rule.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(clippy::exhaustive_enums, reason = "the columns are exactly these")]
pub enum Rule {
    /// backon's exponential curve with its jitter: a wait and up to as much again. It knows no header unless the
    /// application reads it.
    Backon,
    /// tokio-retry2's exponential curve with its jitter, a half to three halves. A stated wait does not reach the sleep.
    TokioRetry2,
    /// retry-policies' exponential curve with full jitter, its default. It sees no answer, so no header.
    RetryPolicies,
    /// What applications write by hand: sleep as long as stated, else a second.
    SleepRetryAfter,
    /// throttle-net's pause: all callers of a process are held until the stated wait is over, and then none is. Where none
    /// is stated each waits by its own exponential curve with full jitter.
    Pause,
}

impl Rule {
    /// All rules.
    pub const ALL: &'static [Self] =
        &[Self::Backon, Self::TokioRetry2, Self::RetryPolicies, Self::SleepRetryAfter, Self::Pause];

    /// The column's heading.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Backon => "backon",
            Self::TokioRetry2 => "tokio-retry2",
            Self::RetryPolicies => "retry-policies",
            Self::SleepRetryAfter => "sleep Retry-After",
            Self::Pause => "throttle-net pause",
        }
    }

    /// A caller's waits, one after another.
    #[must_use]
    pub fn waits(self, seed: u64) -> Waits {
        match self {
            Self::Backon => Waits::Backon(Box::new(
                backon::ExponentialBuilder::new()
                    .with_min_delay(BASE)
                    .with_max_delay(CAP)
                    .without_max_times()
                    .with_jitter()
                    .with_jitter_seed(seed)
                    .build(),
            )),
            Self::TokioRetry2 => {
                let curve = tokio_retry2::strategy::ExponentialBackoff::from_millis(2);
                let curve = curve.factor(BASE.as_millis() as u64 / 2).max_delay(CAP);
                Waits::TokioRetry2(curve, SeededDice::new(seed))
            }
            Self::RetryPolicies => Waits::RetryPolicies(0, SeededDice::new(seed)),
            Self::SleepRetryAfter => Waits::Always(SECOND),
            Self::Pause => {
                let curve = throttle_net::Backoff::exponential(BASE, 2.0).with_max(CAP);
                Waits::ThrottleNet(Box::new(curve.with_jitter(throttle_net::Jitter::Full).iter_seeded(seed)))
            }
        }
    }
}

/// A caller's waits after refusals that state none.
#[derive(Debug)]
#[allow(clippy::exhaustive_enums, reason = "one for each rule")]
pub enum Waits {
    /// backon's.
    Backon(Box<backon::ExponentialBackoff>),
    /// tokio-retry2's, and the dice for their jitter.
    TokioRetry2(tokio_retry2::strategy::ExponentialBackoff, SeededDice),
    /// retry-policies': how many there were, and the dice for their jitter.
    RetryPolicies(u32, SeededDice),
    /// The same each time.
    Always(Duration),
    /// throttle-net's.
    ThrottleNet(Box<throttle_net::BackoffIter>),
}

impl Waits {
    /// The next.
    ///
    /// # Panics
    /// Where a curve ends that was made without an end.
    pub fn draw(&mut self) -> Duration {
        let drawn = match self {
            Self::Backon(curve) => curve.next(),
            Self::TokioRetry2(curve, dice) => curve.next().map(|wait| wait.mul_f64(0.5 + dice.unit())),
            Self::RetryPolicies(number, dice) => {
                *number += 1;
                Some(dice.within(retry_policies_bound(*number - 1)))
            }
            Self::Always(wait) => Some(*wait),
            Self::ThrottleNet(curve) => Some(curve.next_delay()),
        };
        drawn.unwrap_or_else(|| panic!("a curve without an end ended: {self:?}"))
    }
}

/// The curve of retry-policies, which names an instant of the system's clock: the difference, to the millisecond.
fn retry_policies_bound(past: u32) -> Duration {
    let builder = retry_policies::policies::ExponentialBackoff::builder().retry_bounds(BASE, CAP);
    let policy = builder.jitter(retry_policies::Jitter::None).build_with_max_retries(u32::MAX);
    let now = SystemTime::now();
    match policy.should_retry(now, past) {
        RetryDecision::Retry { execute_after } => {
            let wait = execute_after.duration_since(now).unwrap_or_default();
            Duration::from_millis(wait.as_millis() as u64)
        }
        RetryDecision::DoNotRetry => panic!("a policy without an end ended"),
    }
}

/// What holds all callers of one process.
#[derive(Debug)]
pub struct Pauses {
    clock: Arc<ManualClock>,
    /// Its own limit is out of the way: what is compared is the pause.
    throttle: Throttle<Arc<ManualClock>>,
}

impl Default for Pauses {
    fn default() -> Self {
        let clock = Arc::new(ManualClock::new());
        Self { throttle: Throttle::per_second(u32::MAX).with_clock(Arc::clone(&clock)), clock }
    }
}

impl Pauses {
    /// Holds everybody for so long.
    pub fn pause(&self, now: Moment, wait: Duration) {
        self.clock.advance_to(now.elapsed_since_start());
        self.throttle.pause_for(wait);
    }

    /// How long everybody is held.
    #[must_use]
    pub fn paused_for(&self, now: Moment) -> Duration {
        self.clock.advance_to(now.elapsed_since_start());
        self.throttle.paused_for()
    }
}
