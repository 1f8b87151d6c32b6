//! What is wrong with a service, found out by changing it, beside what the verdict on its metrics says.
//!
//! | file | what |
//! |---|---|
//! | [`draw`] | random scenarios, of families in which one thing or another tends to be wrong |
//! | [`truth`] | the cause of each: what has to be changed for the objective to be met, by running it with the change |
//! | [`apply`] | the scenario with what the verdict recommends |
//! | [`matrix`] | truth and verdict counted, and how they stand to the targets |
#![allow(
    clippy::exhaustive_enums,
    clippy::exhaustive_structs,
    reason = "the benchmark's own binary is all that uses them"
)]

pub mod apply;
pub mod draw;
pub mod matrix;
pub mod truth;

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::channel;

use forbear::diagnose::Verdict;
use serde_json::Value;

use draw::Family;
use truth::{Fault, Truth};

/// A scenario, what is wrong with it, and what the verdict says.
#[derive(Clone, Debug)]
pub struct Case {
    /// The number it was drawn by.
    pub number: u64,
    /// What tends to be wrong with scenarios of its kind.
    pub family: Family,
    /// Whether it was drawn because its fault was rare, and is kept because it has it: it says nothing of how often that is.
    pub further: bool,
    /// The scenario, as `forbear simulate` takes it.
    pub scenario: Value,
    /// What is wrong.
    pub truth: Truth,
    /// What the verdict says.
    pub verdict: Verdict,
    /// Whether the objective was met after the verdict's advice was followed, if it gave any.
    pub helped: Option<bool>,
}

impl Case {
    /// Draws the scenario of this number and finds out all about it.
    ///
    /// # Panics
    /// When the scenario is refused: a mistake in the draw.
    #[must_use]
    pub fn of(seed: u64, number: u64) -> Self {
        let (family, scenario) = draw::scenario(seed, number);
        let truth = truth::truth(&scenario);
        Self::judged(number, family, false, scenario, truth)
    }

    /// The same, if what is wrong is what its family is there for.
    ///
    /// # Panics
    /// When the scenario is refused: a mistake in the draw.
    #[must_use]
    pub fn further(seed: u64, number: u64) -> Option<Self> {
        let (family, scenario) = draw::further(seed, number);
        let truth = truth::truth_among(&scenario, family.is_for())?;
        Some(Self::judged(number, family, true, scenario, truth))
    }

    /// A case whose truth was found out before, judged again: a fiftieth of the work.
    ///
    /// # Errors
    /// The line is none that [`Case::line`] gave, in words.
    ///
    /// # Panics
    /// When the scenario is refused.
    pub fn of_line(line: &str) -> Result<Self, String> {
        let line: Value = serde_json::from_str(line).map_err(|error| error.to_string())?;
        let number = line["number"].as_u64().ok_or("no number")?;
        let scenario = line["scenario"].clone();
        let truth = Truth::of_line(&line, truth::run(&scenario)).ok_or("no truth")?;
        let further = line["further"].as_bool().unwrap_or(false);
        Ok(Self::judged(number, draw::family(number), further, scenario, truth))
    }

    fn judged(number: u64, family: Family, further: bool, scenario: Value, truth: Truth) -> Self {
        let verdict = truth.outcome.verdict.clone().expect("the engine has a verdict");
        let helped = apply::applied(&scenario, &verdict).map(|changed| truth::is_healthy(&truth::run(&changed)));
        Self { number, family, further, scenario, truth, verdict, helped }
    }

    /// All about it, as one line of JSON.
    #[must_use]
    pub fn line(&self) -> String {
        let Self { number, family, further, scenario, truth, helped, .. } = self;
        serde_json::json!({
            "number": number,
            "family": format!("{family:?}"),
            "further": further,
            "truth": truth.fault.as_str(),
            "fixes": truth.fixes,
            "ideal": truth.ideal,
            "multiple": truth.multiple,
            "helped": helped,
            "outcome": truth.outcome,
            "scenario": scenario,
        })
        .to_string()
    }

    /// Whether the verdict had a limit to go by.
    #[must_use]
    pub fn limit_known(&self) -> bool {
        !self.verdict.evidence.loads.is_empty()
    }

    /// Whether the verdict names the truth, or another change that alone is enough.
    #[must_use]
    pub fn is_right(&self) -> bool {
        let said = self.verdict.cause;
        self.truth.is(said) || self.truth.fixes.iter().any(|fix| fix == said.as_str())
    }
}

/// Draws `rounds` of all families' turns; after them, of the families whose faults are too rare in these, until there are
/// `per_cause` of each of `faults` whose limit is known, or `most` rounds were drawn. `tell` is told of each case, in no order.
pub fn draw_all(
    seed: u64,
    rounds: u64,
    (per_cause, faults): (usize, &[Fault]),
    most: u64,
    workers: usize,
    mut tell: impl FnMut(&Case),
) -> Vec<Case> {
    let turns = draw::TURN.len() as u64;
    let next = AtomicU64::new(0);
    let meant = |family: &Family| family.is_for().iter().any(|fault| faults.contains(fault));
    let lacking = std::sync::Mutex::new(Family::ALL.iter().map(meant).collect::<Vec<_>>());
    let mut cases: Vec<Case> = Vec::new();
    std::thread::scope(|scope| {
        let (found, finds) = channel();
        for _ in 0..workers.max(1) {
            let (found, next, lacking) = (found.clone(), &next, &lacking);
            let case = move |number: u64| {
                if number / turns < rounds {
                    return Some(Some(Case::of(seed, number)));
                }
                let lacking = lacking.lock().unwrap_or_else(std::sync::PoisonError::into_inner).clone();
                let goes_on = number / turns < most && lacking.contains(&true);
                goes_on.then(|| lacking[draw::family(number) as usize].then(|| Case::further(seed, number)).flatten())
            };
            scope.spawn(move || {
                while let Some(case) = case(next.fetch_add(1, Ordering::Relaxed)) {
                    if case.is_some_and(|case| found.send(case).is_err()) {
                        break;
                    }
                }
            });
        }
        drop(found);
        for case in finds {
            tell(&case);
            cases.push(case);
            let of = |fault: Fault| cases.iter().filter(|case| case.limit_known() && case.truth.fault == fault).count();
            let lacks = |family: &Family| meant(family) && family.is_for().iter().any(|fault| of(*fault) < per_cause);
            *lacking.lock().unwrap_or_else(std::sync::PoisonError::into_inner) =
                Family::ALL.iter().map(lacks).collect();
        }
    });
    cases.sort_by_key(|case| case.number);
    cases
}
