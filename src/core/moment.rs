//! Points in time, as the core sees them.

use std::fmt;
use std::time::Duration;

/// A point in monotonic time, counted from the start of the clock that made it; resolution one nanosecond.
///
/// Arithmetic saturates: it never panics and never wraps. Moments of different clocks do not compare.
///
/// ```
/// use std::time::Duration;
/// use forbear::core::moment::Moment;
/// let later = Moment::START.after(Duration::from_secs(2));
/// assert_eq!(Moment::START.until(later), Duration::from_secs(2));
/// assert_eq!(later.until(Moment::START), Duration::ZERO, "never negative");
/// assert_eq!(Moment::NEVER.after(Duration::MAX), Moment::NEVER);
/// ```
#[derive(Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Moment(u64);

/// How long after the start of its clock: `1.5s`, or `never`.
impl fmt::Debug for Moment {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if *self == Self::NEVER { f.write_str("never") } else { self.elapsed_since_start().fmt(f) }
    }
}

impl Moment {
    /// The clock's start.
    pub const START: Self = Self(0);
    /// Later than every other moment (about 584 years): "no end is known".
    pub const NEVER: Self = Self(u64::MAX);

    /// The moment `elapsed` after the clock's start; saturates at [`Moment::NEVER`].
    #[inline]
    #[must_use]
    pub const fn since_start(elapsed: Duration) -> Self {
        let nanos = elapsed.as_nanos();
        Self(if nanos > u64::MAX as u128 { u64::MAX } else { nanos as u64 })
    }

    /// How long after the clock's start this is.
    #[inline]
    #[must_use]
    pub const fn elapsed_since_start(self) -> Duration {
        Duration::from_nanos(self.0)
    }

    /// The moment `delay` later; saturates at [`Moment::NEVER`].
    #[inline]
    #[must_use]
    pub const fn after(self, delay: Duration) -> Self {
        Self(self.0.saturating_add(Self::since_start(delay).0))
    }

    /// This moment, or the other if that is earlier.
    #[inline]
    #[must_use]
    pub const fn earlier(self, other: Self) -> Self {
        if other.0 < self.0 { other } else { self }
    }

    /// How long from here to `later`; zero when `later` is not later.
    #[inline]
    #[must_use]
    pub const fn until(self, later: Self) -> Duration {
        Duration::from_nanos(later.0.saturating_sub(self.0))
    }
}

/// A point in civil time: how long after 1970-01-01T00:00:00Z, leap seconds not counted.
///
/// Needed only where a provider states a date or an epoch instead of a duration.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct WallTime(Duration);

impl WallTime {
    /// The wall time `elapsed` after the epoch.
    #[must_use]
    pub const fn since_epoch(elapsed: Duration) -> Self {
        Self(elapsed)
    }

    /// How long after the epoch this is.
    #[must_use]
    pub const fn elapsed_since_epoch(self) -> Duration {
        self.0
    }

    /// How long from here to `later`; zero when `later` is not later.
    #[must_use]
    pub const fn until(self, later: Self) -> Duration {
        later.0.saturating_sub(self.0)
    }

    /// The wall time `delay` later; saturates.
    #[must_use]
    pub const fn after(self, delay: Duration) -> Self {
        Self(self.0.saturating_add(delay))
    }
}
