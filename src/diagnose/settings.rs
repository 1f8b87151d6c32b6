//! What a pool's gauges say: its limits, its policies, its gate.

use std::fmt::Display;
use std::time::Duration;

use serde::{Serialize, Serializer};

use crate::core::signal::{Dimension, LimitClass, QuotaWindow};
use crate::event::catalogue::Metric;
use crate::event::words::{GateMode, PolicyParameter, QuotaOrigin};

/// How much a quota grants.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct KnownLimit {
    /// What is counted.
    #[serde(serialize_with = "spelled")]
    pub dimension: Dimension,
    /// In which window.
    #[serde(serialize_with = "spelled")]
    pub window: QuotaWindow,
    /// Who said so.
    #[serde(serialize_with = "spelled")]
    pub origin: QuotaOrigin,
    /// How much.
    pub amount: f64,
}

/// What a policy sets, as far as it is known.
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct KnownPolicy {
    /// Its name, as it stands in labels.
    pub name: String,
    /// The bound of the first wait.
    pub base: Option<Duration>,
    /// By how much the bound grows.
    pub factor: Option<f64>,
    /// The bound of every wait of the curve.
    pub cap: Option<Duration>,
    /// The longest stated delay that is waited for.
    pub header_cap: Option<Duration>,
    /// How long the whole call may take.
    pub deadline: Option<Duration>,
    /// The most attempts.
    pub attempts: Option<u32>,
}

/// What the gauges of one pool say, over all processes.
///
/// Where processes differ, the larger limit and the better gate hold: one of them may have been started before a change.
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct Settings {
    /// The limits, those of headers and those of configuration.
    pub limits: Vec<KnownLimit>,
    /// The policies.
    pub policies: Vec<KnownPolicy>,
    /// How the gate works.
    pub gate: Option<GateMode>,
    /// How many processes share the pool.
    pub replicas: Option<u32>,
    /// Why the pool is shut, if it is.
    pub shut: Option<LimitClass>,
}

impl Settings {
    /// Notes one sample of a gauge; those that say nothing of this are passed over. `label` gives the word of a key.
    pub fn note<'l>(&mut self, metric: Metric, label: impl Fn(&str) -> Option<&'l str>, value: f64) {
        if !value.is_finite() {
            return;
        }
        let note = match metric {
            Metric::QuotaLimit => self.note_limit(label, value),
            Metric::PolicyParameter => self.note_parameter(label, value),
            Metric::GateInfo if value > 0.0 => {
                let mode = word(GateMode::ALL, GateMode::as_str, label("mode"));
                self.gate = self.gate.max(mode);
                mode.map(drop)
            }
            Metric::Replicas if value >= 1.0 => {
                self.replicas = self.replicas.max(Some(value as u32));
                Some(())
            }
            Metric::GateShutUntil => {
                self.shut = word(LimitClass::ALL, LimitClass::as_str, label("limit_class"));
                Some(())
            }
            _ => None,
        };
        // A word of a newer schema is no reason to fail.
        let _ = note;
    }

    fn note_limit<'l>(&mut self, label: impl Fn(&str) -> Option<&'l str>, amount: f64) -> Option<()> {
        let dimension = word(Dimension::ALL, Dimension::as_str, label("dimension"))?;
        let window = word(QuotaWindow::ALL, QuotaWindow::as_str, label("window"))?;
        let origin = word(QuotaOrigin::ALL, QuotaOrigin::as_str, label("origin"))?;
        let same =
            |known: &&mut KnownLimit| (known.dimension, known.window, known.origin) == (dimension, window, origin);
        match self.limits.iter_mut().find(same) {
            Some(known) => known.amount = known.amount.max(amount),
            None => self.limits.push(KnownLimit { dimension, window, origin, amount }),
        }
        Some(())
    }

    fn note_parameter<'l>(&mut self, label: impl Fn(&str) -> Option<&'l str>, value: f64) -> Option<()> {
        let name = label("policy")?;
        let parameter = word(PolicyParameter::ALL, PolicyParameter::as_str, label("parameter"))?;
        let place = self.policies.iter().position(|known| known.name == name).unwrap_or_else(|| {
            self.policies.push(KnownPolicy { name: name.to_owned(), ..KnownPolicy::default() });
            self.policies.len() - 1
        });
        let (policy, seconds) = (&mut self.policies[place], Duration::try_from_secs_f64(value).ok());
        match parameter {
            PolicyParameter::BaseSeconds => policy.base = seconds,
            PolicyParameter::Factor => policy.factor = Some(value),
            PolicyParameter::CapSeconds => policy.cap = seconds,
            PolicyParameter::HeaderCapSeconds => policy.header_cap = seconds,
            PolicyParameter::DeadlineSeconds => policy.deadline = seconds,
            PolicyParameter::AttemptTimeoutSeconds => {}
            PolicyParameter::Attempts => policy.attempts = Some(value as u32),
        }
        Some(())
    }

    /// What a minute's quota of this dimension grants; what headers say beats configuration.
    #[must_use]
    pub fn minute_limit(&self, dimension: Dimension) -> Option<KnownLimit> {
        let of_minute = |origin| {
            let known = self.limits.iter().filter(move |known| known.dimension == dimension && known.origin == origin);
            known.filter(|known| known.window != QuotaWindow::Day && known.amount > 0.0).copied().next()
        };
        of_minute(QuotaOrigin::Header).or_else(|| of_minute(QuotaOrigin::Config))
    }
}

/// The member of a closed set of words that is spelled like this.
pub(crate) fn word<W: Copy>(all: &[W], spell: impl Fn(W) -> &'static str, text: Option<&str>) -> Option<W> {
    all.iter().copied().find(|word| Some(spell(*word)) == text)
}

/// As it stands in labels.
fn spelled<S: Serializer>(word: &impl Display, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_str(word)
}
