//! Anthropic.
//!
//! Its own header names (never `x-ratelimit-*`), resets as RFC 3339; those of subscriptions (`unified`) as seconds since
//! the epoch. `retry-after` stands on successes too. 529 is overload, also as an error event in a stream.

use crate::core::rule::field::{Field, Fields, Told};
use crate::core::rule::header::{Axis, AxisRole, Header, Headers, Means};
use crate::core::rule::verdict::{Rule, Rules};
use crate::core::rule::{Answer, Table};
use crate::core::signal::{Dimension, LimitClass, Part, QuotaWindow, Scope, TokenKind};
use crate::provider::headers::duration::reset;
use crate::provider::headers::number::{amount, rejected};
use crate::provider::{base, body, leaf, usage};

/// The table.
pub(super) const TABLE: Table = Table::new("anthropic")
    .page("https://platform.claude.com/docs/en/api/rate-limits", "2026-11-30")
    .scopes(&[Scope::Org, Scope::Project, Scope::Model])
    .headers(HEADERS)
    .fields(FIELDS, body::read)
    .rules(RULES)
    .normally_states(Some(Part::Header), None)
    .tokens(usage::ANTHROPIC)
    .answers(ANSWERS);

const REQUESTS: Axis = base::REQUESTS;
/// Mirrors whichever token limit is nearest to its end.
const TOKENS: Axis = base::TOKENS;
const INPUT: Axis = Axis::new("input tokens", Dimension::InputTokens, QuotaWindow::Minute);
const OUTPUT: Axis = Axis::new("output tokens", Dimension::OutputTokens, QuotaWindow::Minute);
/// Fast mode has limits of its own and does not fall back.
const FAST_INPUT: Axis = Axis::new("fast input", Dimension::InputTokens, QuotaWindow::Minute).unreported();
const FAST_OUTPUT: Axis = Axis::new("fast output", Dimension::OutputTokens, QuotaWindow::Minute).unreported();
/// The priority share: when it is used up requests fall back to the standard tier.
const PRIORITY_INPUT: Axis =
    Axis::new("priority input", Dimension::InputTokens, QuotaWindow::Minute).unreported().role(AxisRole::Reserve);
const PRIORITY_OUTPUT: Axis =
    Axis::new("priority output", Dimension::OutputTokens, QuotaWindow::Minute).unreported().role(AxisRole::Reserve);
/// The windows of a subscription; the one over all of them wins a tie, so it comes first.
const UNIFIED: Axis = Axis::unnamed("unified");
const UNIFIED_5H: Axis = Axis::unnamed("unified 5h");
const UNIFIED_7D: Axis = Axis::unnamed("unified 7d");
const UNIFIED_7D_SONNET: Axis = Axis::unnamed("unified 7d sonnet").at(Scope::Model);
const UNIFIED_7D_OPUS: Axis = Axis::unnamed("unified 7d opus").at(Scope::Model);
const UNIFIED_7D_OI: Axis = Axis::unnamed("unified 7d oi").at(Scope::Model);

const HEADERS: &Headers = &Headers::of(&[
    base::HEADERS,
    &[
        Header::new("anthropic-ratelimit-requests-limit", Means::Limit(REQUESTS, amount)),
        Header::new("anthropic-ratelimit-requests-remaining", Means::Remaining(REQUESTS, amount)),
        Header::new("anthropic-ratelimit-requests-reset", Means::Reset(REQUESTS, reset)),
        Header::new("anthropic-ratelimit-tokens-limit", Means::Limit(TOKENS, amount)),
        Header::new("anthropic-ratelimit-tokens-remaining", Means::Remaining(TOKENS, amount)),
        Header::new("anthropic-ratelimit-tokens-reset", Means::Reset(TOKENS, reset)),
        Header::new("anthropic-ratelimit-input-tokens-limit", Means::Limit(INPUT, amount)),
        Header::new("anthropic-ratelimit-input-tokens-remaining", Means::Remaining(INPUT, amount)),
        Header::new("anthropic-ratelimit-input-tokens-reset", Means::Reset(INPUT, reset)),
        Header::new("anthropic-ratelimit-output-tokens-limit", Means::Limit(OUTPUT, amount)),
        Header::new("anthropic-ratelimit-output-tokens-remaining", Means::Remaining(OUTPUT, amount)),
        Header::new("anthropic-ratelimit-output-tokens-reset", Means::Reset(OUTPUT, reset)),
        Header::new("anthropic-fast-input-tokens-limit", Means::Limit(FAST_INPUT, amount)),
        Header::new("anthropic-fast-input-tokens-remaining", Means::Remaining(FAST_INPUT, amount)),
        Header::new("anthropic-fast-input-tokens-reset", Means::Reset(FAST_INPUT, reset)),
        Header::new("anthropic-fast-output-tokens-limit", Means::Limit(FAST_OUTPUT, amount)),
        Header::new("anthropic-fast-output-tokens-remaining", Means::Remaining(FAST_OUTPUT, amount)),
        Header::new("anthropic-fast-output-tokens-reset", Means::Reset(FAST_OUTPUT, reset)),
        Header::new("anthropic-priority-input-tokens-limit", Means::Limit(PRIORITY_INPUT, amount)),
        Header::new("anthropic-priority-input-tokens-remaining", Means::Remaining(PRIORITY_INPUT, amount)),
        Header::new("anthropic-priority-input-tokens-reset", Means::Reset(PRIORITY_INPUT, reset)),
        Header::new("anthropic-priority-output-tokens-limit", Means::Limit(PRIORITY_OUTPUT, amount)),
        Header::new("anthropic-priority-output-tokens-remaining", Means::Remaining(PRIORITY_OUTPUT, amount)),
        Header::new("anthropic-priority-output-tokens-reset", Means::Reset(PRIORITY_OUTPUT, reset)),
        Header::new("anthropic-ratelimit-unified-status", Means::Spent(UNIFIED, rejected)),
        Header::new("anthropic-ratelimit-unified-reset", Means::Reset(UNIFIED, reset)),
        Header::new("anthropic-ratelimit-unified-5h-status", Means::Spent(UNIFIED_5H, rejected)),
        Header::new("anthropic-ratelimit-unified-5h-reset", Means::Reset(UNIFIED_5H, reset)),
        Header::new("anthropic-ratelimit-unified-7d-status", Means::Spent(UNIFIED_7D, rejected)),
        Header::new("anthropic-ratelimit-unified-7d-reset", Means::Reset(UNIFIED_7D, reset)),
        Header::new("anthropic-ratelimit-unified-7d_sonnet-status", Means::Spent(UNIFIED_7D_SONNET, rejected)),
        Header::new("anthropic-ratelimit-unified-7d_sonnet-reset", Means::Reset(UNIFIED_7D_SONNET, reset)),
        Header::new("anthropic-ratelimit-unified-7d_opus-status", Means::Spent(UNIFIED_7D_OPUS, rejected)),
        Header::new("anthropic-ratelimit-unified-7d_opus-reset", Means::Reset(UNIFIED_7D_OPUS, reset)),
        Header::new("anthropic-ratelimit-unified-7d_oi-status", Means::Spent(UNIFIED_7D_OI, rejected)),
        Header::new("anthropic-ratelimit-unified-7d_oi-reset", Means::Reset(UNIFIED_7D_OI, reset)),
    ],
]);

const FIELDS: &Fields = &Fields::of(&[
    base::FIELDS,
    usage::ANTHROPIC.answer,
    &[Field::new("body.error.details.error_code", Told::Word(leaf::word))],
]);

const RULES: &Rules = &Rules::of(&[
    base::RULES,
    &[
        Rule::phrase(&["your organization's", "your organization\u{2019}s"]).scope(Scope::Org),
        Rule::phrase(&["your workspace", "this workspace"]).scope(Scope::Project),
        // Limits are per class of models: where the model is named, the others may still be asked.
        Rule::phrase(&["model: claude"]).scope(Scope::Model),
        Rule::word(&["enforced_spend_limit_reached", "billing_error"]).limit(LimitClass::Spend).scope(Scope::Org),
        Rule::phrase(&[
            "you have reached your specified api usage limits",
            "you have reached your api usage limits",
            "your credit balance is too low",
            "extra usage is required for long context",
        ])
        .limit(LimitClass::Spend)
        .scope(Scope::Org),
        Rule::phrase(&["you have reached your specified workspace api usage limits"])
            .limit(LimitClass::Spend)
            .scope(Scope::Project),
    ],
]);

const QUOTAS: &[(&str, &str)] = &[
    ("anthropic-ratelimit-requests-limit", "{requests.limit}"),
    ("anthropic-ratelimit-requests-remaining", "{requests.remaining}"),
    ("anthropic-ratelimit-requests-reset", "{requests.reset.rfc3339}"),
    ("anthropic-ratelimit-tokens-limit", "{tokens.limit}"),
    ("anthropic-ratelimit-tokens-remaining", "{tokens.remaining}"),
    ("anthropic-ratelimit-tokens-reset", "{tokens.reset.rfc3339}"),
    ("anthropic-ratelimit-input-tokens-limit", "{input_tokens.limit}"),
    ("anthropic-ratelimit-input-tokens-remaining", "{input_tokens.remaining}"),
    ("anthropic-ratelimit-input-tokens-reset", "{input_tokens.reset.rfc3339}"),
    ("anthropic-ratelimit-output-tokens-limit", "{output_tokens.limit}"),
    ("anthropic-ratelimit-output-tokens-remaining", "{output_tokens.remaining}"),
    ("anthropic-ratelimit-output-tokens-reset", "{output_tokens.reset.rfc3339}"),
];
const THROTTLED: &[(&str, &str)] =
    &base::joined::<{ 2 + QUOTAS.len() }>(&[("retry-after", "{wait.s}"), ("x-should-retry", "true")], QUOTAS);

const ANSWERS: &[Answer] = &[
    Answer::new(
        LimitClass::None,
        200,
        r#"{"type":"message","role":"assistant","content":[{"type":"text","text":"ok"}],"usage":{"input_tokens":{usage.input},"output_tokens":{usage.output}}}"#,
    )
    .headers(QUOTAS),
    Answer::new(
        LimitClass::RequestRate,
        429,
        r#"{"type":"error","error":{"type":"rate_limit_error","message":"This request would exceed your organization's rate limit of {limit} requests per minute."}}"#,
    )
    .headers(THROTTLED),
    Answer::new(
        LimitClass::TokenThroughput,
        429,
        r#"{"type":"error","error":{"type":"rate_limit_error","message":"This request would exceed your organization's rate limit of {limit} tokens per minute."}}"#,
    )
    .tokens(TokenKind::Total)
    .headers(THROTTLED),
    Answer::new(
        LimitClass::TokenThroughput,
        429,
        r#"{"type":"error","error":{"type":"rate_limit_error","message":"This request would exceed your organization's rate limit of {limit} input tokens per minute."}}"#,
    )
    .tokens(TokenKind::Input)
    .headers(THROTTLED),
    Answer::new(
        LimitClass::TokenThroughput,
        429,
        r#"{"type":"error","error":{"type":"rate_limit_error","message":"This request would exceed your organization's rate limit of {limit} output tokens per minute."}}"#,
    )
    .tokens(TokenKind::Output)
    .headers(THROTTLED),
    Answer::new(
        LimitClass::Daily,
        429,
        r#"{"type":"error","error":{"type":"rate_limit_error","message":"Number of requests has exceeded your daily rate limit."}}"#,
    )
    .headers(&[("retry-after", "{wait.s}")]),
    Answer::new(
        LimitClass::Concurrency,
        429,
        r#"{"type":"error","error":{"type":"rate_limit_error","message":"Number of concurrent connections has exceeded your rate limit."}}"#,
    )
    .headers(&[("retry-after", "{wait.s}")]),
    Answer::new(
        LimitClass::Overload,
        529,
        r#"{"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}}"#,
    )
    .headers(&[("x-should-retry", "true")]),
    Answer::new(
        LimitClass::Spend,
        429,
        r#"{"type":"error","error":{"type":"rate_limit_error","message":"You have reached your API usage limits.","details":{"error_code":"enforced_spend_limit_reached"}}}"#,
    ),
    Answer::new(
        LimitClass::Unknown,
        429,
        r#"{"type":"error","error":{"type":"rate_limit_error","message":"This request would exceed your account's rate limit. Please try again later."}}"#,
    )
    .headers(&[
        ("retry-after", "{wait.s}"),
        ("anthropic-ratelimit-unified-status", "rejected"),
        ("anthropic-ratelimit-unified-reset", "{wait.epoch_s}"),
    ]),
];
