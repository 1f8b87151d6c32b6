//! Waits and resets in all their forms.

use std::time::Duration;

use crate::core::moment::WallTime;
use crate::core::rule::header::{LONGEST_NANOS, When};
use crate::provider::headers::instant::{http_date, is_weekday, rfc3339};
use crate::provider::headers::number::{Decimal, decimal, few_digits, leading_decimal, trim};

/// `Retry-After` (RFC 9110 section 10.2.3): seconds, which providers also send with a fraction, or an HTTP date. Of a
/// list the largest member that can be read counts.
///
/// ```
/// use std::time::Duration;
/// use forbear::core::moment::WallTime;
/// use forbear::provider::headers::duration::retry_after;
/// let read = |value: &[u8]| Some(retry_after(value)?.from(WallTime::default));
/// assert_eq!(read(b"120"), Some(Duration::from_secs(120)));
/// assert_eq!(read(b"0.5"), Some(Duration::from_millis(500)));
/// assert_eq!(read(b"Thu, 01 Jan 1970 00:01:00 GMT"), Some(Duration::from_secs(60)));
/// assert_eq!(read(b"soon"), None, "unreadable is not now");
/// ```
#[must_use]
pub fn retry_after(value: &[u8]) -> Option<When> {
    latest_of(value, |member| {
        decimal(member).map(|number| When::after(number.seconds())).or_else(|| http_date(member).map(When::at))
    })
}

/// `retry-after-ms`: milliseconds, and no date. Of a list the largest member that can be read counts.
///
/// ```
/// use std::time::Duration;
/// use forbear::core::moment::WallTime;
/// use forbear::provider::headers::duration::retry_after_ms;
/// let wait = retry_after_ms(b"1500").expect("a number").from(WallTime::default);
/// assert_eq!(wait, Duration::from_millis(1_500));
/// ```
#[must_use]
pub fn retry_after_ms(value: &[u8]) -> Option<When> {
    let members = value.split(|&byte| byte == b',').filter_map(decimal);
    members.map(|number| number.times(1_000_000)).max().map(When::after)
}

/// A reset: a Go duration, a bare number ([`by_magnitude`]), RFC 3339 or an HTTP date. Of a list the latest that can be
/// read counts.
///
/// ```
/// use std::time::Duration;
/// use forbear::core::moment::WallTime;
/// use forbear::provider::headers::duration::reset;
/// let read = |value: &[u8]| Some(reset(value)?.from(WallTime::default));
/// assert_eq!(read(b"6m0s"), Some(Duration::from_secs(360)));
/// assert_eq!(read(b"7.66"), Some(Duration::from_millis(7_660)));
/// assert_eq!(read(b"1970-01-01T00:00:30Z"), Some(Duration::from_secs(30)));
/// ```
#[must_use]
pub fn reset(value: &[u8]) -> Option<When> {
    if let Some(whole) = few_digits(value) {
        return Some(of_magnitude(Decimal { whole, nanos: 0 }));
    }
    if let Some(nanos) = go_nanos(value) {
        return Some(When::after_nanos(nanos));
    }
    latest_of(value, |member| {
        let member = trim(member);
        if !member.first().is_some_and(u8::is_ascii_digit) {
            return http_date(member).map(When::at);
        }
        go_nanos(member)
            .map(When::after_nanos)
            .or_else(|| by_magnitude(member))
            .or_else(|| rfc3339(member).map(When::at))
    })
}

/// A bare number: from 10^12 on milliseconds since the epoch, from 10^9 on seconds since the epoch, else seconds from
/// now. No window is 31 years long.
///
/// ```
/// use std::time::Duration;
/// use forbear::core::moment::WallTime;
/// use forbear::provider::headers::duration::by_magnitude;
/// let now = || WallTime::since_epoch(Duration::from_secs(1_800_000_000));
/// assert_eq!(by_magnitude(b"30").unwrap().from(now), Duration::from_secs(30));
/// assert_eq!(by_magnitude(b"1800000030").unwrap().from(now), Duration::from_secs(30));
/// assert_eq!(by_magnitude(b"1800000030000").unwrap().from(now), Duration::from_secs(30));
/// ```
#[must_use]
pub fn by_magnitude(value: &[u8]) -> Option<When> {
    decimal(value).map(of_magnitude)
}

fn of_magnitude(number: Decimal) -> When {
    match number.whole {
        1_000_000_000_000.. => {
            let (seconds, millis) = (number.whole / 1_000, number.whole % 1_000);
            let rest = Duration::from_nanos(millis * 1_000_000 + u64::from(number.nanos).div_ceil(1_000));
            When::at(WallTime::since_epoch(Duration::from_secs(seconds) + rest))
        }
        1_000_000_000.. => When::at(WallTime::since_epoch(Duration::new(number.whole, number.nanos))),
        _ => When::after_nanos(number.times_nanos(1_000_000_000)),
    }
}

/// A Go duration: numbers with units, `1h2m3.5s`, `20ms`, `850µs`; also `d`. At most
/// [`LONGEST`](crate::core::rule::header::LONGEST).
///
/// ```
/// use std::time::Duration;
/// use forbear::provider::headers::duration::go_duration;
/// assert_eq!(go_duration(b"1h2m3.5s"), Some(Duration::from_millis(3_723_500)));
/// assert_eq!(go_duration(b"20ms"), Some(Duration::from_millis(20)));
/// assert_eq!(go_duration(b"3 s"), None, "read whole or not at all");
/// ```
#[must_use]
pub fn go_duration(value: &[u8]) -> Option<Duration> {
    go_nanos(value).map(Duration::from_nanos)
}

/// [`go_duration`] in nanoseconds.
#[inline]
fn go_nanos(value: &[u8]) -> Option<u64> {
    few_go_digits(value).or_else(|| any_go_digits(value))
}

/// A Go duration of hours, minutes, seconds and milliseconds with at most nine digits before and after a point, as nearly
/// every one is.
fn few_go_digits(value: &[u8]) -> Option<u64> {
    let digit =
        |at: usize| value.get(at).map(|byte| byte.wrapping_sub(b'0')).filter(|digit| *digit <= 9).map(u64::from);
    let (mut total, mut at) = (0u64, 0);
    while at < value.len() {
        let (mut number, start) = (0u64, at);
        while let Some(digit) = digit(at) {
            number = number.wrapping_mul(10).wrapping_add(digit);
            at += 1;
        }
        let (mut billionths, mut place) = (0, 100_000_000u64);
        if at - start > 9 || at == start {
            return None;
        }
        if value.get(at) == Some(&b'.') {
            let first = at + 1;
            at = first;
            while let Some(digit) = digit(at) {
                billionths += digit * place;
                place /= 10;
                at += 1;
            }
            if at - first > 9 || at == first {
                return None;
            }
        }
        let seconds = match (value.get(at)?, value.get(at + 1)) {
            (b'm', Some(b's')) => {
                total = total.saturating_add(number * 1_000_000 + billionths.div_ceil(1_000));
                at += 2;
                continue;
            }
            (b's', _) => 1,
            (b'm', _) => 60,
            (b'h', _) => 3_600,
            _ => return None,
        };
        // Nine digits of hours are more than a number of nanoseconds holds.
        let whole = number.checked_mul(seconds * 1_000_000_000)?;
        total = total.saturating_add(whole).saturating_add(billionths * seconds);
        at += 1;
    }
    (at > 0).then_some(total.min(LONGEST_NANOS))
}

/// Any Go duration.
fn any_go_digits(value: &[u8]) -> Option<u64> {
    let mut rest = trim(value);
    let mut total = 0u64;
    if rest.is_empty() {
        return None;
    }
    while !rest.is_empty() {
        let (number, after) = leading_decimal(rest)?;
        let (unit_nanos, length) = go_unit(after)?;
        total = total.saturating_add(number.times_nanos(unit_nanos)).min(LONGEST_NANOS);
        rest = &after[length..];
    }
    Some(total)
}

/// The unit at the start of `text`, in nanoseconds, and its length in bytes.
fn go_unit(text: &[u8]) -> Option<(u64, usize)> {
    Some(match text {
        [b'm', b's', ..] => (1_000_000, 2),
        [b'u', b's', ..] => (1_000, 2),
        // U+00B5 as Go prints it, and U+03BC, which Go also reads.
        [0xc2, 0xb5, b's', ..] | [0xce, 0xbc, b's', ..] => (1_000, 3),
        [b'n', b's', ..] => (1, 2),
        [b's', ..] => (1_000_000_000, 1),
        [b'm', ..] => (60_000_000_000, 1),
        [b'h', ..] => (3_600_000_000_000, 1),
        [b'd', ..] => (86_400_000_000_000, 1),
        _ => return None,
    })
}

/// Reads a comma list, minding the comma inside dates: the latest member that can be read.
fn latest_of(value: &[u8], read: impl Fn(&[u8]) -> Option<When>) -> Option<When> {
    let comma = |from: usize| value[from..].iter().position(|&byte| byte == b',').map(|at| from + at);
    let Some(first) = comma(0) else { return read(value) };
    let (mut latest, mut start, mut end) = (None, 0, Some(first));
    loop {
        let member = &value[start..end.unwrap_or(value.len())];
        let date_end = end.filter(|_| is_weekday(trim(member))).map(|end| comma(end + 1).unwrap_or(value.len()));
        let date = date_end.and_then(|date_end| Some((http_date(&value[start..date_end])?, date_end)));
        let (found, stop) = match date {
            Some((date, date_end)) => (Some(When::at(date)), Some(date_end).filter(|&at| at < value.len())),
            None if trim(member).is_empty() => (None, end),
            None => (read(member), end),
        };
        latest = match (latest, found) {
            (Some(known), Some(found)) => Some(When::or_later(known, found)),
            (known, found) => known.or(found),
        };
        match stop {
            Some(at) => {
                start = at + 1;
                end = comma(start);
            }
            None => return latest,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::core::rule::header::LONGEST;

    #[test]
    fn durations_of_few_digits_are_read_as_any_others_are() {
        let (numbers, units) = (
            ["0", "7", "59.56", "999999999", "0.000000001", "1234567890", "3.0000000001", ".5"],
            ["ms", "s", "m", "h", "d", "us", "x"],
        );
        for first in numbers {
            for unit in units {
                for second in ["", "4s", "0.000000001ms", "999999999h", "5", "1h2m"] {
                    let text = format!("{first}{unit}{second}");
                    let (few, any) = (few_go_digits(text.as_bytes()), any_go_digits(text.as_bytes()));
                    assert!(few.is_none() || few == any, "{text}: {few:?}, {any:?}");
                }
            }
        }
        assert_eq!(few_go_digits(b"1h2m3.5s"), Some(3_723_500_000_000));
        assert_eq!(few_go_digits("999999999ms".repeat(30_000).as_bytes()), Some(LONGEST_NANOS));
        assert_eq!((few_go_digits(b""), few_go_digits(b"12"), few_go_digits(b"5.s")), (None, None, None));
    }

    const NOW: WallTime = WallTime::since_epoch(Duration::from_secs(1_795_996_800));

    fn seconds(read: impl Fn(&[u8]) -> Option<When>, value: &str) -> Option<f64> {
        read(value.as_bytes()).map(|when| when.from(|| NOW).as_secs_f64())
    }

    #[test]
    fn the_largest_member_of_a_list_counts_and_the_comma_of_a_date_splits_nothing() {
        assert_eq!(seconds(retry_after, "1,5"), Some(5.0));
        assert_eq!(seconds(retry_after, "60, 120, soon"), Some(120.0));
        assert_eq!(seconds(retry_after, "Mon, 30 Nov 2026 00:01:00 GMT, 30"), Some(60.0));
        assert_eq!(seconds(retry_after, "90, Mon, 30 Nov 2026 00:01:00 GMT"), Some(90.0));
        assert_eq!(seconds(retry_after, "Mon, 30 Nov"), None);
        assert_eq!(seconds(retry_after, ",,"), None);
    }

    #[test]
    fn a_go_duration_is_read_whole_or_not_at_all() {
        for (value, expected) in [
            ("6m0s", 360.0),
            ("1h2m3.5s", 3_723.5),
            ("20ms", 0.02),
            ("850µs", 0.000_85),
            ("850μs", 0.000_85),
            ("1d2h", 93_600.0),
            ("0s", 0.0),
        ] {
            assert_eq!(seconds(reset, value), Some(expected), "{value}");
        }
        for refused in ["6m0sx", "1m30", "m", "-5s", "1m 30s", "5S", "1.s", ".5s", "1ss", "µs"] {
            assert_eq!(seconds(reset, refused), None, "{refused}");
        }
        assert_eq!(seconds(reset, "99999999999999999h"), Some(LONGEST.as_secs_f64()));
    }

    #[test]
    fn a_bare_number_is_read_by_its_magnitude() {
        assert_eq!(seconds(reset, "12"), Some(12.0));
        assert_eq!(seconds(reset, "1795996830"), Some(30.0));
        assert_eq!(seconds(reset, "1795996830250"), Some(30.25));
        assert_eq!(seconds(reset, "1700000000"), Some(0.0));
        assert_eq!(seconds(reset, "99999999999999999999"), Some(LONGEST.as_secs_f64()));
    }
}
