//! Whether numbers fit: the suggested policy beside the best of a sweep, and the check's predictions beside what happens.
//!
//! Both by simulation with the engine itself. The cases come from a seed; which ones they are says the heading that the
//! command prints. A subset runs as a test of the crate.
#![allow(
    clippy::exhaustive_enums,
    clippy::exhaustive_structs,
    reason = "the benchmark's own binary is all that uses them"
)]

pub mod cases;
pub mod predicted;
pub mod suggested;

/// Some numbers in order, to be asked for their quantiles.
pub struct Sorted(Vec<f64>);

impl Sorted {
    /// Puts them in order.
    #[must_use]
    pub fn of(numbers: impl IntoIterator<Item = f64>) -> Self {
        let mut numbers: Vec<_> = numbers.into_iter().collect();
        numbers.sort_by(f64::total_cmp);
        Self(numbers)
    }

    /// The number that a share of all does not exceed; the nearest rank.
    #[must_use]
    pub fn quantile(&self, share: f64) -> f64 {
        let rank = (self.0.len() as f64 * share).ceil() as usize;
        self.0.get(rank.saturating_sub(1)).copied().unwrap_or(f64::NAN)
    }

    /// The share of all that is at least `number`.
    #[must_use]
    pub fn at_least(&self, number: f64) -> f64 {
        self.0.iter().filter(|each| **each >= number).count() as f64 / self.0.len() as f64
    }
}
