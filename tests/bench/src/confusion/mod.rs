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

use std::ops::Range;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::channel;

use forbear::diagnose::{Cause, Verdict};
use serde_json::Value;

use draw::Family;
use truth::Truth;

/// A scenario, what is wrong with it, and what the verdict says.
#[derive(Clone, Debug)]
pub struct Case {
    /// The number it was drawn by.
    pub number: u64,
    /// What tends to be wrong with scenarios of its kind.
    pub family: Family,
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
        Self::judged(number, family, scenario, truth)
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
        Ok(Self::judged(number, draw::family(number), scenario, truth))
    }

    fn judged(number: u64, family: Family, scenario: Value, truth: Truth) -> Self {
        let verdict = truth.outcome.verdict.clone().expect("the engine has a verdict");
        let helped = apply::applied(&scenario, &verdict).map(|changed| truth::is_healthy(&truth::run(&changed)));
        Self { number, family, scenario, truth, verdict, helped }
    }

    /// All about it, as one line of JSON.
    #[must_use]
    pub fn line(&self) -> String {
        let Self { number, family, scenario, truth, helped, .. } = self;
        serde_json::json!({
            "number": number,
            "family": format!("{family:?}"),
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

/// Draws cases until each family has had its share: `per_cause` of the cause it is there for, or all of `rounds`, a draw of
/// each family's turns a round. `tell` is told of each, in no order.
pub fn draw_all(
    seed: u64,
    per_cause: usize,
    rounds: Range<u64>,
    workers: usize,
    mut tell: impl FnMut(&Case),
) -> Vec<Case> {
    let turns = draw::TURN.len() as u64;
    let next = AtomicU64::new(rounds.start * turns);
    let open = std::sync::Mutex::new(vec![true; Family::ALL.len()]);
    let mut cases = Vec::new();
    std::thread::scope(|scope| {
        let (found, finds) = channel();
        for _ in 0..workers.max(1) {
            let (found, next, open) = (found.clone(), &next, &open);
            scope.spawn(move || {
                loop {
                    let number = next.fetch_add(1, Ordering::Relaxed);
                    let wanted = |open: &[bool]| (open.iter().any(|open| *open), open[draw::family(number) as usize]);
                    let (any, this) = wanted(&open.lock().unwrap_or_else(std::sync::PoisonError::into_inner));
                    if !any || number / turns >= rounds.end {
                        break;
                    }
                    if this && found.send(Case::of(seed, number)).is_err() {
                        break;
                    }
                }
            });
        }
        drop(found);
        for case in finds {
            tell(&case);
            cases.push(case);
            let of = |cause: Cause| cases.iter().filter(|case| case.limit_known() && case.truth.is(cause)).count();
            let mut open = open.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
            for family in Family::ALL {
                open[*family as usize] = family.is_for().iter().any(|cause| of(*cause) < per_cause);
            }
        }
    });
    cases.sort_by_key(|case| case.number);
    cases
}
