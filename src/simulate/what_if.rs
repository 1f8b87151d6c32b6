//! The same traffic again, with one thing changed.
//!
//! ```
//! use forbear::simulate::{Change, Scenario, what_if};
//!
//! // A hundred calls every two minutes, at a provider that grants sixty a minute and states no wait.
//! let scenario: Scenario = r#"{
//!     "provider": {"requests_per_minute": 60, "algorithm": "fixed_window", "retry_after": "none"},
//!     "callers": {"arrivals": {"batch": {"size": 100, "every_s": 120}}, "deadline_s": 110},
//!     "policy": {"base_s": 1, "attempts": 6}, "gate": "none", "measured_s": 1200
//! }"#.parse()?;
//! let what_if = what_if(&scenario)?;
//! let success = |change| what_if.row(change).outcome.success_ratio;
//! assert!(success(Change::SuggestedNumbers) > success(Change::Today));
//! println!("{}", what_if.sentence());
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod change;
mod plot;
mod sentence;

use serde::Serialize;

use crate::core::setting::InvalidSetting;
use crate::core::signal::words;
use crate::simulate::run::Simulation;
use crate::simulate::scenario::{Engine, Scenario};
use crate::simulate::tally::Outcome;
use crate::simulate::timeline::Timeline;

words! {
    /// What is different from today.
    Change {
        /// Nothing.
        Today => "today",
        /// The policy's numbers are those that [`Policy::for_window`](crate::Policy::for_window) suggests.
        SuggestedNumbers => "suggested_numbers",
        /// All replicas share one gate.
        SharedGate => "shared_gate",
        /// The provider grants twice as much.
        TwiceTheQuota => "twice_the_quota",
    }
}

/// One run of the traffic.
#[derive(Clone, Debug, Serialize)]
#[non_exhaustive]
pub struct Row {
    /// What is different.
    #[serde(serialize_with = "as_word")]
    pub change: Change,
    /// The policy's numbers, for people: `base 6 s, cap 12 s, attempts 32`; those of each kind of call, if there are several.
    pub numbers: String,
    /// What became of the calls.
    pub outcome: Outcome,
}

/// The same traffic under each [`Change`].
#[derive(Clone, Debug)]
pub struct WhatIf {
    rows: Vec<Row>,
    timelines: Vec<Timeline>,
}

fn as_word<S: serde::Serializer>(change: &Change, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_str(change.as_str())
}

/// Runs `scenario` as it is, with suggested numbers, behind a shared gate, and with twice the quota: the same calls at the
/// same instants with the same sizes each time, and nothing else changed.
///
/// # Errors
/// The first setting outside its range; or the engine is the pacer, which has no policy that could be changed.
pub fn what_if(scenario: &Scenario) -> Result<WhatIf, InvalidSetting> {
    if scenario.engine == Some(Engine::Pacer) {
        return Err(InvalidSetting::new("engine", Engine::Pacer, "forbear: the pacer has no policy to change"));
    }
    let (mut rows, mut timelines) = (Vec::new(), Vec::new());
    for &change in Change::ALL {
        let changed = change.applied_to(scenario)?;
        let (run, plan, timeline) = Simulation::of(&changed).plotted().observed(&mut |_| {})?;
        rows.push(Row { change, numbers: change::numbers(&plan), outcome: run.outcome });
        timelines.extend(timeline);
    }
    Timeline::align(&mut timelines);
    Ok(WhatIf { rows, timelines })
}

impl WhatIf {
    /// The runs, in the order of [`Change::ALL`].
    #[must_use]
    pub fn rows(&self) -> &[Row] {
        &self.rows
    }

    /// The run with this change.
    #[must_use]
    pub fn row(&self, change: Change) -> &Row {
        // There is a row for every change, in the order of the changes.
        &self.rows[change as usize]
    }

    /// What the runs show, in one sentence.
    #[must_use]
    pub fn sentence(&self) -> String {
        sentence::of(self)
    }

    /// The runs as a picture below each other, as SVG: requests served and throttled, and calls that gave up, over time.
    #[must_use]
    pub fn plot(&self) -> String {
        plot::svg(&self.rows, &self.timelines)
    }
}

#[cfg(test)]
mod tests;
