//! What most providers have in common: every table begins with these rows and goes on with its own.

use crate::core::rule::field::{Field, Told};
use crate::core::rule::header::{Axis, Header, Means};
use crate::core::rule::verdict::{INSIDE_A_SUCCESS, Rule};
use crate::core::signal::{Dimension, LimitClass, QuotaWindow, Scope};
use crate::provider::headers::duration::{reset, retry_after, retry_after_ms};
use crate::provider::headers::instant::http_date;
use crate::provider::headers::number::{amount, stream, verdict};
use crate::provider::headers::ratelimit::ratelimit;
use crate::provider::leaf::{after_hash, end, proto_duration, seconds, word};

/// Headers of RFC 9110, of the IETF draft, and the two that the vendors' clients made common.
pub const HEADERS: &[Header] = &[
    Header::new("retry-after-ms", Means::FinerWait(retry_after_ms)),
    Header::new("retry-after", Means::Wait(retry_after)),
    Header::new("date", Means::Date(http_date)),
    Header::new("x-should-retry", Means::Verdict(verdict)),
    Header::new("stripe-should-retry", Means::Verdict(verdict)),
    Header::new("content-type", Means::Stream(stream)),
    Header::new("ratelimit", Means::Listed(ratelimit)),
    Header::new("ratelimit-policy", Means::Listed(ratelimit)),
    Header::new("ratelimit-limit", Means::Listed(ratelimit)),
    Header::new("ratelimit-remaining", Means::Listed(ratelimit)),
    Header::new("ratelimit-reset", Means::Listed(ratelimit)),
];

/// Requests per minute.
pub const REQUESTS: Axis = Axis::new("requests", Dimension::Requests, QuotaWindow::Minute);
/// Tokens of both sides per minute.
pub const TOKENS: Axis = Axis::new("tokens", Dimension::Tokens, QuotaWindow::Minute);

/// The names OpenAI chose and many others took over.
pub const X_RATELIMIT: &[Header] = &[
    Header::new("x-ratelimit-limit-requests", Means::Limit(REQUESTS, amount)),
    Header::new("x-ratelimit-remaining-requests", Means::Remaining(REQUESTS, amount)),
    Header::new("x-ratelimit-reset-requests", Means::Reset(REQUESTS, reset)),
    Header::new("x-ratelimit-limit-tokens", Means::Limit(TOKENS, amount)),
    Header::new("x-ratelimit-remaining-tokens", Means::Remaining(TOKENS, amount)),
    Header::new("x-ratelimit-reset-tokens", Means::Reset(TOKENS, reset)),
];

/// A limit whose unit the names do not tell.
pub const UNNAMED: Axis = Axis::unnamed("unnamed");

/// The names without a unit.
pub const X_RATELIMIT_PLAIN: &[Header] = &[
    Header::new("x-ratelimit-limit", Means::Limit(UNNAMED, amount)),
    Header::new("x-ratelimit-remaining", Means::Remaining(UNNAMED, amount)),
    Header::new("x-ratelimit-reset", Means::Reset(UNNAMED, reset)),
];

/// Fields of error bodies: waits in the order in which they are asked, then the rest.
pub const FIELDS: &[Field] = &[
    Field::new("body.error.details[].retryDelay", Told::Wait(proto_duration)),
    Field::new("body.error.resets_in_seconds", Told::Wait(seconds)),
    Field::new("body.response.error.resets_in_seconds", Told::Wait(seconds)),
    Field::new("body.error.resets_at", Told::Wait(end)),
    Field::new("body.response.error.resets_at", Told::Wait(end)),
    Field::new("body.error.metadata.headers.X-RateLimit-Reset", Told::Wait(end)),
    Field::new("body.error.metadata.headers.x-ratelimit-reset", Told::Wait(end)),
    Field::new("body.retry_after", Told::Wait(seconds)),
    Field::new("body.estimated_time", Told::Wait(seconds)),
    Field::new("body.error", Told::Error),
    Field::new("body.response.error", Told::Error),
    Field::new("body.type", Told::ErrorWord(&["error", "response.failed"])),
    Field::new("body.error.message", Told::Text),
    Field::new("body.message", Told::Text),
    Field::new("body.detail", Told::Text),
    Field::new("body.error", Told::Text),
    Field::new("body.response.error.message", Told::Text),
    Field::new("body.error.type", Told::Word(word)),
    Field::new("body.error.code", Told::Word(word)),
    Field::new("body.error.status", Told::Word(word)),
    Field::new("body.error.error_type", Told::Word(word)),
    Field::new("body.response.error.type", Told::Word(word)),
    Field::new("body.response.error.code", Told::Word(word)),
    Field::new("body.type", Told::Word(after_hash)),
    Field::new("body.code", Told::Word(word)),
    Field::new("body.error_type", Told::Word(word)),
    Field::new("body.error", Told::Word(word)),
    Field::new("body.violated-policies[]", Told::Policy),
    Field::new("body.error.code", Told::Status),
    Field::new("body.error.status", Told::Status),
    Field::new("body.status_code", Told::Status),
    Field::new("body.status", Told::Status),
    Field::new("body.code", Told::Status),
];

/// Words that mean the same wherever they stand.
pub const RULES: &[Rule] = &[
    Rule::phrase(&["rate limit", "rate-limited", "too many requests", "quota exceeded"])
        .on(&[INSIDE_A_SUCCESS])
        .some_limit(),
    Rule::word(&[
        "rate_limit_exceeded",
        "rate_limit_error",
        "rate_limit",
        "rate_limited",
        "ratelimited",
        "too_many_requests",
        "quota_exceeded",
        "RESOURCE_EXHAUSTED",
    ])
    .on(&[INSIDE_A_SUCCESS])
    .some_limit(),
    Rule::word(&["server_error", "api_error", "internal_error", "internal_server_error", "timeout_error", "INTERNAL"])
        .on(&[INSIDE_A_SUCCESS])
        .limit(LimitClass::None)
        .retry(),
    Rule::phrase(&["overloaded"]).on(&[INSIDE_A_SUCCESS, 429]).limit(LimitClass::Overload),
    Rule::phrase(&["request too large"]).on(&[INSIDE_A_SUCCESS, 429]).stop(),
    Rule::word(&["overloaded_error", "overloaded", "engine_overloaded", "server_is_overloaded"])
        .limit(LimitClass::Overload),
    Rule::word(&["service_unavailable", "service_unavailable_error", "UNAVAILABLE"])
        .on(&[INSIDE_A_SUCCESS])
        .limit(LimitClass::Overload),
    // RFC-to-be: the problem types of the RateLimit draft.
    Rule::word(&["temporary-reduced-capacity"]).limit(LimitClass::Overload),
    Rule::word(&["quota-exceeded", "abnormal-usage-detected"]).on(&[INSIDE_A_SUCCESS, 403]).some_limit(),
    // OpenAI's words, which gateways repeat. The code decides, whatever type stands beside it.
    Rule::word(&[
        "insufficient_quota",
        "credit_balance_exhausted",
        "organization_spend_limit_exceeded",
        "organization_usage_limit_exceeded",
        "billing_not_active",
    ])
    .limit(LimitClass::Spend)
    .scope(Scope::Org),
    Rule::word(&["project_spend_limit_exceeded"]).limit(LimitClass::Spend).scope(Scope::Project),
];

/// A header line that the emulator sends: name and template.
pub(super) type Line = (&'static str, &'static str);

/// Two lists of header lines as one of `N` in all.
pub(super) const fn joined<const N: usize>(first: &[Line], then: &[Line]) -> [Line; N] {
    assert!(first.len() + then.len() == N, "as many as both lists have");
    let (mut all, mut at) = ([("", ""); N], 0);
    while at < N {
        all[at] = if at < first.len() { first[at] } else { then[at - first.len()] };
        at += 1;
    }
    all
}
