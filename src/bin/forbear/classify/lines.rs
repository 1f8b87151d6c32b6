//! One case a line, one line each back.

use std::fmt;
use std::io::{self, BufRead, Read};

use forbear::core::moment::WallTime;
use http::HeaderMap;
use serde::de::{Deserialize, Deserializer, MapAccess, Visitor};
use serde_json::Value;

use super::case::{Case, instant};
use super::object;
use crate::known::table;

/// The next line, without its end. Of one longer than `most_bytes` no more than one byte above that is kept.
pub(super) fn next(input: &mut dyn BufRead, most_bytes: u64) -> io::Result<Option<Vec<u8>>> {
    let mut line = Vec::new();
    if input.take(most_bytes + 1).read_until(b'\n', &mut line)? == 0 {
        return Ok(None);
    }
    if line.last() == Some(&b'\n') {
        line.pop();
    } else {
        input.skip_until(b'\n')?;
    }
    Ok(Some(line))
}

/// Reads the line of this number at `now`, unless it says when. `Err` holds the line that tells what is wrong with it.
pub(super) fn answer(line: &[u8], number: u64, now: WallTime) -> Result<String, String> {
    // Some editors begin a file with a byte-order mark.
    let line = line.strip_prefix(b"\xef\xbb\xbf").unwrap_or(line);
    let fields: Fields = serde_json::from_slice(line)
        .or_else(|_| serde_json::from_slice(&without_lone_surrogates(line)))
        .map_err(|error| unreadable(line, number, &error))?;
    let id = fields.get("id").cloned().unwrap_or(Value::Null);
    read(&fields, &id, now).map_err(|error| object::of_error(&id, number, &error))
}

/// What is wrong with a line that is no JSON, or none of the right shape.
fn unreadable(line: &[u8], number: u64, error: &serde_json::Error) -> String {
    let whole: Value = serde_json::from_slice(line).unwrap_or_default();
    let id = whole.get("id").cloned().unwrap_or_default();
    let why = match &whole {
        Value::Object(_) => "`headers` should be an object".to_owned(),
        // Each line is the first to the parser: of what it says the column is right.
        _ => {
            let (said, place) = (error.to_string(), format!(" at line {} column {}", error.line(), error.column()));
            format!("not a JSON object: {}, column {}", said.trim_end_matches(&place), error.column())
        }
    };
    object::of_error(&id, number, &why)
}

/// The line with half pairs of UTF-16 replaced by the mark for what is no text: Python writes them, no string of ours holds
/// them.
fn without_lone_surrogates(line: &[u8]) -> Vec<u8> {
    let unit = |at: usize| {
        let digits = line.get(at..)?.strip_prefix(b"\\u")?.get(..4)?;
        u16::from_str_radix(std::str::from_utf8(digits).ok()?, 16).ok()
    };
    let (mut whole, mut at) = (line.to_vec(), 0);
    while at < line.len() {
        let length = match (unit(at), unit(at + 6)) {
            (Some(0xd800..=0xdbff), Some(0xdc00..=0xdfff)) => 12,
            (Some(0xd800..=0xdfff), _) => {
                whole[at + 2..at + 6].copy_from_slice(b"fffd");
                6
            }
            _ if line[at] == b'\\' => 2,
            _ => 1,
        };
        at += length;
    }
    whole
}

/// One line's answer, read and written as one JSON line.
fn read(fields: &Fields, id: &Value, now: WallTime) -> Result<String, String> {
    let provider = fields.get("provider").and_then(Value::as_str).ok_or("`provider` should be a string")?;
    let table = table(provider)?;
    let status = fields.get("status").and_then(Value::as_u64).and_then(|status| u16::try_from(status).ok());
    let status = status.filter(|status| (100..1000).contains(status)).ok_or("`status` should be 100 to 999")?;
    let now = match fields.get("now") {
        None | Some(Value::Null) => now,
        Some(Value::String(text)) => instant(text).map_err(|error| format!("`now`: {error}"))?,
        Some(_) => return Err("`now` should be a string".to_owned()),
    };
    let body = match fields.get("body") {
        None | Some(Value::Null) => None,
        Some(Value::String(text)) => Some(text.clone().into_bytes()),
        Some(_) => return Err("`body` should be a string or null".to_owned()),
    };
    let mut case = Case { status, headers: HeaderMap::new(), body };
    for (name, value) in &fields.headers {
        match value {
            Value::String(line) => case.header(name, line.as_bytes())?,
            Value::Array(lines) if lines.iter().all(Value::is_string) => {
                lines.iter().filter_map(Value::as_str).try_for_each(|line| case.header(name, line.as_bytes()))?;
            }
            _ => return Err(format!("the header {name:?} should be a string or an array of strings")),
        }
    }
    Ok(object::of_case(id, &case.read(&table, now).signal))
}

/// The fields of a line. Headers are kept as they stand: names may repeat, also in other letters.
#[derive(Default)]
struct Fields {
    others: Vec<(String, Value)>,
    headers: Vec<(String, Value)>,
}

impl Fields {
    fn get(&self, name: &str) -> Option<&Value> {
        self.others.iter().rev().find(|(key, _)| key == name).map(|(_, value)| value)
    }
}

impl<'de> Deserialize<'de> for Fields {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_map(FieldsVisitor)
    }
}

/// Takes the fields of a line in whatever order they come.
struct FieldsVisitor;

impl<'de> Visitor<'de> for FieldsVisitor {
    type Value = Fields;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object with `id`, `provider`, `status`, `headers`, `body`, `now`")
    }

    fn visit_map<M: MapAccess<'de>>(self, mut map: M) -> Result<Fields, M::Error> {
        let mut fields = Fields::default();
        while let Some(key) = map.next_key::<String>()? {
            if key == "headers" {
                fields.headers = map.next_value::<Option<Pairs>>()?.map_or_else(Vec::new, |pairs| pairs.0);
            } else {
                fields.others.push((key, map.next_value()?));
            }
        }
        Ok(fields)
    }
}

/// An object as pairs, in its own order.
struct Pairs(Vec<(String, Value)>);

impl<'de> Deserialize<'de> for Pairs {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_map(PairsVisitor)
    }
}

/// Takes headers in, each value a string or an array of strings.
struct PairsVisitor;

impl<'de> Visitor<'de> for PairsVisitor {
    type Value = Pairs;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object of headers")
    }

    fn visit_map<M: MapAccess<'de>>(self, mut map: M) -> Result<Pairs, M::Error> {
        let mut pairs = Vec::new();
        while let Some(pair) = map.next_entry()? {
            pairs.push(pair);
        }
        Ok(Pairs(pairs))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn said(line: &str) -> String {
        let (Ok(text) | Err(text)) = answer(line.as_bytes(), 3, WallTime::default());
        text
    }

    #[test]
    fn one_line_tells_the_seven_things_in_order() {
        assert_eq!(
            said(r#"{"id":"a","provider":"generic","status":429,"headers":{"Retry-After":["5","7"]},"body":null}"#),
            r#"{"id":"a","limit_class":"unknown","token_kind":null,"retryable":true,"delay_s":7.0,"delay_from":"retry-after","scope":null}"#,
        );
    }

    #[test]
    fn marks_and_line_ends_of_other_systems_are_no_part_of_a_line() {
        let line = "\u{feff}{\"id\":1,\"provider\":\"generic\",\"status\":503}\r";
        assert!(said(line).contains(r#""limit_class":"overload""#), "{}", said(line));
    }

    #[test]
    fn names_that_differ_by_case_are_one_field() {
        let line = r#"{"id":1,"provider":"generic","status":429,"headers":{"Retry-After":"5","retry-after":"7"}}"#;
        assert!(said(line).contains(r#""delay_s":7.0"#), "{}", said(line));
    }

    #[test]
    fn a_bad_line_is_told_with_its_id() {
        assert_eq!(said("nonsense"), r#"{"id":null,"line":3,"error":"not a JSON object: expected ident, column 2"}"#);
        let unknown = said(r#"{"id":"b","provider":"opneai","status":429}"#);
        assert!(unknown.starts_with(r#"{"id":"b","line":3,"error":"#) && unknown.contains("openai"), "{unknown}");
        assert!(said(r#"{"id":"c","provider":"generic","status":"x"}"#).contains("`status` should be"));
        assert!(said(r#"{"id":"d","provider":"generic","status":429,"headers":{"a":1}}"#).contains("header"));
        assert_eq!(
            said(r#"{"id":"d","provider":"generic","status":429,"headers":[["a","1"]]}"#),
            r#"{"id":"d","line":3,"error":"`headers` should be an object"}"#
        );
    }

    #[test]
    fn a_line_without_end_is_kept_up_to_its_bound_and_the_next_is_read() {
        let mut input = &b"{}\naaaaaaaaaaaaaaaa\n\nlast"[..];
        let mut lines = Vec::new();
        while let Some(line) = next(&mut input, 4).expect("memory") {
            lines.push(String::from_utf8(line).expect("text"));
        }
        assert_eq!(lines, ["{}", "aaaaa", "", "last"]);
    }

    #[test]
    fn more_headers_than_can_be_held_are_told_and_half_characters_stand_for_no_text() {
        let headers: Vec<String> = (0..40_000).map(|number| format!("\"x-{number}\":\"1\"")).collect();
        let line = format!(r#"{{"id":"e","provider":"generic","status":429,"headers":{{{}}}}}"#, headers.join(","));
        assert_eq!(said(&line), r#"{"id":"e","line":3,"error":"more headers than an answer can hold"}"#);
        for (value, wait) in [(r"\ud83d\ude00 5", "null"), (r"\ud800 5", "null"), (r"\\ud800", "null"), ("5", "5.0")] {
            let line = format!(
                r#"{{"id":"f","provider":"generic","status":429,"headers":{{"retry-after":"{value}"}},"body":"{value}"}}"#
            );
            assert!(said(&line).contains(&format!("\"delay_s\":{wait}")), "{}", said(&line));
        }
    }
}
