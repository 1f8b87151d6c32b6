//! What whoever runs a service is told.

use std::time::Duration;

use serde::{Serialize, Serializer};

use crate::diagnose::cause::{Cause, Certainty};
use crate::diagnose::certainty::certainty;
use crate::diagnose::evidence::Evidence;
use crate::diagnose::explain;
use crate::diagnose::recommend::{Recommendation, recommend};
use crate::diagnose::rules::{cause, why_not};
use crate::diagnose::window::Window;

/// The cause, how sure that is, what to change, and the numbers behind it.
///
/// As JSON it has these fields by these names; durations are seconds, what is not known or not to be changed is left out.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct Verdict {
    /// Why calls fail or need too many attempts.
    pub cause: Cause,
    /// How far that can be relied on.
    pub certainty: Certainty,
    /// What was asked for, over what the limit can serve within the callers' patience, as the worst-off twentieth of the
    /// calls met it. Above 1 somebody goes without, however calls are paced. `None` where no limit is known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub horizon_load: Option<f64>,
    /// What to set.
    pub recommend: Recommendation,
    /// What to change, in a few words.
    pub change: String,
    /// All of it in one sentence that needs no knowledge of retries.
    pub sentence: String,
    /// What to do at once, until the change is made.
    #[serde(skip_serializing_if = "str::is_empty")]
    pub now: &'static str,
    /// When to look again.
    #[serde(rename = "look_again_s", serialize_with = "seconds")]
    pub look_again: Duration,
    /// The numbers behind it.
    #[serde(rename = "numbers")]
    pub evidence: Evidence,
    /// Why it is none of the causes it could be mistaken for.
    pub not: Vec<WhyNot>,
    /// What else was noticed, and what is not known.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub notes: Vec<String>,
}

/// The verdict on one pool. As JSON one object: `provider` and `pool`, then the fields of the [`Verdict`].
#[derive(Clone, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct Diagnosis {
    /// The provider table's id.
    pub provider: String,
    /// The pool, as it stands in labels.
    pub pool: String,
    /// What is wrong with it.
    #[serde(flatten)]
    pub verdict: Verdict,
}

impl Diagnosis {
    /// The verdict on this pool.
    pub(crate) fn new(provider: &str, pool: &str, verdict: Verdict) -> Self {
        Self { provider: provider.to_owned(), pool: pool.to_owned(), verdict }
    }
}

/// Why it is not this.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct WhyNot {
    /// The cause it is not.
    pub cause: Cause,
    /// The number that says so.
    pub why: String,
}

impl Verdict {
    /// The verdict on a window of a pool's numbers.
    pub(crate) fn on(window: &Window) -> Self {
        let seen = Evidence::of(window);
        let cause = cause(&seen);
        let recommend = recommend(cause, &seen, window);
        let change = explain::change(cause, &recommend, window);
        Self {
            cause,
            certainty: certainty(cause, &seen, window),
            horizon_load: seen.horizon_load(),
            sentence: explain::sentence(cause, &change, &seen),
            change,
            now: explain::now(cause, &seen),
            look_again: explain::look_again(cause, window.minute),
            not: why_not(cause, &seen),
            notes: explain::notes(&seen, window),
            evidence: seen,
            recommend,
        }
    }

    /// The numbers behind it as text, one a line.
    #[must_use]
    pub fn because(&self) -> Vec<String> {
        explain::because(&self.evidence)
    }
}

pub(crate) fn seconds<S: Serializer>(duration: &Duration, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_f64(duration.as_secs_f64())
}
