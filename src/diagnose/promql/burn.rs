//! How fast calls fail, over windows of every length that alerts compare.

use crate::diagnose::objective::MOST_ATTEMPTS_PER_CALL;
use crate::diagnose::promql::yaml::{Group, Rule};

/// Calls that the objective counts, and of those the ones that failed.
const COUNTED: &str = r#" outcome!~"cancelled|not_retryable""#;
const FAILED: &str = r#" outcome!~"cancelled|not_retryable|ok|ok_by_fallback""#;

/// What a metric rose by.
pub(super) fn rise(metric: &str, matchers: &str, over: &str) -> String {
    format!("sum by ($by) (increase({metric}{{$m{matchers}}}[{over}]))")
}

/// Calls that failed within a window.
fn failed(over: &str) -> String {
    rise("forbear_call_duration_seconds_count", FAILED, over)
}

/// Calls that ended within a window, as far as the objective counts them.
pub(super) fn ended(over: &str) -> String {
    rise("forbear_call_duration_seconds_count", COUNTED, over)
}

pub(super) fn group() -> Group {
    let ratio = |over: &str| {
        Rule::record(
            format!("pool:forbear_failed:ratio{over}"),
            "The share of calls that failed.",
            format!("({} or {} * 0)\n/ ({} > 0)", failed(over), ended(over), ended(over)),
        )
    };
    let mut rules = ["5m", "30m", "1h", "6h"].map(ratio).to_vec();
    rules.push(Rule::record(
        "pool:forbear_missed:bool5m",
        "Whether the objective was missed within five minutes; it was not where nothing was asked for.",
        format!(
            "(pool:forbear_failed:ratio5m > bool $most_failing or {calls} * 0)\n\
             + ({attempts} / ({calls} > 0) > bool {MOST_ATTEMPTS_PER_CALL} or {calls} * 0) > bool 0",
            calls = rise("forbear_calls_total", "", "5m"),
            attempts = rise("forbear_attempts_total", "", "5m"),
        ),
    ));
    rules.push(Rule::record(
        "pool:forbear_deadline:mean6h",
        "How long calls may take.",
        format!(
            "{}\n/ ({} > 0)",
            rise("forbear_call_deadline_seconds_sum", "", "6h"),
            rise("forbear_calls_total", "", "6h")
        ),
    ));
    Group::of("forbear-burn", rules)
}
