//! Placeholders, and what stands in their place.

use std::time::Duration;

use super::forms::written;
use super::untold::{MARK, taken_out};
use crate::core::moment::WallTime;
use crate::core::signal::{Dimension, QuotaReading, QuotaWindow, Quotas};
use crate::emulator::limits::Cost;

/// What an answer may tell. What is `None` is left out, with the header, field or sentence around it.
#[derive(Clone, Debug)]
pub(super) struct Values {
    pub(super) wait: Option<Duration>,
    pub(super) limit: Option<u64>,
    pub(super) requested: Option<u64>,
    pub(super) quotas: Quotas,
    pub(super) cost: Cost,
    pub(super) wall: WallTime,
}

impl Values {
    /// A header's value; `None` when one of its placeholders is untold.
    pub(super) fn header(&self, template: &str) -> Option<String> {
        let (filled, untold) = self.fill(template);
        (!untold).then_some(filled)
    }

    /// A body, without the fields and sentences of which something is untold.
    pub(super) fn body(&self, template: &str) -> String {
        let (filled, untold) = self.fill(template);
        if untold { taken_out(&filled) } else { filled }
    }

    /// `template` filled in, and whether a mark stands for something untold.
    fn fill(&self, template: &str) -> (String, bool) {
        let mut filled = String::with_capacity(template.len());
        let (mut rest, mut untold) = (template, false);
        while let Some((before, from_name)) = rest.split_once('{') {
            filled.push_str(before);
            let name = from_name.split(|c: char| !is_of_name(c)).next().unwrap_or_default();
            let behind = from_name[name.len()..].strip_prefix('}');
            let (Some(behind), Some(told)) = (behind, self.told(name)) else {
                // Braces that belong to JSON.
                filled.push('{');
                rest = from_name;
                continue;
            };
            untold |= told.is_none();
            filled.push_str(told.as_deref().unwrap_or(MARK));
            rest = behind;
        }
        filled.push_str(rest);
        (filled, untold)
    }

    /// What is told under `name`; the outer `None` when it is no placeholder of ours.
    fn told(&self, name: &str) -> Option<Option<String>> {
        Some(match name {
            "limit" => self.limit.map(|limit| limit.to_string()),
            "requested" => self.requested.map(|requested| requested.to_string()),
            "usage.input" => Some(self.cost.input_tokens.to_string()),
            "usage.output" => Some(self.cost.output_tokens.to_string()),
            "usage.total" => Some(self.cost.input_tokens.saturating_add(self.cost.output_tokens).to_string()),
            _ => match name.split_once('.')? {
                ("wait", form) if is_form(form) => self.wait.and_then(|wait| written(form, wait, self.wall)),
                (axis, field) => {
                    let (dimension, window) = axis_of(axis)?;
                    let is_it = |reading: &&QuotaReading| (reading.dimension, reading.window) == (dimension, window);
                    self.quotas.iter().find(is_it).and_then(|reading| self.field(reading, field))
                }
            },
        })
    }

    /// A field of a reading, by its name in a template.
    fn field(&self, reading: &QuotaReading, field: &str) -> Option<String> {
        match field {
            "limit" => reading.limit.map(|limit| limit.to_string()),
            "remaining" => reading.remaining.map(|remaining| remaining.to_string()),
            _ => written(field.strip_prefix("reset.")?, reading.reset?, self.wall),
        }
    }
}

/// Names hold no quotes or spaces: so JSON's own braces are told apart.
fn is_of_name(c: char) -> bool {
    c.is_ascii_alphanumeric() || c == '_' || c == '.'
}

fn is_form(form: &str) -> bool {
    written(form, Duration::ZERO, WallTime::default()).is_some()
}

/// An axis by its name in a template.
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
        let filled = values(Some(Duration::from_secs(2))).body(body);
        assert_eq!(filled, r#"{"error":{"limit":60,"in":"2s","used":12,"{x}":{"y.z":{}}}}"#);
    }

    #[test]
    fn a_header_of_an_axis_without_a_limit_is_left_out() {
        let values = values(None);
        assert_eq!(values.header("{requests.remaining} of {requests.limit}").unwrap(), "0 of 60");
        assert_eq!(values.header("{requests.reset.go}").unwrap(), "6m0s");
        assert_eq!(values.header("{tokens.limit}"), None);
        assert_eq!(values.header("{wait.s}"), None);
    }

    #[test]
    fn a_body_that_states_no_wait_has_no_sentence_about_it() {
        let body = r#"{"message":"Too fast. Try again in {wait.s} s.","retry":{wait.s}}"#;
        assert_eq!(values(None).body(body), r#"{"message":"Too fast."}"#);
        let told = values(Some(Duration::from_secs(2))).body(body);
        assert_eq!(told, r#"{"message":"Too fast. Try again in 2 s.","retry":2}"#);
    }
}
