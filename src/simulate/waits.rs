//! How long calls waited, to be asked for percentiles, in memory that does not grow with the calls.
//!
//! Up to a million waits are kept as they are, and percentiles are exact. Beyond that they are counted by their first
//! eleven binary digits: a percentile is then at most a thousandth too small, and all counters together take a few
//! megabytes.

use std::collections::BTreeMap;
use std::time::Duration;

use serde::Serialize;

/// How many waits are kept as they are.
const KEPT: usize = 1 << 20;
/// How many binary digits of a wait are counted by.
const DIGITS: u32 = 11;

/// Of some values, those that so many percent do not exceed; the nearest rank. Of more than a million values they may be a
/// thousandth too small.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
#[non_exhaustive]
pub struct Percentiles {
    /// The median.
    pub p50: Option<f64>,
    /// 95 %.
    pub p95: Option<f64>,
    /// 99 %.
    pub p99: Option<f64>,
}

/// Some waits.
#[derive(Debug, Default)]
pub(super) struct Waits {
    /// All of them, as long as they are few; then those that are not yet counted.
    kept: Vec<Duration>,
    /// How many are as long as each, cut to [`DIGITS`] digits of nanoseconds.
    counted: BTreeMap<u64, u64>,
}

impl Waits {
    /// One more.
    pub(super) fn add(&mut self, wait: Duration) {
        if self.kept.len() == KEPT {
            self.count();
        }
        self.kept.push(wait);
    }

    /// Those that are kept as they are: all of them in a test.
    #[cfg(test)]
    pub(super) fn kept(&self) -> &[Duration] {
        &self.kept
    }

    /// What they come to.
    pub(super) fn percentiles(mut self) -> Percentiles {
        if self.counted.is_empty() {
            self.kept.sort_unstable();
        } else {
            self.count();
        }
        let all = self.counted.values().sum::<u64>() + self.kept.len() as u64;
        let at = |percent: u64| {
            let rank = (all * percent).div_ceil(100).checked_sub(1)?;
            let mut passed = 0;
            let counted = self.counted.iter().find(|(_, number)| {
                passed += **number;
                passed > rank
            });
            let counted = counted.map(|(nanos, _)| Duration::from_nanos(*nanos));
            counted.or_else(|| self.kept.get(rank as usize).copied()).map(|wait| wait.as_secs_f64())
        };
        Percentiles { p50: at(50), p95: at(95), p99: at(99) }
    }

    /// Counts those that were kept.
    fn count(&mut self) {
        for wait in self.kept.drain(..) {
            *self.counted.entry(cut(wait)).or_default() += 1;
        }
    }
}

/// The wait in nanoseconds, all but its first digits zero.
fn cut(wait: Duration) -> u64 {
    let nanos = u64::try_from(wait.as_nanos()).unwrap_or(u64::MAX);
    let less = (u64::BITS - nanos.leading_zeros()).saturating_sub(DIGITS);
    nanos >> less << less
}

#[cfg(test)]
mod tests {
    use super::*;

    fn percentiles(waits: impl IntoIterator<Item = Duration>) -> Percentiles {
        let mut all = Waits::default();
        waits.into_iter().for_each(|wait| all.add(wait));
        all.percentiles()
    }

    #[test]
    fn percentiles_are_values_that_were_there() {
        let waits = (1..=200).rev().map(Duration::from_secs);
        assert_eq!(percentiles(waits), Percentiles { p50: Some(100.0), p95: Some(190.0), p99: Some(198.0) });
        assert_eq!(percentiles([Duration::from_secs(7)]).p99, Some(7.0));
        assert_eq!(percentiles([]), Percentiles::default());
    }

    #[test]
    fn many_waits_take_no_more_memory_and_are_a_thousandth_off_at_most() {
        let mut all = Waits::default();
        let many = 2 * KEPT as u64 + 1_000;
        (0..many).for_each(|number| all.add(Duration::from_micros(number * 31 % many)));
        assert!(all.kept.capacity() <= 2 * KEPT && all.counted.len() < 30_000, "{}", all.counted.len());
        let found = all.percentiles();
        for (found, share) in [(found.p50, 0.5), (found.p95, 0.95), (found.p99, 0.99)] {
            let exact = many as f64 * share / 1e6;
            assert!((0.999..=1.000_001).contains(&(found.expect("there are waits") / exact)), "{found:?} of {exact}");
        }
    }
}
