//! AWS Bedrock.
//!
//! The name of the error decides, not the status: throttling comes as 429 and as 400. It stands in a header (with a tail to
//! cut) or in the body. No wait is ever stated. In a stream the error is a member of the event union.

use crate::core::rule::field::{Field, Fields, Told};
use crate::core::rule::header::{Header, Headers, Means};
use crate::core::rule::verdict::{INSIDE_A_SUCCESS, Rule, Rules};
use crate::core::rule::{Answer, Table};
use crate::core::signal::{LimitClass, Part, Scope, TokenKind};
use crate::provider::headers::number::before_colon;
use crate::provider::{base, body, leaf, usage};

/// The table.
pub(super) const TABLE: Table = Table::new("bedrock")
    .semconv("aws.bedrock")
    .page("https://docs.aws.amazon.com/bedrock/latest/userguide/troubleshooting-api-error-codes.html", "2026-11-30")
    .scopes(&[Scope::Org, Scope::Region, Scope::Model])
    .headers(HEADERS)
    .fields(FIELDS, body::read)
    .rules(RULES)
    .normally_states(None, Some(Part::Body))
    .tokens(usage::BEDROCK)
    .answers(ANSWERS);

const HEADERS: &Headers = &Headers::of(&[base::HEADERS, &[Header::new("x-amzn-errortype", Means::Word(before_colon))]]);

const FIELDS: &Fields = &Fields::of(&[
    base::FIELDS,
    usage::BEDROCK.answer,
    &[
        Field::new("body.__type", Told::Word(leaf::exception)),
        Field::new("body.Message", Told::Text),
        Field::new("body.originalStatusCode", Told::OriginalStatus),
        Field::new("body.throttlingException", Told::Error),
        Field::new("body.throttlingException", Told::Named("ThrottlingException")),
        Field::new("body.throttlingException.message", Told::Text),
        Field::new("body.throttlingException.Message", Told::Text),
        Field::new("body.serviceUnavailableException", Told::Error),
        Field::new("body.serviceUnavailableException", Told::Named("ServiceUnavailableException")),
        Field::new("body.internalServerException", Told::Error),
        Field::new("body.internalServerException", Told::Named("InternalServerException")),
        Field::new("body.modelTimeoutException", Told::Error),
        Field::new("body.modelTimeoutException", Told::Named("ModelTimeoutException")),
        Field::new("body.modelStreamErrorException", Told::Error),
        Field::new("body.modelStreamErrorException", Told::Named("ModelStreamErrorException")),
        Field::new("body.modelStreamErrorException.originalStatusCode", Told::OriginalStatus),
        Field::new("body.validationException", Told::Error),
    ],
]);

const RULES: &Rules = &Rules::of(&[
    base::RULES,
    &[
        Rule::word(&["ThrottlingException"]).some_limit(),
        Rule::word(&["ThrottlingException"])
            .saying(&["too many requests", "your request rate is too high", "rate exceeded"])
            .otherwise()
            .limit(LimitClass::RequestRate),
        Rule::phrase(&["too many requests, please wait", "your request rate is too high", "rate exceeded"])
            .on(&[429])
            .otherwise()
            .limit(LimitClass::RequestRate),
        Rule::word(&["ServiceUnavailableException"]).limit(LimitClass::Overload),
        Rule::word(&["ModelNotReadyException"]).limit(LimitClass::Overload).scope(Scope::Model),
        Rule::word(&["ServiceQuotaExceededException"]).limit(LimitClass::Unknown).stop(),
        Rule::word(&["InternalServerException", "ModelTimeoutException"]).on(&[INSIDE_A_SUCCESS]).retry(),
        // The status of the model behind decides the class, whatever it is: the next attempt may fare better.
        Rule::word(&["ModelErrorException", "ModelStreamErrorException"]).retry(),
        Rule::status(&[424]).retry(),
    ],
]);

const ERROR: &[(&str, &str)] = &[("x-amzn-ErrorType", "ThrottlingException:http://internal.amazon.com/coral/")];

const ANSWERS: &[Answer] = &[
    Answer::new(
        LimitClass::None,
        200,
        r#"{"output":{"message":{"role":"assistant","content":[{"text":"ok"}]}},"usage":{"inputTokens":{usage.input},"outputTokens":{usage.output},"totalTokens":{usage.total}}}"#,
    ),
    Answer::new(LimitClass::RequestRate, 429, r#"{"message":"Too many requests, please wait before trying again."}"#)
        .headers(ERROR),
    Answer::new(LimitClass::TokenThroughput, 429, r#"{"message":"Too many tokens, please wait before trying again."}"#)
        .tokens(TokenKind::Total)
        .headers(ERROR),
    Answer::new(LimitClass::Daily, 429, r#"{"message":"Too many tokens per day, please wait before trying again."}"#)
        .tokens(TokenKind::Total)
        .headers(ERROR),
    Answer::new(LimitClass::Overload, 503, r#"{"message":"Too many connections, please wait before trying again."}"#)
        .headers(&[("x-amzn-ErrorType", "ServiceUnavailableException")]),
    Answer::new(LimitClass::Unknown, 429, r#"{"message":"Throttled."}"#).headers(ERROR),
];
