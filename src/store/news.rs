//! What one replica hears from another, and its form on the wire.
//!
//! One line of printable ASCII, fields separated by one space, at most [`LONGEST_LINE_BYTES`]:
//!
//! | # | field | range |
//! |---|---|---|
//! | 1 | version | `1` |
//! | 2 | tag of the pool | 16 characters of base32 |
//! | 3 | when the entry was made, server milliseconds | |
//! | 4 | version of the entry | |
//! | 5 | round | |
//! | 6 | strikes | |
//! | 7 | `shut` or `ramp` | |
//! | 8 | how the end is known: `guessed`, `stated`, `assumed` | |
//! | 9 | limit class | the class's word |
//! | 10 | time left, milliseconds | 0 up to 26 hours |
//! | 11 | server time, milliseconds | |
//! | 12 | the replica that told it | 1 to 32 characters |
//!
//! What is read is not trusted: a line that is not exactly this is no news, and an end further away than the class allows
//! is cut to what it allows.

use std::time::Duration;

use crate::core::gate::longest_shut;
use crate::core::merge::End;
use crate::core::signal::LimitClass;

/// Longer lines are not read.
pub(crate) const LONGEST_LINE_BYTES: usize = 256;
/// A throttle this long ago says nothing about now.
pub(crate) const OLDEST_REPORT: Duration = Duration::from_secs(30);
/// How long an entry is kept after its end: the memory of strikes.
pub(crate) const KEPT_AFTER_END: Duration = Duration::from_secs(600);

/// How far a pool is on its way back.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Phase {
    /// Nobody passes until the end.
    Shut,
    /// Reopened before its end by a good probe or an operator: calls come back paced.
    Ramp,
}

impl Phase {
    /// Its word on the wire.
    pub(crate) const fn as_str(self) -> &'static str {
        match self {
            Self::Shut => "shut",
            Self::Ramp => "ramp",
        }
    }

    fn from_word(word: &str) -> Option<Self> {
        [Self::Shut, Self::Ramp].into_iter().find(|phase| phase.as_str() == word)
    }
}

/// The state of a pool as the store told it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct News {
    /// When the entry was made and how often it changed since: later wins where something shortens.
    pub(crate) stamp: Stamp,
    /// How often the pool went from open to shut.
    pub(crate) round: u64,
    /// Throttled rounds in a row.
    pub(crate) strikes: u32,
    /// Shut, or on the way back.
    pub(crate) phase: Phase,
    /// How the end is known.
    pub(crate) end: End,
    /// Why.
    pub(crate) class: LimitClass,
    /// How long from now.
    pub(crate) left: Duration,
    /// Whether the end was cut to what its class allows.
    pub(crate) clamped: bool,
    /// The server's time when it was told, milliseconds.
    pub(crate) server_ms: u64,
}

/// Orders the states of one entry. An entry that was lost and made anew is later by its birth.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Stamp {
    /// Server milliseconds.
    pub(crate) born_ms: u64,
    /// Rises with each change.
    pub(crate) version: u64,
}

/// A line as it came: whose it is, and what it says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Line<'a> {
    /// The pool's tag.
    pub(crate) tag: &'a str,
    /// The replica that told it.
    pub(crate) origin: &'a str,
    /// What it says.
    pub(crate) news: News,
}

impl<'a> Line<'a> {
    /// Reads a line; `None` for anything that is not one.
    pub(crate) fn parse(line: &'a [u8]) -> Option<Self> {
        if line.len() > LONGEST_LINE_BYTES {
            return None;
        }
        let line = std::str::from_utf8(line).ok()?;
        let fields: Vec<&str> = line.split(' ').collect();
        let [version, tag, born, changed, round, strikes, phase, end, class, left, server, origin] = fields[..] else {
            return None;
        };
        if version != "1" || !is_tag(tag) || !(1..=32).contains(&origin.len()) {
            return None;
        }
        let class = class_from_word(class)?;
        let (left, clamped) = clamp(class, Duration::from_millis(number(left)?));
        let news = News {
            stamp: Stamp { born_ms: number(born)?, version: number(changed)? },
            round: number(round)?,
            strikes: u32::try_from(number(strikes)?).ok()?,
            phase: Phase::from_word(phase)?,
            end: end_from_word(end)?,
            class,
            left,
            clamped,
            server_ms: number(server)?,
        };
        Some(Self { tag, origin, news })
    }
}

/// Whether this may be the short name of a pool.
pub(crate) fn is_tag(tag: &str) -> bool {
    tag.len() == 16 && tag.bytes().all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit())
}

/// A time as the class allows it, and whether it had to be cut.
pub(crate) fn clamp(class: LimitClass, left: Duration) -> (Duration, bool) {
    let longest = longest_shut(class);
    (left.min(longest), left > longest)
}

/// The word of an end on the wire.
pub(crate) const fn end_word(end: End) -> &'static str {
    match end {
        End::Guessed => "guessed",
        End::Stated => "stated",
        End::Assumed => "assumed",
    }
}

/// The end a word stands for.
pub(crate) fn end_from_word(word: &str) -> Option<End> {
    [End::Guessed, End::Stated, End::Assumed].into_iter().find(|end| end_word(*end) == word)
}

/// The class a word stands for. [`LimitClass::None`] shuts nothing and is no news.
pub(crate) fn class_from_word(word: &str) -> Option<LimitClass> {
    LimitClass::ALL.iter().copied().find(|class| *class != LimitClass::None && class.as_str() == word)
}

/// Digits only, at most as many as milliseconds of this millennium need.
pub(crate) fn number(digits: &str) -> Option<u64> {
    let is_plain = (1..=15).contains(&digits.len()) && digits.bytes().all(|byte| byte.is_ascii_digit());
    if is_plain { digits.parse().ok() } else { None }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::core::gate::{LONGEST_DAILY, LONGEST_SHUT};

    const LINE: &str = "1 abcdefghij234567 1000 7 3 2 shut stated request_rate 4500 2000 r-1";

    #[test]
    fn a_line_is_read_as_it_was_told() {
        let line = Line::parse(LINE.as_bytes()).expect("a line");
        assert_eq!((line.tag, line.origin), ("abcdefghij234567", "r-1"));
        assert_eq!(line.news.stamp, Stamp { born_ms: 1_000, version: 7 });
        assert_eq!((line.news.round, line.news.strikes, line.news.phase), (3, 2, Phase::Shut));
        assert_eq!((line.news.end, line.news.class), (End::Stated, LimitClass::RequestRate));
        assert_eq!((line.news.left, line.news.clamped), (Duration::from_millis(4_500), false));
    }

    #[test]
    fn what_is_not_exactly_a_line_is_no_news() {
        let fields: Vec<&str> = LINE.split(' ').collect();
        for at in 0..fields.len() {
            let without = [&fields[..at], &fields[at + 1..]].concat().join(" ");
            assert_eq!(Line::parse(without.as_bytes()), None, "{without}");
            let mut wrong = fields.clone();
            wrong[at] = "-1é";
            if at != 11 {
                assert_eq!(Line::parse(wrong.join(" ").as_bytes()), None, "{wrong:?}");
            }
        }
        for line in
            ["", " ", &format!("{LINE} "), &LINE.replace("request_rate", "none"), &format!("{LINE}{}", "r".repeat(300))]
        {
            assert_eq!(Line::parse(line.as_bytes()), None, "{line}");
        }
        assert_eq!(Line::parse(&[0xff; 40]), None);
    }

    #[test]
    fn an_end_a_year_away_is_cut_to_an_hour_and_a_day_may_last_twenty_six() {
        let year = LINE.replace(" 4500 ", " 31536000000 ");
        let cut = Line::parse(year.as_bytes()).expect("a line").news;
        assert_eq!((cut.left, cut.clamped), (LONGEST_SHUT, true));
        let day = year.replace("request_rate", "daily");
        let cut = Line::parse(day.as_bytes()).expect("a line").news;
        assert_eq!((cut.left, cut.clamped), (LONGEST_DAILY, true));
    }
}
