//! Voyage AI.
//!
//! Flat bodies with a `detail`; no headers. Its best-known message speaks of payment and is a rate limit on requests or
//! tokens, it does not say which.

use crate::core::rule::field::Fields;
use crate::core::rule::header::Headers;
use crate::core::rule::verdict::{Rule, Rules};
use crate::core::rule::{Answer, Table};
use crate::core::signal::{LimitClass, Scope};
use crate::provider::{base, body, usage};

/// The table.
pub(super) const TABLE: Table = Table::new("voyage")
    .page("https://docs.voyageai.com/docs/rate-limits", "2026-11-30")
    .scopes(&[Scope::Org, Scope::Project, Scope::Model])
    .headers(HEADERS)
    .fields(FIELDS, body::read)
    .rules(RULES)
    .tokens(usage::VOYAGE)
    .answers(ANSWERS);

const HEADERS: &Headers = &Headers::of(&[base::HEADERS]);
const FIELDS: &Fields = &Fields::of(&[base::FIELDS, usage::VOYAGE.answer]);
const RULES: &Rules = &Rules::of(&[&[Rule::status(&[429]).scope(Scope::Org)], base::RULES]);

const ANSWERS: &[Answer] = &[
    Answer::new(LimitClass::None, 200, r#"{"object":"list","data":[],"usage":{"total_tokens":{usage.total}}}"#),
    Answer::new(LimitClass::Overload, 503, r#"{"detail":"The server is overloaded"}"#),
    Answer::new(
        LimitClass::Unknown,
        429,
        r#"{"detail":"You have not yet added your payment method in the billing page and will have reduced rate limits of 3 RPM and 10K TPM."}"#,
    ),
];
