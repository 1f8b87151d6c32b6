//! What is simulated, as plain data: the JSON a user writes, field by field.
//!
//! Every field may be left out or `null`; then the default of its documentation holds. Nothing is checked here but names
//! and types; ranges are checked when a world is made of it.

mod callers;
mod loose;
mod named;
mod policy;
mod provider;

use serde::Deserialize;

pub use callers::{ArrivalPattern, Batch, Burst, Callers, Deadline, DeadlineClass, Diurnal, OnOff, Poisson, Tokens};
pub use policy::{ClassPolicy, HeaderJitter, Jitter, OverCap, PolicySettings};
pub use provider::{
    Algorithm, FailureEpisode, FailureKind, Lie, OtherTenant, OverloadEpisode, Provider, SpendEpisode, StatedWait, Time,
};

use loose::null_is_default;

/// A scenario: a provider, those who call it, and how they retry.
///
/// ```
/// use forbear::simulate::{Scenario, simulate};
/// let scenario: Scenario = r#"{"provider": {"requests_per_minute": 60}, "measured_s": 600}"#.parse()?;
/// let result = simulate(&scenario)?;
/// assert!(result.success_ratio.is_some_and(|ratio| ratio > 0.9));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(deny_unknown_fields, default)]
#[non_exhaustive]
pub struct Scenario {
    /// Chance repeats with it: 1.
    pub seed: Option<u64>,
    /// Seconds before anything is measured: 0; up to 31 days.
    pub warmup_s: Option<f64>,
    /// Seconds in which calls are measured, each followed to its end: 3600; 1 ms to 31 days.
    pub measured_s: Option<f64>,
    /// The provider.
    #[serde(deserialize_with = "null_is_default")]
    pub provider: Provider,
    /// Others who use the same quotas and never retry: none; up to 1000.
    #[serde(deserialize_with = "null_is_default")]
    pub others: Vec<OtherTenant>,
    /// Those whose calls are measured.
    #[serde(deserialize_with = "null_is_default")]
    pub callers: Callers,
    /// How they retry.
    #[serde(deserialize_with = "null_is_default")]
    pub policy: PolicySettings,
    /// How their calls hold each other back: `local`.
    pub gate: Option<GateMode>,
    /// Whether calls are paced by the limits the engine is told before it has heard of any throttle: false. Without a
    /// per-minute limit that it is told there is nothing to pace by, and the field changes nothing.
    pub cold_start: Option<bool>,
    /// Whether the engine is told the provider's limits, and by what factor wrong: true.
    pub limit_configured: Option<LimitKnown>,
    /// Whether each replica knows how many there are: true.
    pub fleet_known: Option<bool>,
    /// What drives the calls: `forbear`.
    pub engine: Option<Engine>,
}

impl std::str::FromStr for Scenario {
    type Err = serde_json::Error;

    fn from_str(json: &str) -> Result<Self, Self::Err> {
        named::scenario(json)
    }
}

/// How the calls of a fleet hold each other back.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum GateMode {
    /// Not at all: each call is on its own.
    #[serde(alias = "off")]
    None,
    /// One gate in each replica.
    #[default]
    Local,
    /// One gate in each replica, and a throttle that one hears of is news for all a millisecond later.
    News,
    /// One gate for the whole fleet.
    #[serde(alias = "paced")]
    Shared,
}

/// What drives the calls.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Engine {
    /// This crate's engine.
    #[default]
    Forbear,
    /// The ideal: first come, first served, each call at the first instant the quotas can serve it. It is never throttled,
    /// and knows neither overload nor failures.
    Pacer,
}

/// Whether the engine is told the provider's limits.
#[derive(Clone, Copy, Debug, PartialEq, Deserialize)]
#[serde(from = "loose::SwitchOr<Factor>")]
#[non_exhaustive]
pub enum LimitKnown {
    /// Not at all.
    No,
    /// As this multiple of the truth, 0.01 to 100: `true` is 1.
    Times(f64),
}

/// `{"times": 1.25}`
#[derive(Clone, Copy, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
struct Factor {
    times: Option<f64>,
}

impl From<loose::SwitchOr<Factor>> for LimitKnown {
    fn from(known: loose::SwitchOr<Factor>) -> Self {
        match known {
            loose::SwitchOr::Switch(false) => Self::No,
            loose::SwitchOr::Switch(true) => Self::Times(1.0),
            loose::SwitchOr::Other(factor) => Self::Times(factor.times.unwrap_or(1.0)),
        }
    }
}
