//! What is promised to callers, and whether it was kept.

use serde::Serialize;

use crate::core::setting::{InvalidSetting, within};
use crate::diagnose::counts::Counts;
use crate::diagnose::number::Number;

/// This share of the calls has to succeed, unless somebody who asks says otherwise …
pub(crate) const LEAST_SUCCESS: f64 = 0.99;
/// … with no more attempts a call than this. Waste that hurts shows in success; this bounds what it may cost.
pub(crate) const MOST_ATTEMPTS_PER_CALL: f64 = 1.5;

/// How calls went, as the objective counts them.
///
/// A caller who went away says nothing about the pool, and a wrong request nothing about its capacity: neither counts. What
/// the gate refused, and what a spent day or account ended, are failures.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct Objective {
    /// Calls that succeeded.
    pub succeeded: f64,
    /// Calls that did not.
    pub failed: f64,
    /// Attempts a call.
    pub attempts_per_call: f64,
    /// What was promised: the share of calls that has to succeed, 0 to 1.
    pub least_success: f64,
}

impl Objective {
    /// How the calls of these numbers went, where so large a share has to succeed.
    pub(crate) fn of(counts: &Counts, least_success: f64) -> Self {
        let number = |number| counts.get(number);
        let succeeded = number(Number::Succeeded);
        let others = number(Number::Cancelled) + number(Number::NotRetryable);
        Self {
            succeeded,
            failed: (number(Number::Ended) - succeeded - others).max(0.0),
            attempts_per_call: share(number(Number::Attempts), number(Number::Calls)),
            least_success,
        }
    }

    /// The share of calls that succeeded; all of none.
    #[must_use]
    pub fn success(&self) -> f64 {
        if self.failed > 0.0 { self.succeeded / (self.succeeded + self.failed) } else { 1.0 }
    }

    /// Whether it was missed.
    #[must_use]
    pub fn is_missed(&self) -> bool {
        self.success() < self.least_success || self.attempts_per_call > MOST_ATTEMPTS_PER_CALL
    }
}

/// An objective that can be judged by: below 0.94 the faster alert on the rate of failures could never fire, and above 0.9999
/// an hour holds too few calls to miss it by.
pub(crate) fn objective(field: &'static str, least_success: f64) -> Result<f64, InvalidSetting> {
    within(field, least_success, 0.94..=0.9999, "0.94 to 0.9999").map(|()| least_success)
}

/// `part` of `whole`; 0 where there is no whole.
pub(crate) fn share(part: f64, whole: f64) -> f64 {
    if whole > 0.0 { part / whole } else { 0.0 }
}
