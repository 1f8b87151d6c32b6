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

/// An alert. `lasts` is how long it must hold before it fires, and for how long it goes on after it held last.
pub(super) fn alert(
    severity: Severity,
    name: &str,
    lasts: (&'static str, Option<&'static str>),
    summary: &str,
    description: &str,
    expr: impl Into<String>,
) -> Rule {
    let (name, expr) = (format!("Forbear{name}"), expr.into());
    let board = if expr.contains("$process") { "$board_of_job" } else { "$board_of_pool" };
    Rule {
        makes: Makes::Alert(lasts.0, lasts.1),
        annotations: vec![
            ("summary", summary.to_owned()),
            ("description", description.to_owned()),
            ("runbook_url", format!("$runbooks#{}", name.to_lowercase())),
            ("dashboard_url", board.to_owned()),
        ],
        ..Rule::record(name, "", expr)
    }
    .label("severity", severity.word())
}
