//! Readings as JSON, keys in a fixed order.

use forbear::core::rule::Table;
use forbear::core::signal::{Reading, Signal};
use serde_json::Value;

use super::case::seconds;
use super::report::advice;

/// The seven things a case is compared by.
pub(super) fn of_case(id: &Value, signal: &Signal) -> String {
    let mut fields = vec![("id", id.clone())];
    fields.extend(limit(signal));
    write(&fields)
}

/// What is wrong with the line of this number, counted from 1.
pub(super) fn of_error(id: &Value, line: u64, error: &str) -> String {
    write(&[("id", id.clone()), ("line", line.into()), ("error", error.into())])
}

/// All that one answer says.
pub(super) fn of_reading(table: &Table, reading: &Reading) -> String {
    let signal = &reading.signal;
    let mut fields =
        vec![("provider", table.id.into()), ("status", signal.status.into()), ("failed", signal.failed.into())];
    fields.extend(limit(signal));
    fields.extend([
        ("ambiguous", signal.ambiguous.into()),
        ("larger_than_limit", signal.larger_than_limit.into()),
        ("unreadable", signal.unreadable.map(|part| part.as_str()).into()),
        ("advice", advice(signal).into()),
    ]);
    let quotas: Vec<String> = reading
        .quotas
        .iter()
        .map(|quota| {
            write(&[
                ("dimension", quota.dimension.as_str().into()),
                ("window", quota.window.as_str().into()),
                ("limit", quota.limit.into()),
                ("remaining", quota.remaining.into()),
                ("reset_s", quota.reset.map(seconds).into()),
            ])
        })
        .collect();
    let used: Vec<(&str, Value)> = reading.used.sides().map(|(kind, tokens)| (kind.as_str(), tokens.into())).collect();
    let mut text = write(&fields);
    text.pop();
    text + ",\"tokens_used\":" + &write(&used) + ",\"quotas\":[" + &quotas.join(",") + "]}"
}

/// What an answer says of the limit that was hit.
fn limit(signal: &Signal) -> [(&'static str, Value); 6] {
    [
        ("limit_class", signal.class.as_str().into()),
        ("token_kind", signal.token_kind.map(|kind| kind.as_str()).into()),
        ("retryable", signal.retryable.into()),
        ("delay_s", signal.stated.map(|stated| seconds(stated.delay)).into()),
        ("delay_from", signal.stated.map(|stated| stated.place).into()),
        ("scope", signal.scope.map(|scope| scope.as_str()).into()),
    ]
}

/// The fields as one JSON object, in their order.
fn write(fields: &[(&str, Value)]) -> String {
    let members: Vec<String> = fields.iter().map(|(key, value)| format!("\"{key}\":{value}")).collect();
    format!("{{{}}}", members.join(","))
}
