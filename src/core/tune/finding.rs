//! What a check finds, and what to do about it.

use crate::core::signal::words;

words! {
    /// How bad a finding is.
    Severity {
        /// Calls that could succeed fail, or what was promised to the caller is not kept.
        Error => "error",
        /// It works, at a price that need not be paid.
        Warning => "warning",
    }
}

words! {
    /// What was found. Each kind has a number of its own; ratios are 0 to 1. What retries do wrong is not held against layers
    /// that make none.
    FindingKind {
        /// Even with the longest waits no attempt comes after a whole window, though the deadline is longer than that.
        /// Number: when the last attempt begins at the latest, in seconds.
        CannotOutliveWindow => "cannot_outlive_window",
        /// Calls give up before the reset by more than 10 points more than suggested numbers make them; an error when more
        /// than half do. Number: the chance of giving up before the reset.
        GivesUpBeforeReset => "gives_up_before_reset",
        /// Retries where none are suggested: the deadline is a sixtieth of the window or less, or a quarter where a person
        /// waits. Number: the deadline as a share of the window.
        DeadlineBeforeReset => "deadline_before_reset",
        /// More than five requests of a throttled call are refused, and more than one and a half times what suggested numbers
        /// waste. Number: refused requests of a throttled call.
        WastedRequests => "wasted_requests",
        /// Two layers retry. Number: the most requests of one call.
        MultipliedRequests => "multiplied_requests",
        /// The call can outlast its deadline. Number: its longest time in seconds.
        OutlastsDeadline => "outlasts_deadline",
        /// More than half of the callers who were throttled together come back together. Number: the share that comes back
        /// within 100 ms.
        Synchronised => "synchronised",
        /// Waits that the provider states are not read. Number: 0, the longest one that is waited for, in seconds.
        IgnoresStatedWaits => "ignores_stated_waits",
        /// Stated waits are cut or given up although window and deadline allow them. Number: the longest one that is waited
        /// for, in seconds.
        HeaderCapBelowWindow => "header_cap_below_window",
    }
}

/// One thing that a check found.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Finding {
    /// What it is.
    pub kind: FindingKind,
    /// How bad it is.
    pub severity: Severity,
    /// Its number; see [`FindingKind`] for what it counts.
    pub number: f64,
    /// What was found, as one sentence without its end.
    pub what: String,
    /// What to do, with the numbers to set.
    pub fix: String,
}

impl std::fmt::Display for Finding {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}: {}: {}; {}", self.severity, self.kind, self.what, self.fix)
    }
}
