//! The causes, in the order of the diagnosis, and how sure each is.

use crate::diagnose::cause::{Cause, Certainty};
use crate::diagnose::certainty::{HOLD_OFF, UNCERTAIN};
use crate::diagnose::evidence::{
    FAR_FROM_SHORT, FILLED_BY_ATTEMPTS, HARDLY_USED, LOAD_MET_BY, MOSTLY_UNNAMED, NOT_USED, OFTEN_AGAIN,
    OFTEN_AT_FIRST, SURELY_ENOUGH,
};
use crate::diagnose::objective::MOST_ATTEMPTS_PER_CALL;
use crate::diagnose::promql::yaml::{Group, Rule};
use crate::diagnose::rules::{
    DAMMED_SUCCESS, LEAST_BLAMED_ERRORS, LEAST_CALLS, LEAST_FAILING, LEAST_TOLD, LIKELY_SHORT_ABOVE, MOST_ERRORS,
    MOST_WRONG, MOSTLY, RIDDEN_OUT, SHORT_ABOVE, STORM_AGAIN, STORM_SUCCESS, STORM_UP_TO, TOO_FAST_ABOVE,
    TOO_SLOW_ABOVE, UNPACED_ABOVE,
};

/// The series of the verdict.
pub(super) const VERDICT: &str = "pool:forbear_verdict:1h";

const FAILED: &str = "pool:forbear_calls_failed:increase1h";
const SHORT: &str = "pool:forbear_short:bool1h == 1";
const GATED: &str = "pool:forbear_gated:last";
/// How much of the limit that refused was in use then, of the fuller where there are several.
const USED: &str = "max without (dimension) (pool:forbear_used_when_refused:ratio1h)";
/// Pools in which nothing was served for long.
const LOCKED_OUT: &str = "pool:forbear_locked_out:bool1h == 1";
/// Limits that are known, one for each pool.
const KNOWN: &str = "max by ($by) (pool:forbear_limit:minute)";

/// The share of failed calls, or attempts, that a reason stands for.
fn blame(reason: &str) -> String {
    format!("max without (reason) (pool:forbear_blame:ratio1h{{reason=\"{reason}\"}})")
}

/// Pools whose calls met a larger load than this.
fn load_above(load: f64) -> String {
    format!("max without (load, dimension) (pool:forbear_calls_above:ratio1h{{load=\"{load}\"}}) >= {LOAD_MET_BY}")
}

/// The same by what was learned; of requests and tokens the one counts of which less is asked.
fn learned_load_above(load: f64) -> String {
    format!(
        "min without (load, dimension) (pool:forbear_calls_above_learned:ratio1h{{load=\"{load}\"}}) >= {LOAD_MET_BY}"
    )
}

/// Whether a reason is what most of the trouble is.
fn is_told(cause: &str) -> String {
    format!("(pool:forbear_troubled:bool1h == 1) and ({cause} > {MOSTLY})")
}

/// Whether requests are refused that no capacity would serve.
fn is_wrong(wrong: &str) -> String {
    format!(
        "({wrong}) / ($ended - $cancelled > 0) > {MOST_WRONG} and ({wrong}) >= {FAILED}\n  \
         and ($calls >= {LEAST_CALLS} or ({wrong}) >= {LEAST_TOLD})"
    )
}

/// Whether limits that do not say which they are let nothing through, of pools of which this holds.
fn is_locked_out(locked_out: &str) -> String {
    let minute = blame("minute");
    format!("({locked_out}) and (pool:forbear_unnamed:ratio1h > {MOSTLY})\n  and ({minute} > {MOSTLY})")
}

/// Whether other waits ride a want of capacity out.
fn is_ridden_out() -> String {
    format!(
        "(pool:forbear_success:ratio1h > {RIDDEN_OUT}) and (pool:forbear_attempts_per_call:ratio1h <= {MOST_ATTEMPTS_PER_CALL})\n    \
         unless {GATED}"
    )
}

/// Pools in which nothing was served for long, or until now although their limit was hardly used.
fn locked_out_unused() -> String {
    let filled = may_fill_a_limit();
    format!("({LOCKED_OUT}) or ((pool:forbear_locked_out:bool5m == 1) and ({USED} < {HARDLY_USED})\n  unless {filled})")
}

/// Whether so many attempts were made that refused ones may be what fills a limit.
fn may_fill_a_limit() -> String {
    format!("(pool:forbear_attempts_of_limit:ratio1h > {FILLED_BY_ATTEMPTS})")
}

/// Whether a limit refuses that was hardly in use.
fn refuses_without_use() -> String {
    format!(
        "pool:forbear_unnamed:ratio1h > {MOSTLY_UNNAMED} and (\n  \
         (({USED} < {HARDLY_USED})\n    \
         and (pool:forbear_firsts_throttled:ratio1h < {OFTEN_AT_FIRST}) and (pool:forbear_retries_throttled:ratio1h > {OFTEN_AGAIN})\n    \
         unless ({}))\n  \
         or (({USED} < {NOT_USED}) unless ({}))\n) unless {}",
        load_above(SURELY_ENOUGH),
        load_above(FAR_FROM_SHORT),
        may_fill_a_limit()
    )
}

/// The causes, each with where it holds; the first that holds is the verdict.
fn causes() -> Vec<(Cause, String)> {
    let [minute, overload] = ["minute", "overload"].map(blame);
    vec![
        (Cause::CallerErrors, is_wrong("$not_retryable - $too_large")),
        (Cause::QuotaTooSmall, is_wrong("$too_large")),
        (Cause::SpendLimit, is_told(&blame("spend"))),
        (Cause::DailySpent, is_told(&blame("day"))),
        (Cause::ProviderErrors, is_told(&blame("failure"))),
        (Cause::Concurrency, is_told(&blame("concurrency"))),
        (Cause::Overloaded, format!("{}\n  unless ({})", is_told(&overload), is_ridden_out())),
        (Cause::NotEnoughData, format!("$calls < {LEAST_CALLS}")),
        (Cause::Healthy, "pool:forbear_missed:bool1h == 0".to_owned()),
        (Cause::DailySpent, format!("{} unless {KNOWN}", is_locked_out(LOCKED_OUT))),
        (Cause::QuotaTooSmall, SHORT.to_owned()),
        (Cause::DailySpent, is_locked_out(&locked_out_unused())),
        (
            Cause::ProviderErrors,
            format!(
                "pool:forbear_errors:ratio1h > {MOST_ERRORS}\n  unless (({} <= {LEAST_BLAMED_ERRORS}) and {GATED})",
                blame("failure")
            ),
        ),
        (Cause::Overloaded, refuses_without_use()),
        (Cause::Unclear, format!("({minute} <= {MOSTLY}) and ({overload} <= {MOSTLY})")),
        // Right after the rules were loaded a gate is there before anything is counted.
        (Cause::Unpaced, format!("pool:forbear_firsts_throttled:ratio1h > {UNPACED_ABOVE} or {GATED} and $calls")),
        (
            Cause::BackoffTooFast,
            format!(
                "pool:forbear_retries_throttled:ratio1h > {TOO_FAST_ABOVE}\n  or pool:forbear_exhausted:ratio1h > {TOO_FAST_ABOVE}"
            ),
        ),
        (Cause::BackoffTooSlow, format!("pool:forbear_out_of_time:ratio1h > {TOO_SLOW_ABOVE}")),
        (Cause::Unclear, "$calls".to_owned()),
    ]
}

/// Of vectors with an added label, the first that has a pool.
fn first(key: &str, choices: impl Iterator<Item = (&'static str, String)>) -> String {
    let one = |(word, holds): (&str, String)| {
        format!("label_replace(clamp({holds}, 1, 1),\n  \"{key}\", \"{word}\", \"\", \"\")")
    };
    choices.map(one).collect::<Vec<_>>().join("\nor on ($by)\n")
}

/// Whether a limit is short; where nobody knows one, by what was served while something was refused.
fn is_short() -> String {
    format!(
        "({})\nor (\n  ({}) and (1 - pool:forbear_success:ratio1h > {LEAST_FAILING})\n  \
         unless ({})\n  unless ({})\n  unless {KNOWN}\n)",
        load_above(SHORT_ABOVE),
        learned_load_above(LIKELY_SHORT_ABOVE),
        is_storm(),
        is_dammed(),
    )
}

/// Whether refused requests themselves may be what fills a limit that nobody knows.
fn is_storm() -> String {
    format!(
        "(pool:forbear_success:ratio1h < {STORM_SUCCESS}) and (pool:forbear_retries_throttled:ratio1h > {STORM_AGAIN})\n    \
         unless {GATED} unless ({})",
        learned_load_above(STORM_UP_TO)
    )
}

/// Whether calls are held back by a limit that nobody names or knows, and need not be one of a minute.
fn is_dammed() -> String {
    format!(
        "(pool:forbear_success:ratio1h < {DAMMED_SUCCESS}) and (pool:forbear_unnamed:ratio1h > {MOSTLY_UNNAMED}) and {GATED}"
    )
}

/// How sure each cause is.
fn certainties() -> Vec<(&'static str, String)> {
    let by_load = "pool:forbear_cause:1h{cause=~\"quota_too_small|unpaced|backoff_too_fast|backoff_too_slow|unclear\"}";
    let caller = "pool:forbear_cause:1h{cause=~\"unpaced|backoff_too_fast|backoff_too_slow|unclear\"}";
    let bare = |series: &str| format!("max without (cause) ({series})");
    let near = format!("({}) unless ({})", load_above(*UNCERTAIN.start()), load_above(*UNCERTAIN.end()));
    let inferred = bare("pool:forbear_cause:1h{cause=~\"daily_spent|overloaded\"}");
    vec![
        (
            Certainty::Provisional.as_str(),
            format!(
                "{} or ({} and pool:forbear_failing:minutes1h < {HOLD_OFF})",
                bare("pool:forbear_cause:1h{cause=\"not_enough_data\"}"),
                bare(caller)
            ),
        ),
        (
            Certainty::Likely.as_str(),
            format!(
                "({by_load} and (({near}) or ($calls unless {KNOWN})))\n  \
                 or ({inferred} and pool:forbear_unnamed:ratio1h > {MOSTLY_UNNAMED})\n  or {unclear}",
                by_load = bare(by_load),
                unclear = bare("pool:forbear_cause:1h{cause=\"unclear\"}"),
            ),
        ),
        (Certainty::Firm.as_str(), bare("pool:forbear_cause:1h")),
    ]
}

pub(super) fn group() -> Group {
    let causes = causes().into_iter().map(|(cause, holds)| (cause.as_str(), holds));
    Group::of(
        "forbear-verdict",
        vec![
            Rule::record(
                GATED,
                "Pools whose callers hold each other back.",
                "max by ($by) (last_over_time(forbear_gate_info{$m mode!=\"off\"}[15m]))",
            ),
            Rule::record(
                "pool:forbear_troubled:bool1h",
                "Pools of whose troubles there are enough to say where they come from.",
                format!(
                    "(pool:forbear_missed:bool1h == 1)\n\
                     and ($calls >= {LEAST_CALLS} or {FAILED} >= {LEAST_TOLD} or $attempts - $served >= {LEAST_TOLD})"
                ),
            ),
            Rule::record(
                "pool:forbear_short:bool1h",
                "Pools of which more is asked than can be served in time, however calls are paced.",
                format!("clamp({}, 1, 1)", is_short()),
            ),
            Rule::record(
                "pool:forbear_failing:minutes1h",
                "For how many minutes of the hour the objective was missed.",
                "sum_over_time(pool:forbear_missed:bool5m[1h:5m]) * 5",
            ),
            Rule::record("pool:forbear_cause:1h", "The first cause that holds.", first("cause", causes)),
            Rule::record(
                VERDICT,
                "The cause, and how sure it is.",
                format!(
                    "pool:forbear_cause:1h * on ($by) group_left (certainty) (\n{}\n)",
                    first("certainty", certainties().into_iter())
                ),
            ),
        ],
    )
}
