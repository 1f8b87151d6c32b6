//! OpenAI.
//!
//! Headers on every answer, errors included: a 500 carries them too, so they say nothing of an error by themselves. The
//! message names the axis; spend and rate share the status 429 and differ in `error.code`.

use crate::core::rule::field::{Field, Fields, Told};
use crate::core::rule::header::{Axis, Header, Headers, Means};
use crate::core::rule::verdict::{INSIDE_A_SUCCESS, Rule, Rules};
use crate::core::rule::{Answer, Table};
use crate::core::signal::{Dimension, LimitClass, Part, QuotaWindow, Scope, TokenKind};
use crate::provider::headers::duration::reset;
use crate::provider::headers::number::{amount, used_up};
use crate::provider::{base, body, leaf, usage};

/// The table.
pub(super) const TABLE: Table = Table::new("openai")
    .page("https://developers.openai.com/api/docs/guides/rate-limits", "2026-11-30")
    .scopes(&[Scope::Org, Scope::Project, Scope::Model])
    .headers(HEADERS)
    .fields(FIELDS, body::read)
    .rules(RULES)
    .normally_states(Some(Part::Header), Some(Part::Body))
    .tokens(usage::OPENAI_COUNTING_THE_LIMIT)
    .answers(ANSWERS);

const PROJECT_TOKENS: Axis =
    Axis::new("project tokens", Dimension::Tokens, QuotaWindow::Minute).at(Scope::Project).unreported();
/// The windows of a ChatGPT plan, several hours to a week long.
const PRIMARY: Axis = Axis::unnamed("primary window");
const SECONDARY: Axis = Axis::unnamed("secondary window");

const HEADERS: &Headers = &Headers::of(&[
    base::HEADERS,
    base::X_RATELIMIT,
    &[
        Header::new("x-ratelimit-limit-project-tokens", Means::Limit(PROJECT_TOKENS, amount)),
        Header::new("x-ratelimit-remaining-project-tokens", Means::Remaining(PROJECT_TOKENS, amount)),
        Header::new("x-ratelimit-reset-project-tokens", Means::Reset(PROJECT_TOKENS, reset)),
        Header::new("x-codex-primary-used-percent", Means::Spent(PRIMARY, used_up)),
        Header::new("x-codex-primary-reset-after-seconds", Means::Reset(PRIMARY, reset)),
        Header::new("x-codex-primary-reset-at", Means::LaterReset(PRIMARY, reset)),
        Header::new("x-codex-secondary-used-percent", Means::Spent(SECONDARY, used_up)),
        Header::new("x-codex-secondary-reset-after-seconds", Means::Reset(SECONDARY, reset)),
        Header::new("x-codex-secondary-reset-at", Means::LaterReset(SECONDARY, reset)),
    ],
]);

/// Where the message names no axis, `error.type` is `tokens` or `requests`.
pub(super) const UNIT: &[Field] = &[Field::new("body.error.type", Told::Unit(leaf::unit))];
/// In mid-stream that word is the only sign of a limit where the code is missing.
pub(super) const UNIT_RULES: &[Rule] = &[Rule::word(&["tokens", "requests"]).on(&[INSIDE_A_SUCCESS]).some_limit()];

const FIELDS: &Fields = &Fields::of(&[
    base::FIELDS,
    usage::OPENAI.answer,
    UNIT,
    &[
        // As an error event a plan's headers sit in the body.
        Field::new("body.headers.X-Codex-Primary-Used-Percent", Told::Spent(PRIMARY, leaf::used_up)),
        Field::new("body.headers.X-Codex-Primary-Reset-After-Seconds", Told::Reset(PRIMARY, leaf::seconds)),
        Field::new("body.headers.X-Codex-Secondary-Used-Percent", Told::Spent(SECONDARY, leaf::used_up)),
        Field::new("body.headers.X-Codex-Secondary-Reset-After-Seconds", Told::Reset(SECONDARY, leaf::seconds)),
        Field::new("body.headers.x-codex-primary-used-percent", Told::Spent(PRIMARY, leaf::used_up)),
        Field::new("body.headers.x-codex-primary-reset-after-seconds", Told::Reset(PRIMARY, leaf::seconds)),
        Field::new("body.headers.x-codex-secondary-used-percent", Told::Spent(SECONDARY, leaf::used_up)),
        Field::new("body.headers.x-codex-secondary-reset-after-seconds", Told::Reset(SECONDARY, leaf::seconds)),
        Field::new("body.headers.X-Codex-Primary-Reset-At", Told::Reset(PRIMARY, leaf::end)),
        Field::new("body.headers.X-Codex-Secondary-Reset-At", Told::Reset(SECONDARY, leaf::end)),
        Field::new("body.headers.x-codex-primary-reset-at", Told::Reset(PRIMARY, leaf::end)),
        Field::new("body.headers.x-codex-secondary-reset-at", Told::Reset(SECONDARY, leaf::end)),
    ],
]);

const RULES: &Rules = &Rules::of(&[
    UNIT_RULES,
    base::RULES,
    &[
        Rule::phrase(&["in organization", "your organization"]).scope(Scope::Org),
        Rule::phrase(&["in project"]).scope(Scope::Project),
        // Limits are per model: one model's limit says nothing of the others.
        Rule::phrase(&["rate limit reached for", "request too large for"]).scope(Scope::Model),
        Rule::word(&["slow_down"]).on(&[503, INSIDE_A_SUCCESS]).limit(LimitClass::Overload),
        // "Traffic grew too quickly": a ramp limiter, met even within the limits per minute.
        Rule::word(&["slow_down"]).on(&[429]).limit(LimitClass::RequestRate),
        Rule::word(&["slow_down"])
            .on(&[INSIDE_A_SUCCESS])
            .saying(&["traffic grew too quickly"])
            .limit(LimitClass::RequestRate),
        Rule::word(&["resource_unavailable"]).limit(LimitClass::Overload).scope(Scope::Model),
        // A limit on the bill that a person set; images answer 400 with it.
        Rule::word(&["billing_hard_limit_reached"]).limit(LimitClass::Spend).scope(Scope::Org),
        // A plan's window of hours or days: not per minute, not per day, not spend.
        Rule::word(&["usage_limit_reached"]).limit(LimitClass::Unknown),
    ],
]);

const QUOTAS: &[(&str, &str)] = &[
    ("x-ratelimit-limit-requests", "{requests.limit}"),
    ("x-ratelimit-remaining-requests", "{requests.remaining}"),
    ("x-ratelimit-reset-requests", "{requests.reset.go}"),
    ("x-ratelimit-limit-tokens", "{tokens.limit}"),
    ("x-ratelimit-remaining-tokens", "{tokens.remaining}"),
    ("x-ratelimit-reset-tokens", "{tokens.reset.go}"),
];
const THROTTLED: &[(&str, &str)] =
    &base::joined::<{ 2 + QUOTAS.len() }>(&[("retry-after", "{wait.s}"), ("retry-after-ms", "{wait.ms}")], QUOTAS);

const ANSWERS: &[Answer] = &[
    Answer::new(
        LimitClass::None,
        200,
        r#"{"object":"chat.completion","choices":[{"index":0,"message":{"role":"assistant","content":"ok"},"finish_reason":"stop"}],"usage":{"prompt_tokens":{usage.input},"completion_tokens":{usage.output},"total_tokens":{usage.total}}}"#,
    )
    .headers(QUOTAS),
    Answer::new(
        LimitClass::RequestRate,
        429,
        r#"{"error":{"message":"Rate limit reached for gpt-4o in organization org-emulator on requests per min (RPM): Limit {limit}, Used {limit}, Requested 1. Please try again in {wait.go}.","type":"requests","param":null,"code":"rate_limit_exceeded"}}"#,
    )
    .headers(THROTTLED),
    Answer::new(
        LimitClass::TokenThroughput,
        429,
        r#"{"error":{"message":"Rate limit reached for gpt-4o in organization org-emulator on tokens per min (TPM): Limit {limit}, Used {limit}, Requested 1. Please try again in {wait.go}.","type":"tokens","param":null,"code":"rate_limit_exceeded"}}"#,
    )
    .tokens(TokenKind::Total)
    .headers(THROTTLED),
    Answer::new(
        LimitClass::Daily,
        429,
        r#"{"error":{"message":"Rate limit reached for gpt-4o in organization org-emulator on requests per day (RPD): Limit {limit}, Used {limit}, Requested 1. Please try again in {wait.go}.","type":"requests","param":null,"code":"rate_limit_exceeded"}}"#,
    )
    .headers(QUOTAS),
    Answer::new(
        LimitClass::Spend,
        429,
        r#"{"error":{"message":"You exceeded your current quota, please check your plan and billing details.","type":"insufficient_quota","param":null,"code":"insufficient_quota"}}"#,
    ),
    Answer::new(
        LimitClass::Overload,
        503,
        r#"{"error":{"message":"Our servers are currently overloaded. Please try again later.","type":"service_unavailable_error","param":null,"code":"server_is_overloaded"}}"#,
    ),
    Answer::new(
        LimitClass::Unknown,
        429,
        r#"{"error":{"type":"usage_limit_reached","message":"The usage limit has been reached","resets_in_seconds":{wait.s}}}"#,
    ),
];
