//! What was asked for, served and refused up to each time: looked at with every scrape.

use crate::core::signal::Dimension;
use crate::diagnose::demand::HORIZONS;
use crate::diagnose::promql::yaml::{Group, Rule};
use crate::diagnose::supply::{
    LEARNED_OVER, LEAST_SERVED, LOCKED_OUT_FOR, LOCKED_OUT_LATELY, LOCKED_OUT_TRIES, OFTEN_TOLD, SUSTAINED_OVER,
    TOLD_SOON,
};

/// How often: as often as metrics are scraped.
pub(super) const STEP: &str = "$step";
/// Of the scrapes that ten minutes should hold, so many must be there: one may be late, or lost.
const SCRAPES_SEEN: f64 = 0.95;
/// In how many minutes scrapes are counted.
const COUNTED_OVER: f64 = 10.0;
/// The limits of a minute.
const OF_MINUTE: &str = r#"limit_class=~"request_rate|token_throughput|unknown""#;

/// A number of minutes in PromQL.
pub(super) fn minutes(minutes: f64) -> String {
    format!("{minutes}m")
}

/// The horizons of the diagnosis that rules look at: half a minute would ask for a scrape every seven seconds.
pub(super) fn horizons() -> impl Iterator<Item = f64> {
    HORIZONS.into_iter().filter(|minutes| *minutes >= 1.0)
}

/// The value that a recorded series had last at the time a rule is evaluated for, wherever in a subquery it stands.
///
/// Over a stretch, because VictoriaMetrics answers `@ end()` behind a bare series with nothing; the stretch is as long as a
/// Prometheus looks back for one, so both say the same.
pub(super) fn as_of_now(series: &str) -> String {
    format!("last_over_time({series}[5m] @ end())")
}

/// Pools of which so many minutes hold four scrapes at least.
fn scraped_within(minutes: f64) -> String {
    let scrapes = 4.0 * COUNTED_OVER / minutes * SCRAPES_SEEN;
    format!("on ($by) pool:forbear_scrapes:count10m >= {scrapes}")
}

/// An amount of each dimension as one vector, told apart by the label `dimension`.
pub(super) fn by_dimension(of: impl Fn(Dimension) -> String) -> String {
    let one = |dimension: &Dimension| {
        format!("label_replace({}, \"dimension\", \"{dimension}\", \"\", \"\")", of(*dimension))
    };
    Dimension::ALL.iter().map(one).collect::<Vec<_>>().join("\nor ")
}

/// The matcher of the tokens that a dimension counts.
fn kind(dimension: Dimension) -> &'static str {
    match dimension {
        Dimension::InputTokens => r#" token_kind="input""#,
        Dimension::OutputTokens => r#" token_kind="output""#,
        _ => "",
    }
}

/// What a metric rose by within so many minutes.
pub(super) fn rise(metric: &str, matchers: &str, over: f64) -> String {
    format!("sum by ($by) (increase({metric}{{$m{matchers}}}[{}]))", minutes(over))
}

/// What succeeded within so many minutes, a minute.
fn served(over: f64) -> String {
    let amount = by_dimension(|dimension| match dimension {
        Dimension::Requests => rise("forbear_attempts_total", r#" outcome="ok""#, over),
        tokens => rise("forbear_used_tokens_total", kind(tokens), over),
    });
    if over == 1.0 { amount } else { format!("({amount}) / {over}") }
}

/// Over the first of these stretches that is four scrapes long, or the last.
fn first_long_enough(stretches: &[f64], of: impl Fn(f64) -> String) -> String {
    let one = |(place, stretch): (usize, &f64)| {
        let last = place + 1 == stretches.len();
        let enough = if last { String::new() } else { format!(" and {}", scraped_within(*stretch)) };
        let shorter = place
            .checked_sub(1)
            .map_or_else(String::new, |shorter| format!(" unless {}", scraped_within(stretches[shorter])));
        format!("(({}){enough}{shorter})", of(*stretch))
    };
    stretches.iter().enumerate().map(one).collect::<Vec<_>>().join("\nor ")
}

/// What was asked for within a horizon: tokens as they were expected, and calls where nobody expects any.
fn asked(horizon: f64) -> String {
    let calls = rise("forbear_calls_total", "", horizon);
    let amount = by_dimension(|dimension| match dimension {
        Dimension::Requests => calls.clone(),
        tokens => format!("{} > 0 or {calls}", rise("forbear_offered_tokens_total", kind(tokens), horizon)),
    });
    format!("({amount})\nand {}", scraped_within(horizon))
}

/// Whether much was tried within so many minutes, or turned away by the gate, and nothing succeeded.
fn locked_out(over: f64) -> String {
    let rise = |metric: &str, matchers: &str| rise(metric, matchers, over);
    let calls = rise("forbear_calls_total", "");
    let served = rise("forbear_attempts_total", r#" outcome="ok""#);
    let attempts = rise("forbear_attempts_total", "");
    let refused = rise("forbear_giveups_total", r#" outcome="gate_refused""#);
    format!(
        "(({served} or {calls} * 0) < bool {LEAST_SERVED})\n\
         * ((({attempts} or {calls} * 0)\n  + ({refused} or {calls} * 0)) >= bool {LOCKED_OUT_TRIES})"
    )
}

pub(super) fn group() -> Group {
    let refused = |over| rise("forbear_attempts_total", &format!(" {OF_MINUTE}"), over);
    let mut rules = vec![
        Rule::record(
            "pool:forbear_scrapes:count10m",
            "Scrapes within ten minutes, of the process that is scraped most often.",
            "max by ($by) (count_over_time(forbear_gate_info{$m}[10m]))",
        ),
        Rule::record(
            "pool:forbear_calls:increase_minute",
            "Calls offered within a minute, or the shortest horizon that four scrapes fill.",
            first_long_enough(&[1.0, 2.0, 5.0], |over| rise("forbear_calls_total", "", over)),
        ),
    ];
    rules.extend(horizons().map(|horizon| {
        let about = "What was offered within a horizon, by what a quota may count.";
        Rule::record("pool:forbear_asked:increase", about, asked(horizon)).label("horizon", minutes(horizon))
    }));
    rules.extend([
        Rule::record(
            "pool:forbear_served:minute",
            "What succeeded within a minute.",
            first_long_enough(&[1.0, 2.0, 4.0], served),
        ),
        Rule::record(
            "pool:forbear_refused:minute",
            "Attempts that a limit of a minute refused within it.",
            first_long_enough(&[1.0, 2.0, 4.0], refused),
        ),
        Rule::record(
            "pool:forbear_served_at_limit:minute",
            "What succeeded a minute while a limit of a minute refused something.",
            first_long_enough(&[LEARNED_OVER, 4.0], |over| {
                format!("({}) and on ($by) {} > 0", served(over), refused(over))
            }),
        ),
        Rule::record(
            "pool:forbear_served_for_long:minute",
            "What succeeded a minute over a quarter of an hour.",
            served(SUSTAINED_OVER),
        ),
        Rule::record(
            "pool:forbear_locked_out:bool10m",
            "Whether much was tried, or turned away by the gate, within ten minutes and nothing succeeded.",
            locked_out(LOCKED_OUT_FOR),
        ),
        Rule::record("pool:forbear_locked_out:bool5m", "The same within five minutes.", locked_out(LOCKED_OUT_LATELY)),
        Rule::record(
            "pool:forbear_told_soon:bool10m",
            "Whether the provider kept saying within ten minutes that it was a matter of seconds.",
            {
                let told = |part: &str| {
                    let metric = format!("forbear_delay_seconds_{part}");
                    rise(&metric, r#" delay_source=~"header|body""#, LOCKED_OUT_FOR)
                };
                format!(
                    "({count} > bool on ($by) {refused} * {OFTEN_TOLD})\n* on ($by) ({sum} < bool {count} * {soon})",
                    count = told("count"),
                    sum = told("sum"),
                    refused = refused(LOCKED_OUT_FOR),
                    soon = TOLD_SOON * 60.0
                )
            },
        ),
    ]);
    Group { interval: STEP, ..Group::of("forbear-steps", rules) }
}
