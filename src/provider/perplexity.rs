//! Perplexity.
//!
//! Little is known: no header and no wait was ever captured. What the table reads are the types seen in errors.

use crate::core::rule::field::Fields;
use crate::core::rule::header::Headers;
use crate::core::rule::verdict::{Rule, Rules};
use crate::core::rule::{Answer, Table};
use crate::core::signal::{LimitClass, Scope};
use crate::provider::{base, body, usage};

/// The table.
pub(super) const TABLE: Table = Table::new("perplexity")
    .page("https://docs.perplexity.ai/guides/rate-limits-usage-tiers", "2026-11-30")
    .scopes(&[Scope::Org, Scope::Model])
    .headers(HEADERS)
    .fields(FIELDS, body::read)
    .rules(RULES)
    .tokens(usage::OPENAI)
    .answers(ANSWERS);

const HEADERS: &Headers = &Headers::of(&[base::HEADERS]);
const FIELDS: &Fields = &Fields::of(&[base::FIELDS, usage::OPENAI.answer]);
const RULES: &Rules = &Rules::of(&[
    base::RULES,
    &[Rule::word(&["request_rate_limit_exceeded"]).on(&[429, 200]).limit(LimitClass::RequestRate)],
]);

const ANSWERS: &[Answer] = &[
    usage::CHAT_COMPLETION,
    Answer::new(
        LimitClass::RequestRate,
        429,
        r#"{"error":{"message":"Request rate limit exceeded, please try again later.","type":"request_rate_limit_exceeded","code":429}}"#,
    ),
    Answer::new(LimitClass::Overload, 503, r#"{"error":{"message":"Service unavailable"}}"#),
    Answer::new(LimitClass::Unknown, 429, ""),
];
