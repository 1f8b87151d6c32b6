//! What is asked for against what can be served.

use crate::diagnose::certainty::UNCERTAIN;
use crate::diagnose::evidence::{FAR_FROM_SHORT, SURELY_ENOUGH};
use crate::diagnose::promql::steps::{STEP, as_of_now};
use crate::diagnose::promql::yaml::{Group, Rule};
use crate::diagnose::rules::{LIKELY_SHORT_ABOVE, SHORT_ABOVE, STORM_UP_TO};

/// Loads at which it is counted how many calls met more: those that verdicts compare with, and some to see between.
fn loads() -> Vec<f64> {
    let mut loads = vec![
        FAR_FROM_SHORT,
        SURELY_ENOUGH,
        SHORT_ABOVE,
        *UNCERTAIN.start(),
        *UNCERTAIN.end(),
        0.25,
        1.5,
        2.0,
        3.0,
        5.0,
        10.0,
    ];
    loads.sort_unstable_by(f64::total_cmp);
    loads.dedup();
    loads
}

/// The share of the calls of an hour that came when more than `load` times what can be served was asked for.
fn calls_above(servable: &str, load: f64) -> String {
    // The hour is measured by what can be served as of now, as the diagnosis does.
    format!(
        "sum_over_time((pool:forbear_calls:increase_minute * on ($by) group_right ()\n  \
         (max without (horizon) (pool:forbear_asked:increase / {}) > bool {load})\n\
         )[1h:{STEP}])\n\
         / on ($by) group_left () (sum_over_time(pool:forbear_calls:increase_minute[1h:{STEP}]) > 0)",
        as_of_now(servable)
    )
}

pub(super) fn group() -> Group {
    let above = |load: f64| {
        let about =
            "The share of the calls that came when so many times what the limit can serve in time was asked for.";
        Rule::record("pool:forbear_calls_above:ratio1h", about, calls_above("pool:forbear_servable:amount", load))
            .label("load", load.to_string())
    };
    let learned = |load: f64| {
        let about = "The same against what was served while something was refused.";
        let expr = calls_above("pool:forbear_learned_servable:amount", load);
        Rule::record("pool:forbear_calls_above_learned:ratio1h", about, expr).label("load", load.to_string())
    };
    let mut rules: Vec<_> = loads().into_iter().map(above).collect();
    rules.extend([LIKELY_SHORT_ABOVE, STORM_UP_TO].map(learned));
    rules.push(Rule::record(
        "pool:forbear_horizon_load:1h",
        "The load that only a twentieth of the calls exceeded, between the loads counted above; 10 stands for more.",
        "max by ($by) (histogram_quantile(0.95,\n  \
         max without (load) (label_replace(1 - pool:forbear_calls_above:ratio1h, \"le\", \"$1\", \"load\", \"(.*)\"))\n  \
         or label_replace(max without (load) (pool:forbear_calls_above:ratio1h) * 0 + 1, \"le\", \"+Inf\", \"\", \"\")\n))",
    ));
    Group::of("forbear-demand", rules)
}
