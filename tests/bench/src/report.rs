//! Figures, and how they stand to their targets.

use std::fmt;
use std::process::ExitCode;

use crate::bench::{Target, median};

/// What was measured of each row of a topic.
pub struct Report {
    pub(crate) title: &'static str,
    pub(crate) rows: Vec<(&'static str, Figures)>,
}

/// What was measured of a row.
pub(crate) struct Figures {
    /// CPU time per call, a figure per round; empty where time was not measured.
    pub(crate) nanos: Vec<f64>,
    pub(crate) allocations: f64,
    pub(crate) future_bytes: usize,
    pub(crate) targets: Vec<Target>,
}

impl Report {
    /// Whether every target is reached.
    #[must_use]
    pub fn passed(&self) -> bool {
        self.rows.iter().all(|(_, row)| row.targets.iter().all(|target| self.check(row, *target).0))
    }

    /// # Panics
    /// When a target names a row that is not there: a mistake in the benchmark.
    fn named(&self, name: &str) -> &Figures {
        let found = self.rows.iter().find(|(other, _)| *other == name);
        &found.unwrap_or_else(|| panic!("a target of {:?} names the row {name:?}, which it has not", self.title)).1
    }

    /// Whether a target is reached, and the words for it.
    fn check(&self, row: &Figures, target: Target) -> (bool, String) {
        match target {
            Target::Time { than, at_most } => {
                let ratio = ratio(row, self.named(than));
                (ratio <= at_most, format!("{ratio:.2} x {than} (at most {at_most:.2})"))
            }
            Target::Added { beyond, floor, bare, at_most } => {
                let [beyond, hand, bare] = [beyond, floor, bare].map(|name| &self.named(name).nanos);
                let ours = row.nanos.iter().zip(beyond).map(|(with, without)| with - without);
                let by_hand = hand.iter().zip(bare).map(|(with, without)| with - without);
                let ratio = median(ours.zip(by_hand).map(|(ours, by_hand)| ours / by_hand));
                (ratio <= at_most, format!("adds {ratio:.2} x {floor} (at most {at_most:.2})"))
            }
            Target::NoAllocation => (row.allocations == 0.0, "no allocation".to_owned()),
            Target::Allocations { at_most } => (row.allocations <= at_most, format!("at most {at_most} allocations")),
            Target::FutureSize { than, at_most } => {
                let ratio = row.future_bytes as f64 / self.named(than).future_bytes as f64;
                (ratio <= at_most, format!("{ratio:.2} x {than} (at most {at_most:.2})"))
            }
        }
    }
}

/// The median over the rounds of what one row takes beside another.
fn ratio(row: &Figures, other: &Figures) -> f64 {
    median(row.nanos.iter().zip(&other.nanos).map(|(a, b)| a / b))
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let width = self.rows.iter().map(|(name, _)| name.chars().count()).max().unwrap_or(0);
        let timed = self.rows.iter().any(|(_, row)| !row.nanos.is_empty());
        writeln!(f, "{}\n", self.title)?;
        if timed {
            writeln!(
                f,
                "  {:width$}  {:>9}  {:>8}  {:>11}  {:>12}",
                "", "ns/call", "x first", "allocations", "future bytes"
            )?;
        } else {
            writeln!(f, "  {:width$}  {:>12}  {:>8}", "", "future bytes", "x first")?;
        }
        for (name, row) in &self.rows {
            let first = &self.rows[0].1;
            if timed {
                let (nanos, times) = (median(row.nanos.iter().copied()), ratio(row, first));
                let Figures { allocations, future_bytes, .. } = row;
                write!(f, "  {name:width$}  {nanos:>9.1}  {times:>8.2}  {allocations:>11.2}  {future_bytes:>12}")?;
            } else {
                let times = row.future_bytes as f64 / first.future_bytes as f64;
                write!(f, "  {name:width$}  {:>12}  {times:>8.2}", row.future_bytes)?;
            }
            for target in &row.targets {
                let (passed, words) = self.check(row, *target);
                write!(f, "  {} {words};", if passed { "pass" } else { "MISS" })?;
            }
            writeln!(f)?;
        }
        Ok(())
    }
}

/// Prints the reports. The exit code says whether every target was reached.
#[must_use]
pub fn finish(reports: &[Report]) -> ExitCode {
    for report in reports {
        println!("{report}");
    }
    let targets = reports.iter().flat_map(|report| {
        report.rows.iter().flat_map(|(_, row)| row.targets.iter().map(|target| report.check(row, *target).0))
    });
    let (passed, missed): (Vec<bool>, Vec<bool>) = targets.partition(|passed| *passed);
    println!("targets: {} reached, {} missed", passed.len(), missed.len());
    if missed.is_empty() { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(nanos: &[f64], allocations: f64, future_bytes: usize, targets: &[Target]) -> Figures {
        Figures { nanos: nanos.to_vec(), allocations, future_bytes, targets: targets.to_vec() }
    }

    fn report(target: Target) -> Report {
        let ours = row(&[12.0, 50.0, 11.0], 0.5, 120, &[target]);
        Report { title: "a topic", rows: vec![("peer", row(&[10.0, 40.0, 10.0], 0.0, 100, &[])), ("ours", ours)] }
    }

    #[test]
    fn a_ratio_is_taken_within_rounds_and_its_median_counts() {
        assert!(report(Target::Time { than: "peer", at_most: 1.2 }).passed());
        assert!(!report(Target::Time { than: "peer", at_most: 1.19 }).passed());
    }

    #[test]
    fn what_is_added_is_held_against_what_the_hand_adds() {
        let nanos = |nanos: f64| row(&[nanos; 3], 0.0, 100, &[]);
        let passes = |at_most| {
            let target = Target::Added { beyond: "ours, bare", floor: "hand", bare: "hand, bare", at_most };
            let rows = [("hand, bare", nanos(2.0)), ("hand", nanos(12.0)), ("ours, bare", nanos(30.0))];
            let ours = ("ours", row(&[45.0; 3], 0.0, 100, &[target]));
            Report { title: "a topic", rows: rows.into_iter().chain([ours]).collect() }.passed()
        };
        assert!(passes(1.5) && !passes(1.49));
    }

    #[test]
    fn a_missed_target_is_printed_and_fails_the_run() {
        let missed = report(Target::NoAllocation);
        assert!(missed.to_string().contains("MISS no allocation"));
        assert_eq!(finish(&[missed]), ExitCode::FAILURE);
        assert_eq!(finish(&[report(Target::FutureSize { than: "peer", at_most: 1.2 })]), ExitCode::SUCCESS);
        assert!(!report(Target::FutureSize { than: "peer", at_most: 1.1 }).passed());
    }

    #[test]
    #[should_panic(expected = "names the row \"nobody\"")]
    fn a_target_beside_a_row_that_is_not_there_is_a_mistake() {
        let _ = report(Target::Time { than: "nobody", at_most: 1.0 }).passed();
    }
}
