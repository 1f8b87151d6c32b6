//! What all alerts have.

use crate::diagnose::promql::yaml::{Makes, Rule};

/// Who is told.
#[derive(Clone, Copy, Debug)]
pub(super) enum Severity {
    /// Somebody is woken.
    Page,
    /// Somebody finds it in the morning.
    Ticket,
    /// Nobody; it is there for those who look.
    Info,
}

impl Severity {
    /// Its word in templates: books may call it otherwise.
    const fn word(self) -> &'static str {
        match self {
            Self::Page => "$critical",
            Self::Ticket => "$warning",
            Self::Info => "$info",
        }
    }
}

/// The board that shows what an alert is about: the one on which its runbook says to confirm it.
fn board(name: &str) -> &'static str {
    match name {
        "QuotaTooSmall"
        | "BackoffTooFast"
        | "BackoffTooSlow"
        | "Overloaded"
        | "ConfiguredLimitDiffers"
        | "LimitUnknown"
        | "UnreadableSignals"
        | "DeadlinesBelowStatedDelay" => "diagnosis",
        "Unpaced" | "Concurrency" => "gate",
        "StoreDegraded" => "replicas",
        _ => "overview",
    }
}

/// An alert. `lasts` is how long it must hold before it fires, and for how long it goes on after it held last.
pub(super) fn alert(
    severity: Severity,
    name: &str,
    lasts: (&'static str, Option<&'static str>),
    summary: &str,
    description: &str,
    expr: impl Into<String>,
) -> Rule {
    let expr = expr.into();
    let chosen = if expr.contains("$process") { "$chosen_process" } else { "$chosen_pool" };
    let board = format!("$grafana/d/forbear-{}?from=now-3h&to=now{chosen}", board(name));
    let name = format!("Forbear{name}");
    Rule {
        makes: Makes::Alert(lasts.0, lasts.1),
        annotations: vec![
            ("summary", summary.to_owned()),
            ("description", description.to_owned()),
            ("runbook_url", format!("$runbooks#{}", name.to_lowercase())),
            ("dashboard_url", board),
        ],
        ..Rule::record(name, "", expr)
    }
    .label("severity", severity.word())
}
