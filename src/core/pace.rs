//! Paced release: after a shut, calls come back one slot after another, ever faster, until nobody needs to wait.

use std::time::Duration;

use crate::core::dice::Dice;
use crate::core::moment::Moment;

/// The first slots after a shut come at least this often: four a second, which no provider takes for a storm.
const SLOWEST_START: Duration = Duration::from_millis(250);
/// The rate doubles this often while nothing is throttled (slow start).
const DOUBLING: Duration = Duration::from_secs(1);
/// Faster than this, waiting for slots costs more than it spares.
const FLOWING_BELOW: Duration = Duration::from_millis(2);

/// The slots of one pool.
#[derive(Clone, Debug)]
pub struct Pace {
    next_slot: Moment,
    interval: Duration,
    doubles_at: Moment,
}

impl Pace {
    /// Slots from `start` on. `known_interval` is what the pool's known limit grants one request per; a faster start than
    /// the slowest is taken from it.
    #[must_use]
    pub fn from(start: Moment, known_interval: Option<Duration>, dice: &mut impl Dice) -> Self {
        let interval = known_interval.map_or(SLOWEST_START, |known| known.min(SLOWEST_START)).max(FLOWING_BELOW);
        // Replicas that were told the same end do not start in the same instant.
        let next_slot = start.after(dice.within(interval));
        Self { next_slot, interval, doubles_at: next_slot.after(DOUBLING) }
    }

    /// When the next slot is.
    #[must_use]
    pub const fn next_slot(&self) -> Moment {
        self.next_slot
    }

    /// How far apart slots are now.
    #[must_use]
    pub const fn interval(&self) -> Duration {
        self.interval
    }

    /// Takes the next slot if it has come. Slots that nobody took are not saved up.
    pub fn take(&mut self, now: Moment, dice: &mut impl Dice) -> bool {
        self.speed_up(now);
        if now < self.next_slot {
            return false;
        }
        // Uniform in (0.5, 1.5] of the interval: the mean is the interval, the pattern is none.
        let step = self.interval / 2 + dice.within(self.interval);
        let on_time = self.next_slot.after(step);
        self.next_slot = if on_time > now { on_time } else { now.after(step) };
        true
    }

    /// Whether the pace has become so fast that the pool may flow.
    #[must_use]
    pub fn is_over(&mut self, now: Moment) -> bool {
        self.speed_up(now);
        self.interval <= FLOWING_BELOW
    }

    fn speed_up(&mut self, now: Moment) {
        while self.doubles_at <= now && self.interval > FLOWING_BELOW {
            self.interval /= 2;
            self.doubles_at = self.doubles_at.after(DOUBLING);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::core::dice::SeededDice;

    #[test]
    fn slots_come_one_by_one_and_twice_as_fast_each_second() {
        let mut dice = SeededDice::new(3);
        let mut pace = Pace::from(Moment::START, None, &mut dice);
        let mut per_second = [0u32; 5];
        let mut now = Moment::START;
        while now < Moment::since_start(Duration::from_secs(5)) {
            while pace.take(now, &mut dice) {
                per_second[now.elapsed_since_start().as_secs() as usize] += 1;
            }
            now = now.after(Duration::from_micros(500));
        }
        for (second, slots) in per_second.iter().enumerate() {
            let expected = 4.0 * f64::from(1u32 << second);
            assert!((f64::from(*slots) / expected - 1.0).abs() < 0.45, "second {second}: {slots} slots");
        }
    }

    #[test]
    fn unused_slots_are_not_saved_up() {
        let mut dice = SeededDice::new(3);
        let mut pace = Pace::from(Moment::START, None, &mut dice);
        let now = Moment::since_start(Duration::from_millis(900));
        assert!(pace.take(now, &mut dice));
        assert!(!pace.take(now, &mut dice));
    }
}
