//! Slack Web API.
//!
//! Limits are per method, workspace and app. An error may also come as a 200 with `"ok":false`.

use crate::core::rule::field::{Field, Fields, Told};
use crate::core::rule::header::Headers;
use crate::core::rule::tokens::TokenFields;
use crate::core::rule::verdict::{Rule, Rules};
use crate::core::rule::{Answer, Table};
use crate::core::signal::{LimitClass, Part, Scope};
use crate::provider::{base, body};

/// The table.
pub(super) const TABLE: Table = Table::new("slack")
    .page("https://docs.slack.dev/apis/web-api/rate-limits/", "2026-11-30")
    .scopes(&[Scope::Org, Scope::Endpoint])
    .headers(HEADERS)
    .fields(FIELDS, body::read)
    .rules(RULES)
    .normally_states(Some(Part::Header), None)
    .tokens(TokenFields::NONE)
    .answers(ANSWERS);

const HEADERS: &Headers = &Headers::of(&[base::HEADERS]);
const FIELDS: &Fields = &Fields::of(&[base::FIELDS, &[Field::new("body.ok", Told::ErrorIfFalse)]]);
const RULES: &Rules = &Rules::of(&[
    base::RULES,
    &[Rule::word(&["ratelimited", "rate_limited"]).limit(LimitClass::RequestRate).scope(Scope::Endpoint)],
]);

const ANSWERS: &[Answer] = &[
    Answer::new(LimitClass::None, 200, r#"{"ok":true}"#),
    Answer::new(LimitClass::RequestRate, 429, r#"{"ok":false,"error":"ratelimited"}"#)
        .headers(&[("Retry-After", "{wait.s}")]),
    Answer::new(LimitClass::Overload, 503, r#"{"ok":false,"error":"service_unavailable"}"#),
    Answer::new(LimitClass::Unknown, 429, "").headers(&[("Retry-After", "{wait.s}")]),
];
