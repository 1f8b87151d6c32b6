//! When something ends, as it was stated.

use std::time::Duration;

use crate::core::moment::WallTime;

/// Longer waits are read as this one: 2147483648 s, the number RFC 9111 section 1.2.2 uses for the same purpose.
pub const LONGEST: Duration = Duration::from_secs(2_147_483_648);
/// The same in nanoseconds.
pub(crate) const LONGEST_NANOS: u64 = 2_147_483_648_000_000_000;

/// When something ends, as it was stated: after a time, at an instant, or, where several were stated, at the latest of
/// them. Resolution one nanosecond; what is later than 584 years from now or from 1970 is taken for that.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct When {
    delay_nanos: u64,
    /// Since 1970; 0 where no instant was stated, and for one that had passed by then.
    instant_nanos: u64,
}

impl When {
    /// After this time.
    #[must_use]
    pub const fn after(delay: Duration) -> Self {
        Self { delay_nanos: saturated(delay), instant_nanos: 0 }
    }

    /// After so many nanoseconds.
    pub(crate) const fn after_nanos(delay_nanos: u64) -> Self {
        Self { delay_nanos, instant_nanos: 0 }
    }

    /// At this instant of civil time.
    #[must_use]
    pub const fn at(instant: WallTime) -> Self {
        Self { delay_nanos: 0, instant_nanos: saturated(instant.elapsed_since_epoch()) }
    }

    /// The later of both.
    #[must_use]
    pub fn or_later(self, other: Self) -> Self {
        Self {
            delay_nanos: self.delay_nanos.max(other.delay_nanos),
            instant_nanos: self.instant_nanos.max(other.instant_nanos),
        }
    }

    /// Whether it was stated as no time at all.
    #[must_use]
    pub const fn is_zero(self) -> bool {
        self.delay_nanos == 0 && self.instant_nanos == 0
    }

    /// How long from `now`; zero when it has passed, never longer than [`LONGEST`]. `now` is asked only for an instant.
    #[must_use]
    pub fn from(self, now: impl FnOnce() -> WallTime) -> Duration {
        let delay = Duration::from_nanos(self.delay_nanos);
        let until = match self.instant_nanos {
            0 => Duration::ZERO,
            nanos => now().until(WallTime::since_epoch(Duration::from_nanos(nanos))),
        };
        delay.max(until).min(LONGEST)
    }
}

const fn saturated(duration: Duration) -> u64 {
    let nanos = duration.as_nanos();
    if nanos > u64::MAX as u128 { u64::MAX } else { nanos as u64 }
}
