//! What the limits can serve within a horizon and the callers' patience after it.

use crate::core::signal::Dimension;
use crate::diagnose::evidence::{ENOUGH_SUCCESSES, MORE_THAN_SET, NOTABLE_POLICY};
use crate::diagnose::promql::steps::{STEP, horizons, minutes};
use crate::diagnose::promql::yaml::{Group, Rule};

/// What of a dimension was expected to be used, and what was.
const fn totals(dimension: Dimension) -> [&'static str; 2] {
    match dimension {
        Dimension::Requests => ["$calls", "$served"],
        Dimension::Tokens => {
            ["($offered_input + $offered_output + $offered_unsided)", "($used_input + $used_output + $used_unsided)"]
        }
        Dimension::InputTokens => ["$offered_input", "$used_input"],
        Dimension::OutputTokens => ["$offered_output", "$used_output"],
    }
}

/// By how much what is asked for has to be multiplied to be what is used: see what is asked for.
fn need(dimension: Dimension) -> String {
    let [offered, used] = totals(dimension);
    if dimension == Dimension::Requests {
        return "$calls * 0 + 1".to_owned();
    }
    format!(
        "(({used} > 0) / $served / (({offered} > 0) / $calls) and $served >= {ENOUGH_SUCCESSES})\n\
         or ({offered} > 0) * 0 + 1\nor {used} / ($served > 0)\nor $calls * 0"
    )
}

/// What an amount a minute serves within a horizon and the patience after it, in the units of what is asked for.
fn servable(minute: &str, head_start: &str, horizon: f64) -> String {
    format!(
        "({minute} * on ($by) group_left () (({} + pool:forbear_patience:seconds1h) / 60){head_start})\n\
         / on ($by, dimension) pool:forbear_need:ratio1h",
        horizon * 60.0
    )
}

/// The limits of a minute that were last known, by who said so.
fn limits(origin: &str) -> String {
    format!(
        "max by ($by, dimension, origin) (last_over_time(forbear_quota_limit{{$m window!=\"day\", origin=\"{origin}\"}}[15m]) > 0)"
    )
}

pub(super) fn group() -> Group {
    let most =
        |name: &str, series: &str, about: &str| Rule::record(name, about, format!("max_over_time({series}[1h])"));
    let mut rules = vec![
        Rule::record(
            "pool:forbear_patience:seconds1h",
            "How long the least patient calls may wait: an attempt's own time is not theirs to wait.",
            format!(
                "min by ($by) (\n  \
                 sum by ($by, policy) (increase(forbear_call_deadline_seconds_sum{{$m}}[1h]))\n  \
                 / (sum by ($by, policy) (increase(forbear_calls_total{{$m}}[1h]))\n    \
                 > on ($by) group_left () $calls * {NOTABLE_POLICY})\n)\n\
                 - ($attempt_seconds / ($attempts > 0) or $calls * 0)"
            ),
        ),
        Rule::record(
            "pool:forbear_limit:minute",
            "The limits of a minute; what the provider says beats what is configured.",
            format!("{}\nor on ($by, dimension) {}", limits("header"), limits("config")),
        ),
        most(
            "pool:forbear_served_for_long:max1h",
            "pool:forbear_served_for_long:minute",
            "The most that succeeded a minute over a quarter of an hour.",
        ),
        Rule::record(
            "pool:forbear_granted:minute",
            "What a limit grants; a configured one of which clearly more was served is larger than it was said to be.",
            format!(
                "pool:forbear_served_for_long:max1h\n  \
                 > on ($by, dimension) max by ($by, dimension) (pool:forbear_limit:minute{{origin=\"config\"}}) * {MORE_THAN_SET}\n\
                 or on ($by, dimension) max by ($by, dimension) (pool:forbear_limit:minute)"
            ),
        ),
        most("pool:forbear_served:max1h", "pool:forbear_served:minute", "The most that succeeded within a minute."),
        Rule::record(
            "pool:forbear_head_start:minutes",
            "Half of what was served in one minute above the limit: what a full bucket, or a new window, adds.",
            "clamp(pool:forbear_served:max1h / pool:forbear_granted:minute - 1, 0, 1) / 2",
        ),
        most(
            "pool:forbear_learned:minute",
            "pool:forbear_served_at_limit:minute",
            "The most that was served while something was refused: what stands for a limit that nobody knows.",
        ),
        Rule::record(
            "pool:forbear_used_when_refused:ratio1h",
            "How much of a limit was in use when something was refused.",
            format!(
                "sum_over_time((pool:forbear_served:minute * on ($by) group_left () pool:forbear_refused:minute)[1h:{STEP}])\n\
                 / on ($by) group_left () (sum_over_time(pool:forbear_refused:minute[1h:{STEP}]) > 0)\n\
                 / on ($by, dimension) pool:forbear_granted:minute"
            ),
        ),
    ];
    rules.push(Rule::record(
        "pool:forbear_attempts_of_limit:ratio1h",
        "Attempts over what the limit on requests grants: refused ones may be what fills it.",
        "$attempts / on ($by) (max by ($by) (pool:forbear_granted:minute{dimension=\"requests\"}) * 60)",
    ));
    rules.extend(Dimension::ALL.iter().map(|dimension| {
        let about = "What is used, over what was asked for: estimates may be wrong, or missing.";
        Rule::record("pool:forbear_need:ratio1h", about, need(*dimension)).label("dimension", dimension.to_string())
    }));
    let head_start = "\n  + pool:forbear_granted:minute * pool:forbear_head_start:minutes";
    for horizon in horizons() {
        let granted = servable("pool:forbear_granted:minute", head_start, horizon);
        let about = "What the limits can serve of what is asked for within a horizon.";
        rules.push(Rule::record("pool:forbear_servable:amount", about, granted).label("horizon", minutes(horizon)));
    }
    Group::of("forbear-supply", rules)
}

/// The same for limits that nobody knows.
pub(super) fn learned_group() -> Group {
    let about = "What was served while something was refused can serve of what is asked for within a horizon.";
    let learned = "pool:forbear_learned:minute{dimension=~\"requests|tokens\"} > 0";
    let rule = |horizon| {
        let expr = servable(&format!("({learned})"), "", horizon);
        Rule::record("pool:forbear_learned_servable:amount", about, expr).label("horizon", minutes(horizon))
    };
    Group::of("forbear-learned", horizons().map(rule).collect())
}
