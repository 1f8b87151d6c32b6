//! What the emulator counts.

use std::collections::VecDeque;
use std::time::Duration;

use super::limits::{Cost, Verdict};

/// How many arrivals are kept; of more, the latest.
pub const ARRIVALS_KEPT: usize = 100_000;

/// One request that came.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Arrival {
    /// When, from the emulator's start.
    pub at: Duration,
    /// What it asked for.
    pub path: String,
    /// What it cost.
    pub cost: Cost,
    /// What became of it.
    pub verdict: Verdict,
}

/// Sums since the emulator's start.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Counts {
    /// Requests that came.
    pub requests: u64,
    /// Requests admitted; those whose caller hung up before the answer are among them.
    pub admitted: u64,
    /// Requests a limit refused.
    pub throttled: u64,
    /// Requests that failed in another way.
    pub failed: u64,
    /// Answers handed over for sending, whatever they said.
    pub answered: u64,
    /// The most requests in flight at the same time.
    pub peak_in_flight: u32,
    /// Connections that were opened.
    pub connections: u64,
}

/// The sums and the arrivals.
#[derive(Debug, Default)]
pub(super) struct Ledger {
    pub(super) counts: Counts,
    arrivals: VecDeque<Arrival>,
}

impl Ledger {
    /// Notes a request and what became of it.
    pub(super) fn arrived(&mut self, arrival: Arrival, in_flight: u32) {
        let counts = &mut self.counts;
        counts.requests += 1;
        counts.peak_in_flight = counts.peak_in_flight.max(in_flight);
        match arrival.verdict {
            Verdict::Admitted => counts.admitted += 1,
            Verdict::Throttled(_) => counts.throttled += 1,
            Verdict::Failed(_) => counts.failed += 1,
        }
        if self.arrivals.len() == ARRIVALS_KEPT {
            self.arrivals.pop_front();
        }
        self.arrivals.push_back(arrival);
    }

    pub(super) fn arrivals(&self) -> Vec<Arrival> {
        self.arrivals.iter().cloned().collect()
    }
}
