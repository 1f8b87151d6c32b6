//! Instants of civil time: HTTP dates and RFC 3339.

use std::time::Duration;

use time::OffsetDateTime;
use time::format_description::well_known::Rfc3339;

use crate::core::moment::WallTime;
use crate::provider::headers::number::trim;

/// The longest HTTP date: `Wednesday, 30-Nov-26 00:01:00 GMT`.
const LONGEST_HTTP_DATE: usize = 33;
const WEEKDAYS: [&str; 7] = ["Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday"];

/// An HTTP date (RFC 9110 section 5.6.7): IMF-fixdate, RFC 850 or asctime. A wrong day of the week is forgiven: it says
/// nothing that the date does not. Before 1970 it is the epoch; `23:59:60`, a leap second, is the second after; two digits
/// of a year are the next 50 years or the past, as the day of the week tells.
///
/// ```
/// use std::time::Duration;
/// use forbear::core::moment::WallTime;
/// use forbear::provider::headers::instant::http_date;
/// let minute = Some(WallTime::since_epoch(Duration::from_secs(60)));
/// assert_eq!(http_date(b"Thu, 01 Jan 1970 00:01:00 GMT"), minute);
/// assert_eq!(http_date(b"Thursday, 01-Jan-70 00:01:00 GMT"), minute);
/// assert_eq!(http_date(b"Thu Jan  1 00:01:00 1970"), minute);
/// ```
#[must_use]
pub fn http_date(value: &[u8]) -> Option<WallTime> {
    let value = trim(value);
    if value.len() > LONGEST_HTTP_DATE {
        return None;
    }
    let text = std::str::from_utf8(value).ok()?;
    in_this_century(text).or_else(|| usual_http_date(text)).or_else(|| leap_second(text)).or_else(|| before_1970(text))
}

/// RFC 850 with a year from 70 to 76, which is within 50 years from now; the library takes it for the past.
fn in_this_century(text: &str) -> Option<WallTime> {
    let (weekday, rest) = text.split_once(", ")?;
    let (date, time) = rest.split_once(' ')?;
    let (day_and_month, year) = date.rsplit_once('-')?;
    if !matches!(year, "70" | "71" | "72" | "73" | "74" | "75" | "76")
        || !is_weekday(weekday.as_bytes())
        || weekday.len() < 6
    {
        return None;
    }
    // The day of the week fits one century only; where it fits neither, the date is not in the past.
    if strict_http_date(text).is_some() {
        return None;
    }
    usual_http_date(&format!("{}, {} 20{year} {time}", &weekday[..3], day_and_month.replace('-', " ")))
}

fn leap_second(text: &str) -> Option<WallTime> {
    let before = usual_http_date(&text.replacen("23:59:60", "23:59:59", 1)).filter(|_| text.contains("23:59:60"))?;
    Some(WallTime::since_epoch(before.elapsed_since_epoch() + Duration::from_secs(1)))
}

/// The zero of some languages' clocks lies in year 1. The calendar repeats itself after 2,000 years.
fn before_1970(text: &str) -> Option<WallTime> {
    let end = if text.ends_with(" GMT") { text.len().checked_sub(" 00:00:00 GMT".len())? } else { text.len() };
    let start = end.checked_sub(4)?;
    let digits = text.get(start..end).filter(|year| year.bytes().all(|byte| byte.is_ascii_digit()))?;
    let year = digits.parse().ok().filter(|year: &u16| *year < 1970)?;
    usual_http_date(&format!("{}{}{}", &text[..start], year + 2_000, &text[end..])).map(|_| WallTime::default())
}

/// A date of the three forms, as the library reads it but for a wrong day of the week.
fn usual_http_date(text: &str) -> Option<WallTime> {
    strict_http_date(text).or_else(|| {
        let rest = text.trim_start_matches(|letter: char| letter.is_ascii_alphabetic());
        let weekday = &text[..text.len() - rest.len()];
        // What the three forms have after the day of the week, written short or out.
        let has_a_form = matches!((weekday.len(), rest.len()), (3, 21 | 26) | (6..=9, 24));
        if !has_a_form {
            return None;
        }
        let named = |day: &&&str| weekday == **day || weekday == &day[..3];
        WEEKDAYS.iter().find(named)?;
        WEEKDAYS.iter().find_map(|day| {
            let day = if weekday.len() == 3 { &day[..3] } else { day };
            strict_http_date(&format!("{day}{rest}"))
        })
    })
}

fn strict_http_date(text: &str) -> Option<WallTime> {
    let since_epoch = httpdate::parse_http_date(text).ok()?.duration_since(std::time::UNIX_EPOCH).ok()?;
    Some(WallTime::since_epoch(since_epoch))
}

/// Whether `word` is a day of the week as HTTP dates begin with it.
#[must_use]
pub fn is_weekday(word: &[u8]) -> bool {
    WEEKDAYS.iter().any(|day| word == day.as_bytes() || word == &day.as_bytes()[..3])
}

/// An instant of RFC 3339, with its zone; before 1970 it is the epoch.
///
/// ```
/// use std::time::Duration;
/// use forbear::core::moment::WallTime;
/// use forbear::provider::headers::instant::rfc3339;
/// let minute = Some(WallTime::since_epoch(Duration::from_secs(60)));
/// assert_eq!(rfc3339(b"1970-01-01T00:01:00Z"), minute);
/// assert_eq!(rfc3339(b"1970-01-01T01:01:00+01:00"), minute);
/// ```
#[must_use]
pub fn rfc3339(value: &[u8]) -> Option<WallTime> {
    let value = trim(value);
    if !matches!(value.get(10), Some(b'T' | b't')) {
        return None;
    }
    let instant = OffsetDateTime::parse(std::str::from_utf8(value).ok()?, &Rfc3339).ok()?;
    let nanos = u64::try_from(instant.unix_timestamp_nanos().max(0)).ok();
    let since_epoch = nanos.map_or_else(
        || Duration::from_secs(u64::try_from(instant.unix_timestamp()).unwrap_or(u64::MAX)),
        Duration::from_nanos,
    );
    Some(WallTime::since_epoch(since_epoch))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn seconds(value: &str) -> Option<u64> {
        http_date(value.as_bytes()).map(|instant| instant.elapsed_since_epoch().as_secs())
    }

    #[test]
    fn the_three_forms_are_read_and_a_wrong_weekday_is_forgiven() {
        let expected = Some(1_795_996_860);
        assert_eq!(seconds("Mon, 30 Nov 2026 00:01:00 GMT"), expected);
        assert_eq!(seconds("Fri, 30 Nov 2026 00:01:00 GMT"), expected);
        assert_eq!(seconds("Monday, 30-Nov-26 00:01:00 GMT"), expected);
        assert_eq!(seconds("Sunday, 30-Nov-26 00:01:00 GMT"), expected);
        assert_eq!(seconds("Mon Nov 30 00:01:00 2026"), expected);
    }

    #[test]
    fn old_years_leap_seconds_and_two_digits_of_a_year_are_read() {
        for past in ["Mon, 01 Jan 0001 00:00:00 GMT", "Fri Feb 29 00:00:00 1600", "Wed, 31 Dec 1969 23:59:59 GMT"] {
            assert_eq!(seconds(past), Some(0), "{past}");
        }
        assert_eq!(seconds("Mon, 30 Feb 0001 00:00:00 GMT"), None);
        let midnight = Some(1_796_083_200);
        assert_eq!(seconds("Mon, 30 Nov 2026 23:59:60 GMT"), midnight);
        assert_eq!(seconds("Monday, 30-Nov-26 23:59:60 GMT"), midnight);
        assert_eq!(seconds("Mon Nov 30 23:59:60 2026"), midnight);
        assert_eq!(seconds("Mon, 30 Nov 2026 23:59:61 GMT"), None);
        assert_eq!(seconds("Mon, 30 Nov 2026 12:59:60 GMT"), None);
        assert_eq!(seconds("Wednesday, 01-Jan-76 00:00:00 GMT"), seconds("Wed, 01 Jan 2076 00:00:00 GMT"));
        assert_eq!(seconds("Thursday, 01-Jan-76 00:00:00 GMT"), seconds("Thu, 01 Jan 1976 00:00:00 GMT"));
        assert_eq!(seconds("Thursday, 01-Jan-70 00:00:00 GMT"), Some(0));
        assert_eq!(seconds("Wednesday, 32-Jan-76 00:00:00 GMT"), None);
        assert_eq!(seconds("Sunday, 06-Nov-94 08:49:37 GMT"), Some(784_111_777));
        assert_eq!(seconds("Wed, 01-Jan-76 00:00:00 GMT"), None);
    }

    #[test]
    fn no_such_day_no_zone_and_no_weekday_are_refused() {
        for refused in [
            "Mon, 30 Feb 2026 00:01:00 GMT",
            "Mon, 30 Nov 2026 00:01:00",
            "Mon, 30 Nov 2026 00:01:00 UTC",
            "Mon, 30 Nov",
            "Xyz, 30 Nov 2026 00:01:00 GMT",
            "30 Nov 2026 00:01:00 GMT",
            "Mon, 30 Nov 2026 25:01:00 GMT",
        ] {
            assert_eq!(seconds(refused), None, "{refused}");
        }
    }

    #[test]
    fn rfc_3339_needs_its_zone_and_takes_lower_case() {
        let read = |value: &str| rfc3339(value.as_bytes()).map(|instant| instant.elapsed_since_epoch().as_secs());
        assert_eq!(read("2026-11-30t00:00:30z"), Some(1_795_996_830));
        assert_eq!(read("2026-11-30T01:00:30.999+01:00"), Some(1_795_996_830));
        assert_eq!(read("2026-11-30T00:00:30"), None);
        assert_eq!(read("2026-02-30T00:00:30Z"), None);
        assert_eq!(read("1960-01-01T00:00:00Z"), Some(0));
        assert_eq!(read("9999-12-31T23:59:59Z"), Some(253_402_300_799));
    }
}
