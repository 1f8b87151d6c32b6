//! A burst of independent callers, each with its own curve: the whole behaviour of the model in one number.
//!
//! A thousand callers arrive within 2 s and share 200 requests a minute. Each backs off on its own (6 s, doubling, at most
//! 120 s, full jitter), with or without heeding the stated wait, until it is served. Only a model that refills, refuses
//! and states its waits as it should gives these sums; they were found with another program.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::time::Duration;

use forbear::core::dice::{Dice, SeededDice};
use forbear::core::moment::Moment;
use forbear::emulator::limits::{Algorithm, Cost, Limits, Meter, RetryAfter, Spread, Verdict};

const CALLERS: u32 = 1_000;
const QUOTA: u64 = 200;
const SECOND: Duration = Duration::from_secs(1);

/// What each caller waits after a refusal.
#[derive(Clone, Copy)]
enum Manner {
    /// The curve alone.
    Curve,
    /// The stated wait in whole seconds, and up to a second.
    Stated,
    /// The stated wait in whole seconds, and the curve.
    StatedAndCurve,
}

/// All requests sent, and when the last caller had its answer.
fn drain(limits: Limits, manner: Manner, seed: u64) -> (f64, f64) {
    let mut dice = SeededDice::new(seed);
    let mut meter = Meter::new(limits).unwrap();
    let (service, refusal) = (Spread::between(SECOND, 3 * SECOND), Spread::between(SECOND / 20, SECOND * 3 / 20));
    let mut callers: BinaryHeap<_> = (0..CALLERS).map(|_| Reverse((dice.within(2 * SECOND), 0u32))).collect();
    let (mut requests, mut drained) = (0u32, Duration::ZERO);
    while let Some(Reverse((now, refusals))) = callers.pop() {
        requests += 1;
        let Verdict::Throttled(throttle) = meter.admit(Moment::since_start(now), Cost::request(), &mut dice) else {
            drained = drained.max(now + service.draw(&mut dice));
            continue;
        };
        let stated = RetryAfter::WholeSeconds.tell(&throttle, true).wait.unwrap();
        let cap = Duration::from_secs(6 << refusals.min(5)).min(120 * SECOND);
        let wait = match manner {
            Manner::Curve => dice.within(cap),
            Manner::Stated => stated + dice.within(SECOND),
            Manner::StatedAndCurve => stated + dice.within(cap),
        };
        callers.push(Reverse((now + refusal.draw(&mut dice) + wait, refusals + 1)));
    }
    (f64::from(requests), drained.as_secs_f64())
}

/// Requests, and the drain as a multiple of the ideal, over some seeds.
fn mean(limits: &Limits, ideal: impl Fn(Duration) -> Duration, manner: Manner) -> (f64, f64) {
    const SEEDS: u64 = 3;
    let runs = (1..=SEEDS).map(|seed| {
        let phase = SeededDice::new(seed << 32).within(60 * SECOND);
        let (requests, drained) = drain(limits.clone().first_boundary_after(phase), manner, seed);
        (requests, drained / ideal(phase).as_secs_f64())
    });
    let (requests, drain) = runs.fold((0.0, 0.0), |sum, run| (sum.0 + run.0, sum.1 + run.1));
    (requests / SEEDS as f64, drain / SEEDS as f64)
}

#[test]
fn independent_callers_send_and_wait_as_the_burst_table_says() {
    let limits = |algorithm, burst| Limits::new().requests_per_minute(QUOTA).algorithm(algorithm).burst(burst);
    let minute = 60 * SECOND;
    // The first window takes 200, and four more whole ones the rest; the last ends two seconds after it begins.
    let fixed = (limits(Algorithm::FixedWindow, minute), |phase: Duration| phase + 3 * minute + 2 * SECOND);
    let full = (limits(Algorithm::TokenBucket, minute), |_| 4 * minute + 2 * SECOND);
    let second = (limits(Algorithm::TokenBucket, SECOND), |_| 5 * minute + SECOND);
    let cases = [
        (Manner::Curve, [(5_690.0, 1.54), (5_204.0, 1.27), (6_797.0, 1.30)]),
        (Manner::Stated, [(3_000.0, 1.01), (64_431.0, 1.02), (99_773.0, 1.00)]),
        (Manner::StatedAndCurve, [(3_000.0, 1.22), (5_112.0, 1.24), (6_674.0, 1.28)]),
    ];
    for (manner, expected) in cases {
        let means = [mean(&fixed.0, fixed.1, manner), mean(&full.0, full.1, manner), mean(&second.0, second.1, manner)];
        for ((requests, drain), expected) in means.into_iter().zip(expected) {
            let is_near = |value: f64, expected: f64| (value / expected - 1.0).abs() <= 0.1;
            assert!(is_near(requests, expected.0), "{requests} requests instead of {}", expected.0);
            assert!(is_near(drain, expected.1), "drained in {drain} of the ideal instead of {}", expected.1);
        }
    }
}
