//! Any HTTP API: the common headers, the names OpenAI chose, and messages in its shape.

use crate::core::rule::field::Fields;
use crate::core::rule::header::Headers;
use crate::core::rule::verdict::Rules;
use crate::core::rule::{Answer, Table};
use crate::core::signal::{LimitClass, Scope, TokenKind};
use crate::provider::{base, body, usage};

/// The table.
pub(super) const TABLE: Table = Table::new("generic")
    .page("https://www.rfc-editor.org/rfc/rfc9110#section-10.2.3", "2026-11-30")
    .scopes(&[Scope::Org, Scope::Key, Scope::Endpoint])
    .headers(HEADERS)
    .fields(FIELDS, body::read)
    .rules(RULES)
    .tokens(usage::OPENAI)
    .answers(ANSWERS);

const HEADERS: &Headers = &Headers::of(&[base::HEADERS, base::X_RATELIMIT, base::X_RATELIMIT_PLAIN]);
const FIELDS: &Fields = &Fields::of(&[base::FIELDS, usage::OPENAI.answer]);
const RULES: &Rules = &Rules::of(&[base::RULES]);

const QUOTAS: &[(&str, &str)] = &[
    ("x-ratelimit-limit-requests", "{requests.limit}"),
    ("x-ratelimit-remaining-requests", "{requests.remaining}"),
    ("x-ratelimit-reset-requests", "{requests.reset.f}"),
    ("x-ratelimit-limit-tokens", "{tokens.limit}"),
    ("x-ratelimit-remaining-tokens", "{tokens.remaining}"),
    ("x-ratelimit-reset-tokens", "{tokens.reset.f}"),
];
const WAIT: &[(&str, &str)] = &[("retry-after", "{wait.s}")];

const ANSWERS: &[Answer] = &[
    Answer::new(
        LimitClass::None,
        200,
        r#"{"ok":true,"usage":{"prompt_tokens":{usage.input},"completion_tokens":{usage.output},"total_tokens":{usage.total}}}"#,
    )
    .headers(QUOTAS),
    Answer::new(LimitClass::RequestRate, 429, "{\"error\":{\"message\":\"Limit of {limit} requests per minute reached.\"}}")
        .headers(WAIT),
    Answer::new(LimitClass::TokenThroughput, 429, "{\"error\":{\"message\":\"Limit of {limit} tokens per minute reached.\"}}")
        .tokens(TokenKind::Total)
        .headers(WAIT),
    Answer::new(LimitClass::Daily, 429, "{\"error\":{\"message\":\"Limit of {limit} requests per day reached.\"}}")
        .headers(WAIT),
    Answer::new(LimitClass::Concurrency, 429, "{\"error\":{\"message\":\"Too many concurrent requests.\"}}"),
    Answer::new(LimitClass::Overload, 503, "{\"error\":{\"message\":\"Service unavailable.\"}}"),
    Answer::new(LimitClass::Spend, 402, "{\"error\":{\"message\":\"Payment required.\"}}"),
    Answer::new(LimitClass::Unknown, 429, "{\"error\":{\"message\":\"Rate limit exceeded.\"}}").headers(WAIT),
];
