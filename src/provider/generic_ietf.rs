//! Any HTTP API that sends the IETF `RateLimit` fields or problem details.

use crate::core::rule::field::Fields;
use crate::core::rule::header::Headers;
use crate::core::rule::verdict::Rules;
use crate::core::rule::{Answer, Table};
use crate::core::signal::{LimitClass, Part, Scope, TokenKind};
use crate::provider::{base, body, usage};

/// The table.
pub(super) const TABLE: Table = Table::new("generic-ietf")
    .page("https://datatracker.ietf.org/doc/draft-ietf-httpapi-ratelimit-headers/", "2026-11-30")
    .scopes(&[Scope::Org, Scope::Key, Scope::Endpoint])
    .headers(HEADERS)
    .fields(FIELDS, body::read)
    .rules(RULES)
    .normally_states(Some(Part::Header), Some(Part::Header))
    .tokens(usage::OPENAI)
    .answers(ANSWERS);

const HEADERS: &Headers = &Headers::of(&[base::HEADERS, base::X_RATELIMIT, base::X_RATELIMIT_PLAIN]);
const FIELDS: &Fields = &Fields::of(&[base::FIELDS, usage::OPENAI.answer]);
const RULES: &Rules = &Rules::of(&[base::RULES]);

const PROBLEM: &str =
    r#"{"type":"https://iana.org/assignments/http-problem-types#quota-exceeded","title":"Quota exceeded"}"#;

const ANSWERS: &[Answer] = &[
    Answer::new(LimitClass::None, 200, r#"{"ok":true,"usage":{"prompt_tokens":{usage.input},"completion_tokens":{usage.output},"total_tokens":{usage.total}}}"#).headers(&[
        ("RateLimit", "\"minute\";r={requests.remaining};t={requests.reset.s}"),
        ("RateLimit-Policy", "\"minute\";q={requests.limit};w=60"),
    ]),
    Answer::new(LimitClass::RequestRate, 429, PROBLEM).headers(&[
        ("Content-Type", "application/problem+json"),
        ("RateLimit", "\"minute\";r=0;t={wait.s}"),
        ("RateLimit-Policy", "\"minute\";q={limit};w=60"),
    ]),
    Answer::new(LimitClass::TokenThroughput, 429, PROBLEM).tokens(TokenKind::Total).headers(&[
        ("Content-Type", "application/problem+json"),
        ("RateLimit", "\"tokens\";r=0;t={wait.s}"),
        ("RateLimit-Policy", "\"tokens\";q={limit};qu=\"tokens\";w=60"),
    ]),
    Answer::new(LimitClass::Daily, 429, PROBLEM).headers(&[
        ("Content-Type", "application/problem+json"),
        ("RateLimit", "\"daily\";r=0;t={wait.s}"),
        ("RateLimit-Policy", "\"daily\";q={limit};w=86400"),
    ]),
    Answer::new(LimitClass::Concurrency, 429, PROBLEM).headers(&[
        ("Content-Type", "application/problem+json"),
        ("RateLimit", "\"in flight\";r=0"),
        ("RateLimit-Policy", "\"in flight\";q={limit};qu=\"concurrent-requests\""),
    ]),
    Answer::new(
        LimitClass::Overload,
        503,
        r#"{"type":"https://iana.org/assignments/http-problem-types#temporary-reduced-capacity","title":"Busy"}"#,
    )
    .headers(&[("Content-Type", "application/problem+json")]),
    Answer::new(LimitClass::Spend, 402, r#"{"title":"Payment required"}"#),
    Answer::new(LimitClass::Unknown, 429, PROBLEM).headers(&[("Retry-After", "{wait.s}")]),
];
