//! A JSON document (RFC 8259) read from its bytes, one value after the other: no tree, and nothing is copied but texts
//! with escapes in them.
//!
//! It accepts what `serde_json` accepts as a tree, to 1,024 levels of nesting; the walk over an error's few fields takes a
//! third of what its visitors do. Every function takes time linear in what it reads.

use std::borrow::Cow;

use crate::core::rule::field::Scalar;
use crate::core::rule::keys::{HEAD, head_of, head_of_many};

/// The document is no JSON, or nested too deeply.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Malformed;

type Read<T> = Result<T, Malformed>;

/// Arrays and objects inside each other that are skipped together.
const DEEPEST: usize = 1_024;

/// The brackets around a place: which are objects', one bit each.
#[derive(Default)]
struct Brackets([u128; DEEPEST / 128]);

impl Brackets {
    fn get(&self, level: usize) -> bool {
        self.0[level / 128] >> (level % 128) & 1 == 1
    }

    fn set(&mut self, level: usize, is_object: bool) {
        let bit = 1 << (level % 128);
        if is_object { self.0[level / 128] |= bit } else { self.0[level / 128] &= !bit }
    }
}

/// The place a document was read up to.
pub(super) struct Reader<'a> {
    text: &'a str,
    at: usize,
}

/// A value, or how one begins.
pub(super) enum Start<'a> {
    /// An object; its keys follow.
    Object,
    /// An array; its elements follow.
    Array,
    Text(Text<'a>),
    /// A number or a truth value.
    Scalar(Scalar<'static>),
    Null,
}

/// A string as it stands between its quotes.
#[derive(Clone, Copy)]
pub(super) struct Text<'a> {
    raw: &'a str,
    escaped: bool,
}

/// A key of an object.
pub(super) struct Key<'a> {
    text: Text<'a>,
    /// Its first bytes and what follows it, if there is enough of it.
    padded: Option<&'a [u8; HEAD]>,
}

impl<'a> Key<'a> {
    /// The key it means, and its first sixteen bytes as a number.
    #[inline]
    pub(super) fn with_head<R>(self, use_it: impl FnOnce(&str, u128) -> R) -> R {
        match (self.text.escaped, self.padded) {
            (false, Some(padded)) => use_it(self.text.raw, head_of_many(padded, self.text.raw.len())),
            (false, None) => use_it(self.text.raw, head_of(self.text.raw.as_bytes())),
            (true, _) => {
                let decoded = decode(self.text.raw);
                use_it(&decoded, head_of(decoded.as_bytes()))
            }
        }
    }
}

impl<'a> Text<'a> {
    /// The string it means.
    #[inline]
    pub(super) fn decoded(self) -> Cow<'a, str> {
        if self.escaped { Cow::Owned(decode(self.raw)) } else { Cow::Borrowed(self.raw) }
    }
}

impl<'a> Reader<'a> {
    pub(super) const fn new(text: &'a str) -> Self {
        Self { text, at: 0 }
    }

    fn bytes(&self) -> &'a [u8] {
        self.text.as_bytes()
    }

    fn byte(&self) -> Option<u8> {
        self.bytes().get(self.at).copied()
    }

    /// The next byte that is no white space.
    #[inline]
    fn peek(&mut self) -> Read<u8> {
        loop {
            match self.byte() {
                Some(b' ' | b'\n' | b'\t' | b'\r') => self.at += 1,
                Some(byte) => return Ok(byte),
                None => return Err(Malformed),
            }
        }
    }

    /// Reads a value, or the bracket that opens one.
    #[inline]
    pub(super) fn value(&mut self) -> Read<Start<'a>> {
        match self.peek()? {
            b'"' => self.string().map(Start::Text),
            b'{' => {
                self.at += 1;
                Ok(Start::Object)
            }
            b'[' => {
                self.at += 1;
                Ok(Start::Array)
            }
            b't' => self.word("true").map(|()| Start::Scalar(Scalar::Bool(true))),
            b'f' => self.word("false").map(|()| Start::Scalar(Scalar::Bool(false))),
            b'n' => self.word("null").map(|()| Start::Null),
            _ => self.number().map(Start::Scalar),
        }
    }

    /// The next key of the object that was opened, or its end. `first` until one was read.
    #[inline]
    pub(super) fn key(&mut self, first: bool) -> Read<Option<Key<'a>>> {
        if !self.follows(b'}', first)? {
            return Ok(None);
        }
        if self.peek()? != b'"' {
            return Err(Malformed);
        }
        let start = self.at + 1;
        let text = self.string()?;
        if self.peek()? != b':' {
            return Err(Malformed);
        }
        self.at += 1;
        Ok(Some(Key { text, padded: self.bytes()[start..].first_chunk() }))
    }

    /// Whether the array that was opened has another element. `first` until one was read.
    pub(super) fn element(&mut self, first: bool) -> Read<bool> {
        self.follows(b']', first)
    }

    /// Reads up to the next member of an open bracket, or over its end.
    #[inline]
    fn follows(&mut self, end: u8, first: bool) -> Read<bool> {
        let next = self.peek()?;
        if next == end {
            self.at += 1;
            return Ok(false);
        }
        if !first {
            if next != b',' {
                return Err(Malformed);
            }
            self.at += 1;
        }
        Ok(true)
    }

    /// Nothing but white space is left.
    pub(super) fn end(&mut self) -> Read<()> {
        if self.peek().is_err() { Ok(()) } else { Err(Malformed) }
    }

    /// Reads over a value.
    pub(super) fn skip(&mut self) -> Read<()> {
        match self.value()? {
            Start::Object => self.skip_opened(true),
            Start::Array => self.skip_opened(false),
            _ => Ok(()),
        }
    }

    /// Reads over what is left of an object or an array. Keeps the brackets it is in as bits, so that no input can
    /// exhaust the stack.
    pub(super) fn skip_opened(&mut self, is_object: bool) -> Read<()> {
        let (mut brackets, mut depth, mut first) = (Brackets::default(), 1, true);
        brackets.set(0, is_object);
        while depth > 0 {
            let in_object = brackets.get(depth - 1);
            let more = if in_object { self.key(first)?.is_some() } else { self.element(first)? };
            let opened = match more.then(|| self.value()).transpose()? {
                Some(Start::Object) => Some(true),
                Some(Start::Array) => Some(false),
                _ => None,
            };
            first = opened.is_some();
            if let Some(is_object) = opened {
                if depth == DEEPEST {
                    return Err(Malformed);
                }
                brackets.set(depth, is_object);
                depth += 1;
            } else if !more {
                depth -= 1;
            }
        }
        Ok(())
    }

    fn word(&mut self, word: &str) -> Read<()> {
        if !self.bytes()[self.at..].starts_with(word.as_bytes()) {
            return Err(Malformed);
        }
        self.at += word.len();
        Ok(())
    }

    /// Reads a string; stands at its opening quote.
    #[inline]
    fn string(&mut self) -> Read<Text<'a>> {
        let (start, mut escaped) = (self.at + 1, false);
        self.at = start;
        loop {
            self.at = plain_to(self.bytes(), self.at);
            match self.byte() {
                Some(b'"') => {
                    let raw = &self.text[start..self.at];
                    self.at += 1;
                    return Ok(Text { raw, escaped });
                }
                Some(b'\\') => {
                    escaped = true;
                    self.escape()?;
                }
                _ => return Err(Malformed),
            }
        }
    }

    /// Reads an escape; stands at its backslash. Half a surrogate pair is refused: it is no text.
    fn escape(&mut self) -> Read<()> {
        match self.bytes().get(self.at + 1) {
            Some(b'"' | b'\\' | b'/' | b'b' | b'f' | b'n' | b'r' | b't') => self.at += 2,
            Some(b'u') => match hex(self.bytes(), self.at + 2).ok_or(Malformed)? {
                0xdc00..=0xdfff => return Err(Malformed),
                0xd800..=0xdbff => {
                    let second = self.bytes().get(self.at + 6..self.at + 8) == Some(b"\\u");
                    let second = second.then(|| hex(self.bytes(), self.at + 8)).flatten();
                    if !second.is_some_and(|unit| (0xdc00..=0xdfff).contains(&unit)) {
                        return Err(Malformed);
                    }
                    self.at += 12;
                }
                _ => self.at += 6,
            },
            _ => return Err(Malformed),
        }
        Ok(())
    }

    /// Reads a number. One that is too large for a floating-point number is no number we can use.
    fn number(&mut self) -> Read<Scalar<'static>> {
        let start = self.at;
        let is_negative = self.byte() == Some(b'-');
        self.at += usize::from(is_negative);
        match self.byte() {
            Some(b'0') => self.at += 1,
            Some(b'1'..=b'9') => self.digits()?,
            _ => return Err(Malformed),
        }
        let mut is_whole = true;
        if self.byte() == Some(b'.') {
            is_whole = false;
            self.at += 1;
            self.digits()?;
        }
        if let Some(b'e' | b'E') = self.byte() {
            is_whole = false;
            self.at += 1;
            self.at += usize::from(matches!(self.byte(), Some(b'+' | b'-')));
            self.digits()?;
        }
        let text = &self.text[start..self.at];
        if is_whole
            && !is_negative
            && let Ok(number) = text.parse()
        {
            return Ok(Scalar::Whole(number));
        }
        let number: f64 = text.parse().map_err(|_| Malformed)?;
        if number.is_finite() { Ok(Scalar::Number(number)) } else { Err(Malformed) }
    }

    /// Reads digits, at least one.
    fn digits(&mut self) -> Read<()> {
        let start = self.at;
        while self.byte().is_some_and(|byte| byte.is_ascii_digit()) {
            self.at += 1;
        }
        if self.at > start { Ok(()) } else { Err(Malformed) }
    }
}

/// Where the first quote, backslash or control character stands from `at` on. Eight bytes are looked at together.
#[inline]
fn plain_to(bytes: &[u8], mut at: usize) -> usize {
    let mut rest = bytes.get(at..).unwrap_or_default();
    while let Some((eight, after)) = rest.split_first_chunk() {
        let found = special(u64::from_le_bytes(*eight));
        if found != 0 {
            return at + found.trailing_zeros() as usize / 8;
        }
        (rest, at) = (after, at + 8);
    }
    at + rest.iter().position(|byte| matches!(byte, b'"' | b'\\' | ..b' ')).unwrap_or(rest.len())
}

/// Which of eight bytes are quotes, backslashes or control characters: the lowest high bit marks the first that is.
#[inline]
const fn special(eight: u64) -> u64 {
    const ONES: u64 = 0x0101_0101_0101_0101;
    const HIGH: u64 = ONES << 7;
    let (quote, backslash) = (eight ^ (ONES * b'"' as u64), eight ^ (ONES * b'\\' as u64));
    (quote.wrapping_sub(ONES) & !quote
        | backslash.wrapping_sub(ONES) & !backslash
        | eight.wrapping_sub(ONES * b' ' as u64) & !eight)
        & HIGH
}

fn hex(bytes: &[u8], at: usize) -> Option<u32> {
    let digits = bytes.get(at..at + 4)?;
    digits.iter().try_fold(0, |value, byte| Some(value << 4 | char::from(*byte).to_digit(16)?))
}

/// What a string with escapes means. It was read before: what it holds is well-formed.
fn decode(raw: &str) -> String {
    let mut text = String::with_capacity(raw.len());
    let mut rest = raw;
    while let Some(at) = rest.find('\\') {
        text.push_str(&rest[..at]);
        let unit = |at: usize| hex(rest.as_bytes(), at).unwrap_or_default();
        let (letter, length) = match rest.as_bytes().get(at + 1) {
            Some(b'u') => match unit(at + 2) {
                high @ 0xd800..=0xdbff => (0x10000 + ((high - 0xd800) << 10) + unit(at + 8).saturating_sub(0xdc00), 12),
                unit => (unit, 6),
            },
            Some(b'b') => (0x08, 2),
            Some(b'f') => (0x0c, 2),
            Some(b'n') => (0x0a, 2),
            Some(b'r') => (0x0d, 2),
            Some(b't') => (0x09, 2),
            Some(other) => (u32::from(*other), 2),
            None => break,
        };
        text.push(char::from_u32(letter).unwrap_or(char::REPLACEMENT_CHARACTER));
        rest = rest.get(at + length..).unwrap_or_default();
    }
    text.push_str(rest);
    text
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use proptest::sample::select;
    use serde_json::Value;

    use super::*;

    fn accepts(document: &str) -> bool {
        let mut reader = Reader::new(document);
        reader.skip().and_then(|()| reader.end()).is_ok()
    }

    fn string(document: &str) -> Option<String> {
        match Reader::new(document).value() {
            Ok(Start::Text(text)) => Some(text.decoded().into_owned()),
            _ => None,
        }
    }

    #[test]
    fn brackets_are_skipped_to_the_bound_and_no_further() {
        let nested = |depth: usize| "[".repeat(depth) + &"]".repeat(depth);
        assert!(accepts(&nested(DEEPEST)));
        assert!(!accepts(&nested(DEEPEST + 1)));
        assert!(!accepts(&"[".repeat(60_000)));
        assert!(!accepts("[{]}") && !accepts("{\"a\":[}") && accepts("{\"a\":[{}]}"));
    }

    #[test]
    fn numbers_are_whole_where_they_can_be() {
        let number = |document: &str| match Reader::new(document).value() {
            Ok(Start::Scalar(scalar)) => Some(scalar),
            _ => None,
        };
        assert_eq!(number("18446744073709551615"), Some(Scalar::Whole(u64::MAX)));
        assert_eq!(number("18446744073709551616"), Some(Scalar::Number(18_446_744_073_709_551_616.0)));
        assert_eq!(number("-5"), Some(Scalar::Number(-5.0)));
        assert_eq!(number("1e1"), Some(Scalar::Number(10.0)));
        for refused in ["1e400", "-", ".5", "+5", "NaN", "Infinity", "nul", "tru", ""] {
            assert_eq!(number(refused), None, "{refused}");
        }
    }

    const PIECES: &[&str] = &[
        "{",
        "}",
        "[",
        "]",
        ",",
        ":",
        "\"",
        "\"a\"",
        "\\",
        "\\n",
        "\\u0041",
        "\\ud83d\\ude00",
        "\\ud800",
        "\\udc00",
        "\\u12",
        "0",
        "01",
        "-0",
        "1.5",
        "1.",
        "1e5",
        "1e",
        "e",
        "-",
        "true",
        "null",
        "nul",
        " ",
        "\n",
        "\u{1f}",
        "\u{7f}",
        "é",
        "\u{2028}",
        "{\"k\":1}",
        "[1,2]",
        "\"longer than eight bytes\"",
    ];

    proptest! {
        #![proptest_config(ProptestConfig { cases: 4_096, ..ProptestConfig::default() })]

        #[test]
        fn it_accepts_what_serde_json_accepts(pieces in prop::collection::vec(select(PIECES), 0..10)) {
            let document = pieces.concat();
            prop_assert_eq!(accepts(&document), serde_json::from_str::<Value>(&document).is_ok(), "{}", document);
        }

        #[test]
        fn texts_mean_what_serde_json_takes_them_for(text in any::<String>(), pieces in prop::collection::vec(select(PIECES), 0..6)) {
            for document in [serde_json::to_string(&text).unwrap_or_default(), format!("\"{}\"", pieces.concat())] {
                if let Ok(expected) = serde_json::from_str::<String>(&document) {
                    prop_assert_eq!(string(&document), Some(expected));
                }
            }
        }
    }
}
