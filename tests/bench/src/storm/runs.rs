//! What is found out of a storm, and how it stands to the targets.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};
use std::thread;

use super::cell::Cell;
use super::rules::Rule;
use super::{crowd, ours};

/// Seeds each storm is run with.
pub const SEEDS: u64 = 4;

/// Who meets the storm.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(clippy::exhaustive_enums, reason = "the columns are exactly these")]
pub enum Who {
    /// This crate, told nothing beforehand.
    Forbear,
    /// This crate, told the quota and starting at its pace.
    ColdStart,
    /// A rule for callers of whom each is on its own, or one of a process.
    Peer(Rule),
}

impl Who {
    /// All of them, in the order of the columns.
    pub fn all() -> Vec<Self> {
        [Self::Forbear, Self::ColdStart].into_iter().chain(Rule::ALL.iter().copied().map(Self::Peer)).collect()
    }

    /// The column's heading.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Forbear => "forbear",
            Self::ColdStart => "forbear, cold start",
            Self::Peer(rule) => rule.as_str(),
        }
    }
}

/// What a run came to.
#[derive(Clone, Copy, Debug, Default)]
#[allow(clippy::exhaustive_structs, reason = "made by the runs and read by the table")]
pub struct Figures {
    /// Requests sent for each call.
    pub requests: f64,
    /// From the first arrival to the last answer, in seconds.
    pub drain_s: f64,
    /// The most requests sent in any 100 ms after a reopening.
    pub largest: f64,
    /// The share of calls that were served.
    pub served: f64,
    /// Requests for each call that nobody can spare who hears of a limit by its first refusal.
    pub floor: f64,
}

/// What one storm came to with one seed.
#[derive(Clone, Debug, Default)]
#[allow(clippy::exhaustive_structs, reason = "made by the runs and read by the table")]
pub struct Met {
    /// How long the ideal takes, in seconds.
    pub ideal_s: f64,
    /// How it went, a row for each who.
    pub by: Vec<Figures>,
}

/// What a storm came to with all its seeds.
#[derive(Clone, Debug)]
#[allow(clippy::exhaustive_structs, reason = "made by the runs and read by the table")]
pub struct Row {
    /// The storm.
    pub cell: Cell,
    /// One for each seed.
    pub met: Vec<Met>,
}

/// Runs every storm with every seed, on all processors. `done` is told after each how many of how many are done.
///
/// # Panics
/// Where the engine refuses a storm: a mistake in this benchmark.
pub fn run(cells: &[Cell], who: &[Who], seeds: u64, done: impl Fn(usize, usize) + Sync) -> Vec<Row> {
    let rows: Vec<_> = cells.iter().map(|&cell| Row { cell, met: vec![Met::default(); seeds as usize] }).collect();
    let rows = Mutex::new(rows);
    let (next, finished) = (AtomicUsize::new(0), AtomicUsize::new(0));
    let all = cells.len() * seeds as usize;
    thread::scope(|scope| {
        for _ in 0..thread::available_parallelism().map_or(1, usize::from) {
            scope.spawn(|| {
                loop {
                    let job = next.fetch_add(1, Ordering::Relaxed);
                    if job >= all {
                        return;
                    }
                    let (place, seed) = (job / seeds as usize, job % seeds as usize);
                    let met = meet(&cells[place], who, seed as u64 + 1);
                    rows.lock().unwrap_or_else(PoisonError::into_inner)[place].met[seed] = met;
                    done(finished.fetch_add(1, Ordering::Relaxed) + 1, all);
                }
            });
        }
    });
    rows.into_inner().unwrap_or_else(PoisonError::into_inner)
}

/// One storm, met by each of them.
fn meet(cell: &Cell, who: &[Who], seed: u64) -> Met {
    let ideal_s = ours::ideal(cell, seed);
    let by = who.iter().map(|who| match who {
        Who::Forbear => ours::forbear(cell, seed, false),
        Who::ColdStart => ours::forbear(cell, seed, true),
        Who::Peer(rule) => crowd::run(cell, *rule, seed, ideal_s, &mut |_, _| {}),
    });
    Met { ideal_s, by: by.collect() }
}

/// A cell's figures over its seeds.
#[derive(Clone, Copy, Debug)]
#[allow(clippy::exhaustive_structs, reason = "made here and read by the table")]
pub struct Summary {
    /// Requests for each call, on the average.
    pub requests: f64,
    /// How many times as long as the ideal it took, on the average.
    pub drain: f64,
    /// The same with the seed that took longest.
    pub slowest: f64,
    /// The most requests in any 100 ms after a reopening, of any seed.
    pub largest: f64,
    /// The least share of calls served, of any seed.
    pub served: f64,
    /// What nobody can spare, on the average.
    pub floor: f64,
}

impl Row {
    /// How this one met the storm.
    #[must_use]
    pub fn summary(&self, who: usize) -> Summary {
        let figures = || self.met.iter().map(|met| (met.by[who], met.by[who].drain_s / met.ideal_s));
        let mean = |of: &dyn Fn(&(Figures, f64)) -> f64| figures().map(|f| of(&f)).sum::<f64>() / self.met.len() as f64;
        Summary {
            requests: mean(&|(figures, _)| figures.requests),
            drain: mean(&|(_, drain)| *drain),
            slowest: figures().map(|(_, drain)| drain).fold(0.0, f64::max),
            largest: figures().map(|(figures, _)| figures.largest).fold(0.0, f64::max),
            served: figures().map(|(figures, _)| figures.served).fold(1.0, f64::min),
            floor: self.met.iter().map(|met| met.by[0].floor).sum::<f64>() / self.met.len() as f64,
        }
    }

    /// The ideal's time, on the average, in seconds.
    #[must_use]
    pub fn ideal_s(&self) -> f64 {
        self.met.iter().map(|met| met.ideal_s).sum::<f64>() / self.met.len() as f64
    }
}

/// What a cell has to reach: so many requests for each call above the floor, so many times as long as the ideal.
#[derive(Clone, Copy, Debug)]
#[allow(clippy::exhaustive_structs, reason = "a target is these two")]
pub struct Target {
    /// Requests for each call above the floor.
    pub above_floor: f64,
    /// The drain as a multiple of the ideal.
    pub drain: f64,
}

impl Target {
    /// The target of a cell, if it has one.
    #[must_use]
    pub const fn of(cell: &Cell) -> Option<Self> {
        match (cell.processes, cell.headers) {
            (1, true) => Some(Self { above_floor: 0.03, drain: 1.05 }),
            (1, false) => Some(Self { above_floor: 0.15, drain: 1.25 }),
            (_, true) => Some(Self { above_floor: 0.15, drain: 1.10 }),
            (_, false) => None,
        }
    }

    /// Whether requests, and whether the drain, are within the target; a call that is not served misses both.
    #[must_use]
    pub fn reached(&self, summary: &Summary) -> (bool, bool) {
        // Figures are compared as they are printed: to two decimals.
        let rounded = |value: f64| (value * 100.0).round() / 100.0;
        let served = summary.served >= 1.0;
        let most = rounded(summary.floor) + self.above_floor;
        (served && rounded(summary.requests) <= most + 1e-9, served && rounded(summary.drain) <= self.drain + 1e-9)
    }
}
