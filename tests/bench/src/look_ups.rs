//! The hand-written reader forbear is measured beside: one look-up for each header a service asks for.

use http::{HeaderMap, HeaderName};

/// What OpenAI says of its two axes, read as services read it: six look-ups by constant names, six parses.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct SixReadings {
    /// Limits of requests and tokens.
    pub limits: [Option<u64>; 2],
    /// What is left of requests and tokens.
    pub remaining: [Option<u64>; 2],
    /// Seconds until requests and tokens reset.
    pub resets: [Option<f64>; 2],
}

static LIMITS: [HeaderName; 2] =
    [HeaderName::from_static("x-ratelimit-limit-requests"), HeaderName::from_static("x-ratelimit-limit-tokens")];
static REMAINING: [HeaderName; 2] = [
    HeaderName::from_static("x-ratelimit-remaining-requests"),
    HeaderName::from_static("x-ratelimit-remaining-tokens"),
];
static RESETS: [HeaderName; 2] =
    [HeaderName::from_static("x-ratelimit-reset-requests"), HeaderName::from_static("x-ratelimit-reset-tokens")];

/// Looks six headers up and parses what stands there.
#[must_use]
pub fn six_look_ups(headers: &HeaderMap) -> SixReadings {
    let whole = |name: &HeaderName| headers.get(name)?.to_str().ok()?.parse().ok();
    let reset = |name: &HeaderName| go_duration(headers.get(name)?.to_str().ok()?);
    SixReadings {
        limits: [whole(&LIMITS[0]), whole(&LIMITS[1])],
        remaining: [whole(&REMAINING[0]), whole(&REMAINING[1])],
        resets: [reset(&RESETS[0]), reset(&RESETS[1])],
    }
}

/// Seconds of a Go duration, as a short loop by hand reads it.
fn go_duration(text: &str) -> Option<f64> {
    let (mut total, mut rest) = (0.0, text);
    while !rest.is_empty() {
        let digits = rest.find(|letter: char| !letter.is_ascii_digit() && letter != '.')?;
        let number: f64 = rest[..digits].parse().ok()?;
        rest = &rest[digits..];
        let (unit, length) = match rest.as_bytes() {
            [b'm', b's', ..] => (1e-3, 2),
            [b'h', ..] => (3_600.0, 1),
            [b'm', ..] => (60.0, 1),
            [b's', ..] => (1.0, 1),
            _ => return None,
        };
        total += number * unit;
        rest = &rest[length..];
    }
    Some(total)
}

/// The twenty headers of one answer.
///
/// # Panics
/// Never: they are constants that can be carried.
#[must_use]
pub fn twenty_headers() -> HeaderMap {
    let lines = [
        ("date", "Mon, 30 Nov 2026 00:00:00 GMT"),
        ("content-type", "application/json"),
        ("content-length", "1482"),
        ("connection", "keep-alive"),
        ("access-control-expose-headers", "X-Request-ID"),
        ("openai-organization", "org-0123456789abcdef"),
        ("openai-processing-ms", "412"),
        ("openai-version", "2020-10-01"),
        ("x-ratelimit-limit-requests", "10000"),
        ("x-ratelimit-limit-tokens", "2000000"),
        ("x-ratelimit-remaining-requests", "9999"),
        ("x-ratelimit-remaining-tokens", "1998456"),
        ("x-ratelimit-reset-requests", "6ms"),
        ("x-ratelimit-reset-tokens", "1m2.5s"),
        ("x-request-id", "req_0123456789abcdef0123456789abcdef"),
        ("strict-transport-security", "max-age=31536000; includeSubDomains; preload"),
        ("x-content-type-options", "nosniff"),
        ("server", "cloudflare"),
        ("cf-ray", "0123456789abcdef-FRA"),
        ("alt-svc", "h3=\":443\"; ma=86400"),
    ];
    lines.into_iter().map(|(name, value)| (HeaderName::from_static(name), value.parse().expect("a value"))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn six_readings_are_read() {
        let readings = six_look_ups(&twenty_headers());
        assert_eq!(readings.limits, [Some(10_000), Some(2_000_000)]);
        assert_eq!(readings.remaining, [Some(9_999), Some(1_998_456)]);
        assert_eq!(readings.resets, [Some(0.006), Some(62.5)]);
        assert_eq!(twenty_headers().len(), 20);
    }
}
