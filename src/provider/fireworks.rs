//! Fireworks AI.
//!
//! Separate limits for prompt and generated tokens, without a reset. `x-ratelimit-over-limit: yes` on a success is a
//! warning. A suspended account answers 412.

use crate::core::rule::field::Fields;
use crate::core::rule::header::{Axis, Header, Headers, Means};
use crate::core::rule::verdict::{Rule, Rules};
use crate::core::rule::{Answer, Table};
use crate::core::signal::{Dimension, LimitClass, QuotaWindow, Scope};
use crate::provider::headers::number::amount;
use crate::provider::{base, body, usage};

/// The table.
pub(super) const TABLE: Table = Table::new("fireworks")
    .page("https://docs.fireworks.ai/serverless/rate-limits", "2026-11-30")
    .scopes(&[Scope::Org, Scope::Model])
    .headers(HEADERS)
    .fields(FIELDS, body::read)
    .rules(RULES)
    .tokens(usage::OPENAI)
    .answers(ANSWERS);

const PROMPT: Axis = Axis::new("prompt tokens", Dimension::InputTokens, QuotaWindow::Minute);
const CACHE_ADJUSTED: Axis =
    Axis::new("cache-adjusted prompt tokens", Dimension::InputTokens, QuotaWindow::Minute).unreported();
const GENERATED: Axis = Axis::new("generated tokens", Dimension::OutputTokens, QuotaWindow::Minute);

const HEADERS: &Headers = &Headers::of(&[
    base::HEADERS,
    &[
        Header::new("x-ratelimit-limit-requests", Means::Limit(base::REQUESTS, amount)),
        Header::new("x-ratelimit-remaining-requests", Means::Remaining(base::REQUESTS, amount)),
        Header::new("x-ratelimit-limit-tokens-prompt", Means::Limit(PROMPT, amount)),
        Header::new("x-ratelimit-remaining-tokens-prompt", Means::Remaining(PROMPT, amount)),
        Header::new("x-ratelimit-limit-tokens-cache-adjusted-prompt", Means::Limit(CACHE_ADJUSTED, amount)),
        Header::new("x-ratelimit-remaining-tokens-cache-adjusted-prompt", Means::Remaining(CACHE_ADJUSTED, amount)),
        Header::new("x-ratelimit-limit-tokens-generated", Means::Limit(GENERATED, amount)),
        Header::new("x-ratelimit-remaining-tokens-generated", Means::Remaining(GENERATED, amount)),
    ],
]);
const FIELDS: &Fields = &Fields::of(&[base::FIELDS, usage::OPENAI.answer]);
const RULES: &Rules = &Rules::of(&[
    base::RULES,
    &[
        Rule::phrase(&["suspended", "monthly spending limit"]).on(&[412]).limit(LimitClass::Spend).scope(Scope::Org),
        Rule::phrase(&["generate first token before the given deadline"])
            .on(&[429, 200])
            .limit(LimitClass::Overload)
            .scope(Scope::Model),
        Rule::status(&[402]).scope(Scope::Org),
    ],
]);

const QUOTAS: &[(&str, &str)] = &[
    ("x-ratelimit-limit-requests", "{requests.limit}"),
    ("x-ratelimit-remaining-requests", "{requests.remaining}"),
    ("x-ratelimit-limit-tokens-prompt", "{input_tokens.limit}"),
    ("x-ratelimit-remaining-tokens-prompt", "{input_tokens.remaining}"),
    ("x-ratelimit-limit-tokens-generated", "{output_tokens.limit}"),
    ("x-ratelimit-remaining-tokens-generated", "{output_tokens.remaining}"),
];

const TOO_MANY: &str =
    r#"{"error":"Too Many Requests","message":"You have exceeded your usage limits. Please try again later."}"#;

const ANSWERS: &[Answer] = &[
    usage::CHAT_COMPLETION.headers(QUOTAS),
    Answer::new(LimitClass::RequestRate, 429, TOO_MANY)
        .headers(&[("x-ratelimit-limit-requests", "{limit}"), ("x-ratelimit-remaining-requests", "0")]),
    Answer::new(LimitClass::TokenThroughput, 429, TOO_MANY)
        .tokens(crate::core::signal::TokenKind::Input)
        .headers(&[("x-ratelimit-limit-tokens-prompt", "{limit}"), ("x-ratelimit-remaining-tokens-prompt", "0")]),
    Answer::new(LimitClass::TokenThroughput, 429, TOO_MANY)
        .tokens(crate::core::signal::TokenKind::Output)
        .headers(&[("x-ratelimit-limit-tokens-generated", "{limit}"), ("x-ratelimit-remaining-tokens-generated", "0")]),
    Answer::new(LimitClass::Overload, 503, r#"{"error":{"message":"The service is overloaded"}}"#),
    Answer::new(
        LimitClass::Spend,
        412,
        r#"{"error":{"message":"Account is suspended, possibly due to reaching the monthly spending limit","code":"PRECONDITION_FAILED"}}"#,
    ),
    Answer::new(LimitClass::Unknown, 429, TOO_MANY),
];
