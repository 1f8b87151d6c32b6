//! Stripe.
//!
//! A header names the limit; no wait is stated. 402 is a declined card of the caller's customer, not the caller's bill.
//! 429 `lock_timeout` is an object somebody else holds.

use crate::core::rule::field::Fields;
use crate::core::rule::header::{Header, Headers, Means};
use crate::core::rule::tokens::TokenFields;
use crate::core::rule::verdict::{Rule, Rules};
use crate::core::rule::{Answer, Table};
use crate::core::signal::{LimitClass, Part, Scope};
use crate::provider::headers::number::word;
use crate::provider::{base, body};

/// The table.
pub(super) const TABLE: Table = Table::new("stripe")
    .page("https://docs.stripe.com/rate-limits", "2026-11-30")
    .scopes(&[Scope::Org, Scope::Endpoint])
    .headers(HEADERS)
    .fields(FIELDS, body::read)
    .rules(RULES)
    .normally_states(None, Some(Part::Header))
    .tokens(TokenFields::NONE)
    .answers(ANSWERS);

const HEADERS: &Headers =
    &Headers::of(&[base::HEADERS, &[Header::new("stripe-rate-limited-reason", Means::Word(word))]]);
const FIELDS: &Fields = &Fields::of(&[base::FIELDS]);
const RULES: &Rules = &Rules::of(&[
    base::RULES,
    &[
        Rule::status(&[402]).limit(LimitClass::None),
        Rule::word(&["lock_timeout"]).on(&[429]).limit(LimitClass::None).retry(),
        Rule::word(&["global-rate"]).on(&[429]).limit(LimitClass::RequestRate).scope(Scope::Org),
        Rule::word(&["endpoint-rate"]).on(&[429]).limit(LimitClass::RequestRate).scope(Scope::Endpoint),
        Rule::word(&["global-concurrency"]).on(&[429]).limit(LimitClass::Concurrency).scope(Scope::Org),
        Rule::word(&["endpoint-concurrency"]).on(&[429]).limit(LimitClass::Concurrency).scope(Scope::Endpoint),
        Rule::word(&["resource-specific"]).on(&[429]).limit(LimitClass::Unknown),
    ],
]);

const BODY: &str =
    r#"{"error":{"code":"rate_limit","message":"Request rate limit exceeded.","type":"invalid_request_error"}}"#;

const ANSWERS: &[Answer] = &[
    Answer::new(LimitClass::None, 200, r#"{"object":"list","data":[]}"#),
    Answer::new(LimitClass::RequestRate, 429, BODY).headers(&[("Stripe-Rate-Limited-Reason", "global-rate")]),
    Answer::new(LimitClass::Concurrency, 429, BODY).headers(&[("Stripe-Rate-Limited-Reason", "global-concurrency")]),
    Answer::new(LimitClass::Unknown, 429, BODY).headers(&[("Stripe-Rate-Limited-Reason", "resource-specific")]),
    Answer::new(LimitClass::Overload, 503, "{}"),
];
