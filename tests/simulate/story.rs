//! Verdicts while a day goes on.

use std::time::Duration;

use forbear::diagnose::Cause;
use forbear::simulate::{Judging, Scenario, Simulation};

/// A pool from noon on: 60 calls a minute, and a day's quota that is used up at two.
fn afternoon(gate: &str, readable: bool) -> Vec<Cause> {
    let scenario: Scenario = format!(
        r#"{{"seed": 4, "warmup_s": 0, "measured_s": 21600, "gate": "{gate}",
        "provider": {{"requests_per_minute": 120, "requests_per_day": 7200, "day_ends_at_s": 43200,
            "class_readable": {readable}, "retry_after": "none"}},
        "callers": {{"arrivals": {{"poisson": {{"per_minute": 60}}}}, "deadline_s": 60, "replicas": 3}},
        "policy": {{"base_s": 1, "cap_s": 20, "attempts": 5}}}}"#
    )
    .parse()
    .expect("a scenario");
    let noon_plus = |minutes: u64| Duration::from_secs(minutes * 60);
    let times = [110, 150, 180, 240, 300, 360].map(noon_plus);
    let judging = Judging::at(times, Duration::from_millis(7_500));
    let run = Simulation::of(&scenario).judged(judging).run().expect("in range");
    run.judged.iter().map(|verdict| verdict.cause).collect()
}

#[test]
fn a_daily_limit_at_two_is_still_daily_at_six_though_nothing_is_sent_any_more() {
    let mut expected = vec![Cause::DailySpent; 6];
    expected[0] = Cause::Healthy;
    for gate in ["none", "local", "news", "shared"] {
        assert_eq!(afternoon(gate, true), expected, "{gate}: answers name the day");
        assert_eq!(afternoon(gate, false), expected, "{gate}: answers name nothing");
    }
}
