//! The callers' side of a scenario.

use serde::Deserialize;

use super::loose::{NumberOr, null_is_default};
use super::policy::ClassPolicy;

/// Those whose calls are measured.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(deny_unknown_fields, default)]
#[non_exhaustive]
pub struct Callers {
    /// When calls arrive: `{"poisson": {"per_minute": 60}}`.
    pub arrivals: Option<ArrivalPattern>,
    /// How many processes they arrive at, each call at a random one: 1; up to 1000.
    pub replicas: Option<f64>,
    /// How many tokens they use.
    #[serde(deserialize_with = "null_is_default")]
    pub tokens: Tokens,
    /// How long a call may take: none.
    pub deadline_s: Option<Deadline>,
}

/// When calls arrive.
#[derive(Clone, Copy, Debug, PartialEq, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum ArrivalPattern {
    /// At random instants of one rate.
    Poisson(Poisson),
    /// At random instants while on, none while off.
    OnOff(OnOff),
    /// Many at the same instant, again and again.
    Batch(Batch),
    /// Many within moments, once.
    Burst(Burst),
    /// At random instants of a rate that rises and falls.
    Diurnal(Diurnal),
}

/// Random instants of one rate.
#[derive(Clone, Copy, Debug, Default, PartialEq, Deserialize)]
#[serde(deny_unknown_fields, default)]
#[non_exhaustive]
pub struct Poisson {
    /// Calls per minute: 60; up to 10^6.
    pub per_minute: Option<f64>,
}

/// Random instants while on.
#[derive(Clone, Copy, Debug, Default, PartialEq, Deserialize)]
#[serde(deny_unknown_fields, default)]
#[non_exhaustive]
pub struct OnOff {
    /// Calls per minute while on: 60; up to 10^6.
    pub per_minute: Option<f64>,
    /// How long it is on: 60; 1 ms to 31 days.
    pub on_s: Option<f64>,
    /// How long it is off after that: 60; up to 31 days. Where in the period the world starts comes from the seed.
    pub off_s: Option<f64>,
}

/// Many at the same instant.
#[derive(Clone, Copy, Debug, Default, PartialEq, Deserialize)]
#[serde(deny_unknown_fields, default)]
#[non_exhaustive]
pub struct Batch {
    /// Calls in each batch: 100; 1 to 10^6.
    pub size: Option<f64>,
    /// Seconds from one batch to the next: 300; 1 ms to 31 days. The first comes at the start of the world.
    pub every_s: Option<f64>,
}

/// Many within moments.
#[derive(Clone, Copy, Debug, Default, PartialEq, Deserialize)]
#[serde(deny_unknown_fields, default)]
#[non_exhaustive]
pub struct Burst {
    /// Calls: 100; 1 to 10^6.
    pub size: Option<f64>,
    /// Seconds within which they arrive, from the start of the measured time on: 2; up to the measured time.
    pub within_s: Option<f64>,
}

/// Random instants of a rate that rises and falls as a cosine does, lowest at the start.
#[derive(Clone, Copy, Debug, Default, PartialEq, Deserialize)]
#[serde(deny_unknown_fields, default)]
#[non_exhaustive]
pub struct Diurnal {
    /// Calls per minute, to be multiplied: 60; up to 10^6.
    pub per_minute: Option<f64>,
    /// By this at its lowest: 0.2; 0 to `high`.
    pub low: Option<f64>,
    /// By this at its highest: 1.8; up to 100.
    pub high: Option<f64>,
    /// Seconds from one low to the next: 3600; 1 s to 31 days.
    pub period_s: Option<f64>,
}

/// How many tokens a call uses: log-normal, sent and received together.
#[derive(Clone, Copy, Debug, Default, PartialEq, Deserialize)]
#[serde(deny_unknown_fields, default)]
#[non_exhaustive]
pub struct Tokens {
    /// Half of all calls use fewer: 1000; 1 to 10^6.
    pub median: Option<f64>,
    /// How far they spread: 0.5; 0 to 3.
    pub sigma: Option<f64>,
    /// The share of them that is received: 0.3; 0 to 1.
    pub output_share: Option<f64>,
    /// What the engine expects, as a multiple of the truth: 1; 0.01 to 100.
    pub estimate_bias: Option<f64>,
    /// Whether the engine is told an estimate at all: true.
    pub estimated: Option<bool>,
}

/// How long calls may take.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(try_from = "NumberOr<DeadlineClass>")]
#[non_exhaustive]
pub enum Deadline {
    /// As long as the engine lets any call take: 7 days.
    #[default]
    None,
    /// So many seconds, 1 ms to 7 days.
    Seconds(f64),
    /// Calls of several kinds in one pool, 100 at most.
    Classes(Vec<DeadlineClass>),
}

/// One kind of call among several.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(deny_unknown_fields, default)]
#[non_exhaustive]
pub struct DeadlineClass {
    /// Its share of all calls, as a weight: 1; 0 to 1000.
    pub share: Option<f64>,
    /// How long it may take: none.
    pub deadline_s: Option<f64>,
    /// Its policy: a name, or an object of the fields in which it differs from the scenario's, `name` among them.
    pub policy: Option<ClassPolicy>,
}

impl TryFrom<NumberOr<DeadlineClass>> for Deadline {
    type Error = &'static str;

    fn try_from(deadline: NumberOr<DeadlineClass>) -> Result<Self, Self::Error> {
        match deadline {
            NumberOr::Number(seconds) => Ok(Self::Seconds(seconds)),
            NumberOr::List(classes) if !classes.is_empty() => Ok(Self::Classes(classes)),
            NumberOr::Word(word) if word == "none" => Ok(Self::None),
            _ => Err("deadline_s is a number of seconds, none, or a list of objects with share, deadline_s and policy"),
        }
    }
}
