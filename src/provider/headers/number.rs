//! Decimal numbers, verdicts and words.

use std::time::Duration;

use crate::core::rule::header::{LONGEST, LONGEST_NANOS};

/// Cuts spaces and tabs from both ends.
#[must_use]
pub fn trim(mut value: &[u8]) -> &[u8] {
    while let [b' ' | b'\t', rest @ ..] | [rest @ .., b' ' | b'\t'] = value {
        value = rest;
    }
    value
}

/// A decimal number without sign or exponent: the whole part, saturating, and billionths, rounded up.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(clippy::exhaustive_structs, reason = "it has no other parts")]
pub struct Decimal {
    /// The whole part.
    pub whole: u64,
    /// Billionths, rounded up, less than a billion.
    pub nanos: u32,
}

impl Decimal {
    const LARGEST: Self = Self { whole: u64::MAX, nanos: 0 };

    /// This many seconds, at most [`LONGEST`].
    #[must_use]
    pub fn seconds(self) -> Duration {
        Duration::new(self.whole, self.nanos).min(LONGEST)
    }

    /// This many times `unit_nanos`, rounded up, at most [`LONGEST`].
    #[must_use]
    pub fn times(self, unit_nanos: u64) -> Duration {
        Duration::from_nanos(self.times_nanos(unit_nanos))
    }

    /// [`Decimal::times`] in nanoseconds.
    #[inline]
    pub(crate) fn times_nanos(self, unit_nanos: u64) -> u64 {
        const BILLION: u64 = 1_000_000_000;
        let fraction = match u64::from(self.nanos).checked_mul(unit_nanos) {
            Some(0) => 0,
            Some(product) => product.div_ceil(BILLION),
            // Of a unit longer than a minute: whole billions first, so that nothing overflows.
            None => {
                let (whole, rest) = (unit_nanos / BILLION, unit_nanos % BILLION);
                u64::from(self.nanos) * whole + (u64::from(self.nanos) * rest).div_ceil(BILLION)
            }
        };
        let nanos = self.whole.checked_mul(unit_nanos).and_then(|whole| whole.checked_add(fraction));
        nanos.unwrap_or(LONGEST_NANOS).min(LONGEST_NANOS)
    }
}

/// Reads `1*DIGIT [ "." 1*DIGIT ]` from the start of `value`; gives the number and what follows it.
///
/// ```
/// use forbear::provider::headers::number::leading_decimal;
/// let (number, rest) = leading_decimal(b"2.5s").expect("it begins with a number");
/// assert_eq!((number.whole, number.nanos, rest), (2, 500_000_000, &b"s"[..]));
/// assert!(leading_decimal(b"-1").is_none(), "no sign");
/// ```
#[must_use]
#[inline]
pub fn leading_decimal(value: &[u8]) -> Option<(Decimal, &[u8])> {
    let (mut whole, mut digits) = (0u64, 0);
    for byte in value {
        let digit = byte.wrapping_sub(b'0');
        if digit > 9 {
            break;
        }
        // Nineteen digits fit whatever they are.
        whole = if digits < 19 {
            whole * 10 + u64::from(digit)
        } else {
            whole.saturating_mul(10).saturating_add(u64::from(digit))
        };
        digits += 1;
    }
    if digits == 0 {
        return None;
    }
    let rest = &value[digits..];
    let [b'.', fraction @ ..] = rest else { return Some((Decimal { whole, nanos: 0 }, rest)) };
    let digits = fraction.iter().take_while(|byte| byte.is_ascii_digit()).count();
    if digits == 0 {
        return None;
    }
    let (mut nanos, mut place, mut more) = (0u32, 100_000_000u32, false);
    for byte in &fraction[..digits] {
        let digit = u32::from(byte - b'0');
        nanos += digit * place;
        more |= place == 0 && digit > 0;
        place /= 10;
    }
    let nanos = nanos + u32::from(more);
    let number = match (nanos, whole.checked_add(1)) {
        (1_000_000_000, Some(whole)) => Decimal { whole, nanos: 0 },
        (1_000_000_000, None) => Decimal::LARGEST,
        _ => Decimal { whole, nanos },
    };
    Some((number, &fraction[digits..]))
}

/// Reads `1*DIGIT [ "." 1*DIGIT ]` and nothing else.
///
/// ```
/// use forbear::provider::headers::number::decimal;
/// assert_eq!(decimal(b" 20 ").map(|number| number.whole), Some(20));
/// assert!(decimal(b"2e3").is_none() && decimal(b"20s").is_none());
/// ```
#[must_use]
#[inline]
pub fn decimal(value: &[u8]) -> Option<Decimal> {
    if let Some(whole) = few_digits(value) {
        return Some(Decimal { whole, nanos: 0 });
    }
    match leading_decimal(trim(value)) {
        Some((number, [])) => Some(number),
        _ => None,
    }
}

/// Digits and nothing else, as nearly every value is: at most nineteen, which cannot overflow.
#[inline]
pub(super) fn few_digits(value: &[u8]) -> Option<u64> {
    if value.is_empty() || value.len() > 19 {
        return None;
    }
    let mut number = 0;
    for byte in value {
        let digit = byte.wrapping_sub(b'0');
        if digit > 9 {
            return None;
        }
        number = number * 10 + u64::from(digit);
    }
    Some(number)
}

/// A count: a decimal number, rounded up, so that only zero is zero.
///
/// ```
/// use forbear::provider::headers::number::amount;
/// assert_eq!((amount(b"149984"), amount(b"0.2"), amount(b"0")), (Some(149_984), Some(1), Some(0)));
/// assert_eq!(amount(b"-1"), None, "some providers' word for unknown");
/// ```
#[must_use]
pub fn amount(value: &[u8]) -> Option<u64> {
    decimal(value).map(|number| number.whole.saturating_add(u64::from(number.nanos > 0)))
}

/// Whether a percentage is 100 or more.
///
/// ```
/// use forbear::provider::headers::number::used_up;
/// assert_eq!((used_up(b"99.9"), used_up(b"100"), used_up(b"?")), (Some(false), Some(true), None));
/// ```
#[must_use]
pub fn used_up(value: &[u8]) -> Option<bool> {
    decimal(value).map(|percent| percent.whole >= 100)
}

/// Whether a subscription window is used up: `rejected`, as against `allowed` and `allowed_warning`.
#[must_use]
pub fn rejected(value: &[u8]) -> Option<bool> {
    Some(trim(value) == b"rejected")
}

/// `true` or `false`, upper and lower case alike.
///
/// The form of `x-should-retry`, by which some providers' own clients are told what to do.
///
/// ```
/// use forbear::provider::headers::number::verdict;
/// assert_eq!((verdict(b"true"), verdict(b"False"), verdict(b"maybe")), (Some(true), Some(false), None));
/// ```
#[must_use]
pub fn verdict(value: &[u8]) -> Option<bool> {
    let value = trim(value);
    if value.eq_ignore_ascii_case(b"true") {
        Some(true)
    } else if value.eq_ignore_ascii_case(b"false") {
        Some(false)
    } else {
        None
    }
}

/// Whether a `content-type` announces a stream of events.
///
/// ```
/// use forbear::provider::headers::number::stream;
/// assert_eq!(stream(b"text/event-stream; charset=utf-8"), Some(true));
/// assert_ne!(stream(b"application/json"), Some(true));
/// ```
#[must_use]
pub fn stream(value: &[u8]) -> Option<bool> {
    let kind = trim(value.split(|&byte| byte == b';').next().unwrap_or(value));
    let streams: [&[u8]; 2] = [b"text/event-stream", b"application/vnd.amazon.eventstream"];
    Some(streams.iter().any(|stream| kind.eq_ignore_ascii_case(stream)))
}

/// The value as it stands.
#[must_use]
pub fn word(value: &[u8]) -> &[u8] {
    trim(value)
}

/// The value up to the first colon.
///
/// ```
/// use forbear::provider::headers::number::before_colon;
/// assert_eq!(before_colon(b"ThrottlingException:http://internal.amazon.com/coral/"), b"ThrottlingException");
/// ```
#[must_use]
pub fn before_colon(value: &[u8]) -> &[u8] {
    trim(value.split(|&byte| byte == b':').next().unwrap_or(value))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_digits_with_an_inner_point_are_a_number() {
        for refused in
            ["", " ", ".", ".5", "5.", "+5", "-0", "1e3", "0x10", "NaN", "inf", "1_000", "1 2", "\u{a0}3", "٣"]
        {
            assert_eq!(decimal(refused.as_bytes()), None, "{refused:?}");
        }
        assert_eq!(decimal(b"\t 007.50 "), Some(Decimal { whole: 7, nanos: 500_000_000 }));
    }

    #[test]
    fn what_a_nanosecond_cannot_hold_is_rounded_up() {
        assert_eq!(decimal(b"0.0000000001"), Some(Decimal { whole: 0, nanos: 1 }));
        assert_eq!(decimal(b"1.9999999999"), Some(Decimal { whole: 2, nanos: 0 }));
        assert_eq!(amount(b"0.0"), Some(0));
        assert_eq!(amount(b"0.5"), Some(1));
    }

    #[test]
    fn too_large_saturates_and_never_wraps() {
        let digits = "9".repeat(400);
        assert_eq!(decimal(digits.as_bytes()).map(Decimal::seconds), Some(LONGEST));
        assert_eq!(decimal(digits.as_bytes()).map(|n| n.times(3_600_000_000_000)), Some(LONGEST));
    }
}
