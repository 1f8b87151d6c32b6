//! Stated waits: "Please try again in 6m0s", "Please retry after 33 seconds", "Please wait 41 seconds", "resets in ~5s",
//! "will reset after 17h3m12s".

use std::time::Duration;

use crate::core::rule::header::LONGEST;
use crate::provider::headers::number::leading_decimal;
use crate::provider::prose::terms::{Lead, Term};
use crate::provider::prose::words::Word;

/// Listens for the words that lead to a wait.
#[derive(Debug, Default)]
pub(super) struct WaitReader {
    before: [Term; 2],
}

impl WaitReader {
    /// Hears the next word; gives the wait that begins after it, if one does.
    #[inline]
    pub(super) fn hear(&mut self, term: Term, word: &Word, text: &[u8]) -> Option<Duration> {
        let before = self.before;
        self.before = [before[1], term];
        let Term::Lead(lead) = term else { return None };
        let leads = matches!(
            (before, lead),
            ([Term::Lead(Lead::Try), Term::Lead(Lead::Again)] | [_, Term::Lead(Lead::Retry | Lead::Reset)], Lead::In)
                | ([_, Term::Lead(Lead::Please)], Lead::Wait)
        );
        if leads { stated(&text[word.end..]) } else { None }
    }
}

/// Reads a wait at the start of `text`: numbers with units, spelled short or out, with `~`, spaces, commas and "and"
/// between them. The whole of it or nothing: a part would be shorter than what was stated.
fn stated(text: &[u8]) -> Option<Duration> {
    let mut rest = text;
    while let [b' ' | b'\t' | b'~' | b':', after @ ..] = rest {
        rest = after;
    }
    let mut total = None;
    while let Some((number, after)) = leading_decimal(rest) {
        let mut unit_at = after;
        while let [b' ' | b'\t' | b'\n', after @ ..] = unit_at {
            unit_at = after;
        }
        let (unit_nanos, length) = unit(unit_at)?;
        let sum = total.unwrap_or(Duration::ZERO).saturating_add(number.times(unit_nanos)).min(LONGEST);
        total = Some(sum);
        rest = &unit_at[length..];
        while let [b' ' | b',', after @ ..] | [b'a', b'n', b'd', b' ', after @ ..] = rest {
            rest = after;
        }
        // What follows a unit directly must be another number or the end of the word.
        if rest.len() == unit_at.len() - length && rest.first().is_some_and(u8::is_ascii_alphabetic) {
            return None;
        }
    }
    total
}

/// The unit at the start of `text`, in nanoseconds, and its length in bytes.
fn unit(text: &[u8]) -> Option<(u64, usize)> {
    const SECOND: u64 = 1_000_000_000;
    let micro = text.strip_prefix("µs".as_bytes()).or_else(|| text.strip_prefix("μs".as_bytes()));
    if micro.is_some() {
        return Some((1_000, 3));
    }
    let length = text.iter().take_while(|byte| byte.is_ascii_alphabetic()).count();
    let nanos = match text[..length].to_ascii_lowercase().as_slice() {
        b"ns" => 1,
        b"us" => 1_000,
        b"ms" | b"msec" | b"msecs" | b"millisecond" | b"milliseconds" => 1_000_000,
        b"s" | b"sec" | b"secs" | b"second" | b"seconds" => SECOND,
        b"m" | b"min" | b"mins" | b"minute" | b"minutes" => 60 * SECOND,
        b"h" | b"hr" | b"hrs" | b"hour" | b"hours" => 3_600 * SECOND,
        b"d" | b"day" | b"days" => 86_400 * SECOND,
        _ => return None,
    };
    Some((nanos, length))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn seconds(text: &str) -> Option<f64> {
        stated(text.as_bytes()).map(|wait| wait.as_secs_f64())
    }

    #[test]
    fn a_wait_is_read_whole_or_not_at_all() {
        for (text, expected) in [
            (" 6m0s.", 360.0),
            (" 10h17m5.723541104s.", 37_025.723_541_104),
            (" 33 seconds.", 33.0),
            (" ~5s.", 5.0),
            (" 644ms", 0.644),
            (" 1 minute and 30 seconds.", 90.0),
            (" 1 hour, 2 minutes.", 3_720.0),
            (" 850µs.", 0.000_85),
            (" 41  seconds", 41.0),
        ] {
            assert_eq!(seconds(text), Some(expected), "{text}");
        }
        for refused in [" infs", " a few minutes", " 5", " 5 apples", " 1m30", " -5s", " NaN seconds", " 5sx", ""] {
            assert_eq!(seconds(refused), None, "{refused}");
        }
        assert_eq!(seconds(" 99999999999999999999h"), Some(LONGEST.as_secs_f64()));
    }
}
