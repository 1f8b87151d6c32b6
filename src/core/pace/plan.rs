//! How slots should follow each other, by what is known of a limit.

use std::time::Duration;

/// What a window grants at once is released over this long: gradual, and over long before a minute is.
pub(in crate::core) const SPREAD: Duration = Duration::from_secs(2);
/// The first slots of an unknown pool come this often: no provider takes four a second for a storm.
pub(in crate::core) const SLOWEST_START: Duration = Duration::from_millis(250);
/// A pool that throttled is let back in at this part of the rate it served.
const BELOW_LEARNED: f64 = 0.95;
/// More than a hundred thousand a second no provider grants. Timers tell no less than a millisecond apart: the slots that
/// fall into one are taken together, when it is over.
pub(in crate::core) const SHORTEST_STEP: Duration = Duration::from_micros(10);
/// Windows from one test of a learned grant to the next.
pub(in crate::core) const WINDOWS_PER_TEST: u32 = 5;

/// How slots follow each other.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(in crate::core) enum Plan {
    /// One per interval. What answers tell of others who draw on the same limit moves it between `slowest` and `fastest`.
    Even { interval: Duration, slowest: Duration, fastest: Duration },
    /// So many in each window, near its beginning. A grant that nobody told is tested now and then: in so many windows
    /// slots go on beyond it.
    /// `shared`: others have their grants of the same windows.
    Window { grant: u32, window: Duration, test_in: Option<u32>, shared: bool },
    /// Ever faster.
    SlowStart { interval: Duration },
    /// A little faster with each slot, from a little below a rate that was too fast, at most up to `fastest`.
    Learned { interval: Duration, fastest: Duration },
}

impl Plan {
    /// The slow start of a pool of which at most the time one request is granted per is known.
    pub(in crate::core) fn slow_start(known_interval: Option<Duration>) -> Self {
        Self::SlowStart { interval: known_interval.unwrap_or(SLOWEST_START).max(SHORTEST_STEP) }
    }

    /// One slot per `interval`, whatever answers tell.
    pub(in crate::core) fn even(interval: Duration) -> Self {
        let interval = interval.max(SHORTEST_STEP);
        Self::Even { interval, slowest: interval, fastest: interval }
    }

    /// After one request per `interval` was served.
    pub(in crate::core) fn learned(interval: Duration, fastest: Duration) -> Self {
        let fastest = fastest.max(SHORTEST_STEP);
        Self::Learned { interval: interval.div_f64(BELOW_LEARNED).max(fastest), fastest }
    }

    /// The first slot comes within this.
    pub(in crate::core) fn first_within(&self) -> Duration {
        match *self {
            // It has waited an interval already.
            Self::Learned { interval, .. } => interval / 4,
            _ => self.step(),
        }
    }

    /// How far apart the slots of the whole pool are, of which this plan has the part of one of so many processes; `None`
    /// where they come in windows. What a slow start does not know is the same for one as for all.
    pub(in crate::core) fn of_all(&self, replicas: u32, limit_known: bool) -> Option<Duration> {
        let replicas = replicas.max(1);
        let every = match *self {
            Self::Window { .. } => return None,
            // What answers tell of those who leave their part unused is seen by whoever hands out.
            Self::Even { fastest, .. } => fastest,
            Self::Learned { interval, .. } => interval / replicas,
            Self::SlowStart { interval } if limit_known => interval / replicas,
            Self::SlowStart { interval } => interval,
        };
        Some(every.max(SHORTEST_STEP))
    }

    /// Whether the interval is known, or learned.
    pub(in crate::core) const fn is_known(&self) -> bool {
        matches!(self, Self::Even { .. } | Self::Learned { .. })
    }

    /// How far apart slots are while they come.
    pub(in crate::core) fn step(&self) -> Duration {
        match *self {
            Self::Even { interval, .. } | Self::SlowStart { interval } | Self::Learned { interval, .. } => interval,
            Self::Window { grant, window, .. } => SPREAD.min(window / 4) / grant.max(1),
        }
    }
}
