//! Groq.
//!
//! The names of OpenAI's headers with other windows: `-requests` is always per day, `-tokens` always per minute. Requests
//! per minute and tokens per day have no header; the message alone tells of them.

use crate::core::rule::field::Fields;
use crate::core::rule::header::{Axis, Header, Headers, Means};
use crate::core::rule::verdict::{Rule, Rules};
use crate::core::rule::{Answer, Table};
use crate::core::signal::{Dimension, LimitClass, Part, QuotaWindow, Scope, TokenKind};
use crate::provider::headers::duration::reset;
use crate::provider::headers::number::amount;
use crate::provider::{base, body, openai, usage};

/// The table.
pub(super) const TABLE: Table = Table::new("groq")
    .page("https://console.groq.com/docs/rate-limits", "2026-11-30")
    .scopes(&[Scope::Org, Scope::Project, Scope::Model])
    .headers(HEADERS)
    .fields(FIELDS, body::read)
    .rules(RULES)
    .normally_states(Some(Part::Header), Some(Part::Body))
    .tokens(usage::OPENAI_COUNTING_THE_LIMIT)
    .answers(ANSWERS);

const REQUESTS_DAY: Axis = Axis::new("requests per day", Dimension::Requests, QuotaWindow::Day);
const AUDIO: Axis = Axis::unnamed("audio seconds");

const HEADERS: &Headers = &Headers::of(&[
    base::HEADERS,
    &[
        Header::new("x-ratelimit-limit-requests", Means::Limit(REQUESTS_DAY, amount)),
        Header::new("x-ratelimit-remaining-requests", Means::Remaining(REQUESTS_DAY, amount)),
        Header::new("x-ratelimit-reset-requests", Means::Reset(REQUESTS_DAY, reset)),
        Header::new("x-ratelimit-limit-tokens", Means::Limit(base::TOKENS, amount)),
        Header::new("x-ratelimit-remaining-tokens", Means::Remaining(base::TOKENS, amount)),
        Header::new("x-ratelimit-reset-tokens", Means::Reset(base::TOKENS, reset)),
        Header::new("x-ratelimit-limit-audio-seconds", Means::Limit(AUDIO, amount)),
        Header::new("x-ratelimit-remaining-audio-seconds", Means::Remaining(AUDIO, amount)),
        Header::new("x-ratelimit-reset-audio-seconds", Means::Reset(AUDIO, reset)),
    ],
]);
const FIELDS: &Fields = &Fields::of(&[base::FIELDS, usage::OPENAI.answer, usage::GROQ_STREAM, openai::UNIT]);
const RULES: &Rules = &Rules::of(&[
    openai::UNIT_RULES,
    base::RULES,
    &[
        Rule::phrase(&["in organization"]).scope(Scope::Org),
        // Limits are per model: one model's limit says nothing of the others.
        Rule::phrase(&["reached for model", "too large for model"]).scope(Scope::Model),
        Rule::word(&["rate_limit_exceeded"]).on(&[413]).some_limit().stop(),
        Rule::word(&["capacity_exceeded"]).limit(LimitClass::Overload).scope(Scope::Model),
    ],
]);

const QUOTAS: &[(&str, &str)] = &[
    ("x-ratelimit-limit-requests", "{requests_day.limit}"),
    ("x-ratelimit-remaining-requests", "{requests_day.remaining}"),
    ("x-ratelimit-reset-requests", "{requests_day.reset.go}"),
    ("x-ratelimit-limit-tokens", "{tokens.limit}"),
    ("x-ratelimit-remaining-tokens", "{tokens.remaining}"),
    ("x-ratelimit-reset-tokens", "{tokens.reset.go}"),
];
const THROTTLED: &[(&str, &str)] =
    &base::joined::<{ 1 + QUOTAS.len() }>(&[("retry-after", "{wait.s}")], QUOTAS);

const ANSWERS: &[Answer] = &[
    usage::CHAT_COMPLETION.headers(QUOTAS),
    Answer::new(
        LimitClass::RequestRate,
        429,
        r#"{"error":{"message":"Rate limit reached for model `llama` in organization `org_emulator` on requests per minute (RPM): Limit {limit}, Used {limit}, Requested 1. Please try again in {wait.go}.","type":"requests","code":"rate_limit_exceeded"}}"#,
    )
    .headers(THROTTLED),
    Answer::new(
        LimitClass::TokenThroughput,
        429,
        r#"{"error":{"message":"Rate limit reached for model `llama` in organization `org_emulator` on tokens per minute (TPM): Limit {limit}, Used {limit}, Requested 1. Please try again in {wait.go}.","type":"tokens","code":"rate_limit_exceeded"}}"#,
    )
    .tokens(TokenKind::Total)
    .headers(THROTTLED),
    Answer::new(
        LimitClass::Daily,
        429,
        r#"{"error":{"message":"Rate limit reached for model `llama` in organization `org_emulator` on requests per day (RPD): Limit {limit}, Used {limit}, Requested 1. Please try again in {wait.go}.","type":"requests","code":"rate_limit_exceeded"}}"#,
    )
    .headers(THROTTLED),
    Answer::new(
        LimitClass::Daily,
        429,
        r#"{"error":{"message":"Rate limit reached for model `llama` in organization `org_emulator` on tokens per day (TPD): Limit {limit}, Used {limit}, Requested 1. Please try again in {wait.go}.","type":"tokens","code":"rate_limit_exceeded"}}"#,
    )
    .tokens(TokenKind::Total)
    .headers(THROTTLED),
    Answer::new(
        LimitClass::Overload,
        498,
        r#"{"error":{"message":"Flex capacity exceeded.","type":"requests","code":"capacity_exceeded"}}"#,
    ),
    Answer::new(LimitClass::Unknown, 429, r#"{"error":{"message":"Rate limit reached.","code":"rate_limit_exceeded"}}"#)
        .headers(&[("retry-after", "{wait.s}")]),
];
