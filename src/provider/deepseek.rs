//! DeepSeek.
//!
//! Its only limit is the number of requests in flight. Under load it sends empty lines or `: keep-alive` comments before the
//! answer: waiting, not an error.

use crate::core::rule::field::Fields;
use crate::core::rule::header::Headers;
use crate::core::rule::verdict::{INSIDE_A_SUCCESS, Rule, Rules};
use crate::core::rule::{Answer, Table};
use crate::core::signal::{LimitClass, Scope};
use crate::provider::{base, body, usage};

/// The table.
pub(super) const TABLE: Table = Table::new("deepseek")
    .page("https://api-docs.deepseek.com/quick_start/rate_limit", "2026-11-30")
    .scopes(&[Scope::Org])
    .headers(HEADERS)
    .fields(FIELDS, body::read)
    .rules(RULES)
    .tokens(usage::OPENAI)
    .answers(ANSWERS);

const HEADERS: &Headers = &Headers::of(&[base::HEADERS]);
const FIELDS: &Fields = &Fields::of(&[base::FIELDS, usage::OPENAI.answer]);
const RULES: &Rules = &Rules::of(&[
    base::RULES,
    &[Rule::status(&[429]).limit(LimitClass::Concurrency).scope(Scope::Org), Rule::status(&[402]).scope(Scope::Org), Rule::phrase(&["insufficient balance"]).on(&[INSIDE_A_SUCCESS]).limit(LimitClass::Spend).scope(Scope::Org)],
]);

const ANSWERS: &[Answer] = &[
    usage::CHAT_COMPLETION,
    Answer::new(
        LimitClass::Concurrency,
        429,
        r#"{"error":{"message":"Rate limit reached","type":"rate_limit_reached_error","param":null,"code":"rate_limit_reached_error"}}"#,
    ),
    Answer::new(
        LimitClass::Spend,
        402,
        r#"{"error":{"message":"Insufficient Balance","type":"unknown_error","param":null,"code":"invalid_request_error"}}"#,
    ),
    Answer::new(
        LimitClass::Overload,
        503,
        r#"{"error":{"message":"Service is too busy.","type":"service_unavailable_error","param":null,"code":"service_unavailable_error"}}"#,
    ),
];
