//! Paced release: after a shut, calls come back one slot after another, as fast as what is known of the pool allows.

use std::time::Duration;

use crate::core::dice::Dice;
use crate::core::moment::Moment;

/// What a window grants at once is released over this long, evenly: gradual, and over before the window is.
const SPREAD: Duration = Duration::from_secs(2);
/// Slots of an unknown pool come at least this often at first: four a second, which no provider takes for a storm.
const SLOWEST_START: Duration = Duration::from_millis(250);
/// The rate of an unknown pool doubles this often while nothing is throttled (slow start).
const DOUBLING: Duration = Duration::from_secs(1);
/// Faster than this, waiting for slots costs more than it spares.
const FLOWING_BELOW: Duration = Duration::from_millis(2);
/// Slots that nobody took for this long mean that nobody has to wait.
const IDLE: Duration = Duration::from_secs(10);

/// How slots follow each other.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Plan {
    /// The limit refills evenly: one slot per interval.
    Even { interval: Duration },
    /// The limit refills at once when its window ends: so many slots per window.
    Window { grant: u32, window: Duration },
    /// Nothing is known: ever faster.
    SlowStart { interval: Duration },
}

/// The slots of one pool.
#[derive(Clone, Debug)]
pub struct Pace {
    plan: Plan,
    next_slot: Moment,
    /// When the current window began, or the rate doubles next.
    mark: Moment,
    /// Slots taken in the current window.
    taken: u32,
}

impl Pace {
    /// Slots from `start` on.
    pub(super) fn new(start: Moment, plan: Plan, dice: &mut impl Dice) -> Self {
        let first = match plan {
            Plan::Even { interval, .. } | Plan::SlowStart { interval } => interval,
            Plan::Window { grant, .. } => SPREAD / grant.max(1),
        };
        // Replicas that were told the same end do not start in the same instant.
        let next_slot = start.after(dice.within(first));
        Self { plan, next_slot, mark: start, taken: 0 }
    }

    /// The slow start of an unknown pool.
    pub(super) fn slow_start() -> Plan {
        Plan::SlowStart { interval: SLOWEST_START }
    }

    /// When the next slot is.
    #[must_use]
    pub const fn next_slot(&self) -> Moment {
        self.next_slot
    }

    /// How far apart slots are now.
    #[must_use]
    pub fn interval(&self) -> Duration {
        match self.plan {
            Plan::Even { interval, .. } | Plan::SlowStart { interval } => interval,
            Plan::Window { grant, window } => window / grant.max(1),
        }
    }

    /// Takes the next slot if it has come.
    pub fn take(&mut self, now: Moment, dice: &mut impl Dice) -> bool {
        self.catch_up(now);
        if now < self.next_slot {
            return false;
        }
        self.taken += 1;
        self.next_slot = match self.plan {
            Plan::Even { interval } => self.next_slot.after(interval).max(now.after(interval / 2)),
            Plan::SlowStart { interval } => {
                // Uniform in (0.5, 1.5] of the interval: the mean is the interval, the pattern is none.
                self.next_slot.after(interval / 2 + dice.within(interval)).max(now.after(interval / 2))
            }
            Plan::Window { grant, window } if self.taken >= grant => {
                // One cell later each time: where a window slides, no slot comes before its forerunner has left it.
                let cell = SPREAD / grant.max(1);
                self.mark = self.mark.after(window + cell);
                self.taken = 0;
                self.mark.after(dice.within(cell))
            }
            Plan::Window { grant, .. } => {
                let cell = SPREAD / grant.max(1);
                // Within its own cell of an even grid: gaps are random, drift is none.
                self.mark.after(cell * self.taken + dice.within(cell)).max(now)
            }
        };
        true
    }

    /// When the current window should end, if slots come in windows.
    pub(super) fn window_ends(&self) -> Option<Moment> {
        match self.plan {
            Plan::Window { window, .. } => Some(self.mark.after(window)),
            _ => None,
        }
    }

    /// Whether nobody needs to wait any more.
    #[must_use]
    pub fn is_over(&mut self, now: Moment) -> bool {
        self.catch_up(now);
        match self.plan {
            Plan::SlowStart { interval } => interval <= FLOWING_BELOW,
            _ => now >= self.next_slot.after(IDLE),
        }
    }

    fn catch_up(&mut self, now: Moment) {
        if let Plan::SlowStart { interval } = &mut self.plan {
            while self.mark.after(DOUBLING) <= now && *interval > FLOWING_BELOW {
                *interval /= 2;
                self.mark = self.mark.after(DOUBLING);
            }
        }
    }
}
