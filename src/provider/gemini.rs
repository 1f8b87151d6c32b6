//! Google Gemini API.
//!
//! No rate headers: the limit stands in `QuotaFailure`, the wait in `RetryInfo`. The wait beside a limit per day is a
//! floor, often seconds long.

use crate::core::rule::field::Fields;
use crate::core::rule::header::Headers;
use crate::core::rule::verdict::Rules;
use crate::core::rule::{Answer, Table};
use crate::core::signal::{LimitClass, Part, Scope, TokenKind};
use crate::provider::{base, body, google, usage};

/// The table.
pub(super) const TABLE: Table = Table::new("gemini")
    .semconv("gcp.gemini")
    .page("https://ai.google.dev/gemini-api/docs/rate-limits", "2026-11-30")
    .scopes(&[Scope::Project, Scope::Model])
    .headers(HEADERS)
    .fields(FIELDS, body::read)
    .rules(RULES)
    .normally_states(Some(Part::Body), Some(Part::Body))
    .tokens(usage::GEMINI)
    .answers(ANSWERS);

const HEADERS: &Headers = &Headers::of(&[base::HEADERS]);
const FIELDS: &Fields = &Fields::of(&[base::FIELDS, usage::GEMINI.answer, google::FIELDS]);
const RULES: &Rules = &Rules::of(&[base::RULES, google::RULES]);

const ANSWERS: &[Answer] = &[
    Answer::new(
        LimitClass::None,
        200,
        r#"{"candidates":[{"content":{"parts":[{"text":"ok"}],"role":"model"},"finishReason":"STOP"}],"usageMetadata":{"promptTokenCount":{usage.input},"candidatesTokenCount":{usage.output},"totalTokenCount":{usage.total}}}"#,
    ),
    Answer::new(
        LimitClass::RequestRate,
        429,
        r#"{"error":{"code":429,"message":"You exceeded your current quota, please check your plan and billing details.","status":"RESOURCE_EXHAUSTED","details":[{"@type":"type.googleapis.com/google.rpc.QuotaFailure","violations":[{"quotaId":"GenerateRequestsPerMinutePerProjectPerModel"}]},{"@type":"type.googleapis.com/google.rpc.RetryInfo","retryDelay":"{wait.proto}"}]}}"#,
    ),
    Answer::new(
        LimitClass::TokenThroughput,
        429,
        r#"{"error":{"code":429,"message":"You exceeded your current quota, please check your plan and billing details.","status":"RESOURCE_EXHAUSTED","details":[{"@type":"type.googleapis.com/google.rpc.QuotaFailure","violations":[{"quotaId":"GenerateContentPaidTierInputTokensPerModelPerMinute"}]},{"@type":"type.googleapis.com/google.rpc.RetryInfo","retryDelay":"{wait.proto}"}]}}"#,
    )
    .tokens(TokenKind::Input),
    Answer::new(
        LimitClass::Daily,
        429,
        r#"{"error":{"code":429,"message":"You exceeded your current quota, please check your plan and billing details.","status":"RESOURCE_EXHAUSTED","details":[{"@type":"type.googleapis.com/google.rpc.QuotaFailure","violations":[{"quotaId":"GenerateRequestsPerDayPerProjectPerModel"}]},{"@type":"type.googleapis.com/google.rpc.RetryInfo","retryDelay":"{wait.proto}"}]}}"#,
    ),
    Answer::new(
        LimitClass::Overload,
        503,
        r#"{"error":{"code":503,"message":"The model is overloaded. Please try again later.","status":"UNAVAILABLE"}}"#,
    ),
    Answer::new(
        LimitClass::Spend,
        429,
        r#"{"error":{"code":429,"message":"Your prepayment credits are depleted.","status":"RESOURCE_EXHAUSTED"}}"#,
    ),
    Answer::new(
        LimitClass::Unknown,
        429,
        r#"{"error":{"code":429,"message":"Resource has been exhausted (e.g. check quota).","status":"RESOURCE_EXHAUSTED"}}"#,
    ),
];
