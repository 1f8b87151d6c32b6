//! What is known of a pool over a window of time: all that a verdict rests on.

use std::time::Duration;

use crate::diagnose::counts::Counts;
use crate::diagnose::demand::Demand;
use crate::diagnose::settings::Settings;
use crate::diagnose::supply::Peaks;

/// A window of one pool's numbers, over all processes that were asked.
#[derive(Clone, Debug)]
pub(crate) struct Window {
    /// How long it is.
    pub(crate) length: Duration,
    /// What its numbers rose by.
    pub(crate) counts: Counts,
    /// What was asked for, stretch by stretch.
    pub(crate) demand: Demand,
    /// What was served at most, and at least.
    pub(crate) peaks: Peaks,
    /// The share of calls that has to succeed.
    pub(crate) least_success: f64,
    /// For how much of it the objective was missed.
    pub(crate) failing_for: Duration,
    /// How long the minute of the quotas is.
    pub(crate) minute: Duration,
    /// The share of the fleet that these are the numbers of: 1 for all of it. `None` for one process of nobody knows how
    /// many; then all its limits are held against what it asks for alone.
    pub(crate) share_of_fleet: Option<f64>,
    /// What the gauges say at its end.
    pub(crate) settings: Settings,
}
