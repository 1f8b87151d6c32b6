//! Answers without what is not told.
//!
//! A provider that states no wait does not say "try again in nothing": it leaves the sentence, the field, the detail out.
//! What is not told is filled in as a number nobody uses, and taken out again with the smallest thing around it.

use serde_json::{Number, Value};

/// Stands for what is not told. Larger than any quota, and no time of this age.
pub(super) const MARK: &str = "987654321987654321";

/// `body` without the fields and sentences that hold the mark.
pub(super) fn taken_out(body: &str) -> String {
    match serde_json::from_str(body) {
        Ok(json) => told_of(json).unwrap_or(Value::Null).to_string(),
        Err(_) => told_sentences(body),
    }
}

/// What is left of `value`; an object or array that loses all it had goes too.
fn told_of(value: Value) -> Option<Value> {
    match value {
        Value::Number(number) => Some(number).filter(|number| !is_mark(number)).map(Value::Number),
        Value::String(text) => told_text(text).map(Value::String),
        Value::Array(values) => {
            let told: Vec<_> = values.into_iter().filter_map(told_of).collect();
            (!told.is_empty()).then_some(Value::Array(told))
        }
        Value::Object(fields) => {
            let told = fields.into_iter().filter_map(|(name, value)| Some((name, told_of(value)?)));
            let told: serde_json::Map<_, _> = told.collect();
            (!told.is_empty()).then_some(Value::Object(told))
        }
        Value::Null | Value::Bool(_) => Some(value),
    }
}

fn told_text(text: String) -> Option<String> {
    if !text.contains(MARK) {
        return Some(text);
    }
    // Some providers send a whole error as the text of another.
    let told = if text.starts_with('{') { taken_out(&text) } else { told_sentences(&text) };
    (!told.is_empty()).then_some(told)
}

/// Sentences end with a full stop and a space, so that numbers and addresses stay whole.
fn told_sentences(text: &str) -> String {
    let told: String = text.split_inclusive(". ").filter(|sentence| !sentence.contains(MARK)).collect();
    told.trim_end().to_owned()
}

fn is_mark(number: &Number) -> bool {
    number.as_u64().is_some_and(|number| number.to_string() == MARK)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn told(body: &str) -> String {
        taken_out(&body.replace('@', MARK))
    }

    #[test]
    fn only_the_field_and_the_sentence_that_tell_nothing_are_missing() {
        let body = r#"{"error":{"message":"Limit 3. Try again in @s. See docs.","retry_after":@,"status":429}}"#;
        assert_eq!(told(body), r#"{"error":{"message":"Limit 3. See docs.","status":429}}"#);
        assert_eq!(told("Too many requests. Retry in @ s."), "Too many requests.");
    }

    #[test]
    fn a_detail_of_which_nothing_is_left_goes_with_it() {
        let body = r#"{"details":[{"id":"x"},{"delay":"@s"}],"wrapped":"{\"code\":1,\"in\":\"@\"}"}"#;
        assert_eq!(told(body), r#"{"details":[{"id":"x"}],"wrapped":"{\"code\":1}"}"#);
    }
}
