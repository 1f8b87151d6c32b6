//! What a run is found to have been.

use std::collections::{BTreeMap, VecDeque};
use std::time::Duration;

use serde::Serialize;

use crate::core::decide::CallOutcome;
use crate::core::moment::Moment;
use crate::diagnose::Verdict;
use crate::simulate::waits::{Percentiles, Waits};

/// What became of the calls that arrived in the measured time. Ratios and times are `None` where there is nothing to
/// divide by or to measure.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
#[non_exhaustive]
pub struct Outcome {
    /// Calls that arrived in the measured time, each followed to its end.
    pub calls: u64,
    /// Those that succeeded.
    pub succeeded: u64,
    /// Succeeded / calls.
    pub success_ratio: Option<f64>,
    /// Their attempts.
    pub attempts: u64,
    /// Attempts / calls.
    pub attempts_per_call: Option<f64>,
    /// Their attempts that ended in a throttle.
    pub throttled: u64,
    /// Requests that brought no success, those a client below repeated among them, per call.
    pub wasted_per_call: Option<f64>,
    /// Calls that did not succeed, by outcome.
    pub gave_up: BTreeMap<&'static str, u64>,
    /// From the first arrival to the last end, in seconds.
    pub drained_s: Option<f64>,
    /// From the arrival to the start of the attempt that succeeded, in seconds.
    pub wait_s: Percentiles,
    /// What was served in the measured time, others' requests included, of the per-minute quota of which most was used,
    /// as a share of what it grants in that time.
    pub quota_used_ratio: Option<f64>,
    /// The most attempts begun in any 100 ms after a reopening. With a gate that is a gate's end of a shut; without one
    /// the first moment at which a throttled request would have fit.
    pub largest_100ms: u64,
    /// What no engine can spare: 1, and the share of calls whose first attempt was throttled and left before its process
    /// could know the first throttle answer.
    pub floor_attempts_per_call: Option<f64>,
    /// What the metrics of such a run say is wrong, and what to change. The ideal engine has none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub verdict: Option<Verdict>,
}

/// What is added up while a world runs.
#[derive(Debug, Default)]
pub(super) struct Tally {
    pub(super) calls: u64,
    pub(super) attempts: u64,
    pub(super) throttled: u64,
    pub(super) requests: u64,
    /// First attempts throttled that nobody could have held back.
    pub(super) unforeseeable: u64,
    succeeded: u64,
    gave_up: BTreeMap<&'static str, u64>,
    pub(super) waits: Waits,
    first_arrival: Option<Moment>,
    last_end: Moment,
    crowd: Crowd,
}

/// The most attempts in any span of 100 ms since it was first counted.
#[derive(Debug, Default)]
struct Crowd {
    starts: VecDeque<Moment>,
    largest: usize,
}

impl Tally {
    /// A measured call arrived.
    pub(super) fn arrived(&mut self, now: Moment) {
        self.calls += 1;
        self.first_arrival.get_or_insert(now);
    }

    /// An attempt was begun after a reopening.
    pub(super) fn crowds(&mut self, now: Moment) {
        let Crowd { starts, largest } = &mut self.crowd;
        starts.push_back(now);
        while starts.front().is_some_and(|first| first.after(Duration::from_millis(100)) <= now) {
            starts.pop_front();
        }
        *largest = starts.len().max(*largest);
    }

    /// A measured call succeeded with an attempt that began after `waited`.
    pub(super) fn succeeded(&mut self, waited: Duration, now: Moment) {
        self.succeeded += 1;
        self.waits.add(waited);
        self.last_end = self.last_end.max(now);
    }

    /// A measured call ended otherwise.
    pub(super) fn gave_up(&mut self, outcome: CallOutcome, now: Moment) {
        *self.gave_up.entry(outcome.as_str()).or_default() += 1;
        self.last_end = self.last_end.max(now);
    }

    /// What it comes to.
    pub(super) fn outcome(self, quota_used_ratio: Option<f64>) -> Outcome {
        let per_call = |sum: u64| (self.calls > 0).then(|| sum as f64 / self.calls as f64);
        Outcome {
            success_ratio: per_call(self.succeeded),
            attempts_per_call: per_call(self.attempts),
            wasted_per_call: per_call(self.requests - self.succeeded),
            floor_attempts_per_call: per_call(self.calls + self.unforeseeable),
            drained_s: self.first_arrival.map(|first| first.until(self.last_end).as_secs_f64()),
            wait_s: self.waits.percentiles(),
            calls: self.calls,
            succeeded: self.succeeded,
            attempts: self.attempts,
            throttled: self.throttled,
            gave_up: self.gave_up,
            quota_used_ratio,
            largest_100ms: self.crowd.largest as u64,
            verdict: None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_crowd_is_counted_over_any_hundred_milliseconds() {
        let mut tally = Tally::default();
        for millis in [0, 60, 99, 100, 159, 160, 400] {
            tally.crowds(Moment::since_start(Duration::from_millis(millis)));
        }
        assert_eq!(tally.crowd.largest, 4, "60, 99, 100 and 159");
    }
}
