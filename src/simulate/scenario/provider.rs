//! The provider's side of a scenario.

use serde::Deserialize;

use super::loose::{NumberOr, WordOr, null_is_default};

/// The provider: its limits, what its answers tell, how long they take, and what goes wrong.
///
/// Times are seconds from the start of the world, the warm-up included. Each list holds up to 1000 of them.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(deny_unknown_fields, default)]
#[non_exhaustive]
pub struct Provider {
    /// Requests per window: none; 1 to 10^12, as all quotas.
    pub requests_per_minute: Option<f64>,
    /// Tokens of both sides per window: none.
    pub tokens_per_minute: Option<f64>,
    /// Tokens sent per window: none.
    pub input_tokens_per_minute: Option<f64>,
    /// Tokens received per window: none.
    pub output_tokens_per_minute: Option<f64>,
    /// Requests per day: none.
    pub requests_per_day: Option<f64>,
    /// Tokens of both sides per day: none.
    pub tokens_per_day: Option<f64>,
    /// When the first day ends: 86400; 1 ms to 31 days.
    pub day_ends_at_s: Option<f64>,
    /// Requests in flight at the same time: none; 1 to 10^6.
    pub concurrency: Option<f64>,
    /// How long the window of the per-minute quotas is: 60; 1 s to 31 days.
    pub window_s: Option<f64>,
    /// How the window is counted: `token_bucket`.
    pub algorithm: Option<Algorithm>,
    /// When the first fixed window ends: at a moment from the seed; 0 to the window.
    pub window_ends_at_s: Option<f64>,
    /// How much of a window's quota a token bucket holds, as the seconds that bring it: the whole window; 0 to the window.
    pub burst_s: Option<f64>,
    /// Whether refused requests count against the request quota: false.
    pub throttled_attempts_count: Option<bool>,
    /// Which wait a refusal states: `whole_seconds`.
    pub retry_after: Option<StatedWait>,
    /// Whether answers tell limits and what is left of them: false.
    pub quota_headers: Option<bool>,
    /// Whether a refusal tells which limit it was: true.
    pub class_readable: Option<bool>,
    /// How long a served request takes: [1, 3]; 0 to 1 day.
    pub service_s: Option<Time>,
    /// How long a refusal takes: [0.05, 0.15]; 0 to 1 day.
    pub throttle_answer_s: Option<Time>,
    /// Times in which requests fail beside the limits: none.
    #[serde(deserialize_with = "null_is_default")]
    pub failures: Vec<FailureEpisode>,
    /// Times in which the account may spend no more: none.
    #[serde(deserialize_with = "null_is_default")]
    pub spend: Vec<SpendEpisode>,
    /// Times in which the provider itself is short of capacity: none.
    #[serde(deserialize_with = "null_is_default")]
    pub overload: Vec<OverloadEpisode>,
}

/// How a window is counted; see [`crate::emulator::limits::Algorithm`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Algorithm {
    /// A level that refills steadily.
    #[default]
    TokenBucket,
    /// A count that starts anew at each boundary.
    FixedWindow,
    /// Never more than the quota in any span of one window.
    SlidingWindow,
}

/// A time that is always the same, or uniform between two.
#[derive(Clone, Copy, Debug, PartialEq, Deserialize)]
#[serde(try_from = "NumberOr<f64>")]
#[non_exhaustive]
pub enum Time {
    /// Always so many seconds.
    Always(f64),
    /// Uniform between so many seconds.
    Between(f64, f64),
}

impl TryFrom<NumberOr<f64>> for Time {
    type Error = &'static str;

    fn try_from(time: NumberOr<f64>) -> Result<Self, Self::Error> {
        match time {
            NumberOr::Number(seconds) => Ok(Self::Always(seconds)),
            NumberOr::List(ends) if ends.len() == 2 => Ok(Self::Between(ends[0], ends[1])),
            _ => Err("a time is a number of seconds, or two: [from, to]"),
        }
    }
}

/// Which wait a refusal states; see [`crate::emulator::limits::RetryAfter`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Deserialize)]
#[serde(try_from = "WordOr<Lie>")]
#[non_exhaustive]
pub enum StatedWait {
    /// None.
    None,
    /// The true one.
    Exact,
    /// The true one, rounded up to whole seconds.
    #[default]
    WholeSeconds,
    /// None; a header tells when the whole quota is back, and that is read as the wait.
    ResetOnly,
    /// A wrong one.
    Lie(Lie),
}

/// A wrong wait: `{"times": 0.1}`, `{"times": 5, "plus_s": 10}`, or `{"fixed_s": 60}`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Deserialize)]
#[serde(deny_unknown_fields, default)]
#[non_exhaustive]
pub struct Lie {
    /// The true wait times this, 0 to 1000: 1.
    pub times: Option<f64>,
    /// And this many seconds more, 0 to 1 day: 0.
    pub plus_s: Option<f64>,
    /// Instead of both: always this many seconds, 0 to 31 days.
    pub fixed_s: Option<f64>,
}

impl TryFrom<WordOr<Lie>> for StatedWait {
    type Error = String;

    fn try_from(wait: WordOr<Lie>) -> Result<Self, Self::Error> {
        match wait {
            WordOr::Other(lie) => Ok(Self::Lie(lie)),
            WordOr::Word(word) => match word.as_str() {
                "none" => Ok(Self::None),
                "exact" => Ok(Self::Exact),
                "whole_seconds" => Ok(Self::WholeSeconds),
                "reset_only" => Ok(Self::ResetOnly),
                _ => Err(format!(
                    "unknown retry_after `{word}`, expected none, exact, whole_seconds, reset_only, or an object with \
                     times, plus_s or fixed_s"
                )),
            },
        }
    }
}

/// How requests fail beside the limits.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum FailureKind {
    /// 500.
    #[default]
    ServerError,
    /// No answer ever. Where neither policy nor deadline cuts the attempt, the client does after 600 s, as clients do.
    Timeout,
    /// 401.
    Auth,
}

/// A time in which a share of all requests fails.
#[derive(Clone, Copy, Debug, Default, PartialEq, Deserialize)]
#[serde(deny_unknown_fields, default)]
#[non_exhaustive]
pub struct FailureEpisode {
    /// The share, 0 to 1: 1.
    pub share: Option<f64>,
    /// How: `server_error`.
    pub kind: Option<FailureKind>,
    /// From when: the start.
    pub from_s: Option<f64>,
    /// Until when: for ever.
    pub until_s: Option<f64>,
}

/// A time in which the account may spend no more.
#[derive(Clone, Copy, Debug, Default, PartialEq, Deserialize)]
#[serde(deny_unknown_fields, default)]
#[non_exhaustive]
pub struct SpendEpisode {
    /// From when: the start.
    pub from_s: Option<f64>,
    /// Until when: for ever.
    pub until_s: Option<f64>,
}

/// A time in which the provider turns a share of all requests away.
#[derive(Clone, Copy, Debug, Default, PartialEq, Deserialize)]
#[serde(deny_unknown_fields, default)]
#[non_exhaustive]
pub struct OverloadEpisode {
    /// From when: the start.
    pub from_s: Option<f64>,
    /// Until when: for ever.
    pub until_s: Option<f64>,
    /// The share, 0 to 1: 1.
    pub share: Option<f64>,
}

/// Somebody else who uses the same quotas. Their requests have the callers' sizes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Deserialize)]
#[serde(deny_unknown_fields, default)]
#[non_exhaustive]
pub struct OtherTenant {
    /// Requests per minute while they are on, at random instants: 60; up to 10^6.
    pub requests_per_minute: Option<f64>,
    /// How long they are on: always; up to 31 days.
    pub on_s: Option<f64>,
    /// How long they are off after that: 0; up to 31 days. Where in the period they start comes from the seed.
    pub off_s: Option<f64>,
}
