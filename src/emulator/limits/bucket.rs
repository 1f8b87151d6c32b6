//! The token bucket: a level that refills steadily.
//!
//! In any span it grants at most what it holds and what the span brings; idle time is saved up to the burst.

use std::time::Duration;

use crate::core::moment::Moment;

/// A bucket that refills by `amount` in each `window` and holds at most what `burst` brings.
///
/// Levels are counted in units of which one request or token is worth `window` nanoseconds, because then a nanosecond
/// brings exactly `amount` of them: no rounding, ever.
#[derive(Clone, Debug)]
pub(super) struct Bucket {
    amount: i128,
    one: i128,
    capacity: i128,
    level: i128,
    at: Moment,
}

impl Bucket {
    /// A full bucket. It holds one at least, however short the burst is: else it would never let anything pass.
    pub(super) fn full(amount: u64, window: Duration, burst: Duration) -> Self {
        let (amount, one) = (i128::from(amount), nanos(window));
        let capacity = (amount * nanos(burst)).max(one);
        Self { amount, one, capacity, level: capacity, at: Moment::START }
    }

    /// How long until `need` fits. More than the bucket ever holds passes when it is full, and leaves a debt that
    /// keeps the rate.
    pub(super) fn wait(&mut self, now: Moment, need: u64) -> Duration {
        self.refill(now);
        self.time_to((i128::from(need) * self.one).min(self.capacity))
    }

    /// Takes `need`, whether it fits or not.
    pub(super) fn take(&mut self, now: Moment, need: u64) {
        self.refill(now);
        self.level -= i128::from(need) * self.one;
    }

    /// Takes one, but never below empty: refused requests bring no debt.
    pub(super) fn take_for_refused(&mut self, now: Moment) {
        self.refill(now);
        self.level = (self.level - self.one).max(self.level.min(0));
    }

    /// Whole ones left; a debt is nothing left.
    pub(super) fn remaining(&mut self, now: Moment) -> u64 {
        self.refill(now);
        u64::try_from(self.level.max(0) / self.one).unwrap_or(u64::MAX)
    }

    /// How long until it is full.
    pub(super) fn replenished(&mut self, now: Moment) -> Duration {
        self.refill(now);
        self.time_to(self.capacity)
    }

    /// The same use under other settings: what is missing stays missing.
    pub(super) fn resized(&self, mut other: Self) -> Self {
        let missing = self.capacity - self.level;
        // Whole ones apart from the rest: their product alone would not fit an i128 for the longest windows.
        let missing = missing / self.one * other.one + missing % self.one * other.one / self.one;
        other.level = other.capacity - missing;
        other.at = self.at;
        other
    }

    /// Brings the level to what it is at `now`; a moment before the last one asked about changes nothing.
    fn refill(&mut self, now: Moment) {
        let passed = nanos(self.at.until(now));
        self.level = self.capacity.min(self.level + passed * self.amount);
        self.at = self.at.max(now);
    }

    /// Rounded up to the nanosecond in which the level is reached.
    fn time_to(&self, level: i128) -> Duration {
        let missing = level - self.level;
        if missing <= 0 {
            return Duration::ZERO;
        }
        Duration::from_nanos(u64::try_from((missing + self.amount - 1) / self.amount).unwrap_or(u64::MAX))
    }
}

fn nanos(duration: Duration) -> i128 {
    i128::try_from(duration.as_nanos()).unwrap_or(i128::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECOND: Duration = Duration::from_secs(1);
    const MINUTE: Duration = Duration::from_secs(60);

    #[test]
    fn a_third_of_a_request_is_waited_for_to_the_nanosecond() {
        let mut bucket = Bucket::full(3, SECOND, Duration::ZERO);
        bucket.take(Moment::START, 1);
        let wait = bucket.wait(Moment::START, 1);
        assert_eq!(wait, Duration::from_nanos(333_333_334));
        assert!(!bucket.wait(Moment::since_start(wait - Duration::from_nanos(1)), 1).is_zero());
        assert!(bucket.wait(Moment::since_start(wait), 1).is_zero());
    }

    #[test]
    fn a_request_above_the_burst_passes_when_full_and_leaves_a_debt() {
        let mut bucket = Bucket::full(60, MINUTE, SECOND * 10);
        assert!(bucket.wait(Moment::START, 30).is_zero());
        bucket.take(Moment::START, 30);
        assert_eq!(bucket.remaining(Moment::START), 0);
        assert_eq!(bucket.wait(Moment::START, 1), SECOND * 21);
        assert_eq!(bucket.replenished(Moment::START), SECOND * 30);
    }

    #[test]
    fn refused_requests_empty_the_bucket_but_leave_no_debt() {
        let mut bucket = Bucket::full(60, MINUTE, SECOND * 2);
        for _ in 0..5 {
            bucket.take_for_refused(Moment::START);
        }
        assert_eq!(bucket.wait(Moment::START, 1), SECOND);
    }

    #[test]
    fn a_raised_quota_keeps_what_was_used() {
        let mut bucket = Bucket::full(60, MINUTE, MINUTE);
        bucket.take(Moment::START, 60);
        assert_eq!(bucket.resized(Bucket::full(100, MINUTE, MINUTE)).remaining(Moment::START), 40);
    }
}
