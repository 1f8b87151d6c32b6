//! Placeholders, and what stands in their place.

use std::time::Duration;

use super::forms::written;
use crate::core::moment::WallTime;
use crate::core::signal::{Dimension, QuotaReading, QuotaWindow, Quotas};
use crate::emulator::limits::Cost;

/// What an answer may tell. What is `None` is left out, with the header or the part in `[[` and `]]` around it.
#[derive(Clone, Debug)]
pub(super) struct Values {
    pub(super) wait: Option<Duration>,
    pub(super) limit: Option<u64>,
    pub(super) requested: Option<u64>,
    pub(super) quotas: Quotas,
    pub(super) cost: Cost,
    pub(super) wall: WallTime,
}

/// What a name in braces is.
enum Place {
    /// A placeholder with this value.
    Value(String),
    /// A placeholder of which nothing is told.
    Untold,
    /// Not one of ours: braces belong to JSON.
    Text,
}

impl Values {
    /// `template` filled in; `None` when one of its placeholders is untold.
    pub(super) fn fill(&self, template: &str) -> Option<String> {
        let mut filled = String::with_capacity(template.len());
        let mut rest = template;
        while let Some(open) = rest.find('{') {
            let (before, from_open) = rest.split_at(open);
            filled.push_str(before);
            let name = from_open[1..].split(|c: char| !is_of_name(c)).next().unwrap_or_default();
            let closed = from_open[1 + name.len()..].starts_with('}');
            match if closed { self.place(name) } else { Place::Text } {
                Place::Value(value) => {
                    filled.push_str(&value);
                    rest = &from_open[name.len() + 2..];
                }
                Place::Untold => return None,
                Place::Text => {
                    filled.push('{');
                    rest = &from_open[1..];
                }
            }
        }
        filled.push_str(rest);
        Some(filled)
    }

    /// `template` filled in, without those of its parts in `[[` and `]]` of which something is untold.
    pub(super) fn fill_body(&self, template: &str) -> String {
        let mut filled = String::with_capacity(template.len());
        let mut rest = template;
        while let Some((before, after)) = rest.split_once("[[") {
            let Some((part, behind)) = after.split_once("]]") else { break };
            filled.push_str(&self.fill(before).unwrap_or_default());
            filled.push_str(&self.fill(part).unwrap_or_default());
            rest = behind;
        }
        filled.push_str(&self.fill(rest).unwrap_or_default());
        filled
    }

    fn place(&self, name: &str) -> Place {
        let told = match name {
            "limit" => self.limit.map(|limit| limit.to_string()),
            "requested" => self.requested.map(|requested| requested.to_string()),
            "usage.input" => Some(self.cost.input_tokens.to_string()),
            "usage.output" => Some(self.cost.output_tokens.to_string()),
            "usage.total" => Some(self.cost.input_tokens.saturating_add(self.cost.output_tokens).to_string()),
            _ => match name.split_once('.') {
                Some(("wait", form)) if is_form(form) => self.wait.and_then(|wait| written(form, wait, self.wall)),
                Some((axis, field)) => return self.quota(axis, field),
                None => return Place::Text,
            },
        };
        told.map_or(Place::Untold, Place::Value)
    }

    fn quota(&self, axis: &str, field: &str) -> Place {
        let Some((dimension, window)) = axis_of(axis) else { return Place::Text };
        let reading = self.quotas.iter().find(|reading| (reading.dimension, reading.window) == (dimension, window));
        let told = reading.and_then(|reading| self.field(reading, field));
        told.map_or(Place::Untold, Place::Value)
    }

    fn field(&self, reading: &QuotaReading, field: &str) -> Option<String> {
        match field {
            "limit" => reading.limit.map(|limit| limit.to_string()),
            "remaining" => reading.remaining.map(|remaining| remaining.to_string()),
            _ => written(field.strip_prefix("reset.")?, reading.reset?, self.wall),
        }
    }
}

fn is_of_name(c: char) -> bool {
    c.is_ascii_alphanumeric() || c == '_' || c == '.'
}

fn is_form(form: &str) -> bool {
    written(form, Duration::ZERO, WallTime::default()).is_some()
}

fn axis_of(axis: &str) -> Option<(Dimension, QuotaWindow)> {
    Some(match axis {
        "requests" => (Dimension::Requests, QuotaWindow::Minute),
        "tokens" => (Dimension::Tokens, QuotaWindow::Minute),
        "input_tokens" => (Dimension::InputTokens, QuotaWindow::Minute),
        "output_tokens" => (Dimension::OutputTokens, QuotaWindow::Minute),
        "requests_day" => (Dimension::Requests, QuotaWindow::Day),
        "tokens_day" => (Dimension::Tokens, QuotaWindow::Day),
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn values(wait: Option<Duration>) -> Values {
        let mut quotas = Quotas::default();
        let entry = quotas.entry(Dimension::Requests, QuotaWindow::Minute).unwrap();
        (entry.limit, entry.remaining, entry.reset) = (Some(60), Some(0), Some(Duration::from_secs(360)));
        let wall = WallTime::default();
        Values { wait, limit: Some(60), requested: None, quotas, cost: Cost::tokens(7, 5), wall }
    }

    #[test]
    fn braces_of_json_stay_and_placeholders_go() {
        let body = r#"{"error":{"limit":{limit},"in":"{wait.go}","used":{usage.total},"{x}":{"y.z":{}}}}"#;
        let filled = values(Some(Duration::from_secs(2))).fill(body).unwrap();
        assert_eq!(filled, r#"{"error":{"limit":60,"in":"2s","used":12,"{x}":{"y.z":{}}}}"#);
    }

    #[test]
    fn a_header_of_an_axis_without_a_limit_is_left_out() {
        let values = values(None);
        assert_eq!(values.fill("{requests.remaining} of {requests.limit}").unwrap(), "0 of 60");
        assert_eq!(values.fill("{requests.reset.go}").unwrap(), "6m0s");
        assert_eq!(values.fill("{tokens.limit}"), None);
        assert_eq!(values.fill("{wait.s}"), None);
    }

    #[test]
    fn an_optional_part_is_left_out_when_its_wait_is_untold() {
        let body = r#"{"message":"Too fast.[[ Try again in {wait.s} s.]]"[[,"retry":{wait.s}]]}"#;
        assert_eq!(values(None).fill_body(body), r#"{"message":"Too fast."}"#);
        let told = values(Some(Duration::from_secs(2))).fill_body(body);
        assert_eq!(told, r#"{"message":"Too fast. Try again in 2 s.","retry":2}"#);
    }
}
