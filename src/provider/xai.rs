//! xAI.
//!
//! Flat bodies whose `error` is a string. The same code stands for rate and for spend; the text decides.

use crate::core::rule::field::Fields;
use crate::core::rule::header::Headers;
use crate::core::rule::verdict::{Rule, Rules};
use crate::core::rule::{Answer, Table};
use crate::core::signal::{LimitClass, Part, Scope, TokenKind};
use crate::provider::{base, body, usage};

/// The table.
pub(super) const TABLE: Table = Table::new("xai")
    .semconv("x_ai")
    .page("https://docs.x.ai/docs/rate-limits", "2026-11-30")
    .scopes(&[Scope::Org, Scope::Model])
    .headers(HEADERS)
    .fields(FIELDS, body::read)
    .rules(RULES)
    .normally_states(None, Some(Part::Body))
    .tokens(usage::OPENAI)
    .answers(ANSWERS);

const HEADERS: &Headers = &Headers::of(&[base::HEADERS, base::X_RATELIMIT]);
const FIELDS: &Fields = &Fields::of(&[base::FIELDS, usage::OPENAI.answer]);
const RULES: &Rules = &Rules::of(&[
    base::RULES,
    &[
        Rule::phrase(&["your team", "for team"]).scope(Scope::Org),
        Rule::phrase(&["and model"]).scope(Scope::Model),
        Rule::phrase(&["too many requests"]).on(&[429, 200]).otherwise().limit(LimitClass::RequestRate),
        Rule::phrase(&["used all available credits", "monthly spending limit", "have any credits yet"])
            .limit(LimitClass::Spend)
            .scope(Scope::Org),
    ],
]);

const QUOTAS: &[(&str, &str)] = &[
    ("x-ratelimit-limit-requests", "{requests.limit}"),
    ("x-ratelimit-remaining-requests", "{requests.remaining}"),
    ("x-ratelimit-limit-tokens", "{tokens.limit}"),
    ("x-ratelimit-remaining-tokens", "{tokens.remaining}"),
];

const ANSWERS: &[Answer] = &[
    usage::CHAT_COMPLETION.headers(QUOTAS),
    Answer::new(
        LimitClass::RequestRate,
        429,
        r#"{"code":"Some resource has been exhausted","error":"Too many requests for team T and model grok. Your team's rate limit is exceeded. Requests per Minute (actual/limit): {limit}/{limit}."}"#,
    ),
    Answer::new(
        LimitClass::TokenThroughput,
        429,
        r#"{"code":"Some resource has been exhausted","error":"Too many tokens for team T and model grok. Your team's rate limit is exceeded. Tokens per Minute (actual/limit): {limit}/{limit}."}"#,
    )
    .tokens(TokenKind::Total),
    Answer::new(
        LimitClass::Spend,
        429,
        r#"{"code":"Some resource has been exhausted","error":"Your team T has either used all available credits or reached its monthly spending limit."}"#,
    ),
    Answer::new(LimitClass::Overload, 503, r#"{"code":"unavailable","error":"Service unavailable"}"#),
    Answer::new(LimitClass::Unknown, 429, r#"{"code":"Some resource has been exhausted","error":"Exhausted."}"#),
];
