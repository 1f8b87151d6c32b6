//! A burst of independent callers: whether the world's provider means what the provider of the burst table meant.
//!
//! N callers arrive within 2 s and share a quota of N/5 a minute. Each backs off on its own (6 s, doubling, at most 120 s,
//! full jitter) without end, with or without heeding the stated wait. The sums were found with another program; the ideal
//! that the drain is measured by is the pacer's.

use forbear::simulate::{
    Algorithm, ArrivalPattern, Burst, Engine, GateMode, HeaderJitter, Outcome, Scenario, StatedWait, simulate,
};

const SEEDS: u64 = 3;

/// Requests, and the drain as a multiple of the ideal.
type Cell = (f64, f64);

/// What callers do after a refusal, set in a scenario.
type Manner = fn(&mut Scenario);

fn burst(callers: u32, algorithm: Algorithm, burst_s: Option<f64>) -> Scenario {
    let mut scenario = Scenario::default();
    scenario.measured_s = Some(3.0);
    scenario.provider.requests_per_minute = Some(f64::from(callers / 5));
    scenario.provider.algorithm = Some(algorithm);
    scenario.provider.burst_s = burst_s;
    let mut burst = Burst::default();
    burst.size = Some(f64::from(callers));
    scenario.callers.arrivals = Some(ArrivalPattern::Burst(burst));
    scenario.policy.attempts = Some(1e6);
    scenario.gate = Some(GateMode::None);
    scenario
}

fn curve(scenario: &mut Scenario) {
    scenario.provider.retry_after = Some(StatedWait::None);
}

fn stated_and_a_second(scenario: &mut Scenario) {
    scenario.policy.jitter_on_header = Some(HeaderJitter::Second);
}

fn stated_and_curve(_: &mut Scenario) {}

fn mean(mut scenario: Scenario, manner: Manner) -> Cell {
    manner(&mut scenario);
    let runs = (1..=SEEDS).map(|seed| {
        scenario.seed = Some(seed);
        let run = simulate(&scenario).expect("in range");
        let mut ideal = scenario.clone();
        ideal.engine = Some(Engine::Pacer);
        let ideal = simulate(&ideal).expect("in range");
        let drained = |outcome: &Outcome| outcome.drained_s.expect("calls came");
        assert_eq!((run.succeeded, ideal.succeeded, ideal.throttled), (run.calls, run.calls, 0));
        (run.attempts as f64, drained(&run) / drained(&ideal))
    });
    let (requests, drain) = runs.fold((0.0, 0.0), |sum, run| (sum.0 + run.0, sum.1 + run.1));
    (requests / SEEDS as f64, drain / SEEDS as f64)
}

fn assert_near(what: &str, found: Cell, expected: Cell) {
    let is_near = |value: f64, expected: f64| (value / expected - 1.0).abs() <= 0.1;
    assert!(
        is_near(found.0, expected.0) && is_near(found.1, expected.1),
        "{what}: {:.0} requests, drained in {:.2} of the ideal; expected {} and {}",
        found.0,
        found.1,
        expected.0,
        expected.1,
    );
}

#[test]
fn a_thousand_independent_callers_send_and_wait_as_the_burst_table_says() {
    let fixed = burst(1_000, Algorithm::FixedWindow, None);
    let full = burst(1_000, Algorithm::TokenBucket, None);
    let second = burst(1_000, Algorithm::TokenBucket, Some(1.0));
    let rows: [(&str, Manner, [Cell; 3]); 3] = [
        ("curve alone", curve, [(5_690.0, 1.54), (5_204.0, 1.27), (6_797.0, 1.30)]),
        ("stated and a second", stated_and_a_second, [(3_000.0, 1.01), (64_431.0, 1.02), (99_773.0, 1.00)]),
        ("stated and curve", stated_and_curve, [(3_000.0, 1.22), (5_112.0, 1.24), (6_674.0, 1.28)]),
    ];
    for (what, manner, expected) in rows {
        for (scenario, expected) in [&fixed, &full, &second].into_iter().zip(expected) {
            assert_near(what, mean(scenario.clone(), manner), expected);
        }
    }
}

#[test]
fn a_burst_ten_times_smaller_or_larger_goes_the_same_way() {
    for (callers, expected) in [(100, (567.0, 1.48)), (10_000, (56_500.0, 1.55))] {
        assert_near("curve alone", mean(burst(callers, Algorithm::FixedWindow, None), curve), expected);
    }
}
