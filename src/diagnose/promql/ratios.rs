//! Shares of an hour's calls and attempts.

use crate::diagnose::evidence::{NOTABLE_ERRORS, SERVED_BEFORE};
use crate::diagnose::objective::MOST_ATTEMPTS_PER_CALL;
use crate::diagnose::promql::share;
use crate::diagnose::promql::steps::{STEP, as_of_now};
use crate::diagnose::promql::yaml::{Group, Rule};
use crate::diagnose::supply::LOCKED_OUT_FOR;

/// What may stand in the way, with the totals of the calls and of the attempts that it ended.
const REASONS: [(&str, &str, &str); 4] = [
    ("day", "$ended_by_day", "$throttled_by_day"),
    ("spend", "$ended_by_spend", "$throttled_by_spend"),
    ("overload", "$ended_by_overload", "$throttled_by_overload"),
    ("concurrency", "$ended_by_concurrency", "$throttled_by_concurrency"),
];

/// What a reason ended: calls, where calls fail; attempts, where they only need too many.
fn blamed(reason: &str, calls: &str, attempts: &str) -> Rule {
    let expr = format!("pool:forbear_fails:bool1h * ({calls}) + (1 - pool:forbear_fails:bool1h) * ({attempts})");
    Rule::record("pool:forbear_blamed:increase1h", "What stood in the way, and how often.", expr)
        .label("reason", reason)
}

pub(super) fn group() -> Group {
    let ratio = |name: &str, about: &str, part: &str, whole: &str| {
        Rule::record(format!("pool:forbear_{name}:ratio1h"), about, share(part, whole))
    };
    let failed = "pool:forbear_calls_failed:increase1h";
    // A call that waited until too late is cut in its attempt: the wait is to blame, unless attempts fail as well that did
    // not wait.
    let late = format!("(pool:forbear_errors:ratio1h < bool {NOTABLE_ERRORS})");
    let mut rules = vec![
        Rule::record(
            failed,
            "Calls that did not succeed; those whose caller went away or whose request was wrong are left out.",
            "clamp_min($ended - $succeeded - $cancelled - $not_retryable, 0)",
        ),
        Rule::record(
            "pool:forbear_success:ratio1h",
            "The share of calls that succeeded; all of none.",
            format!("$succeeded / ($succeeded + ({failed} > 0)) or $calls * 0 + 1"),
        ),
        ratio("attempts_per_call", "Attempts a call.", "$attempts", "$calls"),
        Rule::record(
            "pool:forbear_missed:bool1h",
            "Whether the objective was missed.",
            format!(
                "(pool:forbear_success:ratio1h < bool $least_success)\n\
                 + (pool:forbear_attempts_per_call:ratio1h > bool {MOST_ATTEMPTS_PER_CALL}) > bool 0"
            ),
        ),
        ratio(
            "overload",
            "Attempts that the provider's want of capacity refused.",
            "$throttled_by_overload",
            "$attempts",
        ),
        ratio("firsts_throttled", "First attempts that a limit of a minute refused.", "$firsts_throttled", "$firsts"),
        ratio(
            "retries_throttled",
            "Later attempts that a limit of a minute refused.",
            "$throttled - $firsts_throttled",
            "$attempts - $firsts",
        ),
        ratio("exhausted", "Failed calls that used all their attempts.", "$exhausted", failed),
        ratio("out_of_time", "Failed calls that ran out of time.", "$out_of_time + $told_too_long", failed),
        ratio("unnamed", "Refusals that did not name their limit.", "$throttled_by_unknown", "$throttled"),
        ratio("errors", "Attempts that neither waited nor met a limit, and failed.", "$prompt_failed", "$prompt"),
        Rule::record(
            "pool:forbear_fails:bool1h",
            "Whether calls fail; else they only need too many attempts.",
            format!("{failed} > bool $most_failing * ({failed} + $succeeded)"),
        ),
        Rule::record(
            "pool:forbear_locked_out:bool1h",
            "Whether ten minutes passed in which much was tried and nothing succeeded, and nobody said that it would pass, or most was served at other times.",
            format!(
                "max_over_time(((pool:forbear_locked_out:bool10m == 1)\n  \
                 unless ((pool:forbear_told_soon:bool10m == 1) unless {success} > {SERVED_BEFORE}))[{tried}m:{STEP}])\n\
                 or $calls * 0",
                success = as_of_now("pool:forbear_success:ratio1h"),
                tried = 60.0 - LOCKED_OUT_FOR
            ),
        ),
        blamed(
            "minute",
            &format!("$ended_by_minute + {late} * $ended_by_failure"),
            &format!("$throttled + {late} * $failed"),
        ),
        blamed("failure", &format!("(1 - {late}) * $ended_by_failure"), &format!("(1 - {late}) * $failed")),
    ];
    rules.extend(REASONS.map(|(reason, calls, attempts)| blamed(reason, calls, attempts)));
    rules.push(Rule::record(
        "pool:forbear_blame:ratio1h",
        "What stood in the way, as shares.",
        "pool:forbear_blamed:increase1h / on ($by) group_left () (sum without (reason) (pool:forbear_blamed:increase1h) > 0)",
    ));
    // Twenty are too many: what follows from the others stands apart.
    Group::of("forbear-ratios", rules)
}
