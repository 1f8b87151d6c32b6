//! When calls arrive, one after another.
//!
//! Instants are made as they are asked for, so a month of them takes no more memory than a minute; a burst alone is drawn
//! at once, for its instants have to be put in order. Rates that change are thinned: candidates come at the highest rate
//! and each is taken with the share the rate has of it then (Lewis and Shedler, 1979,
//! <https://doi.org/10.1002/nav.3800260304>).

use std::time::Duration;

use crate::core::dice::{Dice, SeededDice};
use crate::core::moment::Moment;
use crate::simulate::plan::{Pattern, TenantPlan};

/// Instants in their order, made as they are asked for.
#[derive(Clone, Debug)]
pub(super) struct Arrivals {
    /// Where the instants come from.
    source: Source,
    /// What is rolled for them.
    dice: SeededDice,
    /// No instant lies beyond.
    until: Moment,
}

/// How the instants are made.
#[derive(Clone, Debug)]
enum Source {
    /// Random instants, thinned: each candidate of the highest rate is taken with the share the rate has of it then.
    Random {
        at: Moment,
        highest: f64,
        shape: Shape,
    },
    Batches {
        at: Moment,
        left: u32,
        size: u32,
        every: Duration,
    },
    /// The instants still to come, the last first.
    Listed(Vec<Moment>),
}

/// How the rate goes up and down.
#[derive(Clone, Copy, Debug)]
enum Shape {
    /// It does not.
    Steady,
    /// On, then off, so far into the period at the start.
    OnOff {
        on: Duration,
        period: Duration,
        ahead: Duration,
    },
    Wave {
        low: f64,
        high: f64,
        period: Duration,
    },
}

impl Arrivals {
    /// The callers' arrivals before `until`; a burst comes at `from`.
    pub(super) fn of_callers(pattern: Pattern, from: Moment, until: Moment, mut dice: SeededDice) -> Self {
        let random = |rate, shape| Source::Random { at: Moment::START, highest: rate, shape };
        let source = match pattern {
            Pattern::Poisson { rate } => random(rate, Shape::Steady),
            Pattern::OnOff { rate, on, off } => random(rate, on_off(on, off, &mut dice)),
            Pattern::Diurnal { rate, low, high, period } => random(rate * high, Shape::Wave { low, high, period }),
            Pattern::Batch { size, every } => Source::Batches { at: Moment::START, left: size, size, every },
            Pattern::Burst { size, within } => {
                let mut listed: Vec<_> = (0..size).map(|_| from.after(dice.within(within))).collect();
                listed.sort_unstable_by(|a, b| b.cmp(a));
                Source::Listed(listed)
            }
        };
        Self { source, dice, until }
    }

    /// Another tenant's arrivals, without end.
    pub(super) fn of_tenant(tenant: TenantPlan, mut dice: SeededDice) -> Self {
        let shape = tenant.cycle.map_or(Shape::Steady, |(on, off)| on_off(on, off, &mut dice));
        let source = Source::Random { at: Moment::START, highest: tenant.per_second, shape };
        Self { source, dice, until: Moment::NEVER }
    }
}

impl Iterator for Arrivals {
    type Item = Moment;

    fn next(&mut self) -> Option<Moment> {
        let next = match &mut self.source {
            Source::Listed(listed) => listed.pop()?,
            Source::Batches { at, left, size, every } => {
                if *left == 0 {
                    *at = at.after(*every);
                    *left = *size;
                }
                *left -= 1;
                *at
            }
            Source::Random { at, highest, shape } => loop {
                if *highest <= 0.0 {
                    return None;
                }
                let gap = -self.dice.unit().ln() / *highest;
                *at = at.after(Duration::try_from_secs_f64(gap).unwrap_or(Duration::MAX));
                if *at >= self.until {
                    return None;
                }
                let share = shape.share(*at);
                if share >= 1.0 || (share > 0.0 && self.dice.unit() <= share) {
                    break *at;
                }
            },
        };
        // A burst at the very end of the measured time still belongs to it.
        (next < self.until || matches!(self.source, Source::Listed(_))).then_some(next)
    }
}

impl Shape {
    /// The rate at `at` as a share of the highest.
    fn share(self, at: Moment) -> f64 {
        let at = at.elapsed_since_start();
        match self {
            Self::Steady => 1.0,
            Self::OnOff { on, period, ahead } => {
                let into = Duration::from_nanos((at + ahead).as_nanos().wrapping_rem(period.as_nanos()) as u64);
                if into < on { 1.0 } else { 0.0 }
            }
            Self::Wave { low, high, period } => {
                let turns = at.as_secs_f64() / period.as_secs_f64();
                let height = (1.0 - (turns * std::f64::consts::TAU).cos()) / 2.0;
                if high > 0.0 { (low + (high - low) * height) / high } else { 0.0 }
            }
        }
    }
}

/// On for so long, then off, from a random place of the period on.
fn on_off(on: Duration, off: Duration, dice: &mut SeededDice) -> Shape {
    let period = on + off;
    Shape::OnOff { on, period, ahead: dice.within(period) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(seconds: u64) -> Moment {
        Moment::since_start(Duration::from_secs(seconds))
    }

    fn arrivals(pattern: Pattern) -> Vec<f64> {
        let all = Arrivals::of_callers(pattern, at(100), at(3_700), SeededDice::new(5));
        all.map(|moment| moment.elapsed_since_start().as_secs_f64()).collect()
    }

    #[test]
    fn every_pattern_rises_and_keeps_its_rate() {
        let (minute, hour) = (Duration::from_secs(60), Duration::from_secs(3_700));
        let patterns = [
            (Pattern::Poisson { rate: 2.0 }, 7_400.0),
            (Pattern::OnOff { rate: 2.0, on: minute / 2, off: minute / 2 }, 3_700.0),
            (Pattern::Batch { size: 10, every: minute }, 620.0),
            (Pattern::Burst { size: 500, within: minute }, 500.0),
            (Pattern::Diurnal { rate: 2.0, low: 0.0, high: 2.0, period: hour }, 7_400.0),
        ];
        for (pattern, expected) in patterns {
            let all = arrivals(pattern);
            assert!(all.is_sorted(), "{pattern:?}");
            assert!((all.len() as f64 / expected - 1.0).abs() < 0.05, "{pattern:?}: {}", all.len());
        }
    }

    #[test]
    fn a_wave_is_lowest_at_its_start_and_highest_in_its_middle() {
        let hour = Duration::from_secs(3_600);
        let all = arrivals(Pattern::Diurnal { rate: 2.0, low: 0.2, high: 1.8, period: hour });
        let within = |from: f64, until: f64| all.iter().filter(|at| (from..until).contains(*at)).count() as f64;
        let (low, high) = (within(0.0, 300.0), within(1_650.0, 1_950.0));
        assert!((5.0..13.0).contains(&(high / low)), "{low} and {high}");
    }

    #[test]
    fn nothing_arrives_at_a_rate_of_nothing() {
        assert_eq!(arrivals(Pattern::Poisson { rate: 0.0 }), [0.0; 0]);
        let nothing = Pattern::Diurnal { rate: 2.0, low: 0.0, high: 0.0, period: Duration::from_secs(60) };
        assert_eq!(arrivals(nothing), [0.0; 0]);
    }
}
