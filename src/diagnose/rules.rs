//! From the numbers to the cause: rules in a fixed order, the first that holds.
//!
//! The ratios one would look at first, attempts a call or the share of retries throttled again, are alike where the quota is
//! short and where calls are retried badly. What tells these apart is demand against what the limit can serve within the
//! callers' own deadlines. Whoever blames the caller, moreover, needs more than that nothing else was found.

use crate::diagnose::cause::Cause;
use crate::diagnose::evidence::{Evidence, HARDLY_USED};
use crate::diagnose::explain::percent;
use crate::diagnose::objective::{MOST_ATTEMPTS_PER_CALL, share};
use crate::diagnose::verdict::WhyNot;

/// Fewer calls say nothing about load and pace …
pub(crate) const LEAST_CALLS: f64 = 200.0;
/// … but so many that failed say it where their answers name the cause.
pub(crate) const LEAST_TOLD: f64 = 20.0;
/// Above this share of wrong requests the caller has something to repair.
pub(crate) const MOST_WRONG: f64 = 0.01;
/// What stood in the way of more than this share of the failed calls is the cause.
pub(crate) const MOSTLY: f64 = 0.5;
/// A want of capacity that so many calls outlive, without more attempts than they may need, is one that other waits ride
/// out.
pub(crate) const RIDDEN_OUT: f64 = 0.95;
/// Above this horizon load the quota is short.
pub(crate) const SHORT_ABOVE: f64 = 1.0;
/// Above this load of a limit that was only learned it probably is …
pub(crate) const LIKELY_SHORT_ABOVE: f64 = 0.85;
/// … if more than this share of the calls fails, and what was served says something of the limit.
pub(crate) const LEAST_FAILING: f64 = 0.03;
/// It says little in a storm: with nobody held back less than this share of the calls succeeds …
pub(crate) const STORM_SUCCESS: f64 = 0.6;
/// … and more than this share of the retries is refused again, so that refused requests may fill the limit …
pub(crate) const STORM_AGAIN: f64 = 0.9;
/// … though above this load even a limit of twice that size is short.
pub(crate) const STORM_UP_TO: f64 = 2.0;
/// And it says little behind a gate, where refusals that do not name their limit let less than this share of the calls
/// through: the limit may be one in flight.
pub(crate) const DAMMED_SUCCESS: f64 = 0.55;
/// Above this share of first attempts throttled no curve helps: it bends only what comes after the first.
pub(crate) const UNPACED_ABOVE: f64 = 0.27;
/// Above this share of errors among attempts that met no limit, the provider has something to repair.
pub(crate) const MOST_ERRORS: f64 = 0.01;
/// Behind a gate so small a share of the failed calls that errors ended is none of the provider's making: the others waited
/// for the gate.
pub(crate) const LEAST_BLAMED_ERRORS: f64 = 0.1;
/// Above this share of retries throttled, or of failed calls without attempts left, retries come too early.
pub(crate) const TOO_FAST_ABOVE: f64 = 0.5;
/// Above this share of failed calls out of time, retries come too late.
pub(crate) const TOO_SLOW_ABOVE: f64 = 0.3;

/// The cause these numbers show.
pub(crate) fn cause(seen: &Evidence) -> Cause {
    let told = told(seen);
    if seen.calls < LEAST_CALLS {
        return told.unwrap_or(Cause::NotEnoughData);
    }
    if let Some(cause) = told {
        return cause;
    }
    if !seen.objective.is_missed() {
        return Cause::Healthy;
    }
    // What was learned of a limit says nothing where it was that of the day which refused.
    if is_locked_out(seen) && seen.loads.is_empty() {
        return Cause::DailySpent;
    }
    if is_short(seen) {
        return Cause::QuotaTooSmall;
    }
    if is_locked_out(seen) {
        return Cause::DailySpent;
    }
    let gate_ended = seen.gated && seen.blame.failure <= LEAST_BLAMED_ERRORS;
    if seen.errors > MOST_ERRORS && !gate_ended {
        return Cause::ProviderErrors;
    }
    if seen.refuses_without_use() {
        return Cause::Overloaded;
    }
    if seen.blame.minute <= MOSTLY && seen.blame.overload <= MOSTLY {
        return Cause::Unclear;
    }
    if seen.firsts_throttled > UNPACED_ABOVE || seen.gated {
        return Cause::Unpaced;
    }
    if seen.retries_throttled > TOO_FAST_ABOVE || seen.exhausted > TOO_FAST_ABOVE {
        return Cause::BackoffTooFast;
    }
    if seen.out_of_time > TOO_SLOW_ABOVE {
        return Cause::BackoffTooSlow;
    }
    Cause::Unclear
}

/// Whether more is asked for than can be served in time. Where no limit is known, what was served while something was
/// refused stands for it.
fn is_short(seen: &Evidence) -> bool {
    match seen.horizon_load() {
        Some(load) => load > SHORT_ABOVE,
        None => {
            seen.learned_load > LIKELY_SHORT_ABOVE
                && 1.0 - seen.objective.success() > LEAST_FAILING
                && !is_storm(seen)
                && !is_dammed(seen)
        }
    }
}

/// Whether a limit that no answer names let nothing through for long; or until now, hardly used as it was, and not by
/// refused attempts either.
fn is_locked_out(seen: &Evidence) -> bool {
    let unused = seen.used_when_throttled.is_some_and(|used| used < HARDLY_USED) && !seen.may_fill_a_limit();
    let locked_out = seen.locked_out || (seen.locked_out_lately && unused);
    locked_out && seen.inferred() && seen.blame.minute > MOSTLY
}

/// Whether refused requests themselves may be what fills a limit that nobody knows.
fn is_storm(seen: &Evidence) -> bool {
    let refused = seen.objective.success() < STORM_SUCCESS && seen.retries_throttled > STORM_AGAIN;
    refused && !seen.gated && seen.learned_load <= STORM_UP_TO
}

/// Whether calls are held back by a limit that nobody names or knows, and need not be one of a minute.
fn is_dammed(seen: &Evidence) -> bool {
    seen.gated && seen.inferred() && seen.objective.success() < DAMMED_SUCCESS
}

/// The cause that the answers themselves name, if most of the trouble has one.
fn told(seen: &Evidence) -> Option<Cause> {
    let failed = seen.objective.failed;
    let wrong = |wrong: f64| share(wrong, seen.ended) > MOST_WRONG && wrong >= failed;
    let enough = |told: f64| seen.calls >= LEAST_CALLS || told >= LEAST_TOLD;
    if wrong(seen.wrong) && enough(seen.wrong) {
        return Some(Cause::CallerErrors);
    }
    if wrong(seen.too_large) && enough(seen.too_large) {
        return Some(Cause::QuotaTooSmall);
    }
    if !seen.objective.is_missed() || !enough(failed.max(seen.failed_attempts)) {
        return None;
    }
    let blame = seen.blame;
    let few_attempts = seen.objective.attempts_per_call <= MOST_ATTEMPTS_PER_CALL;
    let ridden_out = !seen.gated && few_attempts && seen.objective.success() > RIDDEN_OUT;
    [
        (blame.spend, Cause::SpendLimit),
        (blame.day, Cause::DailySpent),
        (blame.failure, Cause::ProviderErrors),
        (blame.concurrency, Cause::Concurrency),
        (if ridden_out { 0.0 } else { blame.overload }, Cause::Overloaded),
    ]
    .into_iter()
    .find(|(part, _)| *part > MOSTLY)
    .map(|(_, cause)| cause)
}

/// Why it is none of the causes that this one is mistaken for.
pub(crate) fn why_not(cause: Cause, seen: &Evidence) -> Vec<WhyNot> {
    let not = |cause, why: String| WhyNot { cause, why };
    let load = seen.horizon_load();
    let mut reasons = Vec::new();
    let by_load = [Cause::Unpaced, Cause::BackoffTooFast, Cause::BackoffTooSlow];
    if by_load.contains(&cause)
        && let Some(load) = load
    {
        let why = format!("the horizon load is {load:.2}; the quota is short above {SHORT_ABOVE}");
        reasons.push(not(Cause::QuotaTooSmall, why));
    }
    if cause == Cause::QuotaTooSmall {
        let what = load.map_or_else(
            || format!("{:.2} times what was served at the limit was asked for", seen.learned_load),
            |load| format!("the horizon load is {load:.2}: no pacing serves that in time"),
        );
        by_load.iter().for_each(|cause| reasons.push(not(*cause, what.clone())));
    }
    if matches!(cause, Cause::BackoffTooFast | Cause::BackoffTooSlow) {
        let why = format!(
            "{} of the first attempts were throttled; above {} no curve helps",
            percent(seen.firsts_throttled),
            percent(UNPACED_ABOVE)
        );
        reasons.push(not(Cause::Unpaced, why));
    }
    if cause == Cause::BackoffTooFast {
        let why = format!("{} of the retries were throttled again", percent(seen.retries_throttled));
        reasons.push(not(Cause::BackoffTooSlow, why));
    }
    if cause == Cause::BackoffTooSlow {
        let why = format!("only {} of the retries were throttled again", percent(seen.retries_throttled));
        reasons.push(not(Cause::BackoffTooFast, why));
    }
    if cause == Cause::Overloaded && seen.inferred() {
        let used = seen.used_when_throttled.unwrap_or_default();
        let why = format!("{} of the limit was in use when something was refused", percent(used));
        reasons.push(not(Cause::QuotaTooSmall, why));
    }
    reasons
}

#[cfg(test)]
#[path = "rules_tests.rs"]
mod tests;
