//! What was found, for people and for programs.

use serde_json::{Value, json};

use crate::text::hanging;

/// How much rests on it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Severity {
    /// Boards and rules show nothing, or something wrong.
    Error,
    /// They show less than they could.
    Warning,
    /// Good to know.
    Note,
}

impl Severity {
    const fn as_str(self) -> &'static str {
        match self {
            Self::Error => "error",
            Self::Warning => "warning",
            Self::Note => "note",
        }
    }
}

/// One thing that is amiss.
#[derive(Clone, Debug)]
pub(super) struct Finding {
    /// Its name, the same in every version.
    pub(super) fault: &'static str,
    pub(super) severity: Severity,
    /// What is wrong, with the numbers that show it.
    pub(super) what: String,
    /// What does not work for it.
    pub(super) why: &'static str,
    /// The setting that mends it.
    pub(super) mend: &'static str,
}

impl Finding {
    pub(super) fn new(
        severity: Severity,
        fault: &'static str,
        what: impl Into<String>,
        why: &'static str,
        mend: &'static str,
    ) -> Self {
        Self { fault, severity, what: what.into(), why, mend }
    }
}

/// The findings for a person, the gravest first.
pub(super) fn report(findings: &[Finding]) -> String {
    if findings.is_empty() {
        return "nothing is amiss: names, sources, versions, scrapes, rules, limits and estimates are as they should be\n"
            .to_owned();
    }
    let one = |finding: &Finding| {
        let head = format!("{:<8} {}: ", finding.severity.as_str(), finding.fault);
        hanging(&head, &finding.what) + &hanging("  why    ", finding.why) + &hanging("  mend   ", finding.mend)
    };
    findings.iter().map(one).collect::<Vec<_>>().join("\n")
}

/// The findings for a program.
pub(super) fn object(findings: &[Finding]) -> String {
    let one = |finding: &Finding| -> Value {
        json!({
            "fault": finding.fault,
            "severity": finding.severity.as_str(),
            "what": finding.what,
            "why": finding.why,
            "mend": finding.mend,
        })
    };
    json!({"findings": findings.iter().map(one).collect::<Vec<_>>()}).to_string() + "\n"
}

/// The first few of many, and how many more there are.
pub(super) fn few(names: &[String]) -> String {
    const SHOWN: usize = 3;
    let shown = names.iter().take(SHOWN).cloned().collect::<Vec<_>>().join(", ");
    match names.len().saturating_sub(SHOWN) {
        0 => shown,
        more => format!("{shown} and {more} more"),
    }
}
