//! Together AI.
//!
//! One `x-ratelimit-reset` on every answer serves both axes, so it is the wait of any error, whatever is left on either.
//! `credit_limit` under 429 is a rate limit, under 402 it is spend.

use crate::core::rule::field::Fields;
use crate::core::rule::header::{Axis, AxisRole, Header, Headers, Means};
use crate::core::rule::verdict::{Rule, Rules};
use crate::core::rule::{Answer, Table};
use crate::core::signal::{Dimension, LimitClass, Part, QuotaWindow, Scope, TokenKind};
use crate::provider::headers::duration::reset;
use crate::provider::headers::number::amount;
use crate::provider::{base, body, usage};

/// The table.
pub(super) const TABLE: Table = Table::new("together")
    .page("https://docs.together.ai/docs/rate-limits", "2026-11-30")
    .scopes(&[Scope::Org, Scope::Model])
    .headers(HEADERS)
    .fields(FIELDS, body::read)
    .rules(RULES)
    .normally_states(Some(Part::Header), Some(Part::Body))
    .tokens(usage::OPENAI)
    .answers(ANSWERS);

const RESET: Axis = Axis::unnamed("reset").role(AxisRole::Standing);
const DYNAMIC_REQUESTS: Axis = Axis::new("dynamic requests", Dimension::Requests, QuotaWindow::Minute).unreported();
const DYNAMIC_TOKENS: Axis = Axis::new("dynamic tokens", Dimension::Tokens, QuotaWindow::Minute).unreported();

const HEADERS: &Headers = &Headers::of(&[
    base::HEADERS,
    &[
        Header::new("x-ratelimit-reset", Means::Reset(RESET, reset)),
        Header::new("x-ratelimit-limit", Means::Limit(base::REQUESTS, amount)),
        Header::new("x-ratelimit-remaining", Means::Remaining(base::REQUESTS, amount)),
        Header::new("x-tokenlimit-limit", Means::Limit(base::TOKENS, amount)),
        Header::new("x-tokenlimit-remaining", Means::Remaining(base::TOKENS, amount)),
        Header::new("x-ratelimit-limit-dynamic", Means::Limit(DYNAMIC_REQUESTS, amount)),
        Header::new("x-ratelimit-remaining-dynamic", Means::Remaining(DYNAMIC_REQUESTS, amount)),
        Header::new("x-tokenlimit-limit-dynamic", Means::Limit(DYNAMIC_TOKENS, amount)),
        Header::new("x-tokenlimit-remaining-dynamic", Means::Remaining(DYNAMIC_TOKENS, amount)),
    ],
]);
const FIELDS: &Fields = &Fields::of(&[base::FIELDS, usage::OPENAI.answer]);
const RULES: &Rules = &Rules::of(&[
    &[Rule::status(&[429, 503]).scope(Scope::Model)],
    base::RULES,
    &[
        Rule::word(&["dynamic_request_limited"]).on(&[429, 200]).limit(LimitClass::RequestRate),
        Rule::word(&["dynamic_token_limited"]).on(&[429, 200]).limit(LimitClass::TokenThroughput),
    ],
]);

const QUOTAS: &[(&str, &str)] = &[
    ("x-ratelimit-limit", "{requests.limit}"),
    ("x-ratelimit-remaining", "{requests.remaining}"),
    ("x-ratelimit-reset", "{requests.reset.s}"),
    ("x-tokenlimit-limit", "{tokens.limit}"),
    ("x-tokenlimit-remaining", "{tokens.remaining}"),
];
const WAIT: &[(&str, &str)] = &[("x-ratelimit-reset", "{wait.s}")];

const ANSWERS: &[Answer] = &[
    usage::CHAT_COMPLETION.headers(QUOTAS),
    Answer::new(
        LimitClass::RequestRate,
        429,
        r#"{"error":{"message":"Request rate limit exceeded","type":"dynamic_request_limited"}}"#,
    )
    .headers(WAIT),
    Answer::new(
        LimitClass::TokenThroughput,
        429,
        r#"{"error":{"message":"Token rate limit exceeded","type":"dynamic_token_limited"}}"#,
    )
    .tokens(TokenKind::Total)
    .headers(WAIT),
    Answer::new(LimitClass::Overload, 503, r#"{"error":{"message":"The server is overloaded","type":"server_error"}}"#),
    Answer::new(LimitClass::Spend, 402, r#"{"error":{"message":"Credit limit reached","type":"credit_limit"}}"#),
    Answer::new(LimitClass::Unknown, 429, r#"{"error":{"message":"Rate limit exceeded"}}"#).headers(WAIT),
];
