//! Bodies: JSON read without building a tree, event streams, plain text.
//!
//! A body is walked once; only the fields of the table are looked at, and what they say is kept as [facts](Facts), never as
//! text. Bounds: 64 KiB, the JSON reader's 128 levels of nesting, two levels of JSON inside a string. A malformed document is
//! read as text.

use std::fmt;

use http::HeaderMap;
use serde::de::{DeserializeSeed, Deserializer, Error, IgnoredAny, MapAccess, SeqAccess, Visitor};

use crate::core::observation::BODY_EXCERPT_BYTES;
use crate::core::rule::Table;
use crate::core::rule::fact::{Asked, Fact, Facts};
use crate::core::rule::field::{ROOT, Scalar};
use crate::provider::leaf::Leaf;
use crate::provider::prose;
use crate::provider::stream::{Frames, looks_like_events};

/// Reads a body into facts. `stream` tells whether the headers announced a stream.
pub fn read(table: &Table, headers: Option<&HeaderMap>, body: &[u8], stream: bool, facts: &mut Facts) {
    let body = without_mark(&body[..body.len().min(BODY_EXCERPT_BYTES)]);
    facts.any = !body.is_empty();
    if body.is_empty() || document(table, headers, body, facts) {
        return;
    }
    if stream && body[0] != b'<' || looks_like_events(body) {
        events(table, headers, body, facts);
    } else {
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
    let before = (facts.len(), facts.violated);
    let walk = Walk { table, headers, facts, encoded: 0 }.document(document);
    if walk.is_err() {
        facts.truncate(before.0);
        facts.violated = before.1;
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

fn text(table: &Table, body: &[u8], facts: &mut Facts) {
    let asked = Asked { table: table.rules, user: table.user_rules };
    facts.push(ROOT, Facts::WHOLE_BODY, Fact::Prose(prose::read(body, asked)));
}

/// A walk through one JSON document.
pub(super) struct Walk<'a> {
    pub(super) table: &'a Table,
    pub(super) headers: Option<&'a HeaderMap>,
    pub(super) facts: &'a mut Facts,
    /// How often JSON was found inside a string.
    pub(super) encoded: u8,
}

impl Walk<'_> {
    pub(super) fn document(mut self, document: &str) -> Result<(), serde_json::Error> {
        let mut reader = serde_json::Deserializer::from_str(document);
        At { walk: &mut self, node: ROOT, within: Within::Arrays(0) }.deserialize(&mut reader)?;
        reader.end()
    }

    pub(super) fn asked(&self) -> Asked<'static> {
        Asked { table: self.table.rules, user: self.table.user_rules }
    }
}

/// The walk at one node of the tree of fields.
struct At<'w, 'a> {
    walk: &'w mut Walk<'a>,
    node: u8,
    within: Within,
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

impl<'de> DeserializeSeed<'de> for At<'_, '_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl At<'_, '_> {
    /// Whether a path of the table means a value that stands here: an array is no text, and no text an array.
    fn is_meant(&self) -> bool {
        self.within != Within::Object || self.walk.table.fields.means_itself(self.node)
    }

    fn leaf(&mut self, scalar: Scalar<'_>) {
        if self.is_meant() {
            Leaf { walk: self.walk, node: self.node }.note(scalar);
        }
    }
}

impl<'de> Visitor<'de> for At<'_, '_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("any JSON")
    }

    fn visit_map<M: MapAccess<'de>>(self, mut map: M) -> Result<(), M::Error> {
        if !self.is_meant() {
            while map.next_entry::<IgnoredAny, IgnoredAny>()?.is_some() {}
            return Ok(());
        }
        let Self { walk, node, .. } = self;
        let fields = walk.table.fields;
        Leaf { walk, node }.note_presence();
        let (start, mut seen, mut duration) = (walk.facts.len(), 0u128, Seconds::default());
        while let Some(key) = map.next_key_seed(Key { walk, node })? {
            match key {
                Found::Field(child) => {
                    if seen >> child & 1 == 1 {
                        walk.facts.forget(fields, child, start);
                    }
                    seen |= 1 << child;
                    map.next_value_seed(At { walk, node: child, within: Within::Object })?;
                }
                Found::Part(part) => duration.read(part, map.next_value_seed(Whole)?),
                Found::Nothing => {
                    map.next_value::<IgnoredAny>()?;
                }
            }
        }
        if let Some(scalar) = duration.scalar() {
            Leaf { walk, node }.note(scalar);
        }
        Ok(())
    }

    fn visit_seq<S: SeqAccess<'de>>(self, mut elements: S) -> Result<(), S::Error> {
        let Self { walk, node, within } = self;
        match within {
            Within::Object if walk.table.fields.means_elements(node) => {
                while elements.next_element_seed(At { walk, node, within: Within::Elements })?.is_some() {}
            }
            // A wrapping array: the first error in it counts, else the last element.
            Within::Arrays(depth) if depth < WRAPPINGS => {
                let (start, within) = (walk.facts.len(), Within::Arrays(depth + 1));
                loop {
                    let more = if walk.facts.is_error() {
                        elements.next_element::<IgnoredAny>()?.is_some()
                    } else {
                        walk.facts.truncate(start);
                        elements.next_element_seed(At { walk, node, within })?.is_some()
                    };
                    if !more {
                        break;
                    }
                }
            }
            _ => while elements.next_element::<IgnoredAny>()?.is_some() {},
        }
        Ok(())
    }

    fn visit_str<E: Error>(mut self, text: &str) -> Result<(), E> {
        self.leaf(Scalar::Text(text));
        Ok(())
    }

    fn visit_u64<E: Error>(mut self, number: u64) -> Result<(), E> {
        self.leaf(Scalar::Whole(number));
        Ok(())
    }

    fn visit_i64<E: Error>(mut self, number: i64) -> Result<(), E> {
        #[allow(clippy::cast_precision_loss, reason = "only its sign is read")]
        self.leaf(Scalar::Number(number as f64));
        Ok(())
    }

    fn visit_f64<E: Error>(mut self, number: f64) -> Result<(), E> {
        self.leaf(Scalar::Number(number));
        Ok(())
    }

    fn visit_bool<E: Error>(mut self, value: bool) -> Result<(), E> {
        self.leaf(Scalar::Bool(value));
        Ok(())
    }

    fn visit_unit<E: Error>(self) -> Result<(), E> {
        Ok(())
    }
}

/// Where a key leads.
enum Found {
    Field(u8),
    Part(Part),
    Nothing,
}

#[derive(Clone, Copy)]
enum Part {
    Seconds,
    Nanos,
}

struct Key<'w, 'a> {
    walk: &'w Walk<'a>,
    node: u8,
}

impl<'de> DeserializeSeed<'de> for Key<'_, '_> {
    type Value = Found;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Found, D::Error> {
        deserializer.deserialize_str(self)
    }
}

impl<'de> Visitor<'de> for Key<'_, '_> {
    type Value = Found;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a key")
    }

    fn visit_str<E: Error>(self, key: &str) -> Result<Found, E> {
        let fields = self.walk.table.fields;
        Ok(match (fields.child(self.node, key), key) {
            (Some(child), _) => Found::Field(child),
            (None, "seconds") if !fields.leads_on(self.node) => Found::Part(Part::Seconds),
            (None, "nanos") if !fields.leads_on(self.node) => Found::Part(Part::Nanos),
            _ => Found::Nothing,
        })
    }
}

/// The parts of a `google.protobuf.Duration` written as an object; a part that is not a whole number spoils it.
#[derive(Default)]
struct Seconds {
    seconds: Option<Option<i64>>,
    nanos: Option<Option<i64>>,
}

impl Seconds {
    fn read(&mut self, part: Part, value: Option<i64>) {
        match part {
            Part::Seconds => self.seconds = Some(value),
            Part::Nanos => self.nanos = Some(value),
        }
    }

    fn scalar(&self) -> Option<Scalar<'static>> {
        if self.seconds.is_none() && self.nanos.is_none() {
            return None;
        }
        Some(Scalar::Duration(self.seconds.unwrap_or(Some(0))?, self.nanos.unwrap_or(Some(0))?))
    }
}

/// A whole number, or one as a string of digits.
struct Whole;

impl<'de> DeserializeSeed<'de> for Whole {
    type Value = Option<i64>;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Option<i64>, D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Whole {
    type Value = Option<i64>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("any JSON")
    }

    fn visit_u64<E: Error>(self, number: u64) -> Result<Option<i64>, E> {
        Ok(Some(i64::try_from(number).unwrap_or(i64::MAX)))
    }

    fn visit_i64<E: Error>(self, number: i64) -> Result<Option<i64>, E> {
        Ok(Some(number))
    }

    fn visit_f64<E: Error>(self, number: f64) -> Result<Option<i64>, E> {
        // Too large for a whole number of JSON's 64 bits: saturates.
        Ok((number >= 1e18).then_some(i64::MAX))
    }

    fn visit_str<E: Error>(self, text: &str) -> Result<Option<i64>, E> {
        let digits = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
        Ok(digits.then(|| text.parse().unwrap_or(i64::MAX)))
    }

    fn visit_bool<E: Error>(self, _: bool) -> Result<Option<i64>, E> {
        Ok(None)
    }

    fn visit_unit<E: Error>(self) -> Result<Option<i64>, E> {
        Ok(None)
    }

    fn visit_map<M: MapAccess<'de>>(self, mut map: M) -> Result<Option<i64>, M::Error> {
        while map.next_entry::<IgnoredAny, IgnoredAny>()?.is_some() {}
        Ok(None)
    }

    fn visit_seq<S: SeqAccess<'de>>(self, mut elements: S) -> Result<Option<i64>, S::Error> {
        while elements.next_element::<IgnoredAny>()?.is_some() {}
        Ok(None)
    }
}
