//! The number to change.

use std::time::Duration;

use serde::Serialize;

use crate::core::policy::Policy;
use crate::core::signal::Dimension;
use crate::diagnose::cause::Cause;
use crate::diagnose::evidence::{Evidence, Load};
use crate::diagnose::number::Number;
use crate::diagnose::rules::SHORT_ABOVE;
use crate::diagnose::settings::{KnownPolicy, Settings};
use crate::diagnose::verdict::seconds;
use crate::diagnose::window::Window;
use crate::event::words::GateMode;

/// How much more than the load a quota must grant for the objective to be met: calls come by chance, and one in a hundred
/// may fail. The median of what re-running short pools with more quota showed.
const ROOM: f64 = 1.2;
/// A limit that refuses while less of it is used serves less than it grants, by about the root of that: a bucket too small for
/// how calls come, others who use it, refused requests that count. Below this share it is no longer known by how much.
const LEAST_USABLE: f64 = 0.3;

/// What to set. What is `None` is to be left as it is.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
#[non_exhaustive]
pub struct Recommendation {
    /// Requests a minute to ask the provider for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub requests_per_minute: Option<u64>,
    /// Tokens of both sides a minute to ask for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tokens_per_minute: Option<u64>,
    /// Tokens sent a minute to ask for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub input_tokens_per_minute: Option<u64>,
    /// Tokens received a minute to ask for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub output_tokens_per_minute: Option<u64>,
    /// How calls should retry.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub policy: Option<Retries>,
    /// The next rung of pacing.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub gate: Option<Rung>,
}

/// How calls should retry.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct Retries {
    /// The bound of the first wait.
    #[serde(rename = "base_s", serialize_with = "seconds")]
    pub base: Duration,
    /// The bound of every wait.
    #[serde(rename = "cap_s", serialize_with = "seconds")]
    pub cap: Duration,
    /// The most attempts.
    pub attempts: u32,
}

/// How calls can be held back, each rung more than the one before.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Rung {
    /// A gate in each process.
    Local,
    /// Gates that tell each other of throttles.
    News,
    /// Gates that share the slots of the whole fleet.
    Paced,
    /// A queue in front of the callers: what comes too fast for anybody's patience waits outside of calls.
    Queue,
}

impl Rung {
    /// Its word.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Local => "local",
            Self::News => "news",
            Self::Paced => "paced",
            Self::Queue => "queue",
        }
    }

    /// The rung above a gate of this mode.
    pub(crate) const fn above(mode: Option<GateMode>) -> Self {
        match mode {
            None | Some(GateMode::Off) => Self::Local,
            Some(GateMode::Local) => Self::News,
            Some(GateMode::News) => Self::Paced,
            Some(GateMode::Paced) => Self::Queue,
        }
    }
}

/// What to set for this cause.
pub(crate) fn recommend(cause: Cause, seen: &Evidence, window: &Window) -> Recommendation {
    let mut recommendation = Recommendation::default();
    match cause {
        Cause::QuotaTooSmall => ask_for(seen, window, &mut recommendation),
        Cause::BackoffTooFast | Cause::BackoffTooSlow => {
            recommendation.policy = Some(retries(cause, seen, window));
        }
        Cause::Unpaced => recommendation.gate = Some(Rung::above(window.settings.gate)),
        _ => {}
    }
    recommendation
}

/// The quotas to ask for: of those that would still be too small, each enough for what is asked of it.
fn ask_for(seen: &Evidence, window: &Window, recommendation: &mut Recommendation) {
    let used = seen.used_when_throttled.filter(|used| *used > 0.0).unwrap_or(1.0);
    let room = ROOM / used.clamp(LEAST_USABLE, 1.0).sqrt();
    for load @ Load { limit, horizon, .. } in &seen.loads {
        // How large the too large are is not told: twice as much is a beginning.
        let short = if seen.too_large > seen.objective.failed { 2.0 } else { horizon * room };
        if short > 1.0 {
            let granted = if load.is_exceeded() { limit.amount * load.sustained } else { limit.amount };
            *recommendation.of(limit.dimension) = Some(two_digits(granted * short));
        }
    }
    if seen.loads.is_empty() && seen.learned_load > SHORT_ABOVE {
        let of_tokens = window.counts.get(Number::ThrottledByTokens) > window.counts.get(Number::ThrottledByRequests);
        let dimension = if of_tokens { Dimension::Tokens } else { Dimension::Requests };
        let learned = window.peaks.at_limit.of(dimension) / window.share_of_fleet.unwrap_or(1.0);
        *recommendation.of(dimension) = Some(two_digits(learned * seen.learned_load * ROOM));
    }
}

impl Recommendation {
    fn of(&mut self, dimension: Dimension) -> &mut Option<u64> {
        match dimension {
            Dimension::Requests => &mut self.requests_per_minute,
            Dimension::Tokens => &mut self.tokens_per_minute,
            Dimension::InputTokens => &mut self.input_tokens_per_minute,
            Dimension::OutputTokens => &mut self.output_tokens_per_minute,
        }
    }
}

/// The curve that [`Policy::for_window`] suggests for the policy under which most calls come, never moved against the
/// direction that the evidence shows, and never with fewer attempts.
fn retries(cause: Cause, seen: &Evidence, window: &Window) -> Retries {
    let now = policy_of_most(window).cloned().unwrap_or_default();
    let deadline = now.deadline.unwrap_or(seen.patience);
    let told = window.counts.get(Number::ToldWaits) > window.counts.get(Number::CurveWaits);
    let suggested = Policy::for_window(window.minute).states_delay(told).suggest(deadline).ok();
    let tenth = window.minute / 10;
    let (base, cap, attempts) = suggested.map_or((tenth, window.minute, 0), |s| (s.base, s.cap, s.attempts));
    let old = (now.base.unwrap_or(base), now.cap.unwrap_or(cap));
    let (base, cap) = if cause == Cause::BackoffTooFast {
        (base.max(old.0 * 2).max(tenth), cap.max(old.1))
    } else {
        (base.min(old.0 / 2), cap.min(old.1))
    };
    Retries { base, cap: cap.max(base), attempts: attempts.max(now.attempts.unwrap_or(0)) }
}

/// The settings of the policy under which most calls come.
pub(crate) fn policy_of_most(window: &Window) -> Option<&KnownPolicy> {
    let Settings { policies, .. } = &window.settings;
    let most = window.counts.policies().iter().max_by(|a, b| a.calls.total_cmp(&b.calls))?;
    policies.iter().find(|known| known.name == most.policy)
}

/// Rounded up to two digits: what people ask a provider for.
fn two_digits(wanted: f64) -> u64 {
    let unit = 10f64.powf((wanted.max(10.0).log10()).floor() - 1.0);
    ((wanted / unit).ceil() * unit) as u64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_quota_is_asked_for_in_two_digits_and_never_rounded_down() {
        assert_eq!([2.1, 99.0, 101.0, 1_250.0, 40_001.0].map(two_digits), [3, 99, 110, 1_300, 41_000]);
    }

    #[test]
    fn every_rung_leads_to_the_next() {
        let rungs = [None, Some(GateMode::Off), Some(GateMode::Local), Some(GateMode::News), Some(GateMode::Paced)];
        let next = [Rung::Local, Rung::Local, Rung::News, Rung::Paced, Rung::Queue];
        assert_eq!(rungs.map(Rung::above), next);
    }
}
