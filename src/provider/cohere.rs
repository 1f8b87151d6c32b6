//! Cohere.
//!
//! The message alone tells the limit. The monthly allowance of a trial key is read as spend: a person must change the plan.

use crate::core::rule::field::Fields;
use crate::core::rule::header::{Header, Headers, Means};
use crate::core::rule::verdict::{Rule, Rules};
use crate::core::rule::{Answer, Table};
use crate::core::signal::{LimitClass, Part, Scope};
use crate::provider::headers::number::amount;
use crate::provider::{base, body, usage};

/// The table.
pub(super) const TABLE: Table = Table::new("cohere")
    .page("https://docs.cohere.com/docs/rate-limits", "2026-11-30")
    .scopes(&[Scope::Org, Scope::Key, Scope::Endpoint])
    .headers(HEADERS)
    .fields(FIELDS, body::read)
    .rules(RULES)
    .normally_states(None, Some(Part::Body))
    .tokens(usage::COHERE)
    .answers(ANSWERS);

const HEADERS: &Headers = &Headers::of(&[
    base::HEADERS,
    &[
        Header::new("x-trial-endpoint-call-limit", Means::Limit(base::REQUESTS, amount)),
        Header::new("x-trial-endpoint-call-remaining", Means::Remaining(base::REQUESTS, amount)),
    ],
]);
const FIELDS: &Fields = &Fields::of(&[base::FIELDS, usage::COHERE.answer]);
const RULES: &Rules = &Rules::of(&[
    base::RULES,
    &[
        Rule::phrase(&["trial key"]).scope(Scope::Key),
        Rule::phrase(&["calls / month", "calls/month", "calls per month"]).limit(LimitClass::Spend).scope(Scope::Key),
    ],
]);

const ANSWERS: &[Answer] = &[
    Answer::new(
        LimitClass::None,
        200,
        r#"{"message":{"role":"assistant","content":[]},"usage":{"tokens":{"input_tokens":{usage.input},"output_tokens":{usage.output}}}}"#,
    )
    .headers(&[
        ("x-trial-endpoint-call-limit", "{requests.limit}"),
        ("x-trial-endpoint-call-remaining", "{requests.remaining}"),
    ]),
    Answer::new(
        LimitClass::RequestRate,
        429,
        r#"{"message":"You are using a Trial key, which is limited to {limit} API calls / minute."}"#,
    ),
    Answer::new(
        LimitClass::Spend,
        429,
        r#"{"message":"You are using a Trial key, which is limited to 1000 API calls / month."}"#,
    ),
    Answer::new(LimitClass::Overload, 503, r#"{"message":"service unavailable"}"#),
    Answer::new(LimitClass::Unknown, 429, r#"{"message":"too many requests"}"#),
];
