//! The storm as this crate's engine meets it, and as the ideal would: by the simulator.

use std::fmt::Write;

use forbear::simulate::{Outcome, Scenario, simulate};

use super::cell::{Cell, Count, REFUSAL_S, WITHIN};
use super::runs::Figures;

/// This crate's engine; with `cold_start` it is told the quota and starts at its pace.
///
/// # Panics
/// Where the simulator refuses the storm: a mistake in this benchmark.
#[must_use]
pub fn forbear(cell: &Cell, seed: u64, cold_start: bool) -> Figures {
    let outcome = outcome(&scenario(cell, seed, cold_start, "forbear"));
    Figures {
        requests: outcome.attempts_per_call.unwrap_or(f64::NAN),
        drain_s: outcome.drained_s.unwrap_or(f64::NAN),
        largest: outcome.largest_100ms as f64,
        served: outcome.success_ratio.unwrap_or(0.0),
        floor: outcome.floor_attempts_per_call.unwrap_or(f64::NAN),
    }
}

/// How long the ideal takes, in seconds.
///
/// # Panics
/// As [`forbear()`].
#[must_use]
pub fn ideal(cell: &Cell, seed: u64) -> f64 {
    outcome(&scenario(cell, seed, false, "pacer")).drained_s.unwrap_or(f64::NAN)
}

fn outcome(scenario: &str) -> Outcome {
    let parsed: Scenario = scenario.parse().unwrap_or_else(|error| panic!("{error}: {scenario}"));
    simulate(&parsed).unwrap_or_else(|error| panic!("{error}: {scenario}"))
}

/// The storm as the simulator reads it. The policy's curve is the one the peers get; it is given no deadline and as many
/// attempts as it likes, for the question is what it takes until everybody is served.
#[must_use]
pub fn scenario(cell: &Cell, seed: u64, cold_start: bool, engine: &str) -> String {
    let algorithm = match cell.count {
        Count::FixedWindow => "\"fixed_window\"",
        Count::SlidingWindow => "\"sliding_window\"",
        Count::FullBucket => "\"token_bucket\"",
        Count::SecondBucket => "\"token_bucket\", \"burst_s\": 1",
    };
    let retry_after = if cell.headers { "whole_seconds" } else { "none" };
    let [refusal_from, refusal_to] = REFUSAL_S;
    let mut json = String::new();
    // A string takes everything.
    let _ = write!(
        json,
        r#"{{"seed": {seed}, "measured_s": 10, "provider": {{"requests_per_minute": {quota}, "algorithm": {algorithm},
        "window_ends_at_s": {window_ends_at}, "retry_after": "{retry_after}", "quota_headers": {headers},
        "throttled_attempts_count": {refusals_count}, "service_s": {service},
        "throttle_answer_s": [{refusal_from}, {refusal_to}]}},
        "callers": {{"arrivals": {{"burst": {{"size": {callers}, "within_s": {within}}}}}, "replicas": {processes},
        "tokens": {{"estimated": false}}}},
        "policy": {{"base_s": 6, "factor": 2, "cap_s": 120, "attempts": 1000000}},
        "limit_configured": {cold_start}, "cold_start": {cold_start}, "engine": "{engine}"}}"#,
        quota = cell.quota(),
        window_ends_at = Cell::window_ends_at(seed).as_secs_f64(),
        headers = cell.headers,
        refusals_count = cell.refusals_count,
        service = cell.service_s,
        callers = cell.callers,
        within = WITHIN.as_secs(),
        processes = cell.processes,
    );
    json
}
