//! When calls come.

use std::time::Duration;

use forbear::core::dice::{Dice, SeededDice};

/// What is asked of a service: calls that come by chance, and calls that come together.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Demand {
    /// Calls that know nothing of each other, a minute.
    pub(crate) steady_per_minute: f64,
    /// Calls that come at once.
    pub(crate) burst: Option<Burst>,
}

/// Calls that come at once, as those of a job do.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Burst {
    /// How many.
    pub(crate) calls: u32,
    /// When they first come.
    pub(crate) first_after: Duration,
    /// How long from one to the next.
    pub(crate) every: Duration,
}

/// The moments of calls, counted from the start, in their order and without end. The same seed brings the same.
pub(crate) struct Arrivals {
    demand: Demand,
    /// How long a minute is.
    minute: Duration,
    dice: SeededDice,
    /// The next call that comes by chance, if any does.
    next_steady: Option<Duration>,
    /// The next call of a burst, if there are bursts.
    next_burst: Option<Duration>,
    /// How many calls of the next burst are still to come.
    left_of_burst: u32,
}

impl Arrivals {
    /// The moments this demand brings, where a minute lasts so long.
    pub(crate) fn of(demand: Demand, minute: Duration, seed: u64) -> Self {
        let burst = demand.burst;
        let mut arrivals = Self {
            demand,
            minute,
            dice: SeededDice::new(seed),
            next_steady: (demand.steady_per_minute > 0.0).then_some(Duration::ZERO),
            next_burst: burst.map(|burst| burst.first_after),
            left_of_burst: burst.map_or(0, |burst| burst.calls),
        };
        arrivals.step_steady();
        arrivals
    }

    /// Calls that know nothing of each other lie apart by exponentially distributed times.
    fn step_steady(&mut self) {
        if let Some(at) = &mut self.next_steady {
            *at += self.minute.mul_f64(-self.dice.unit().ln() / self.demand.steady_per_minute);
        }
    }

    /// After the last call of a burst the next burst is due.
    fn step_burst(&mut self) {
        let (Some(at), Some(burst)) = (&mut self.next_burst, self.demand.burst) else { return };
        self.left_of_burst -= 1;
        if self.left_of_burst == 0 {
            *at += burst.every;
            self.left_of_burst = burst.calls;
        }
    }
}

impl Iterator for Arrivals {
    type Item = Duration;

    fn next(&mut self) -> Option<Duration> {
        match (self.next_steady, self.next_burst) {
            (Some(steady), burst) if burst.is_none_or(|burst| steady <= burst) => {
                self.step_steady();
                Some(steady)
            }
            (_, burst) => {
                self.step_burst();
                burst
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MINUTE: Duration = Duration::from_secs(3);
    const BURST: Burst = Burst { calls: 3, first_after: Duration::from_millis(500), every: Duration::from_secs(2) };

    #[test]
    fn calls_of_a_burst_come_together_and_bursts_by_their_period() {
        let arrivals = Arrivals::of(Demand { steady_per_minute: 0.0, burst: Some(BURST) }, MINUTE, 1);
        let millis: Vec<_> = arrivals.take(7).map(|at| at.as_millis()).collect();
        assert_eq!(millis, [500, 500, 500, 2_500, 2_500, 2_500, 4_500]);
    }

    #[test]
    fn steady_calls_come_as_often_as_asked_and_all_are_in_order() {
        let demand = Demand { steady_per_minute: 60.0, burst: Some(BURST) };
        let moments: Vec<_> = Arrivals::of(demand, MINUTE, 1).take_while(|at| *at < MINUTE * 100).collect();
        assert!(moments.is_sorted());
        let steady = moments.len() as f64 - 3.0 * MINUTE.as_secs_f64() * 100.0 / 2.0;
        assert!((steady / 6_000.0 - 1.0).abs() < 0.05, "{steady}");
    }

    #[test]
    fn the_same_seed_brings_the_same_calls_and_another_brings_others() {
        let first = |seed| Arrivals::of(Demand { steady_per_minute: 60.0, burst: None }, MINUTE, seed).next();
        assert_eq!(first(1), first(1));
        assert_ne!(first(1), first(2));
    }
}
