//! Google Vertex AI.
//!
//! No wait is stated. "Resource exhausted" is the capacity all customers share; a quota of one's own is told by the name of
//! its metric alone.

use crate::core::rule::field::Fields;
use crate::core::rule::header::Headers;
use crate::core::rule::verdict::{INSIDE_A_SUCCESS, Rule, Rules};
use crate::core::rule::{Answer, Table};
use crate::core::signal::{LimitClass, Part, Scope, TokenKind};
use crate::provider::{base, body, google, usage};

/// The table.
pub(super) const TABLE: Table = Table::new("vertex")
    .semconv("gcp.vertex_ai")
    .page("https://cloud.google.com/vertex-ai/generative-ai/docs/error-code-429", "2026-11-30")
    .scopes(&[Scope::Project, Scope::Region, Scope::Model])
    .headers(HEADERS)
    .fields(FIELDS, body::read)
    .rules(RULES)
    .normally_states(None, Some(Part::Body))
    .tokens(usage::GEMINI)
    .answers(ANSWERS);

const HEADERS: &Headers = &Headers::of(&[base::HEADERS]);
const FIELDS: &Fields = &Fields::of(&[base::FIELDS, usage::GEMINI.answer, google::FIELDS]);
const RULES: &Rules = &Rules::of(&[
    base::RULES,
    google::RULES,
    &[
        Rule::phrase(&["resource exhausted", "resource has been exhausted"])
            .on(&[429, INSIDE_A_SUCCESS])
            .otherwise()
            .limit(LimitClass::Overload),
        Rule::phrase(&["exceeded the provisioned throughput"])
            .on(&[429, INSIDE_A_SUCCESS])
            .limit(LimitClass::TokenThroughput)
            .scope(Scope::Project),
    ],
]);

const ANSWERS: &[Answer] = &[
    Answer::new(
        LimitClass::None,
        200,
        r#"{"candidates":[{"content":{"parts":[{"text":"ok"}]}}],"usageMetadata":{"promptTokenCount":{usage.input},"candidatesTokenCount":{usage.output},"totalTokenCount":{usage.total}}}"#,
    ),
    Answer::new(
        LimitClass::RequestRate,
        429,
        r#"{"error":{"code":429,"message":"Quota exceeded for aiplatform.googleapis.com/generate_content_requests_per_minute_per_project_per_base_model with base model: gemini-pro.","status":"RESOURCE_EXHAUSTED"}}"#,
    ),
    Answer::new(
        LimitClass::TokenThroughput,
        429,
        r#"{"error":{"code":429,"message":"Quota exceeded for aiplatform.googleapis.com/online_prediction_input_tokens_per_minute_per_base_model with base model: claude.","status":"RESOURCE_EXHAUSTED"}}"#,
    )
    .tokens(TokenKind::Input),
    Answer::new(
        LimitClass::TokenThroughput,
        429,
        r#"{"error":{"code":429,"message":"Too many requests. Exceeded the Provisioned Throughput.","status":"RESOURCE_EXHAUSTED"}}"#,
    )
    .tokens(TokenKind::Total),
    Answer::new(
        LimitClass::Overload,
        429,
        r#"{"error":{"code":429,"message":"Resource exhausted, please try again later.","status":"RESOURCE_EXHAUSTED"}}"#,
    ),
    Answer::new(
        LimitClass::Unknown,
        429,
        r#"{"error":{"code":429,"message":"Quota exceeded.","status":"RESOURCE_EXHAUSTED"}}"#,
    ),
];
