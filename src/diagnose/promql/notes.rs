//! Alerts that nobody is called for: what is worth knowing when somebody looks.

use crate::diagnose::promql::alerts::{Severity, alert};
use crate::diagnose::promql::burn::rise;
use crate::diagnose::promql::yaml::Group;

/// Of the calls that fail, the share above which stated delays that no deadline covers are worth knowing.
const NOTABLE_SHARE: f64 = 0.05;
/// Requests on the wire above so many times the attempts are not ours.
const MORE_THAN_ATTEMPTS: f64 = 1.02;
/// Fewer within an hour are chance.
const NOTABLE: f64 = 5.0;

pub(super) fn group() -> Group {
    let note = |name, pending, summary: &str, description: &str, expr: String| {
        alert(Severity::Info, name, (pending, None), summary, description, expr)
    };
    let pool = "{{ $labels.pool }} ({{ $labels.provider }})";
    let stacked = rise("forbear_stacked_retries_total", "", "1h");
    let wire = rise("forbear_wire_requests_total", "", "1h");
    let unreadable = rise("forbear_unreadable_signals_total", "", "1h");
    let told = rise(
        "forbear_giveups_total",
        r#" outcome=~"deadline_exceeded|stated_delay_too_long|gate_refused", delay_source=~"header|body""#,
        "1h",
    );
    let build = |inner: &str| format!("max by ($process) ({inner})");
    Group::of(
        "forbear-notes",
        vec![
            note(
                "StackedRetries",
                "5m",
                "Calls are retried by two layers.",
                &format!("Something below or above retries the calls to {pool} as well: each attempt becomes several."),
                format!("{stacked} > 0\nor {wire} > $attempts * {MORE_THAN_ATTEMPTS} + {NOTABLE}"),
            ),
            note(
                "UnreadableSignals",
                "15m",
                "Throttles of a provider cannot be read.",
                &format!(
                    "{{{{ $value | humanize }}}} throttles of {pool} did not say in a known way when to come back, or why."
                ),
                format!("{unreadable} > {NOTABLE}"),
            ),
            note(
                "DeadlinesBelowStatedDelay",
                "15m",
                "Calls end before the delay that the provider states.",
                &format!(
                    "{{{{ $value | humanizePercentage }}}} of the failed calls to {pool} were told to wait longer than they may take."
                ),
                format!("{told} / (pool:forbear_calls_failed:increase1h > 0) > {NOTABLE_SHARE} and {told} > {NOTABLE}"),
            ),
            note(
                "StoreDegraded",
                "5m",
                "The shared store of the gates is not relied on.",
                "The gates of {{ $labels.job }} work on their own: the store they share does not answer as it should.",
                format!(
                    "{} == 0\nor {} > 0",
                    "min by ($process) (forbear_store_up{$m})",
                    build("forbear_gate_degraded{$m}")
                ),
            ),
            note(
                "LabelOverflow",
                "5m",
                "More pools or policies are named than are told apart.",
                "{{ $value | humanize }} calls of {{ $labels.job }} are counted under _OTHER: name fewer {{ $labels.label }}s.",
                "sum by ($process, label) (increase(forbear_label_overflows_total{$m}[1h])) > 0".to_owned(),
            ),
            note(
                "MetricsGone",
                "15m",
                "Metrics that were there within the last day are gone.",
                "{{ $labels.job }} showed metrics of forbear within the last day, and shows none now.",
                format!(
                    "{}\nunless {}",
                    build("max_over_time(forbear_build_info{$m}[1d])"),
                    build("forbear_build_info{$m}")
                ),
            ),
        ],
    )
}
