//! Any service that speaks gRPC.
//!
//! The status stands in a trailer beside HTTP's 200; `RESOURCE_EXHAUSTED` is a limit, `UNAVAILABLE` a service short of
//! capacity. Which limit, and how long to wait, stands in the details (`RetryInfo`, `QuotaFailure`, `ErrorInfo`), in
//! binary in the trailer `grpc-status-details-bin`, in JSON where a gateway stands before the service. `body` is the
//! `google.rpc.Status` in the paths of what it says.

mod status;
mod wire;

use std::borrow::Cow;

use http::HeaderMap;

use crate::core::observation::{Observation, http_of_grpc};
use crate::core::rule::fact::Facts;
use crate::core::rule::field::{Field, Fields, Told};
use crate::core::rule::header::{Header, Headers, Means, When};
use crate::core::rule::tokens::TokenFields;
use crate::core::rule::verdict::{Rule, Rules};
use crate::core::rule::{Answer, Table};
use crate::core::signal::{LimitClass, Scope, TokenKind};
use crate::provider::body::Walk;
use crate::provider::grpc::wire::from_base64;
use crate::provider::headers::duration::retry_after_ms;
use crate::provider::headers::number::decimal;
use crate::provider::leaf::{proto_duration, word};
use crate::provider::{base, body, google, prose};

/// The table.
pub(super) const TABLE: Table = Table::new("grpc")
    .page("https://grpc.io/docs/guides/status-codes/", "2026-11-30")
    .scopes(&[Scope::Org, Scope::Project, Scope::Endpoint])
    .headers(HEADERS)
    .fields(FIELDS, read)
    .rules(RULES)
    .tokens(TokenFields::NONE)
    .answers(ANSWERS);

const HEADERS: &Headers = &Headers::of(&[
    base::HEADERS,
    &[
        Header::new("grpc-status", Means::Status(http_status)),
        // gRFC A6: milliseconds; anything else says not to retry.
        Header::new("grpc-retry-pushback-ms", Means::Pushback(pushback)),
    ],
]);
const FIELDS: &Fields = &Fields::of(&[
    &[Field::new("body.details[].retryDelay", Told::Wait(proto_duration))],
    base::FIELDS,
    google::FIELDS,
    &[
        Field::new("body.details[].violations[].quotaId", Told::Names(prose::limit_name)),
        Field::new("body.details[].violations[].quotaValue", Told::Limit),
        Field::new("body.details[].violations[].description", Told::Text),
        Field::new("body.details[].reason", Told::Word(word)),
        Field::new("body.details[].metadata.quota_limit", Told::Names(prose::limit_name)),
        Field::new("body.details[].metadata.quota_limit_value", Told::Limit),
    ],
]);
const RULES: &Rules = &Rules::of(&[
    base::RULES,
    &[
        // A message too large for a channel comes as RESOURCE_EXHAUSTED, too, and is nobody's quota.
        Rule::phrase(&["message larger than max", "message length too large"]).limit(LimitClass::None).stop(),
    ],
]);

/// Reads message and details: those handed over, else those of the trailers.
fn read(table: &Table, answer: &Observation<'_>, stream: bool, facts: &mut Facts) {
    let trailer = |name| answer.headers.and_then(|map: &HeaderMap| map.get(name)).map(http::HeaderValue::as_bytes);
    let before = facts.len();
    let message = answer.message.map(|message| Cow::Borrowed(message.as_bytes()));
    if let Some(message) = message.or_else(|| trailer("grpc-message").map(percent_decoded)) {
        Walk { table, fields: table.fields, headers: answer.headers, facts, encoded: 0 }.text(&["message"], &message);
    }
    let details = match answer.body.filter(|body| !body.is_empty()) {
        Some(body) if matches!(body.trim_ascii_start(), [b'{' | b'[' | b'd' | b'e' | b':', ..]) => {
            return body::read(table, answer, stream, facts);
        }
        Some(body) => Some(Cow::Borrowed(body)),
        None => trailer("grpc-status-details-bin").and_then(from_base64).map(Cow::Owned),
    };
    let noted = facts.len();
    if let Some(details) = details {
        let status = Walk { table, fields: table.fields, headers: answer.headers, facts, encoded: 0 }.status(&details);
        if status.is_err() {
            facts.truncate(noted);
        }
    }
    facts.any = facts.len() > before;
}

/// The HTTP status that stands for the code in `grpc-status`.
fn http_status(value: &[u8]) -> Option<u16> {
    let code = decimal(value).filter(|code| code.nanos == 0)?;
    Some(http_of_grpc(i32::try_from(code.whole).unwrap_or(i32::MAX)))
}

fn pushback(value: &[u8]) -> Option<When> {
    let whole = !value.is_empty() && value.iter().all(u8::is_ascii_digit);
    whole.then(|| retry_after_ms(value)).flatten()
}

/// `grpc-message` as it was meant: `%` and two hexadecimal digits are a byte, anything else stands for itself.
fn percent_decoded(value: &[u8]) -> Cow<'_, [u8]> {
    if !value.contains(&b'%') {
        return Cow::Borrowed(value);
    }
    let hex = |digit: &u8| char::from(*digit).to_digit(16).map(|digit| digit as u8);
    let (mut decoded, mut rest) = (Vec::with_capacity(value.len()), value);
    while let [first, after @ ..] = rest {
        (rest, _) = match (first, after) {
            (b'%', [high, low, after @ ..]) if hex(high).is_some() && hex(low).is_some() => {
                let byte = hex(high).unwrap_or_default() << 4 | hex(low).unwrap_or_default();
                (after, decoded.push(byte))
            }
            _ => (after, decoded.push(*first)),
        };
    }
    Cow::Owned(decoded)
}

const fn refused(status: &'static str, message: &'static str) -> [(&'static str, &'static str); 3] {
    [("grpc-status", status), ("grpc-message", message), ("grpc-status-details-bin", "{wait.rpc}")]
}

const ANSWERS: &[Answer] = &[
    Answer::new(LimitClass::None, 200, "").headers(&[("grpc-status", "0")]),
    Answer::new(LimitClass::RequestRate, 200, "").headers(&refused("8", "Quota of requests per minute exceeded.")),
    Answer::new(LimitClass::TokenThroughput, 200, "")
        .tokens(TokenKind::Total)
        .headers(&refused("8", "Quota of tokens per minute exceeded.")),
    Answer::new(LimitClass::Daily, 200, "").headers(&refused("8", "Quota of requests per day exceeded.")),
    Answer::new(LimitClass::Concurrency, 200, "").headers(&refused("8", "Too many concurrent requests.")),
    Answer::new(LimitClass::Overload, 200, "").headers(&refused("14", "The service is unavailable.")),
    Answer::new(LimitClass::Unknown, 200, "").headers(&refused("8", "Resource exhausted.")),
];
