//! Azure OpenAI.
//!
//! The names of OpenAI's headers with another unit: resets are bare seconds. -1 means unknown, and `retry-after-ms: 0` is
//! a placeholder. Provisioned throughput answers with waits of some 50 milliseconds that are meant, so nothing rounds them
//! up: the floor under a shut is zero. That touches no other answer, since the rest state whole seconds.

use std::time::Duration;

use crate::core::rule::field::Fields;
use crate::core::rule::header::{Header, Headers, Means};
use crate::core::rule::verdict::{Rule, Rules};
use crate::core::rule::{Answer, Table};
use crate::core::signal::{LimitClass, Part, Scope, TokenKind};
use crate::provider::headers::duration::reset;
use crate::provider::headers::number::amount;
use crate::provider::{base, body, openai, prose, usage};

/// The table.
pub(super) const TABLE: Table = Table::new("azure-openai")
    .semconv("azure.ai.openai")
    .page("https://learn.microsoft.com/en-us/azure/ai-foundry/openai/how-to/quota", "2026-11-30")
    .scopes(&[Scope::Org, Scope::Region, Scope::Deployment])
    .shut_floor(Duration::ZERO)
    .headers(HEADERS)
    .fields(FIELDS, body::read)
    .rules(RULES)
    .normally_states(Some(Part::Header), Some(Part::Body))
    .tokens(usage::OPENAI_COUNTING_THE_LIMIT)
    .answers(ANSWERS);

/// Headers of Azure's own, which GitHub Models shares.
pub(super) const OWN_HEADERS: &[Header] = &[
    Header::new("x-rate-limit-limit-requests", Means::Limit(base::REQUESTS, amount)),
    Header::new("x-rate-limit-remaining-requests", Means::Remaining(base::REQUESTS, amount)),
    Header::new("x-rate-limit-reset-requests", Means::Reset(base::REQUESTS, reset)),
    Header::new("x-rate-limit-limit-tokens", Means::Limit(base::TOKENS, amount)),
    Header::new("x-rate-limit-remaining-tokens", Means::Remaining(base::TOKENS, amount)),
    Header::new("x-rate-limit-reset-tokens", Means::Reset(base::TOKENS, reset)),
    Header::new("x-ratelimit-type", Means::Names(prose::limit_name_bytes)),
    Header::new("policy-id", Means::Names(prose::limit_name_bytes)),
];

const HEADERS: &Headers = &Headers::of(&[base::HEADERS, base::X_RATELIMIT, OWN_HEADERS]);
const FIELDS: &Fields = &Fields::of(&[base::FIELDS, usage::OPENAI.answer, openai::UNIT]);
const RULES: &Rules = &Rules::of(&[
    &[Rule::status(&[429]).scope(Scope::Deployment)],
    base::RULES,
    &[
        Rule::phrase(&["high demand"]).on(&[429]).limit(LimitClass::Overload),
        // The caller's own purchased capacity.
        Rule::phrase(&["provisioned capacity"]).on(&[429]).limit(LimitClass::TokenThroughput),
    ],
]);

const QUOTAS: &[(&str, &str)] = &[
    ("x-ratelimit-limit-requests", "{requests.limit}"),
    ("x-ratelimit-remaining-requests", "{requests.remaining}"),
    ("x-ratelimit-reset-requests", "{requests.reset.s}"),
    ("x-ratelimit-limit-tokens", "{tokens.limit}"),
    ("x-ratelimit-remaining-tokens", "{tokens.remaining}"),
    ("x-ratelimit-reset-tokens", "{tokens.reset.s}"),
];

const ANSWERS: &[Answer] = &[
    usage::CHAT_COMPLETION.headers(QUOTAS),
    Answer::new(
        LimitClass::RequestRate,
        429,
        r#"{"error":{"code":"429","message":"Requests to this deployment have exceeded call rate limit of your current OpenAI S0 pricing tier. Please retry after {wait.s} seconds."}}"#,
    )
    .headers(&[("retry-after", "{wait.s}"), ("retry-after-ms", "{wait.ms}"), ("x-ratelimit-type", "Requests")]),
    Answer::new(
        LimitClass::TokenThroughput,
        429,
        r#"{"error":{"code":"429","message":"Requests to this deployment have exceeded token rate limit of your current OpenAI S0 pricing tier. Please retry after {wait.s} seconds."}}"#,
    )
    .tokens(TokenKind::Total)
    .headers(&[("retry-after", "{wait.s}"), ("retry-after-ms", "{wait.ms}"), ("x-ratelimit-type", "Tokens")]),
    Answer::new(
        LimitClass::Overload,
        429,
        r#"{"error":{"code":"429","message":"The system is currently experiencing high demand and cannot process your request."}}"#,
    ),
    Answer::new(
        LimitClass::Spend,
        429,
        r#"{"error":{"code":"insufficient_quota","type":"insufficient_quota","message":"You exceeded your current quota."}}"#,
    ),
    Answer::new(LimitClass::Unknown, 429, r#"{"error":{"code":"429","message":"Too Many Requests"}}"#)
        .headers(&[("retry-after", "{wait.s}")]),
];
