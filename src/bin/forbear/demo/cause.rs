//! From numbers to the cause: rules in a fixed order, the first that holds.
//!
//! Attempts per call, throttled shares and idle quota look alike where the quota is short and where calls are retried
//! badly. What tells them apart is demand against what the limit can serve within the callers' own deadlines; the other
//! numbers only tell in which direction a curve is wrong.

use super::evidence::{Evidence, share};

/// Fewer calls say nothing for sure.
const LEAST_CALLS: f64 = 200.0;
/// The objective: this share of calls succeeds …
const LEAST_SUCCESS: f64 = 0.99;
/// … with so many attempts each.
const MOST_ATTEMPTS_PER_CALL: f64 = 1.5;
/// Above this horizon load, the quota is short. Below [`SURELY_ENOUGH`] it is not; between 0.9 and 1.25 either may be.
const QUOTA_SHORT_ABOVE: f64 = 1.1;
/// A quota at which the horizon load is this is enough.
pub(crate) const SURELY_ENOUGH: f64 = 0.9;
/// Above this share of first attempts throttled, calls come too close together for any curve: it bends only what comes
/// after the first.
const UNPACED_ABOVE: f64 = 0.27;
/// Above this share of attempts turned away for want of capacity, riding it out is no way.
const OVERLOADED_ABOVE: f64 = 0.25;
/// Above this share of throttles, the day's quota is what is spent.
const DAILY_ABOVE: f64 = 0.3;

/// Why a service is as it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Cause {
    /// Too few calls to tell.
    NotEnoughData,
    /// Nothing is wrong.
    Healthy,
    /// The provider is short of capacity of its own.
    Overloaded,
    /// The day's quota is spent.
    DailySpent,
    /// More is offered than the limit can serve in time.
    QuotaTooSmall,
    /// The quota would do, but calls come too close together.
    Unpaced,
    /// The quota would do, but retries come, and end, before there is quota again.
    BackoffTooFast,
    /// The quota would do, but retries wait while there is quota.
    BackoffTooSlow,
    /// Calls fail, and not by limits.
    Unclear,
}

/// The cause these numbers show.
pub(crate) fn cause(seen: &Evidence) -> Cause {
    if seen.calls < LEAST_CALLS {
        return Cause::NotEnoughData;
    }
    if seen.success() >= LEAST_SUCCESS && seen.attempts_per_call() <= MOST_ATTEMPTS_PER_CALL {
        return Cause::Healthy;
    }
    let throttled = seen.throttled();
    let mostly_overload = share(seen.overloaded, seen.overloaded + throttled) > 0.5;
    if mostly_overload {
        let ridden_out_nearly = share(seen.overloaded, seen.attempts) <= OVERLOADED_ABOVE;
        return if ridden_out_nearly { Cause::BackoffTooFast } else { Cause::Overloaded };
    }
    if share(seen.over_day, throttled) > DAILY_ABOVE {
        return Cause::DailySpent;
    }
    if seen.horizon_load.is_some_and(|load| load > QUOTA_SHORT_ABOVE) {
        return Cause::QuotaTooSmall;
    }
    // What is left blames the caller, which needs more than that nothing else was found.
    if seen.horizon_load.is_none() || share(throttled, seen.failed_attempts) <= 0.5 {
        return Cause::Unclear;
    }
    if share(seen.firsts_throttled, seen.firsts) > UNPACED_ABOVE {
        return Cause::Unpaced;
    }
    let throttled_again = share(seen.retries_throttled, seen.retries());
    let exhausted = share(seen.exhausted, seen.failed);
    if throttled_again > 0.5 || exhausted > 0.5 { Cause::BackoffTooFast } else { Cause::BackoffTooSlow }
}

#[cfg(test)]
pub(crate) mod tests {
    use std::time::Duration;

    use super::*;
    use crate::demo::evidence::Curve;

    /// A service of 1,000 calls that fails one in ten although its quota would do; each test changes what it is about.
    pub(crate) fn failing() -> Evidence {
        Evidence {
            calls: 1_000.0,
            succeeded: 900.0,
            failed: 100.0,
            attempts: 1_350.0,
            failed_attempts: 450.0,
            firsts: 1_000.0,
            firsts_throttled: 120.0,
            retries_throttled: 330.0,
            overloaded: 0.0,
            over_day: 0.0,
            exhausted: 100.0,
            horizon_load: Some(0.5),
            mean_load: 0.4,
            limit: 60.0,
            minute: Duration::from_secs(60),
            deadline: Duration::from_secs(30),
            gated: false,
            curve: Curve { base: Duration::from_millis(200), factor: 2.0, cap: Duration::from_secs(120), attempts: 4 },
        }
    }

    #[test]
    fn few_calls_and_met_objectives_come_before_everything_else() {
        let short = Evidence { horizon_load: Some(3.0), ..failing() };
        assert_eq!(cause(&Evidence { calls: 199.0, ..short.clone() }), Cause::NotEnoughData);
        let met = Evidence { succeeded: 990.0, failed: 10.0, ..short };
        assert_eq!(cause(&met), Cause::Healthy);
        assert_eq!(cause(&Evidence { attempts: 1_501.0, ..met }), Cause::QuotaTooSmall);
    }

    #[test]
    fn the_quota_is_blamed_above_the_line_and_never_for_throttling_alone() {
        assert_eq!(cause(&Evidence { horizon_load: Some(1.11), ..failing() }), Cause::QuotaTooSmall);
        let storm = Evidence { retries_throttled: 3_000.0, attempts: 4_100.0, failed_attempts: 3_120.0, ..failing() };
        assert_eq!(cause(&Evidence { horizon_load: Some(1.1), ..storm }), Cause::BackoffTooFast);
    }

    #[test]
    fn a_known_class_comes_before_demand() {
        let short = Evidence { horizon_load: Some(3.0), ..failing() };
        assert_eq!(cause(&Evidence { over_day: 200.0, ..short.clone() }), Cause::DailySpent);
        assert_eq!(cause(&Evidence { overloaded: 600.0, ..short.clone() }), Cause::Overloaded);
        assert_eq!(cause(&Evidence { overloaded: 400.0, ..short }), Cause::QuotaTooSmall, "less than the throttles");
        let mild = Evidence { overloaded: 200.0, firsts_throttled: 0.0, retries_throttled: 0.0, ..failing() };
        assert_eq!(cause(&mild), Cause::BackoffTooFast);
    }

    #[test]
    fn first_attempts_tell_shape_from_curve_and_retries_tell_fast_from_slow() {
        assert_eq!(cause(&failing()), Cause::BackoffTooFast);
        assert_eq!(cause(&Evidence { firsts_throttled: 271.0, ..failing() }), Cause::Unpaced);
        let patient = Evidence { retries_throttled: 100.0, exhausted: 10.0, failed_attempts: 220.0, ..failing() };
        assert_eq!(cause(&patient), Cause::BackoffTooSlow);
        assert_eq!(cause(&Evidence { exhausted: 60.0, ..patient }), Cause::BackoffTooFast);
    }

    #[test]
    fn nobody_is_blamed_without_evidence() {
        let other_failures = Evidence { failed_attempts: 900.1, ..failing() };
        assert_eq!(cause(&other_failures), Cause::Unclear);
        assert_eq!(cause(&Evidence { horizon_load: None, ..failing() }), Cause::Unclear);
    }
}
