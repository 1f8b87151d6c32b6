//! From the cause to the number to change, and the numbers that say so.

use std::time::Duration;

use super::cause::{Cause, SURELY_ENOUGH, cause};
use super::evidence::{Evidence, share};

/// What whoever runs the service should conclude.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Conclusion {
    /// Why the service is as it is.
    pub(crate) cause: Cause,
    /// What to do, in a few words.
    pub(crate) change: String,
    /// The numbers behind it.
    pub(crate) why: String,
}

/// The conclusion from these numbers, and from nothing else.
pub(crate) fn conclude(seen: &Evidence) -> Conclusion {
    let cause = cause(seen);
    let (change, why) = match cause {
        Cause::NotEnoughData => {
            ("wait for more calls".to_owned(), format!("{:.0} calls say nothing for sure", seen.calls))
        }
        Cause::Healthy => ("healthy".to_owned(), healthy(seen)),
        Cause::Overloaded => (
            "wait, or use another provider".to_owned(),
            format!(
                "{} of the attempts were refused for the provider's own want of capacity: no quota of yours is short",
                percent(seen.overloaded, seen.attempts)
            ),
        ),
        Cause::DailySpent => (
            "raise the daily quota, or spread the work over days".to_owned(),
            format!("{} of the throttles were the day's", percent(seen.over_day, seen.throttled())),
        ),
        Cause::QuotaTooSmall => {
            (format!("raise the quota: ask for about {} requests a minute", quota(seen)), short(seen))
        }
        Cause::Unpaced => (
            if seen.gated { "pace the calls, or queue them" } else { "put the callers behind one gate" }.to_owned(),
            format!(
                "{}; but {} of the first attempts were throttled, and a curve bends only what follows them",
                would_do(seen),
                percent(seen.firsts_throttled, seen.firsts)
            ),
        ),
        Cause::BackoffTooFast => (backoff(seen), too_fast(seen)),
        Cause::BackoffTooSlow => (
            backoff(seen),
            format!(
                "{}; but only {} of the retries were throttled again: calls slept while there was quota",
                would_do(seen),
                percent(seen.retries_throttled, seen.retries())
            ),
        ),
        Cause::Unclear => (
            "look at the failures themselves".to_owned(),
            format!("only {} of the failed attempts were throttles", percent(seen.throttled(), seen.failed_attempts)),
        ),
    };
    Conclusion { cause, change, why }
}

/// The quota at which the load would surely be served, in requests a minute: two digits, rounded up.
///
/// A load that lasts longer than the deadline must be served by the minute, so the mean counts where it is more.
pub(crate) fn quota(seen: &Evidence) -> u64 {
    let load = seen.horizon_load.unwrap_or(0.0).max(seen.mean_load);
    let wanted = seen.limit * load / SURELY_ENOUGH;
    let unit = 10f64.powf((wanted.max(10.0).log10()).floor() - 1.0);
    ((wanted / unit).ceil() * unit) as u64
}

/// A curve for a quota that comes back by the minute: it starts at a tenth of it …
pub(crate) fn base(seen: &Evidence) -> Duration {
    seen.minute / 10
}

/// … and has attempts enough for its waits to last two minutes on average; never fewer than now.
pub(crate) fn attempts(seen: &Evidence) -> u32 {
    let cap = seen.curve.cap.max(base(seen)).as_secs_f64();
    let (mut bound, mut lasts, mut attempts) = (base(seen).as_secs_f64(), 0.0, 1);
    while lasts < 2.0 * seen.minute.as_secs_f64() && attempts < 20 {
        // Full jitter: half its bound on average.
        lasts += bound.min(cap) / 2.0;
        bound *= seen.curve.factor.max(1.0);
        attempts += 1;
    }
    attempts.max(seen.curve.attempts)
}

/// The curve to change to, and from what.
fn backoff(seen: &Evidence) -> String {
    let mut text = format!("change the backoff: base {:?} -> {:?}", seen.curve.base, base(seen));
    let (old, new) = (seen.curve.attempts, attempts(seen));
    if new != old {
        text += &format!(", attempts {old} -> {new}");
    }
    text
}

/// Why nothing is to be changed.
fn healthy(seen: &Evidence) -> String {
    let throttled = percent(seen.throttled(), seen.attempts);
    format!(
        "{} of the calls succeeded with {:.2} attempts each; that {throttled} of the attempts were throttled is no fault",
        percent(seen.succeeded, seen.succeeded + seen.failed),
        seen.attempts_per_call()
    )
}

/// Why more quota is the only thing that helps.
fn short(seen: &Evidence) -> String {
    format!(
        "the calls offered were {:.1} times what {:.0} requests a minute can serve within the callers' {:?}: no way of \
         retrying helps",
        seen.horizon_load.unwrap_or(0.0),
        seen.limit,
        seen.deadline
    )
}

/// Why more quota would not help: the first half of every sentence that blames the caller.
fn would_do(seen: &Evidence) -> String {
    format!(
        "the quota would do: at the worst the calls offered were {:.1} times what {:.0} requests a minute can serve \
         within the callers' {:?}",
        seen.horizon_load.unwrap_or(0.0),
        seen.limit,
        seen.deadline
    )
}

/// What the retries did wrong, and what else would help.
fn too_fast(seen: &Evidence) -> String {
    let gate = if seen.gated { "" } else { "; the gate is off: turned on, one call's throttle would hold the others" };
    format!(
        "{}; but {} of the retries were throttled again, and {} of the failed calls had used their {} attempts before \
         the minute was over{gate}",
        would_do(seen),
        percent(seen.retries_throttled, seen.retries()),
        percent(seen.exhausted, seen.failed),
        seen.curve.attempts
    )
}

/// `part` of `whole` in per cent, as far as it can be told apart from none and all.
pub(crate) fn percent(part: f64, whole: f64) -> String {
    match share(part, whole) * 100.0 {
        share if share > 0.0 && share < 1.0 => format!("{share:.1}%"),
        share if share > 99.0 && share < 100.0 => format!("{:.1}%", share.min(99.9)),
        share => format!("{share:.0}%"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::demo::cause::tests::failing;

    #[test]
    fn the_quota_to_ask_for_serves_the_load_with_room() {
        let ask = |load, mean_load, limit| quota(&Evidence { horizon_load: Some(load), mean_load, limit, ..failing() });
        assert_eq!(ask(1.8, 1.0, 60.0), 120);
        assert_eq!(ask(1.81, 1.0, 60.0), 130);
        assert_eq!(ask(1.5, 2.0, 60.0), 140, "a steady load is not served by less than its mean");
        assert_eq!(ask(1.2, 0.1, 3.0), 4);
        assert_eq!(ask(1.2, 0.1, 40_000.0), 54_000);
    }

    #[test]
    fn a_curve_too_fast_gets_a_tenth_of_the_minute_and_attempts_to_outlast_it() {
        let conclusion = conclude(&failing());
        assert_eq!(conclusion.change, "change the backoff: base 200ms -> 6s, attempts 4 -> 7");
        assert_eq!(
            conclusion.why,
            "the quota would do: at the worst the calls offered were 0.5 times what 60 requests a minute can serve \
             within the callers' 30s; but 94% of the retries were throttled again, and 100% of the failed calls had \
             used their 4 attempts before the minute was over; the gate is off: turned on, one call's throttle would \
             hold the others"
        );
    }

    #[test]
    fn attempts_that_are_enough_are_left_alone() {
        let mut seen = failing();
        seen.curve.attempts = 10;
        assert_eq!(conclude(&seen).change, "change the backoff: base 200ms -> 6s");
    }

    #[test]
    fn whoever_has_a_gate_is_not_told_to_get_one() {
        let unpaced = Evidence { firsts_throttled: 300.0, ..failing() };
        assert_eq!(conclude(&unpaced).change, "put the callers behind one gate");
        assert_eq!(conclude(&Evidence { gated: true, ..unpaced }).change, "pace the calls, or queue them");
        assert!(!conclude(&Evidence { gated: true, ..failing() }).why.contains("gate"));
    }

    #[test]
    fn one_in_a_thousand_is_neither_none_nor_all() {
        assert_eq!([percent(1.0, 1_000.0), percent(999.5, 1_000.0), percent(1.0, 3.0)], ["0.1%", "99.9%", "33%"]);
        assert_eq!([percent(0.0, 9.0), percent(9.0, 9.0), percent(0.0, 0.0)], ["0%", "100%", "0%"]);
    }
}
