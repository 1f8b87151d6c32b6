//! Which storms there are.

use std::time::Duration;

use forbear::core::dice::{Dice, SeededDice};
use forbear::emulator::limits::{Algorithm, Limits, RetryAfter, Spread};

/// The window of every quota here.
pub const WINDOW: Duration = Duration::from_secs(60);
/// All callers come within this.
pub const WITHIN: Duration = Duration::from_secs(2);
/// How long a refusal takes, in seconds.
pub const REFUSAL_S: [f64; 2] = [0.05, 0.15];
/// How many callers there are for each request a minute.
const CALLERS_PER_REQUEST: u32 = 5;

/// How the provider counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(clippy::exhaustive_enums, reason = "the storms are exactly these")]
pub enum Count {
    /// A count that starts anew each minute.
    FixedWindow,
    /// Never more than the quota in any minute.
    SlidingWindow,
    /// A token bucket that holds a minute's quota.
    FullBucket,
    /// A token bucket that holds a second's quota, one request at least.
    SecondBucket,
}

/// One storm.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(clippy::exhaustive_structs, reason = "a storm is exactly this")]
pub struct Cell {
    /// Callers.
    pub callers: u32,
    /// How the provider counts.
    pub count: Count,
    /// Whether refusals state a wait in whole seconds, and all answers tell of the quota.
    pub headers: bool,
    /// Whether refused requests count against the quota.
    pub refusals_count: bool,
    /// Seconds a served request takes.
    pub service_s: u32,
    /// Processes that know nothing of each other; callers are spread over them by chance.
    pub processes: u32,
}

impl Cell {
    /// All storms with so many callers, in the order of the table.
    pub fn all(sizes: &[u32]) -> Vec<Self> {
        let counts = [Count::FixedWindow, Count::SlidingWindow, Count::FullBucket, Count::SecondBucket];
        let mut cells = Vec::new();
        for processes in [1, 10] {
            for headers in [true, false] {
                for count in counts {
                    for refusals_count in [false, true] {
                        for service_s in [2, 30] {
                            cells.extend(sizes.iter().map(|&callers| Self {
                                callers,
                                count,
                                headers,
                                refusals_count,
                                service_s,
                                processes,
                            }));
                        }
                    }
                }
            }
        }
        cells
    }

    /// Requests a minute.
    #[must_use]
    pub const fn quota(&self) -> u32 {
        self.callers / CALLERS_PER_REQUEST
    }

    /// When the first fixed window ends: another time for each seed.
    #[must_use]
    pub fn window_ends_at(seed: u64) -> Duration {
        SeededDice::new(!seed).within(WINDOW)
    }

    /// What a refusal states.
    #[must_use]
    pub const fn told(&self) -> RetryAfter {
        if self.headers { RetryAfter::WholeSeconds } else { RetryAfter::None }
    }

    /// How long a served request takes.
    #[must_use]
    pub fn service(&self) -> Spread {
        Duration::from_secs(self.service_s.into()).into()
    }

    /// The provider's limits.
    #[must_use]
    pub fn limits(&self, seed: u64) -> Limits {
        let (algorithm, burst) = match self.count {
            Count::FixedWindow => (Algorithm::FixedWindow, WINDOW),
            Count::SlidingWindow => (Algorithm::SlidingWindow, WINDOW),
            Count::FullBucket => (Algorithm::TokenBucket, WINDOW),
            Count::SecondBucket => (Algorithm::TokenBucket, Duration::from_secs(1)),
        };
        Limits::new()
            .requests_per_minute(u64::from(self.quota()))
            .algorithm(algorithm)
            .burst(burst)
            .first_boundary_after(Self::window_ends_at(seed))
            .throttled_attempts_count(self.refusals_count)
    }
}

impl Count {
    /// As the table names it.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::FixedWindow => "fixed window",
            Self::SlidingWindow => "sliding window",
            Self::FullBucket => "full bucket",
            Self::SecondBucket => "1 s bucket",
        }
    }
}
