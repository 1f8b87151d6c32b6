//! Replicate.
//!
//! The wait stands in the body, as a number and in prose. Its message speaks of credit and is a rate limit all the same.

use crate::core::rule::field::Fields;
use crate::core::rule::header::Headers;
use crate::core::rule::verdict::{Rule, Rules};
use crate::core::rule::{Answer, Table};
use crate::core::signal::{LimitClass, Part, Scope};
use crate::provider::{base, body, usage};

/// The table.
pub(super) const TABLE: Table = Table::new("replicate")
    .page("https://replicate.com/docs/topics/predictions/rate-limits", "2026-11-30")
    .scopes(&[Scope::Org, Scope::Endpoint])
    .headers(HEADERS)
    .fields(FIELDS, body::read)
    .rules(RULES)
    .normally_states(Some(Part::Body), Some(Part::Body))
    .tokens(usage::REPLICATE)
    .answers(ANSWERS);

const HEADERS: &Headers = &Headers::of(&[base::HEADERS]);
const FIELDS: &Fields = &Fields::of(&[base::FIELDS, usage::REPLICATE.answer]);
const RULES: &Rules = &Rules::of(&[
    base::RULES,
    &[Rule::phrase(&["request was throttled"]).on(&[429]).limit(LimitClass::RequestRate).scope(Scope::Org)],
]);

const ANSWERS: &[Answer] = &[
    Answer::new(
        LimitClass::None,
        201,
        r#"{"id":"p","status":"succeeded","metrics":{"input_token_count":{usage.input},"output_token_count":{usage.output}}}"#,
    ),
    Answer::new(
        LimitClass::RequestRate,
        429,
        r#"{"detail":"Request was throttled. Your rate limit for creating predictions is {limit} requests per minute. Your rate limit resets in ~{wait.s}s.","status":429,"retry_after":{wait.s}}"#,
    ),
    Answer::new(
        LimitClass::Spend,
        402,
        r#"{"title":"Insufficient credit","detail":"You have insufficient credit.","status":402}"#,
    ),
    Answer::new(LimitClass::Overload, 503, r#"{"detail":"Service unavailable.","status":503}"#),
    Answer::new(LimitClass::Unknown, 429, ""),
];
