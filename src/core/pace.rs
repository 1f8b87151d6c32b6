//! Paced release: after a shut, calls come back one slot after another, as fast as what is known of the pool allows, until
//! nobody has to wait.
//!
//! | known of the limit | slots |
//! |---|---|
//! | it refills evenly | one per interval |
//! | it refills when its window ends | what a window grants, spread over 2 s; then none until the next window |
//! | nothing | four a second, twice as many each second |
//! | nothing but the rate at which it throttled | a little less, 4 % more each second |

use std::time::Duration;

use crate::core::dice::Dice;
use crate::core::moment::Moment;

/// What a window grants at once is released over this long: gradual, and over long before a minute is.
const SPREAD: Duration = Duration::from_secs(2);
/// The first slots of an unknown pool come at least this often: no provider takes four a second for a storm.
const SLOWEST_START: Duration = Duration::from_millis(250);
/// The rate of an unknown pool grows this often while nothing is throttled.
const FASTER_EACH: Duration = Duration::from_secs(1);
/// Two instants in one answer that differ by less are the same: both may be rounded to whole seconds.
pub(super) const SAME_INSTANT: Duration = Duration::from_millis(1_500);
/// Fewer slots than this say nothing of a rate.
const ENOUGH_TO_TELL: u32 = 4;
/// A pool that throttled is let back in at this part of the rate it throttled at, and tries this much more each second.
const BELOW_LEARNED: f64 = 0.9;
const GENTLY_FASTER: f64 = 1.04;
/// Timers tell no less apart.
const SHORTEST_STEP: Duration = Duration::from_millis(1);
/// Whoever waits takes a slot when it comes. One that nobody took for this long, and for another interval, means that
/// nobody waits.
const NOBODY_WAITS: Duration = Duration::from_secs(1);

/// How slots follow each other.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Plan {
    /// One per interval.
    Even { interval: Duration },
    /// So many in each window, near its beginning.
    Window { grant: u32, window: Duration },
    /// Ever faster.
    SlowStart { interval: Duration },
    /// A little faster each second, from a little below a rate that was too fast.
    Learned { interval: Duration },
}

impl Plan {
    /// The slow start of a pool of which at most the time one request is granted per is known.
    pub(super) fn slow_start(known_interval: Option<Duration>) -> Self {
        let interval = known_interval.map_or(SLOWEST_START, |known| known.min(SLOWEST_START));
        Self::SlowStart { interval: interval.max(SHORTEST_STEP) }
    }

    /// After a throttle at one request per `interval`.
    pub(super) fn learned(interval: Duration) -> Self {
        Self::Learned { interval: interval.div_f64(BELOW_LEARNED).max(SHORTEST_STEP) }
    }

    /// How far apart slots are while they come.
    fn step(&self) -> Duration {
        match *self {
            Self::Even { interval } | Self::SlowStart { interval } | Self::Learned { interval } => interval,
            Self::Window { grant, window } => SPREAD.min(window / 4) / grant.max(1),
        }
    }
}

/// The rate at which a paced pool throttled, as the time one request was served per.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum ThrottledAt {
    /// Told by many requests.
    Many(Duration),
    /// Told by few, and the shut before them.
    Few(Duration),
}

/// The slots of one pool.
#[derive(Clone, Debug)]
pub struct Pace {
    plan: Plan,
    start: Moment,
    next_slot: Moment,
    /// When the current window began, or the rate grew last.
    mark: Moment,
    /// Slots taken in the current window.
    taken: u32,
    /// When the current window ends, if an answer said that this is earlier than its length says.
    told_end: Option<Moment>,
    /// Slots taken in all.
    total: u32,
}

impl Pace {
    /// Slots from `start` on for a pool whose limit is unknown, but perhaps the time it grants one request per: a faster
    /// start than the slowest is taken from it.
    #[must_use]
    pub fn from(start: Moment, known_interval: Option<Duration>, dice: &mut impl Dice) -> Self {
        Self::new(start, Plan::slow_start(known_interval), dice)
    }

    pub(super) fn new(start: Moment, plan: Plan, dice: &mut impl Dice) -> Self {
        // Replicas that were told the same end do not start in the same instant.
        let next_slot = start.after(dice.within(plan.step()));
        Self { plan, start, next_slot, mark: start, taken: 0, told_end: None, total: 0 }
    }

    /// When the next slot is.
    #[must_use]
    pub const fn next_slot(&self) -> Moment {
        self.next_slot
    }

    /// How far apart slots are now; of a window, on the average.
    #[must_use]
    pub fn interval(&self) -> Duration {
        match self.plan {
            Plan::Window { grant, window } => window / grant.max(1),
            plan => plan.step(),
        }
    }

    /// Whether slots come evenly.
    pub(super) const fn is_even(&self) -> bool {
        matches!(self.plan, Plan::Even { .. })
    }

    /// When the current window should end, if slots come in windows.
    pub(super) fn window_ends(&self) -> Option<Moment> {
        match self.plan {
            Plan::Window { window, .. } => Some(self.mark.after(window)),
            _ => None,
        }
    }

    /// Hears from an answer that the current window ends at `ends`: believed if that is clearly sooner than its length says.
    /// Where a window slides, no answer says so.
    pub(super) fn window_told(&mut self, ends: Moment, now: Moment, dice: &mut impl Dice) {
        let Plan::Window { window, .. } = self.plan else { return };
        // Between two windows the mark is the beginning of the next.
        let between = self.mark > now;
        let expected = if between { self.mark } else { self.mark.after(window) };
        if ends <= now || ends.after(SAME_INSTANT) >= expected {
            return;
        }
        if between {
            self.mark = ends;
            self.next_slot = ends.after(dice.within(self.plan.step()));
        } else {
            self.told_end = Some(ends);
        }
    }

    /// Takes the next slot if it has come. Slots that nobody took are not saved up.
    pub fn take(&mut self, now: Moment, dice: &mut impl Dice) -> bool {
        self.speed_up(now);
        if now < self.next_slot {
            return false;
        }
        self.taken += 1;
        self.total = self.total.saturating_add(1);
        let step = self.plan.step();
        let on_time = match self.plan {
            Plan::Even { .. } => self.next_slot.after(step),
            // Uniform in (0.5, 1.5] of the step: the mean is the step, the pattern is none.
            Plan::SlowStart { .. } | Plan::Learned { .. } => self.next_slot.after(step / 2 + dice.within(step)),
            Plan::Window { grant, window } => {
                if self.taken >= grant {
                    // One step later each time: where a window slides, no slot comes before its forerunner has left it.
                    let ends = self.mark.after(window + step);
                    self.mark = self.told_end.take().map_or(ends, |told| told.min(ends)).max(now);
                    self.taken = 0;
                }
                // Within its own cell of an even grid: gaps are random, drift is none.
                self.mark.after(step * self.taken + dice.within(step))
            }
        };
        // A slot that is taken late does not move the next one, but no more than that one is made up for.
        self.next_slot = on_time.max(now.after(step / 2)).max(now.after(Duration::from_nanos(1)));
        true
    }

    /// Whether nobody has to wait any more.
    #[must_use]
    pub fn is_over(&mut self, now: Moment) -> bool {
        self.speed_up(now);
        now >= self.next_slot.after(self.plan.step().max(NOBODY_WAITS))
    }

    /// The rate the pool throttled at, when it throttles at `now`; `None` if nothing was served. Few requests say nothing
    /// of a rate by themselves: then the shut since `shut_at` that brought them counts too.
    pub(super) fn throttled_at(&self, shut_at: Moment, now: Moment) -> Option<ThrottledAt> {
        match self.total {
            0 | 1 => None,
            few @ 2..ENOUGH_TO_TELL => Some(ThrottledAt::Few(shut_at.until(now) / (few - 1))),
            total => Some(ThrottledAt::Many(self.start.until(now) / total)),
        }
    }

    fn speed_up(&mut self, now: Moment) {
        let (interval, factor) = match &mut self.plan {
            Plan::SlowStart { interval } => (interval, 2.0),
            Plan::Learned { interval } => (interval, GENTLY_FASTER),
            Plan::Even { .. } | Plan::Window { .. } => return,
        };
        while self.mark.after(FASTER_EACH) <= now && *interval > SHORTEST_STEP {
            *interval = interval.div_f64(factor).max(SHORTEST_STEP);
            self.mark = self.mark.after(FASTER_EACH);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::core::dice::SeededDice;

    fn at(seconds: f64) -> Moment {
        Moment::since_start(Duration::from_secs_f64(seconds))
    }

    /// The slots taken up to `until` by somebody who always waits, in seconds.
    fn slots(plan: Plan, until: f64) -> Vec<f64> {
        let mut dice = SeededDice::new(3);
        let mut pace = Pace::new(Moment::START, plan, &mut dice);
        let (mut now, mut taken) = (Moment::START, Vec::new());
        while now < at(until) {
            now = pace.next_slot();
            assert!(pace.take(now, &mut dice));
            taken.push(now.elapsed_since_start().as_secs_f64());
        }
        taken
    }

    #[test]
    fn slots_of_an_unknown_pool_come_twice_as_fast_each_second() {
        let mut per_second = [0u32; 5];
        for slot in slots(Plan::slow_start(None), 4.99) {
            per_second[(slot as usize).min(4)] += 1;
        }
        for (second, slots) in per_second.iter().enumerate() {
            let expected = 4.0 * f64::from(1u32 << second);
            assert!((f64::from(*slots) / expected - 1.0).abs() < 0.45, "second {second}: {slots} slots");
        }
    }

    #[test]
    fn slots_of_a_bucket_are_one_interval_apart() {
        let slots = slots(Plan::Even { interval: Duration::from_millis(300) }, 30.0);
        assert!(slots.windows(2).all(|pair| (pair[1] - pair[0] - 0.3).abs() < 1e-6), "{slots:?}");
    }

    #[test]
    fn a_window_grants_its_amount_near_its_beginning_and_never_more() {
        let window = 60.0;
        let slots = slots(Plan::Window { grant: 20, window: Duration::from_secs(60) }, 200.0);
        assert_eq!(slots.iter().filter(|slot| **slot < 3.0).count(), 20);
        assert_eq!(slots.iter().filter(|slot| (3.0..window).contains(*slot)).count(), 0);
        // Where the window slides, too: no 21 of them in any 60 s.
        assert!(slots.windows(21).all(|slots| slots[20] - slots[0] >= window), "{slots:?}");
    }

    #[test]
    fn unused_slots_are_not_saved_up() {
        let mut dice = SeededDice::new(3);
        let mut pace = Pace::from(Moment::START, None, &mut dice);
        assert!(pace.take(at(0.9), &mut dice));
        assert!(!pace.take(at(0.9), &mut dice));
    }

    #[test]
    fn pacing_is_over_when_a_slot_stays_untaken() {
        let mut dice = SeededDice::new(3);
        let mut pace = Pace::new(Moment::START, Plan::Even { interval: Duration::from_secs(3) }, &mut dice);
        let next = pace.next_slot();
        assert!(!pace.is_over(next.after(Duration::from_millis(2_900))));
        assert!(pace.is_over(next.after(Duration::from_millis(3_100))));
    }
}
