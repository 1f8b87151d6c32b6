//! What is answered where a provider's table has no words of its own.

use crate::core::rule::Answer;
use crate::core::signal::{LimitClass, TokenKind};

/// A throttle that names no limit.
pub(super) const UNKNOWN: Answer = Answer {
    class: LimitClass::Unknown,
    token_kind: None,
    status: 429,
    headers: &[("retry-after", "{wait.s}")],
    body: r#"{"error":{"message":"Too many requests"}}"#,
};

/// Capacity is the provider's own affair, and 503 says so everywhere (RFC 9110, section 15.6.4).
pub(super) const OVERLOAD: Answer = Answer {
    class: LimitClass::Overload,
    token_kind: None,
    status: 503,
    headers: &[("retry-after", "{wait.s}")],
    body: r#"{"error":{"message":"The service is overloaded"}}"#,
};

/// A bill that is not paid.
pub(super) const SPEND: Answer = Answer {
    class: LimitClass::Spend,
    token_kind: None,
    status: 402,
    headers: &[],
    body: r#"{"error":{"message":"Payment required"}}"#,
};

/// A request that no wait makes fit.
pub(super) const LARGER_THAN_LIMIT: Answer = Answer {
    class: LimitClass::TokenThroughput,
    token_kind: Some(TokenKind::Total),
    status: 429,
    headers: &[],
    body: r#"{"error":{"message":"Request too large: Limit {limit}, Requested {requested}","type":"tokens","code":"rate_limit_exceeded"}}"#,
};

/// A success of a table that shows none.
pub(super) const SUCCESS: Answer = Answer {
    class: LimitClass::None,
    token_kind: None,
    status: 200,
    headers: &[],
    body: r#"{"object":"emulated","usage":{"input_tokens":{usage.input},"output_tokens":{usage.output},"total_tokens":{usage.total}}}"#,
};

/// A failure while serving.
pub(super) const SERVER_ERROR: Answer = Answer {
    class: LimitClass::None,
    token_kind: None,
    status: 500,
    headers: &[],
    body: r#"{"error":{"message":"The server failed","type":"server_error"}}"#,
};

/// The same, found out after a 200 was sent.
pub(super) const ERROR_IN_SUCCESS: Answer = Answer { status: 200, ..SERVER_ERROR };

/// The same, found out after the first words of a stream were sent.
pub(super) const ERROR_IN_STREAM: Answer = Answer {
    status: 200,
    headers: &[("content-type", "text/event-stream")],
    body: "data: {\"delta\":\"Once\"}\n\nevent: error\ndata: {\"type\":\"error\",\"error\":{\"message\":\"The server failed\",\"type\":\"server_error\"}}\n\n",
    ..SERVER_ERROR
};

/// A key that is not known.
pub(super) const AUTH: Answer = Answer {
    class: LimitClass::None,
    token_kind: None,
    status: 401,
    headers: &[],
    body: r#"{"error":{"message":"Invalid API key","type":"authentication_error"}}"#,
};
