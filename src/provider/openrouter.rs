//! OpenRouter.
//!
//! Resets are milliseconds since the epoch, in the headers of a 429 and again inside the body. Errors may stand in a 200
//! and in a stream. Most 402 are spend, one is a limit on what is in flight; "credits" and "balance" in a text are offers.

use crate::core::rule::field::{Field, Fields, Told};
use crate::core::rule::header::Headers;
use crate::core::rule::verdict::{Rule, Rules};
use crate::core::rule::{Answer, Table};
use crate::core::signal::{LimitClass, Part, Scope};
use crate::provider::{base, body, leaf, prose, usage};

/// The table.
pub(super) const TABLE: Table = Table::new("openrouter")
    .page("https://openrouter.ai/docs/api-reference/limits", "2026-11-30")
    .scopes(&[Scope::Org, Scope::Key, Scope::Model])
    .headers(HEADERS)
    .fields(FIELDS, body::read)
    .rules(RULES)
    .normally_states(None, Some(Part::Body))
    .tokens(usage::OPENAI)
    .answers(ANSWERS);

const HEADERS: &Headers = &Headers::of(&[base::HEADERS, base::X_RATELIMIT_PLAIN]);
const FIELDS: &Fields = &Fields::of(&[
    base::FIELDS,
    usage::OPENAI.answer,
    &[
        Field::new("body.error.metadata.limit_source", Told::Word(leaf::word)),
        Field::new("body.error.metadata.limit_source", Told::Names(prose::limit_name)),
        Field::new("body.error.metadata.error_type", Told::Word(leaf::word)),
        Field::new("body.error.metadata.resets_at", Told::Named("a budget that resets")),
        Field::new("body.error.metadata.raw", Told::ForeignText),
        Field::new("body.choices[].error", Told::Error),
        Field::new("body.choices[].error.code", Told::Status),
        Field::new("body.choices[].error.message", Told::Text),
    ],
]);
const RULES: &Rules = &Rules::of(&[
    base::RULES,
    &[
        // The free limits are per account, over all models and keys. The message goes on to offer another limit.
        Rule::phrase(&["free-models-per-min"]).limit(LimitClass::RequestRate).scope(Scope::Org),
        Rule::phrase(&["free-models-per-day"]).limit(LimitClass::Daily).scope(Scope::Org),
        Rule::word(&["openrouter_free_tier_daily"]).limit(LimitClass::Daily).scope(Scope::Org),
        Rule::phrase(&["temporarily rate-limited upstream", "provider returned error"])
            .on(&[429])
            .limit(LimitClass::Overload)
            .scope(Scope::Model),
        Rule::status(&[503]).scope(Scope::Model),
        Rule::phrase(&["budget limit exceeded", "key limit exceeded"]).on(&[403]).limit(LimitClass::Spend),
        Rule::word(&["a budget that resets"]).on(&[403]).limit(LimitClass::Spend),
        Rule::word(&["openrouter_credits", "openrouter_key_limit", "weight_exceeds_budget"]).limit(LimitClass::Spend),
        Rule::word(&["openrouter_in_flight_budget", "in_flight_budget_exhausted"]).limit(LimitClass::Concurrency),
    ],
]);

const ANSWERS: &[Answer] = &[
    usage::CHAT_COMPLETION,
    Answer::new(
        LimitClass::RequestRate,
        429,
        r#"{"error":{"message":"Rate limit exceeded: free-models-per-min.","code":429,"metadata":{"headers":{"X-RateLimit-Limit":"{limit}","X-RateLimit-Remaining":"0","X-RateLimit-Reset":"{wait.epoch_ms}"}}}}"#,
    )
    .headers(&[
        ("X-RateLimit-Limit", "{limit}"),
        ("X-RateLimit-Remaining", "0"),
        ("X-RateLimit-Reset", "{wait.epoch_ms}"),
    ]),
    Answer::new(
        LimitClass::Daily,
        429,
        r#"{"error":{"message":"Rate limit exceeded: free-models-per-day.","code":429,"metadata":{"headers":{"X-RateLimit-Limit":"{limit}","X-RateLimit-Remaining":"0","X-RateLimit-Reset":"{wait.epoch_ms}"},"limit_source":"openrouter_free_tier_daily"}}}"#,
    )
    .headers(&[
        ("X-RateLimit-Limit", "{limit}"),
        ("X-RateLimit-Remaining", "0"),
        ("X-RateLimit-Reset", "{wait.epoch_ms}"),
    ]),
    Answer::new(
        LimitClass::Concurrency,
        402,
        r#"{"error":{"message":"In-flight budget exhausted","code":402,"metadata":{"limit_source":"openrouter_in_flight_budget","error_type":"in_flight_budget_exhausted"}}}"#,
    )
    .headers(&[("Retry-After", "{wait.s}")]),
    Answer::new(
        LimitClass::Spend,
        402,
        r#"{"error":{"message":"Insufficient credits.","code":402,"metadata":{"limit_source":"openrouter_credits"}}}"#,
    ),
    Answer::new(
        LimitClass::Overload,
        429,
        r#"{"error":{"message":"Provider returned error","code":429,"metadata":{"raw":"some/model is temporarily rate-limited upstream. Please retry shortly."}}}"#,
    ),
    Answer::new(LimitClass::Unknown, 429, r#"{"error":{"message":"Rate limit exceeded","code":429}}"#)
        .headers(&[("Retry-After", "{wait.s}")]),
];
