//! The grammars of header values. Each reads its value whole or refuses it; a refused value counts as absent.
//!
//! | grammar | reads |
//! |---|---|
//! | [`number`] | decimal numbers, verdicts, words |
//! | [`duration`] | waits and resets: seconds, milliseconds, Go durations, epochs, dates, lists of them |
//! | [`instant`] | HTTP dates in their three forms, RFC 3339 |
//! | [`ratelimit`] | the IETF `RateLimit` fields, all generations |
//!
//! White space around a value is space and tab only (RFC 9110 section 5.6.3): anything else belongs to the value.

pub mod duration;
pub mod instant;
pub mod number;
pub mod ratelimit;
