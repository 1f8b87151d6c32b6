//! GitHub Models.
//!
//! `x-ratelimit-type` carries unit, level and window (`UserByModelByDay`). In the message the first pair of numbers is the
//! window, the second the wait.

use crate::core::rule::field::Fields;
use crate::core::rule::header::Headers;
use crate::core::rule::verdict::{Rule, Rules};
use crate::core::rule::{Answer, Table};
use crate::core::signal::{LimitClass, Part, Scope};
use crate::provider::{azure_openai, base, body, openai, usage};

/// The table.
pub(super) const TABLE: Table = Table::new("github-models")
    .semconv("azure.ai.inference")
    .page("https://docs.github.com/en/github-models/use-github-models/prototyping-with-ai-models", "2026-11-30")
    .scopes(&[Scope::Org, Scope::Model])
    .headers(HEADERS)
    .fields(FIELDS, body::read)
    .rules(RULES)
    .normally_states(Some(Part::Header), Some(Part::Header))
    .tokens(usage::OPENAI)
    .answers(ANSWERS);

const HEADERS: &Headers = &Headers::of(&[base::HEADERS, base::X_RATELIMIT, azure_openai::OWN_HEADERS]);
const FIELDS: &Fields = &Fields::of(&[base::FIELDS, usage::OPENAI.answer, openai::UNIT]);
const RULES: &Rules = &Rules::of(&[&[Rule::status(&[429]).scope(Scope::Model)], base::RULES]);

const ANSWERS: &[Answer] = &[
    usage::CHAT_COMPLETION,
    Answer::new(
        LimitClass::RequestRate,
        429,
        r#"{"error":{"code":"RateLimitReached","message":"Rate limit of {limit} per 60s exceeded for UserByModelByMinute. Please wait {wait.s} seconds before retrying."}}"#,
    )
    .headers(&[("retry-after", "{wait.s}"), ("x-ratelimit-type", "UserByModelByMinute")]),
    Answer::new(
        LimitClass::Daily,
        429,
        r#"{"error":{"code":"RateLimitReached","message":"Rate limit of {limit} per 86400s exceeded for UserByModelByDay. Please wait {wait.s} seconds before retrying."}}"#,
    )
    .headers(&[("retry-after", "{wait.s}"), ("x-ratelimit-type", "UserByModelByDay")]),
    Answer::new(
        LimitClass::Concurrency,
        429,
        r#"{"error":{"code":"RateLimitReached","message":"Rate limit of {limit} exceeded for UserConcurrentRequests."}}"#,
    )
    .headers(&[("x-ratelimit-type", "UserConcurrentRequests")]),
    Answer::new(LimitClass::Overload, 503, r#"{"error":{"code":"service_unavailable","message":"Unavailable"}}"#),
    Answer::new(LimitClass::Unknown, 429, r#"{"error":{"code":"RateLimitReached","message":"Too many requests."}}"#),
];
