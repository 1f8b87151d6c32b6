//! A check for a program.

use forbear::core::rule::Table;
use forbear::core::tune::{Finding, RetryLayer, StatedWaits};
use serde_json::{Value, json};

use super::{Layer, moving};
use crate::suggest;

/// One object: `moving` between two providers, `layer` and what it does, or both.
pub(super) fn of(tables: Option<&(Table, Table)>, layer: Option<&Layer>) -> Value {
    let mut object = layer.map_or_else(|| json!({}), checked);
    if let Some((from, to)) = tables {
        object["moving"] = moving::object(from, to);
    }
    object
}

/// A checked layer as JSON.
fn checked(layer: &Layer) -> Value {
    let (check, reach) = (&layer.checked, &layer.checked.reach);
    json!({
        "like": layer.like.map(|library| json!({"library": library.id, "version": library.version, "source": library.source})),
        "layer": numbers(&layer.layer),
        "window_s": check.window.as_secs_f64(),
        "deadline_s": check.deadline.as_secs_f64(),
        "wasted_requests": reach.wasted,
        "gives_up": check.gives_up(),
        "gives_up_at_window_start": 1.0 - reach.coverage_at_start,
        "last_request_s": reach.last_request.as_secs_f64(),
        "latest_request_s": reach.latest_request.as_secs_f64(),
        "can_outlive_window": check.can_outlive_window(),
        "together": check.together,
        "most_requests": check.most_requests,
        "longest_call_s": check.longest_call.map(|longest| longest.as_secs_f64()),
        "findings": check.findings.iter().map(finding).collect::<Vec<_>>(),
        "suggestion": suggest::object(&check.suggestion),
    })
}

/// Its numbers as JSON: seconds, and factors.
fn numbers(layer: &RetryLayer) -> Value {
    json!({
        "base_s": layer.base.as_secs_f64(),
        "factor": layer.factor,
        "cap_s": layer.cap.as_secs_f64(),
        "attempts": layer.attempts,
        "jitter": {"least": layer.jitter.least, "most": layer.jitter.most, "plus_s": layer.jitter.plus.as_secs_f64()},
        "timeout_s": layer.timeout.map(|timeout| timeout.as_secs_f64()),
        "header_cap_s": match layer.stated_waits {
            StatedWaits::Unknown => Value::Null,
            StatedWaits::Ignored => json!(0.0),
            StatedWaits::UpTo(cap) => json!(cap.as_secs_f64()),
        },
        "interactive": layer.interactive,
        "below": layer.below.as_ref().map(|below| numbers(below)),
    })
}

/// A finding as JSON.
fn finding(finding: &Finding) -> Value {
    json!({
        "finding": finding.kind.as_str(),
        "severity": finding.severity.as_str(),
        "number": finding.number,
        "what": finding.what,
        "fix": finding.fix,
    })
}
