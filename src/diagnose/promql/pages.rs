//! Alerts that wake somebody: calls fail now, and a person can do something.

use crate::diagnose::cause::Cause;
use crate::diagnose::explain;
use crate::diagnose::promql::alerts::{Severity, alert};
use crate::diagnose::promql::burn::{ended, rise};
use crate::diagnose::promql::causes::VERDICT;
use crate::diagnose::promql::yaml::Group;

/// Fewer failures within an hour are too few to wake somebody by their rate.
const LEAST_FAILURES: f64 = 20.0;
/// So many calls that end without one success are no chance.
const LEAST_ENDED: f64 = 4.0;
/// So many that begin, and none that ends, are stuck.
const LEAST_BEGUN: f64 = 5.0;

/// The verdict on the pool of an alert, and what to do by it, as a template.
fn verdict() -> String {
    let change = |cause: &Cause| {
        let word = cause.as_str();
        format!("{{{{ if eq $cause \"{word}\" }}}}{}{{{{ end }}}}", explain::in_short(*cause))
    };
    let changes: String = Cause::ALL.iter().map(change).collect();
    format!(
        "{{{{ with printf \"{VERDICT}{{$same}}\" $its_labels | query }}}}\
         {{{{ $cause := . | first | label \"cause\" }}}}Verdict: {{{{ $cause }}}} ({{{{ . | first | label \"certainty\" }}}}): {changes}.\
         {{{{ else }}}}There is no verdict yet.{{{{ end }}}}"
    )
}

/// Calls that fail at a rate, over a long window and still over a short one.
fn burns(rate: &str, long: &str, short: &str) -> String {
    format!(
        "pool:forbear_failed:ratio{long} > {rate}\nand pool:forbear_failed:ratio{short} > {rate}\n\
         and pool:forbear_calls_failed:increase1h > {LEAST_FAILURES}"
    )
}

pub(super) fn group() -> Group {
    let page = |name, pending, summary: &str, says: &str, expr: String| {
        let description = format!("{says} {}", verdict());
        alert(Severity::Page, name, (pending, Some("5m")), summary, &description, expr)
    };
    let fail = "{{ $value | humanizePercentage }} of the calls to {{ $labels.pool }} ({{ $labels.provider }}) fail.";
    let spend = r#" limit_class="spend""#;
    let begun_not_ended = |over: &str, patience: f64| {
        let begun = rise("forbear_calls_total", "", over);
        let ended = rise("forbear_call_duration_seconds_count", "", over);
        format!("({begun} > {LEAST_BEGUN} unless {ended} > 0 unless pool:forbear_deadline:mean6h > {patience})")
    };
    Group::of(
        "forbear-pages",
        vec![
            page("CallsFailing", "2m", "Calls to a provider fail fast.", fail, burns("$burns_fast", "1h", "5m"))
                .label("speed", "fast"),
            page("CallsFailing", "15m", "Calls to a provider fail steadily.", fail, burns("$burns_slow", "6h", "30m"))
                .label("speed", "slow"),
            page(
                "AllCallsFailing",
                "5m",
                "No call to a provider succeeds, and few come.",
                "No call to {{ $labels.pool }} ({{ $labels.provider }}) succeeded for half an hour.",
                format!(
                    "pool:forbear_failed:ratio30m == 1\nand {} >= {LEAST_ENDED}\nunless pool:forbear_calls_failed:increase1h > {LEAST_FAILURES}",
                    ended("30m")
                ),
            ),
            page(
                "CallsStuck",
                "5m",
                "Calls begin and none ends.",
                "{{ $value | humanize }} calls to {{ $labels.pool }} ({{ $labels.provider }}) began, and none ended, for longer than they may take.",
                format!("{}\nor {}", begun_not_ended("15m", 600.0), begun_not_ended("2h", 5_400.0)),
            ),
            page(
                "SpendLimitReached",
                "1m",
                "An account may spend no more.",
                "The account behind {{ $labels.pool }} ({{ $labels.provider }}) may spend no more: it must be paid, or its limit raised.",
                format!(
                    "{} > 0\nor {} > 0\nor max by ($by) (forbear_gate_shut_until_timestamp_seconds{{$m{spend}}}) > time()",
                    rise("forbear_attempts_total", spend, "10m"),
                    rise("forbear_giveups_total", spend, "10m")
                ),
            ),
        ],
    )
}
