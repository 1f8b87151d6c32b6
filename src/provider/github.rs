//! GitHub REST API.
//!
//! 403 or 429. A 403 for lack of permission carries the same headers with something left. The secondary limit is told by
//! text, and then the reset of the primary one is not the wait.

use crate::core::rule::field::Fields;
use crate::core::rule::header::{Axis, Header, Headers, Means};
use crate::core::rule::tokens::TokenFields;
use crate::core::rule::verdict::{Rule, Rules, Shown};
use crate::core::rule::{Answer, Table};
use crate::core::signal::{Dimension, LimitClass, QuotaWindow, Scope};
use crate::provider::headers::duration::reset;
use crate::provider::headers::number::amount;
use crate::provider::{base, body};

/// The table.
pub(super) const TABLE: Table = Table::new("github")
    .page("https://docs.github.com/en/rest/using-the-rest-api/rate-limits-for-the-rest-api", "2026-11-30")
    .scopes(&[Scope::Org, Scope::Endpoint])
    .headers(HEADERS)
    .fields(FIELDS, body::read)
    .rules(RULES)
    .tokens(TokenFields::NONE)
    .answers(ANSWERS);

/// Per hour, or per minute for some resources.
const REQUESTS: Axis = Axis::new("requests", Dimension::Requests, QuotaWindow::Other);

const HEADERS: &Headers = &Headers::of(&[
    base::HEADERS,
    &[
        Header::new("x-ratelimit-limit", Means::Limit(REQUESTS, amount)),
        Header::new("x-ratelimit-remaining", Means::Remaining(REQUESTS, amount)),
        Header::new("x-ratelimit-reset", Means::Reset(REQUESTS, reset)),
    ],
]);
const FIELDS: &Fields = &Fields::of(&[base::FIELDS]);
const RULES: &Rules = &Rules::of(&[
    base::RULES,
    &[
        Rule::status(&[429]).limit(LimitClass::RequestRate),
        Rule::status(&[403]).showing(&[Shown::Exhausted]).limit(LimitClass::RequestRate),
        Rule::status(&[403]).showing(&[Shown::WaitInHeader]).limit(LimitClass::RequestRate),
        Rule::phrase(&["secondary rate limit", "rate limit exceeded", "abuse detection mechanism"])
            .on(&[403, 200])
            .limit(LimitClass::RequestRate),
        Rule::phrase(&["secondary rate limit", "for user id"]).scope(Scope::Org),
    ],
]);

const ANSWERS: &[Answer] = &[
    Answer::new(LimitClass::None, 200, "{}").headers(&[
        ("x-ratelimit-limit", "{requests.limit}"),
        ("x-ratelimit-remaining", "{requests.remaining}"),
        ("x-ratelimit-reset", "{requests.reset.epoch_s}"),
    ]),
    Answer::new(LimitClass::RequestRate, 403, r#"{"message":"API rate limit exceeded for user ID 1."}"#).headers(&[
        ("x-ratelimit-limit", "{limit}"),
        ("x-ratelimit-remaining", "0"),
        ("x-ratelimit-reset", "{wait.epoch_s}"),
    ]),
    Answer::new(LimitClass::Overload, 503, r#"{"message":"Unavailable"}"#),
];
