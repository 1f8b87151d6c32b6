//! Bodies: JSON read without building a tree, event streams, plain text.
//!
//! A body is walked once; only the fields of the table are looked at, and what they say is kept as [facts](Facts), never as
//! text. Bounds: 64 KiB, the JSON reader's 1,024 levels of nesting, four levels of JSON inside a string. A malformed document is
//! read as text.

use http::HeaderMap;

use crate::core::observation::{BODY_EXCERPT_BYTES, Observation};
use crate::core::rule::Table;
use crate::core::rule::fact::{Asked, Fact, Facts};
use crate::core::rule::field::{Fields, ROOT, Scalar};
use crate::provider::json::{Malformed, Reader, Start};
use crate::provider::leaf::Leaf;
use crate::provider::prose;
use crate::provider::stream::{Frames, looks_like_events};

/// Reads the body of an answer, if there is one, into facts. `stream` tells whether the headers announced a stream.
pub fn read(table: &Table, answer: &Observation<'_>, stream: bool, facts: &mut Facts) {
    let body = answer.body.unwrap_or_default();
    let body = without_mark(&body[..body.len().min(BODY_EXCERPT_BYTES)]);
    facts.any = !body.is_empty();
    if body.is_empty() || document(table, answer.headers, body, facts) {
        return;
    }
    if stream && body[0] != b'<' || looks_like_events(body) {
        events(table, answer.headers, body, facts);
    } else if answer.in_stream || answer.status.is_some_and(|status| status >= 400) {
        // Only a document or an event says that a success is none.
        text(table, body, facts);
    }
}

/// Cuts a byte-order mark and the white space before the document.
fn without_mark(body: &[u8]) -> &[u8] {
    body.strip_prefix(b"\xef\xbb\xbf").unwrap_or(body).trim_ascii()
}

/// Reads one JSON document; tells whether it was one. Otherwise nothing is noted.
pub(super) fn document(table: &Table, headers: Option<&HeaderMap>, body: &[u8], facts: &mut Facts) -> bool {
    let begins = matches!(body.first(), Some(b'{' | b'[' | b'"' | b'0'..=b'9' | b'-' | b't' | b'f' | b'n'));
    let Some(document) = begins.then(|| std::str::from_utf8(body).ok()).flatten() else { return false };
    let before = (facts.len(), facts.violated, facts.used);
    let walk = Walk { table, fields: table.fields, headers, facts, encoded: 0 }.document(document);
    if walk.is_err() {
        facts.truncate(before.0);
        (facts.violated, facts.used) = (before.1, before.2);
    }
    walk.is_ok()
}

/// Reads frame after frame up to the first error.
fn events(table: &Table, headers: Option<&HeaderMap>, body: &[u8], facts: &mut Facts) {
    for frame in Frames::new(body) {
        if !document(table, headers, &frame.data, facts) && frame.is_error() {
            text(table, &frame.data, facts);
        }
        if frame.is_error() {
            facts.push(ROOT, Facts::WHOLE_BODY, Fact::Error);
        }
        if facts.is_error() {
            facts.in_stream = true;
            return;
        }
        facts.truncate(0);
    }
}

/// Reads what a request or an answer of any length says of tokens.
pub(super) fn read_tokens(table: &Table, fields: &'static Fields, body: &[u8], facts: &mut Facts) {
    let mut document = |bytes: &[u8]| {
        let Ok(text) = std::str::from_utf8(bytes) else { return };
        let _ = Walk { table, fields, headers: None, facts, encoded: 0 }.document(text);
        facts.truncate(0);
    };
    let body = without_mark(body);
    if looks_like_events(body) {
        Frames::new(body).for_each(|frame| document(&frame.data));
    } else {
        document(body);
    }
}

fn text(table: &Table, body: &[u8], facts: &mut Facts) {
    let asked = Asked { table: table.rules, user: table.user_rules, body: true };
    facts.push(ROOT, Facts::WHOLE_BODY, Fact::Prose(prose::read(body, asked)));
}

/// A walk through one JSON document.
pub(super) struct Walk<'a> {
    pub(super) table: &'a Table,
    pub(super) fields: &'static Fields,
    pub(super) headers: Option<&'a HeaderMap>,
    pub(super) facts: &'a mut Facts,
    /// How often JSON was found inside a string.
    pub(super) encoded: u8,
}

/// What a value stands in.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Within {
    /// The document itself, in so many arrays; four are unwrapped.
    Arrays(u8),
    /// An object.
    Object,
    /// An array that a path names with `[]`.
    Elements,
}

const WRAPPINGS: u8 = 4;

impl Walk<'_> {
    pub(super) fn document(mut self, document: &str) -> Result<(), Malformed> {
        let mut reader = Reader::new(document);
        self.value(&mut reader, ROOT, Within::Arrays(0))?;
        reader.end()
    }

    pub(super) fn asked(&self) -> Asked<'static> {
        Asked { table: self.table.rules, user: self.table.user_rules, body: true }
    }

    /// Reads the value of `node`. Calls itself as deep as the table's paths are long.
    fn value(&mut self, reader: &mut Reader<'_>, node: u8, within: Within) -> Result<(), Malformed> {
        // An array is no text, and a text no array, whatever stands in it.
        let is_meant = within != Within::Object || self.fields.means_itself(node);
        match reader.value()? {
            Start::Object if is_meant => self.object(reader, node),
            Start::Object => reader.skip_opened(true),
            Start::Array => self.array(reader, node, within),
            Start::Text(text) if is_meant => {
                Leaf { walk: self, node }.note(Scalar::Text(&text.decoded()));
                Ok(())
            }
            Start::Scalar(scalar) if is_meant => {
                Leaf { walk: self, node }.note(scalar);
                Ok(())
            }
            Start::Text(_) | Start::Scalar(_) | Start::Null => Ok(()),
        }
    }

    fn object(&mut self, reader: &mut Reader<'_>, node: u8) -> Result<(), Malformed> {
        let fields = self.fields;
        Leaf { walk: self, node }.note_presence();
        let (start, mut seen, mut duration, mut first) = (self.facts.len(), 0u128, Seconds::default(), true);
        while let Some(key) = reader.key(first)? {
            first = false;
            let found = key.with_head(|key, head| match (fields.child(node, key, head), key) {
                (Some(child), _) => Found::Field(child),
                (None, "seconds") if !fields.leads_on(node) => Found::Seconds,
                (None, "nanos") if !fields.leads_on(node) => Found::Nanos,
                _ => Found::Nothing,
            });
            match found {
                Found::Field(child) => {
                    if seen >> child & 1 == 1 {
                        self.facts.forget(fields, child, start);
                    }
                    seen |= 1 << child;
                    self.value(reader, child, Within::Object)?;
                }
                Found::Seconds => duration.seconds = Some(whole(reader)?),
                Found::Nanos => duration.nanos = Some(whole(reader)?),
                Found::Nothing => reader.skip()?,
            }
        }
        if let Some(scalar) = duration.scalar() {
            Leaf { walk: self, node }.note(scalar);
        }
        Ok(())
    }

    fn array(&mut self, reader: &mut Reader<'_>, node: u8, within: Within) -> Result<(), Malformed> {
        let mut first = true;
        match within {
            Within::Object if self.fields.means_elements(node) => {
                while reader.element(first)? {
                    first = false;
                    self.value(reader, node, Within::Elements)?;
                }
                Ok(())
            }
            // A wrapping array: the first error in it counts, else the last element.
            Within::Arrays(depth) if depth < WRAPPINGS => {
                let start = self.facts.len();
                while reader.element(first)? {
                    first = false;
                    if self.facts.is_error_since(start) {
                        reader.skip()?;
                    } else {
                        self.facts.truncate(start);
                        self.value(reader, node, Within::Arrays(depth + 1))?;
                    }
                }
                Ok(())
            }
            _ => reader.skip_opened(false),
        }
    }
}

/// Where a key leads.
enum Found {
    Field(u8),
    Seconds,
    Nanos,
    Nothing,
}

/// The parts of a `google.protobuf.Duration` written as an object; a part that is not a whole number spoils it.
#[derive(Default)]
struct Seconds {
    seconds: Option<Option<i64>>,
    nanos: Option<Option<i64>>,
}

impl Seconds {
    fn scalar(&self) -> Option<Scalar<'static>> {
        if self.seconds.is_none() && self.nanos.is_none() {
            return None;
        }
        Some(Scalar::Duration(self.seconds.unwrap_or(Some(0))?, self.nanos.unwrap_or(Some(0))?))
    }
}

/// A whole number, or one as a string of digits; saturates.
fn whole(reader: &mut Reader<'_>) -> Result<Option<i64>, Malformed> {
    Ok(match reader.value()? {
        Start::Scalar(Scalar::Whole(number)) => Some(i64::try_from(number).unwrap_or(i64::MAX)),
        Start::Scalar(Scalar::Number(number)) if number >= 1e18 => Some(i64::MAX),
        Start::Scalar(Scalar::Number(number)) if number < 0.0 && number.fract() == 0.0 => Some(-1),
        Start::Text(text) => {
            let text = text.decoded();
            let digits = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
            digits.then(|| text.parse().unwrap_or(i64::MAX))
        }
        Start::Object => reader.skip_opened(true).map(|()| None)?,
        Start::Array => reader.skip_opened(false).map(|()| None)?,
        Start::Scalar(_) | Start::Null => None,
    })
}
