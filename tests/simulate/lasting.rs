//! Loads that last: what of a quota is turned into calls that succeed.

use forbear::simulate::{Outcome, Scenario, simulate};

fn run(json: &str) -> Outcome {
    let scenario: Scenario = json.parse().unwrap_or_else(|error| panic!("{error}: {json}"));
    simulate(&scenario).expect("in range")
}

/// Calls of 15 s at twice what the quota can serve.
fn at_twice_the_load(per_minute: u32, algorithm: &str, headers: bool) -> f64 {
    let retry_after = if headers { "whole_seconds" } else { "none" };
    let outcome = run(&format!(
        r#"{{"seed": 3, "warmup_s": 120, "measured_s": 1200,
        "provider": {{"requests_per_minute": {per_minute}, "algorithm": "{algorithm}", "quota_headers": {headers},
            "retry_after": "{retry_after}"}},
        "callers": {{"arrivals": {{"poisson": {{"per_minute": {}}}}}, "deadline_s": 15}},
        "policy": {{"base_s": 0.5, "cap_s": 8, "attempts": 4}}, "limit_configured": false}}"#,
        2 * per_minute
    ));
    outcome.success_ratio.expect("calls arrive")
}

#[test]
fn at_twice_the_load_nearly_every_slot_serves_a_call_that_has_time_left() {
    for algorithm in ["token_bucket", "fixed_window", "sliding_window"] {
        for per_minute in [60, 600] {
            let ratio = at_twice_the_load(per_minute, algorithm, true);
            assert!(ratio > 0.4, "{per_minute} a minute, {algorithm}: {ratio:.2} of a half");
        }
    }
}

#[test]
fn at_twice_the_load_a_provider_that_tells_nothing_is_used_nearly_as_well() {
    for algorithm in ["token_bucket", "fixed_window", "sliding_window"] {
        for per_minute in [60, 600] {
            let ratio = at_twice_the_load(per_minute, algorithm, false);
            assert!(ratio > 0.35, "{per_minute} a minute, {algorithm}: {ratio:.2} of a half");
        }
    }
}

#[test]
fn a_limit_in_flight_is_learned_and_costs_few_throttles() {
    let outcome = run(r#"{"seed": 5, "measured_s": 1800, "provider": {"concurrency": 10, "retry_after": "none"},
        "callers": {"arrivals": {"poisson": {"per_minute": 240}}, "deadline_s": 120}, "limit_configured": false}"#);
    let throttled = outcome.throttled as f64 / outcome.attempts as f64;
    assert!(outcome.success_ratio > Some(0.99), "{outcome:?}");
    assert!(throttled < 0.02, "{throttled:.3} of the attempts were throttled");
}

#[test]
fn calls_paced_by_tokens_are_hardly_throttled() {
    let with_estimates = |estimated: bool| {
        run(&format!(
            r#"{{"seed": 5, "measured_s": 1800,
            "provider": {{"tokens_per_minute": 60000, "burst_s": 10, "quota_headers": true}},
            "callers": {{"arrivals": {{"poisson": {{"per_minute": 57}}}}, "deadline_s": 600,
                "tokens": {{"estimated": {estimated}}}}}, "cold_start": true}}"#
        ))
    };
    let outcome = with_estimates(true);
    assert!(outcome.success_ratio > Some(0.99), "{:?}", outcome.success_ratio);
    let throttled = outcome.throttled as f64 / outcome.attempts as f64;
    assert!(throttled < 0.03, "{throttled:.3} of the attempts were throttled");
}
