//! Alerts that become work: one a pool, named after what has to be changed.

use crate::diagnose::cause::Cause;
use crate::diagnose::evidence::MORE_THAN_SET;
use crate::diagnose::explain::{self, DIFFERS_BY};
use crate::diagnose::promql::alerts::{Severity, alert};
use crate::diagnose::promql::burn::rise;
use crate::diagnose::promql::causes::VERDICT;
use crate::diagnose::promql::yaml::{Group, Rule};

/// The causes that become a ticket, by the names of their alerts, with the numbers they show.
const CAUSES: [(Cause, &str, &str, &str); 9] = [
    (
        Cause::QuotaTooSmall,
        "QuotaTooSmall",
        "A quota is too small for what is asked for.",
        "{{ with printf \"pool:forbear_horizon_load:1h{$same}\" $its_labels | query }}\
         {{ . | first | value | printf \"%.1f\" }} times what the quota can serve in time is asked for. {{ end }}",
    ),
    (Cause::BackoffTooFast, "BackoffTooFast", "Calls retry before the quota is back.", "The quota would do. "),
    (Cause::BackoffTooSlow, "BackoffTooSlow", "Calls sleep while the quota lies idle.", "The quota would do. "),
    (Cause::Unpaced, "Unpaced", "Calls come too close together for the quota.", "The quota would do. "),
    (Cause::DailySpent, "DailySpent", "A day's quota is used up.", ""),
    (Cause::Overloaded, "Overloaded", "A provider is short of capacity of its own.", "No quota of ours helps. "),
    (Cause::Concurrency, "Concurrency", "Too many requests are in flight at once.", ""),
    (Cause::ProviderErrors, "ProviderErrors", "A provider fails, and no limit is the reason.", ""),
    (Cause::CallerErrors, "CallerErrors", "Requests are refused as wrong.", ""),
];

/// Pools that have a ticket of their cause.
const HAS_CAUSE: &str =
    "pool:forbear_verdict:1h{cause!~\"healthy|unclear|not_enough_data\", certainty!=\"provisional\"}";

fn of_cause((cause, name, summary, numbers): &(Cause, &'static str, &str, &str)) -> Rule {
    let word = cause.as_str();
    // What an hour shows must still be so. Wrong requests do not count against the objective.
    let still = match cause {
        Cause::CallerErrors => {
            format!(
                "and on ($by) {} > 0",
                rise("forbear_call_duration_seconds_count", r#" outcome="not_retryable""#, "15m")
            )
        }
        _ => "and on ($by) max_over_time(pool:forbear_missed:bool5m[15m]) == 1".to_owned(),
    };
    let description = format!(
        "{{{{ $labels.pool }}}} ({{{{ $labels.provider }}}}): {numbers}{} ({{{{ $labels.certainty }}}}).",
        capital(explain::in_short(*cause))
    );
    let expr = format!("{VERDICT}{{cause=\"{word}\", certainty!=\"provisional\"}}\n{still}");
    alert(Severity::Ticket, name, ("5m", Some("15m")), summary, &description, expr)
}

fn capital(text: &str) -> String {
    let mut letters = text.chars();
    letters.next().map_or_else(String::new, |first| first.to_uppercase().chain(letters).collect())
}

pub(super) fn group() -> Group {
    let ticket = |name, lasts, summary, description: &str, expr: String| {
        alert(Severity::Ticket, name, lasts, summary, description, expr)
    };
    let runs_out = "((DAY_LEFT + on ($by, dimension) DAY_SLOPE * on ($by, dimension) DAY_TIME < 0) and on ($by, dimension) DAY_LEFT > 0)"
        .replace("DAY_LEFT", "min by ($by, dimension) (forbear_quota_remaining{$m window=\"day\"})")
        .replace("DAY_SLOPE", "min by ($by, dimension) (deriv(forbear_quota_remaining{$m window=\"day\"}[1h]))")
        .replace(
            "DAY_TIME",
            "(max by ($by, dimension) (forbear_quota_reset_timestamp_seconds{$m window=\"day\"}) - time() > 0)",
        );
    let set = |origin: &str| format!("max by ($by, dimension, window) (forbear_quota_limit{{$m origin=\"{origin}\"}})");
    let differs = format!("abs({} / {} - 1) > {DIFFERS_BY}", set("config"), set("header"));
    let exceeded = format!(
        "pool:forbear_served_for_long:max1h > on ($by, dimension)\n  \
         max by ($by, dimension) (pool:forbear_limit:minute{{origin=\"config\"}}) * {MORE_THAN_SET}"
    );
    let wrong = format!("max by ($by) ({differs})\nor max by ($by) ({exceeded})");
    let early = format!("count by ($by) {runs_out}");
    let mut rules: Vec<_> = CAUSES.iter().map(of_cause).collect();
    rules.extend([
        ticket(
            "DailyRunsOutEarly",
            ("15m", Some("30m")),
            "A day's quota will be used up before the day ends.",
            "At the pace of the last hour the day's quota of {{ $labels.pool }} ({{ $labels.provider }}) is used up before it \
             resets: hold back what can wait, or ask for more a day.",
            format!("{early}\nunless on ($by) {HAS_CAUSE}"),
        ),
        ticket(
            "ConfiguredLimitDiffers",
            ("30m", Some("30m")),
            "A configured limit is not the provider's.",
            "A limit configured for {{ $labels.pool }} ({{ $labels.provider }}) is not what the provider grants: set what its \
             headers say, or what was served.",
            format!("(\n{wrong}\n)\nunless on ($by) {HAS_CAUSE}\nunless on ($by) {early}"),
        ),
        ticket(
            "LimitUnknown",
            ("30m", Some("30m")),
            "A limit refuses calls, and nobody knows how large it is.",
            "{{ $labels.pool }} ({{ $labels.provider }}) is throttled, and neither its answers nor its configuration state a \
             limit: set it where the pool is built, and verdicts are firm.",
            format!(
                "$throttled > 10\nunless on ($by) pool:forbear_limit:minute\nunless on ($by) {HAS_CAUSE}\nunless on ($by) {early}"
            ),
        ),
    ]);
    Group::of("forbear-tickets", rules)
}
