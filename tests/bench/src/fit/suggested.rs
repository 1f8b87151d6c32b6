//! The suggested policy beside the best policy of a sweep.
//!
//! The sweep is over base, cap and attempts: 0.01 to 1 window, the base to 2 windows, 1 to 100. The best policy is the one
//! with the most successes over two runs; then both are compared on other runs. Without that the best of more than a
//! hundred policies would also be the luckiest, and no policy could keep up with it.

use std::time::Duration;

use forbear::core::dice::{Dice, SeededDice};
use forbear::simulate::{PolicySettings, Simulation};
use forbear::{InvalidSetting, Policy};

use super::cases::{Case, Shape, settings};

/// What a case showed.
#[derive(Debug)]
pub struct Compared {
    /// The case.
    pub case: Case,
    /// Successes with the suggested policy, as a share of those with the best one.
    pub ratio: f64,
    /// Requests per call with the suggested policy.
    pub requests: f64,
    /// Requests per call with the best one.
    pub requests_of_best: f64,
    /// Whether a retry was suggested.
    pub retries: bool,
    /// The ratio if retries are made all the same, where they were not suggested.
    pub best_effort: f64,
}

/// Which runs choose the best policy.
const CHOOSING: [u64; 2] = [1, 2];
/// From which run on others compare it, so many of them at most …
const COMPARING: u64 = 3;
const RUNS: usize = 20;
/// … as bring so many calls: two standard errors of a share of successes are then at most 1.3 points.
const ENOUGH: u64 = 6_000;
/// How many calls each run is to have, in ten windows at least and eighty at most.
pub const CALLS: f64 = 2_000.0;

/// Successes and requests over some runs.
#[derive(Clone, Copy, Default)]
struct Sum {
    calls: u64,
    succeeded: u64,
    requests: u64,
    exhausted: u64,
}

/// Makes a random case and compares on it, in runs of some `calls` calls.
///
/// # Errors
/// A number is outside its range, which would be a mistake of this file.
pub fn compare(shape: Shape, calls: f64, dice: &mut SeededDice) -> Result<Compared, InvalidSetting> {
    let case = Case::random(shape, dice);
    let runs = dice.roll() >> 32 << 8;
    let windows = (calls / (case.load * f64::from(case.quota))).clamp(10.0, 80.0);
    let add = |sum: Sum, policy: PolicySettings, seed: u64| {
        let scenario = case.scenario(policy, windows, runs + seed);
        let outcome = Simulation::of(&scenario).unjudged().run()?.outcome;
        Ok::<_, InvalidSetting>(Sum {
            calls: sum.calls + outcome.calls,
            succeeded: sum.succeeded + outcome.succeeded,
            requests: sum.requests + outcome.attempts,
            exhausted: sum.exhausted + outcome.gave_up.get("attempts_exhausted").copied().unwrap_or(0),
        })
    };
    let mut best = None;
    for (base, cap) in curves(case.window) {
        for attempts in ATTEMPTS {
            let policy = settings(base, cap, attempts);
            let result = CHOOSING.into_iter().try_fold(Sum::default(), |sum, seed| add(sum, policy, seed))?;
            let key = (result.succeeded, std::cmp::Reverse(result.requests));
            if best.as_ref().is_none_or(|(most, _)| key > *most) {
                best = Some((key, policy));
            }
            // With more attempts nothing else would have happened.
            if result.exhausted == 0 {
                break;
            }
        }
    }
    let over = |policy: PolicySettings| {
        let mut sum = Sum::default();
        for seed in (COMPARING..).take(RUNS) {
            sum = add(sum, policy, seed)?;
            if sum.calls >= ENOUGH {
                break;
            }
        }
        Ok::<_, InvalidSetting>(sum)
    };
    let best = best.map_or(Ok(Sum::default()), |(_, policy)| over(policy))?;
    let suggestion = Policy::for_window(case.window).states_delay(case.states_delay).suggest(case.deadline)?;
    let ours = over(settings(suggestion.base, suggestion.cap, suggestion.attempts))?;
    let all_the_same = if suggestion.retries() {
        ours
    } else {
        let suggestion = Policy::for_window(case.window).best_effort(true).suggest(case.deadline)?;
        over(settings(suggestion.base, suggestion.cap, suggestion.attempts))?
    };
    let ratio = |sum: Sum| if best.succeeded == 0 { 1.0 } else { sum.succeeded as f64 / best.succeeded as f64 };
    let per_call = |sum: Sum| sum.requests as f64 / sum.calls.max(1) as f64;
    Ok(Compared {
        ratio: ratio(ours),
        best_effort: ratio(all_the_same),
        requests: per_call(ours),
        requests_of_best: per_call(best),
        retries: suggestion.retries(),
        case,
    })
}

/// The attempts of the sweep.
const ATTEMPTS: [u32; 7] = [1, 2, 3, 5, 10, 25, 100];

/// Base and cap of every policy of the sweep.
fn curves(window: Duration) -> impl Iterator<Item = (Duration, Duration)> {
    const BASES: [f64; 6] = [0.01, 0.03, 0.1, 0.2, 0.5, 1.0];
    const CAPS: [f64; 4] = [0.0, 0.5, 1.0, 2.0];
    let of_window = move |share| window.mul_f64(share).max(Duration::from_millis(1));
    BASES.into_iter().flat_map(move |base| {
        let caps = CAPS.into_iter().filter(move |cap| *cap == 0.0 || *cap > base);
        caps.map(move |cap| (of_window(base), of_window(cap)))
    })
}
