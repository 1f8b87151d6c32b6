//! Cerebras.
//!
//! The window stands in the header's name, resets are decimal seconds. "Quota" in a code is no spend; a full queue is the
//! provider's own.

use crate::core::rule::field::{Field, Fields, Told};
use crate::core::rule::header::{Axis, Header, Headers, Means};
use crate::core::rule::verdict::{Rule, Rules};
use crate::core::rule::{Answer, Table};
use crate::core::signal::{Dimension, LimitClass, Part, QuotaWindow, Scope, TokenKind};
use crate::provider::headers::duration::reset;
use crate::provider::headers::number::amount;
use crate::provider::{base, body, leaf, prose, usage};

/// The table.
pub(super) const TABLE: Table = Table::new("cerebras")
    .page("https://inference-docs.cerebras.ai/support/rate-limits", "2026-11-30")
    .scopes(&[Scope::Org, Scope::Model])
    .headers(HEADERS)
    .fields(FIELDS, body::read)
    .rules(RULES)
    .normally_states(Some(Part::Header), Some(Part::Body))
    .tokens(usage::OPENAI)
    .answers(ANSWERS);

const REQUESTS_DAY: Axis = Axis::new("requests per day", Dimension::Requests, QuotaWindow::Day);
const TOKENS_DAY: Axis = Axis::new("tokens per day", Dimension::Tokens, QuotaWindow::Day);

const HEADERS: &Headers = &Headers::of(&[
    base::HEADERS,
    &[
        Header::new("x-ratelimit-limit-requests-day", Means::Limit(REQUESTS_DAY, amount)),
        Header::new("x-ratelimit-remaining-requests-day", Means::Remaining(REQUESTS_DAY, amount)),
        Header::new("x-ratelimit-reset-requests-day", Means::Reset(REQUESTS_DAY, reset)),
        Header::new("x-ratelimit-limit-requests-minute", Means::Limit(base::REQUESTS, amount)),
        Header::new("x-ratelimit-remaining-requests-minute", Means::Remaining(base::REQUESTS, amount)),
        Header::new("x-ratelimit-reset-requests-minute", Means::Reset(base::REQUESTS, reset)),
        Header::new("x-ratelimit-limit-tokens-minute", Means::Limit(base::TOKENS, amount)),
        Header::new("x-ratelimit-remaining-tokens-minute", Means::Remaining(base::TOKENS, amount)),
        Header::new("x-ratelimit-reset-tokens-minute", Means::Reset(base::TOKENS, reset)),
        Header::new("x-ratelimit-limit-tokens-day", Means::Limit(TOKENS_DAY, amount)),
        Header::new("x-ratelimit-remaining-tokens-day", Means::Remaining(TOKENS_DAY, amount)),
        Header::new("x-ratelimit-reset-tokens-day", Means::Reset(TOKENS_DAY, reset)),
    ],
]);
const FIELDS: &Fields = &Fields::of(&[
    base::FIELDS,
    usage::OPENAI.answer,
    &[
        Field::new("body.param", Told::Word(leaf::word)),
        // `request_quota_exceeded`, `token_quota_exceeded`: the unit; texts and header names tell the window.
        Field::new("body.code", Told::Unit(prose::limit_name)),
        Field::new("body.type", Told::Unit(prose::limit_name)),
        Field::new("body.error.param", Told::Word(leaf::word)),
        Field::new("body.error.code", Told::Unit(prose::limit_name)),
        Field::new("body.error.type", Told::Unit(prose::limit_name)),
    ],
]);
const RULES: &Rules = &Rules::of(&[
    &[Rule::status(&[429]).scope(Scope::Org)],
    base::RULES,
    &[
        // The queue of one model.
        Rule::word(&["queue_exceeded", "queue"]).on(&[429, 200]).limit(LimitClass::Overload).scope(Scope::Model),
        Rule::word(&["request_quota_exceeded", "token_quota_exceeded"]).on(&[200]).some_limit(),
    ],
]);

const QUOTAS: &[(&str, &str)] = &[
    ("x-ratelimit-limit-requests-day", "{requests_day.limit}"),
    ("x-ratelimit-remaining-requests-day", "{requests_day.remaining}"),
    ("x-ratelimit-reset-requests-day", "{requests_day.reset.f}"),
    ("x-ratelimit-limit-requests-minute", "{requests.limit}"),
    ("x-ratelimit-remaining-requests-minute", "{requests.remaining}"),
    ("x-ratelimit-reset-requests-minute", "{requests.reset.f}"),
    ("x-ratelimit-limit-tokens-minute", "{tokens.limit}"),
    ("x-ratelimit-remaining-tokens-minute", "{tokens.remaining}"),
    ("x-ratelimit-reset-tokens-minute", "{tokens.reset.f}"),
];

const ANSWERS: &[Answer] = &[
    usage::CHAT_COMPLETION.headers(QUOTAS),
    Answer::new(
        LimitClass::RequestRate,
        429,
        r#"{"message":"Requests per minute limit exceeded - too many requests sent.","type":"too_many_requests_error","param":"quota","code":"request_quota_exceeded"}"#,
    )
    .headers(&[
        ("x-ratelimit-limit-requests-minute", "{limit}"),
        ("x-ratelimit-remaining-requests-minute", "0"),
        ("x-ratelimit-reset-requests-minute", "{wait.f}"),
    ]),
    Answer::new(
        LimitClass::TokenThroughput,
        429,
        r#"{"message":"Tokens per minute limit exceeded - too many tokens processed.","type":"too_many_tokens_error","param":"quota","code":"token_quota_exceeded"}"#,
    )
    .tokens(TokenKind::Total)
    .headers(&[
        ("x-ratelimit-limit-tokens-minute", "{limit}"),
        ("x-ratelimit-remaining-tokens-minute", "0"),
        ("x-ratelimit-reset-tokens-minute", "{wait.f}"),
    ]),
    Answer::new(
        LimitClass::Daily,
        429,
        r#"{"message":"Requests per day limit exceeded - too many requests sent.","type":"too_many_requests_error","param":"quota","code":"request_quota_exceeded"}"#,
    )
    .headers(&[
        ("x-ratelimit-limit-requests-day", "{limit}"),
        ("x-ratelimit-remaining-requests-day", "0"),
        ("x-ratelimit-reset-requests-day", "{wait.f}"),
    ]),
    Answer::new(
        LimitClass::Overload,
        429,
        r#"{"message":"We're experiencing high traffic right now! Please try again soon.","type":"too_many_requests_error","param":"queue","code":"queue_exceeded"}"#,
    ),
    Answer::new(LimitClass::Unknown, 429, r#"{"message":"Rate limit exceeded."}"#),
];
