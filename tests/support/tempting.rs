//! Answers that tempt a parser to look at everything again and again.

use http::{HeaderMap, HeaderValue};

/// What such an answer repeats.
pub(crate) const PATTERNS: [&str; 12] =
    ["0", "9", ",", "1,", "Mon, ", "1h", "\"a\";r=0,", "{\"error\":", "[", "please try again in 1s ", "a", "\"\\u0041"];

/// A throttle whose headers and body are about `size` bytes of one pattern each.
pub(crate) struct Tempting {
    pub(crate) headers: HeaderMap,
    pub(crate) body: Vec<u8>,
}

impl Tempting {
    pub(crate) fn of(pattern: &str, size: usize) -> Self {
        let body = pattern.repeat(size / pattern.len() + 1).into_bytes();
        let mut headers = HeaderMap::new();
        for name in ["retry-after", "ratelimit", "x-ratelimit-reset-requests"] {
            headers.append(name, HeaderValue::from_bytes(&body).expect("printable"));
        }
        Self { headers, body }
    }
}
