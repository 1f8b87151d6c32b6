//! The reach of a layer against cases reckoned by hand, and against dice.

use super::*;
use crate::core::dice::{Dice, SeededDice};
use crate::core::tune::layer::Jitter;

const SECOND: Duration = Duration::from_secs(1);
const MINUTE: Duration = Duration::from_secs(60);

fn layer(base: Duration, cap: Duration, attempts: u32, jitter: Jitter) -> RetryLayer {
    let mut layer = RetryLayer::new(base, attempts);
    (layer.cap, layer.jitter) = (cap, jitter);
    layer
}

fn close(a: f64, b: f64) -> bool {
    (a - b).abs() < 0.003 * b.abs().max(1.0)
}

/// The same by dice: throttled calls, one after another.
fn rolled(layer: &RetryLayer, window: Duration, deadline: Duration) -> (f64, f64, f64) {
    const CALLS: u32 = 40_000;
    let (window, deadline) = (window.as_secs_f64(), deadline.as_secs_f64());
    let mut dice = SeededDice::new(11);
    let (mut landed, mut landed_at_start, mut wasted) = (0u32, 0u32, 0u32);
    for _ in 0..CALLS {
        let reset = dice.unit() * window;
        let begins: Vec<f64> = std::iter::once(0.0)
            .chain(layer.waits().iter().scan(0.0, |at, (least, most)| {
                *at += REFUSAL + least + (most - least) * dice.unit();
                Some(*at)
            }))
            .take_while(|at| *at < deadline)
            .collect();
        landed += u32::from(begins.iter().any(|at| *at >= reset));
        landed_at_start += u32::from(begins.iter().any(|at| *at >= window));
        wasted += begins.iter().filter(|at| **at < reset).count() as u32;
    }
    let share = |count: u32| f64::from(count) / f64::from(CALLS);
    (share(landed), share(landed_at_start), share(wasted))
}

#[test]
fn five_retries_from_a_second_reach_a_quarter_of_a_minute() {
    let reach = Reach::of(&layer(SECOND, MINUTE, 6, Jitter::FULL), MINUTE, 10 * MINUTE);
    // The last request begins after base·(2⁵−1)/2 = 15.5 s of waits and five refusals.
    assert_eq!(reach.last_request, Duration::from_secs(16));
    assert!(close(reach.coverage, 16.0 / 60.0), "{reach:?}");
    assert!(close(reach.wasted, 6.0 - (0.6 + 1.7 + 3.8 + 7.9 + 16.0) / 60.0), "{reach:?}");
    assert!(close(reach.requests, reach.wasted + reach.coverage));
    assert_eq!(reach.coverage_at_start, 0.0);
    assert_eq!(reach.latest_request, Duration::from_millis(31_500));
}

#[test]
fn without_a_retry_nothing_is_reached_and_one_request_is_wasted() {
    let reach = Reach::of(&layer(SECOND, MINUTE, 1, Jitter::FULL), MINUTE, MINUTE);
    assert_eq!((reach.coverage, reach.wasted, reach.requests), (0.0, 1.0, 1.0));
    assert_eq!((reach.last_request, reach.latest_request), (Duration::ZERO, Duration::ZERO));
}

#[test]
fn waits_without_jitter_are_known_exactly() {
    let reach = Reach::of(&layer(10 * SECOND, MINUTE, 4, Jitter::NONE), MINUTE, 10 * MINUTE);
    // Requests begin at 10.1, 30.2 and 70.3 s.
    assert!(close(reach.coverage, 1.0) && close(reach.coverage_at_start, 1.0), "{reach:?}");
    assert!(close(reach.wasted, 3.0 - (10.1 + 30.2) / 60.0), "{reach:?}");
    let cut = Reach::of(&layer(10 * SECOND, MINUTE, 4, Jitter::NONE), MINUTE, 70 * SECOND);
    assert!(close(cut.coverage, 30.2 / 60.0) && cut.coverage_at_start == 0.0, "{cut:?}");
}

#[test]
fn the_grid_agrees_with_dice() {
    let cases = [
        (layer(SECOND, 8 * SECOND, 20, Jitter::FULL), MINUTE, 2 * MINUTE),
        (layer(SECOND, 8 * SECOND, 100, Jitter::EQUAL), MINUTE, 45 * SECOND),
        (layer(6 * SECOND, MINUTE, 8, Jitter::FULL), MINUTE, 90 * SECOND),
        (layer(SECOND / 50, SECOND / 10, 60, Jitter::FULL), MINUTE, 2 * MINUTE),
        (layer(90 * SECOND, 90 * SECOND, 5, Jitter::FULL), MINUTE, 2 * MINUTE),
        (layer(SECOND, 8 * SECOND, 4, Jitter::between(0.75, 1.0)), 4 * SECOND, 6 * SECOND),
        (layer(SECOND, MINUTE, 7, Jitter::NONE.plus(SECOND)), MINUTE, MINUTE),
    ];
    for (layer, window, deadline) in cases {
        let reach = Reach::of(&layer, window, deadline);
        let (landed, at_start, wasted) = rolled(&layer, window, deadline);
        assert!((reach.coverage - landed).abs() < 0.01, "{layer:?}: {reach:?}, dice {landed}");
        assert!((reach.coverage_at_start - at_start).abs() < 0.012, "{layer:?}: {reach:?}, dice {at_start}");
        assert!((reach.wasted / wasted - 1.0).abs() < 0.015, "{layer:?}: {reach:?}, dice {wasted}");
    }
}

#[test]
fn a_thousand_waits_far_shorter_than_the_grid_lose_nobody() {
    let reach =
        Reach::of(&layer(SECOND / 1_000, SECOND / 1_000, 1_000, Jitter::FULL), 86_400 * SECOND, 86_400 * SECOND);
    // 999 waits of half a millisecond and as many refusals.
    assert!(close(reach.last_request.as_secs_f64(), 100.4), "{reach:?}");
    assert!((reach.coverage - 100.4 / 86_400.0).abs() < 1e-4 && reach.wasted > 999.0, "{reach:?}");
}
