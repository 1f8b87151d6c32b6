//! Mistral.
//!
//! The window stands last in its header names; there is no reset and no `Retry-After`.

use crate::core::rule::field::{Field, Fields, Told};
use crate::core::rule::header::{Header, Headers, Means};
use crate::core::rule::verdict::{Rule, Rules};
use crate::core::rule::{Answer, Table};
use crate::core::signal::{LimitClass, Scope, TokenKind};
use crate::provider::headers::number::amount;
use crate::provider::{base, body, usage};

/// The table.
pub(super) const TABLE: Table = Table::new("mistral")
    .semconv("mistral_ai")
    .page("https://docs.mistral.ai/deployment/ai-studio/tier", "2026-11-30")
    .scopes(&[Scope::Org, Scope::Project, Scope::Model])
    .headers(HEADERS)
    .fields(FIELDS, body::read)
    .rules(RULES)
    .tokens(usage::OPENAI)
    .answers(ANSWERS);

const HEADERS: &Headers = &Headers::of(&[
    base::HEADERS,
    &[
        Header::new("x-ratelimit-limit-req-minute", Means::Limit(base::REQUESTS, amount)),
        Header::new("x-ratelimit-remaining-req-minute", Means::Remaining(base::REQUESTS, amount)),
        Header::new("x-ratelimit-limit-tokens-minute", Means::Limit(base::TOKENS, amount)),
        Header::new("x-ratelimit-remaining-tokens-minute", Means::Remaining(base::TOKENS, amount)),
    ],
]);
const FIELDS: &Fields =
    &Fields::of(&[
        base::FIELDS,
        usage::OPENAI.answer,
        &[
            Field::new("body.raw_status_code", Told::Status),
            // A stream's error stands in its data as a flat object of this name.
            Field::new("body.object", Told::ErrorWord(&["error"])),
        ],
    ]);
const RULES: &Rules = &Rules::of(&[
    base::RULES,
    &[
        Rule::phrase(&["service tier capacity exceeded"]).limit(LimitClass::Overload).scope(Scope::Model),
        Rule::word(&["service_tier_capacity_exceeded", "3505"]).limit(LimitClass::Overload).scope(Scope::Model),
    ],
]);

const QUOTAS: &[(&str, &str)] = &[
    ("x-ratelimit-limit-req-minute", "{requests.limit}"),
    ("x-ratelimit-remaining-req-minute", "{requests.remaining}"),
    ("x-ratelimit-limit-tokens-minute", "{tokens.limit}"),
    ("x-ratelimit-remaining-tokens-minute", "{tokens.remaining}"),
];

const ANSWERS: &[Answer] = &[
    usage::CHAT_COMPLETION.headers(QUOTAS),
    Answer::new(LimitClass::RequestRate, 429, r#"{"message":"Requests rate limit exceeded"}"#),
    Answer::new(LimitClass::TokenThroughput, 429, r#"{"message":"Token rate limit exceeded"}"#)
        .tokens(TokenKind::Total),
    Answer::new(
        LimitClass::Overload,
        429,
        r#"{"object":"error","message":"Service tier capacity exceeded for this model.","type":"service_tier_capacity_exceeded","code":"3505"}"#,
    ),
    Answer::new(LimitClass::Spend, 402, r#"{"detail":"payment required"}"#),
    Answer::new(
        LimitClass::Unknown,
        429,
        r#"{"object":"error","message":"Rate limit exceeded","type":"rate_limited","code":"1300","raw_status_code":429}"#,
    ),
];
