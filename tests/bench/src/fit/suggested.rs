//! The suggested policy beside the best policy of a sweep.
//!
//! The sweep is over base, cap and attempts: 0.01 to 1 window, the base to 2 windows, 1 to 100. The best policy is the one
//! with the most successes over two runs; then both are compared on other runs. Without that the best of more than a
//! hundred policies would also be the luckiest, and no policy could keep up with it.

use std::cmp::Reverse;
use std::time::Duration;

use forbear::core::dice::{Dice, SeededDice};
use forbear::core::tune::Suggestion;
use forbear::simulate::Simulation;
use forbear::{InvalidSetting, Policy};

use super::cases::{Case, Shape, settings};

/// What a case showed.
#[derive(Debug)]
pub struct Compared {
    /// The case.
    pub case: Case,
    /// What was suggested.
    pub suggestion: Suggestion,
    /// What came of it.
    pub ours: Sum,
    /// What comes of what is suggested where a person waits.
    pub of_person: Sum,
    /// The best policy of the sweep.
    pub best: Numbers,
    /// What came of that.
    pub of_best: Sum,
}

impl Compared {
    /// Successes with the suggested policy, as a share of those with the best one.
    #[must_use]
    pub fn ratio(&self) -> f64 {
        self.ours.successes_beside(&self.of_best)
    }

    /// The same where a person waits, who is not made to wait for what is unlikely to come.
    #[must_use]
    pub fn ratio_of_person(&self) -> f64 {
        self.of_person.successes_beside(&self.of_best)
    }
}

/// The numbers of a policy that are swept.
#[derive(Clone, Copy, Debug)]
pub struct Numbers {
    /// The bound of the first wait.
    pub base: Duration,
    /// The bound of every wait.
    pub cap: Duration,
    /// The most attempts.
    pub attempts: u32,
}

impl From<&Suggestion> for Numbers {
    fn from(suggestion: &Suggestion) -> Self {
        Self { base: suggestion.base, cap: suggestion.cap, attempts: suggestion.attempts }
    }
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

/// What some runs came to.
#[derive(Clone, Copy, Debug, Default)]
pub struct Sum {
    /// Calls.
    pub calls: u64,
    /// Those that succeeded.
    pub succeeded: u64,
    /// Requests of all calls.
    pub requests: u64,
    /// Calls that gave up because every attempt was made.
    pub exhausted: u64,
}

impl Sum {
    /// Successes as a share of another's, 1 where that has none.
    fn successes_beside(&self, other: &Self) -> f64 {
        if other.succeeded == 0 { 1.0 } else { self.succeeded as f64 / other.succeeded as f64 }
    }

    /// The share of the calls that succeeded.
    #[must_use]
    pub fn success(&self) -> f64 {
        self.succeeded as f64 / self.calls.max(1) as f64
    }

    /// Requests per call.
    #[must_use]
    pub fn per_call(&self) -> f64 {
        self.requests as f64 / self.calls.max(1) as f64
    }
}

/// A case with the runs it is tried in.
#[derive(Clone, Debug)]
pub struct Trial {
    /// The case.
    pub case: Case,
    /// Where the seeds of its runs begin.
    runs: u64,
    /// How many windows each run has.
    windows: f64,
}

impl Trial {
    /// A random case, in runs of some `calls` calls.
    pub fn random(shape: Shape, calls: f64, dice: &mut SeededDice) -> Self {
        let case = Case::random(shape, dice);
        let runs = dice.roll() >> 32 << 8;
        let windows = (calls / (case.load * f64::from(case.quota))).clamp(10.0, 80.0);
        Self { case, runs, windows }
    }

    /// `sum` with one more run.
    fn add(&self, sum: Sum, numbers: Numbers, seed: u64) -> Result<Sum, InvalidSetting> {
        let policy = settings(numbers.base, numbers.cap, numbers.attempts);
        let scenario = self.case.scenario(policy, self.windows, self.runs + seed);
        let outcome = Simulation::of(&scenario).unjudged().run()?.outcome;
        Ok(Sum {
            calls: sum.calls + outcome.calls,
            succeeded: sum.succeeded + outcome.succeeded,
            requests: sum.requests + outcome.attempts,
            exhausted: sum.exhausted + outcome.gave_up.get("attempts_exhausted").copied().unwrap_or(0),
        })
    }

    /// Each policy of the sweep with what came of it in the runs that choose.
    ///
    /// # Errors
    /// A number is outside its range, which would be a mistake of this file.
    pub fn sweep(&self) -> Result<Vec<(Numbers, Sum)>, InvalidSetting> {
        let mut tried = Vec::new();
        for (base, cap) in curves(self.case.window) {
            for attempts in ATTEMPTS {
                let numbers = Numbers { base, cap: cap.max(base), attempts };
                let sum = CHOOSING.into_iter().try_fold(Sum::default(), |sum, seed| self.add(sum, numbers, seed))?;
                tried.push((numbers, sum));
                // With more attempts nothing else would have happened.
                if sum.exhausted == 0 {
                    break;
                }
            }
        }
        Ok(tried)
    }

    /// What comes of these numbers in the runs that compare.
    ///
    /// # Errors
    /// A number is outside its range, which would be a mistake of this file.
    pub fn over(&self, numbers: Numbers) -> Result<Sum, InvalidSetting> {
        let mut sum = Sum::default();
        for seed in (COMPARING..).take(RUNS) {
            sum = self.add(sum, numbers, seed)?;
            if sum.calls >= ENOUGH {
                break;
            }
        }
        Ok(sum)
    }
}

/// Makes a random case and compares on it, in runs of some `calls` calls.
///
/// # Errors
/// A number is outside its range, which would be a mistake of this file.
pub fn compare(shape: Shape, calls: f64, dice: &mut SeededDice) -> Result<Compared, InvalidSetting> {
    let trial = Trial::random(shape, calls, dice);
    let Case { window, deadline, states_delay, .. } = trial.case;
    // The first of those with the most successes and the fewest requests.
    let best = trial.sweep()?.into_iter().rev().max_by_key(|(_, sum)| (sum.succeeded, Reverse(sum.requests)));
    let best = best.map_or(Numbers { base: window, cap: window, attempts: 1 }, |(numbers, _)| numbers);
    let of_best = trial.over(best)?;
    let suggest =
        |interactive| Policy::for_window(window).states_delay(states_delay).interactive(interactive).suggest(deadline);
    let suggestion = suggest(false)?;
    let ours = trial.over(Numbers::from(&suggestion))?;
    let to_person = suggest(true)?;
    let of_person =
        if to_person.attempts == suggestion.attempts { ours } else { trial.over(Numbers::from(&to_person))? };
    Ok(Compared { case: trial.case, suggestion, ours, of_person, best, of_best })
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
