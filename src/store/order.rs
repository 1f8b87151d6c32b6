//! What an operator orders for the whole fleet: a pool shut, paced, or reopened by hand.
//!
//! It stands beside what the provider said, in fields of its own, and travels in a line of its own: printable ASCII, fields
//! separated by one space, at most [`LONGEST_LINE_BYTES`].
//!
//! | # | field | range |
//! |---|---|---|
//! | 1 | `held` | |
//! | 2 | version | `1` |
//! | 3 | tag of the pool | 16 characters of base32 |
//! | 4 | when it was ordered, server milliseconds: the later order holds | |
//! | 5 | time left, milliseconds; 0 ends whatever was ordered before | 0 up to 26 hours |
//! | 6 | one call per so many milliseconds in the whole fleet; 0: none passes | 0 up to an hour |
//! | 7 | who | 1 to 32 characters |
//! | 8 | why, to the end of the line | |
//!
//! What is read is not trusted: a line that is not exactly this is none, and times are cut to their range.

use std::time::Duration;

use crate::core::gate::{LONGEST_DAILY, LONGEST_SHUT};
use crate::store::news::{LONGEST_LINE_BYTES, is_tag, number};

/// Nothing holds for longer, whoever says so: an order that should is given again.
pub(crate) const LONGEST_HELD: Duration = LONGEST_DAILY;
/// The slowest pace that can be ordered.
pub(crate) const SLOWEST: Duration = LONGEST_SHUT;
/// What travels of a reason, in bytes.
const LONGEST_REASON_BYTES: usize = 120;

/// An order as it reached this process.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Order {
    /// When it was given, server milliseconds.
    pub(crate) given_at: u64,
    /// How long from now; zero: what was ordered before ends.
    pub(crate) left: Duration,
    /// One call per so long in the whole fleet; zero: none passes.
    pub(crate) every: Duration,
    /// Who gave it.
    pub(crate) by: String,
    /// Why.
    pub(crate) reason: String,
}

impl Order {
    /// Reads a line and whose it is; `None` for anything that is not one.
    pub(crate) fn parse(line: &[u8]) -> Option<(&str, Self)> {
        if line.len() > LONGEST_LINE_BYTES {
            return None;
        }
        let line = std::str::from_utf8(line).ok()?;
        let mut fields = line.splitn(8, ' ');
        let mut next = || fields.next();
        let (word, version, tag) = (next()?, next()?, next()?);
        if word != "held" || version != "1" || !is_tag(tag) {
            return None;
        }
        let (given_at, left, every) = (number(next()?)?, number(next()?)?, number(next()?)?);
        Some((tag, Self::read(given_at, left, every, next()?, next()?)?))
    }

    /// An order of what was read; `None` where that is none.
    pub(crate) fn read(given_at: u64, left_ms: u64, every_ms: u64, by: &str, reason: &str) -> Option<Self> {
        let fits = (1..=32).contains(&by.len()) && reason.len() <= LONGEST_REASON_BYTES;
        fits.then(|| Self {
            given_at,
            left: Duration::from_millis(left_ms).min(LONGEST_HELD),
            every: Duration::from_millis(every_ms).min(SLOWEST),
            by: printable(by),
            reason: printable(reason),
        })
    }

    /// The reason and who gave it, for logs.
    pub(crate) fn why(&self) -> String {
        format!("{} ({}, for all replicas)", self.reason, self.by)
    }
}

/// What is kept of a text for a line: printable ASCII, so many bytes.
pub(crate) fn printable(text: &str) -> String {
    let shown = |char: char| if (' '..='~').contains(&char) { char } else { '_' };
    text.trim().chars().map(shown).take(LONGEST_REASON_BYTES).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    const LINE: &str = "held 1 abcdefghij234567 1000 60000 500 alice the nightly export";

    #[test]
    fn a_line_is_read_as_it_was_told_and_its_times_are_cut_to_their_range() {
        let (tag, order) = Order::parse(LINE.as_bytes()).expect("an order");
        assert_eq!(
            (tag, order.given_at, order.left.as_secs(), order.every.as_millis()),
            ("abcdefghij234567", 1_000, 60, 500)
        );
        assert_eq!(order.why(), "the nightly export (alice, for all replicas)");
        let far = LINE.replace("60000", "99999999999999").replace(" 500 ", " 99999999999999 ");
        let (_, far) = Order::parse(far.as_bytes()).expect("an order");
        assert_eq!((far.left, far.every), (LONGEST_HELD, SLOWEST));
    }

    #[test]
    fn what_is_not_exactly_a_line_is_none() {
        for (at, field) in LINE.split(' ').enumerate().take(6) {
            assert_eq!(Order::parse(LINE.replacen(field, "-1", 1).as_bytes()), None, "{at}");
        }
        for line in ["", "held", "held 1 abcdefghij234567 1 2 3", "held 1 abcdefghij234567 1 2 3  why"] {
            assert_eq!(Order::parse(line.as_bytes()), None, "{line}");
        }
        assert_eq!(Order::parse(&[LINE.as_bytes(), &[b'x'; 300]].concat()), None);
        assert_eq!(printable(" line\nbreak \u{1b}[31m\u{e9} "), "line_break _[31m_");
    }
}
