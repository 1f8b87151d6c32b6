//! Paced release: after a shut, calls come back one slot after another, as fast as what is known of the pool allows, until
//! nobody has to wait.
//!
//! | known of the limit | slots |
//! |---|---|
//! | it refills evenly | one per interval |
//! | it refills when its window ends | what a window grants, spread over 2 s; then none until the next window |
//! | nothing | four a second, twice as many each second |
//! | nothing but the rate at which it served | a little less, up to 1.25 % more with each slot and 4 % each second |
//!
//! Where several processes draw on one limit each has its share of it, and answers that tell how much is left say when
//! others have stopped using theirs.

mod given;
pub(super) mod plan;
mod told;

use std::time::Duration;

use crate::core::dice::Dice;
use crate::core::moment::Moment;
use crate::core::pace::plan::{Plan, SHORTEST_STEP, SPREAD, WINDOWS_PER_TEST};

/// The rate of an unknown pool grows this often while nothing is throttled, or with each slot where they come slower.
const FASTER_EACH: Duration = Duration::from_secs(1);
/// Two instants in one answer that differ by less are the same: both may be rounded to whole seconds.
pub(super) const SAME_INSTANT: Duration = Duration::from_millis(1_500);
/// A learned rate grows by at most this with each slot, and by at most that each second.
const FASTER_PER_SLOT: f64 = 0.0125;
const FASTER_PER_SECOND: f64 = 0.04;
/// Without a throttle it grows twice as fast after so many slots, three times after as many again; and so by seconds.
const SLOTS_UNTIL_BOLDER: f64 = 16.0;
const SECONDS_UNTIL_BOLDER: f64 = 10.0;
/// So long after its beginning, or after it was extended, everybody has taken what they were to take of a window.
const SETTLED_AFTER: Duration = Duration::from_millis(2_500);
/// One of several processes whose answers take longer than that asks for more than its share, if that is so many or if
/// others left something of the last window: of what they leave it hears by not being refused.
const ENOUGH_TO_TEST: u32 = 10;
/// Slots that test a learned grant are so many times as far apart as those it has: what is refused is little.
const TEST_STEPS: u32 = 4;
/// Whoever waits takes a slot when it comes. One that nobody took for this long, and for another interval, means that
/// nobody waits.
pub(super) const NOBODY_WAITS: Duration = Duration::from_secs(1);

/// A timer rings up to a millisecond late, and a busy process or machine takes its slot later still: the slots of so long
/// are made up for. Without it nobody would leave at more than some hundreds a second. A bucket that holds a second's quota
/// has filled up by more in that time.
const LATE: Duration = Duration::from_millis(100);
/// A pool that is paced from the start saves up the slots of this long: a few calls together are no storm.
const SAVED_UP: Duration = Duration::from_secs(1);

/// The slots of one pool.
#[derive(Clone, Debug)]
pub struct Pace {
    plan: Plan,
    start: Moment,
    next_slot: Moment,
    /// When the current window began, or the rate grew last.
    mark: Moment,
    /// When the current window ends.
    ends: Moment,
    /// Slots taken in the current window.
    taken: u32,
    /// Slots there are in the current window.
    allowed: u32,
    /// Slots taken in all.
    total: u32,
    /// How long slots that nobody took are saved up; such a pace is never over.
    saves: Duration,
    /// Whether the plan is another process's, which knows more.
    agreed: bool,
    /// Whether the next slot is one of those that answers said are left in the current window.
    extends: bool,
    /// Whether an answer told of the current window.
    answered: bool,
    /// Whether something was left of the last window when all had taken their shares.
    others_leave: bool,
    /// The same of the current window, so far.
    leaves_now: bool,
    /// When the first of these was taken last, and how often one was.
    extended_at: Option<Moment>,
    extensions: u32,
    /// How many find out what nobody knows each by itself: each tries more so many times as seldom.
    one_of: u32,
}

impl Pace {
    /// Slots from `start` on for a pool whose limit is unknown, but perhaps the time it grants one request per: then the
    /// slow start begins there.
    #[must_use]
    pub fn from(start: Moment, known_interval: Option<Duration>, dice: &mut impl Dice) -> Self {
        Self::new(start, Plan::slow_start(known_interval), dice)
    }

    pub(super) fn new(start: Moment, plan: Plan, dice: &mut impl Dice) -> Self {
        // Replicas that were told the same end do not start in the same instant.
        let next_slot = start.after(dice.within(plan.first_within()));
        Self { next_slot, ..Self::with(start, plan) }
    }

    fn with(start: Moment, plan: Plan) -> Self {
        let mut pace = Self {
            plan,
            start,
            next_slot: start,
            mark: start,
            ends: Moment::NEVER,
            taken: 0,
            allowed: 0,
            total: 0,
            saves: Duration::ZERO,
            agreed: false,
            extends: false,
            answered: false,
            others_leave: false,
            leaves_now: false,
            extended_at: None,
            extensions: 0,
            one_of: 1,
        };
        pace.begin_window(start);
        pace
    }

    /// The pace of a pool that was not shut: the first slot is now, and slots of a second are saved up.
    pub(super) fn cold(start: Moment, plan: Plan) -> Self {
        Self { next_slot: start, saves: SAVED_UP, ..Self::with(start, plan) }
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
            Plan::Window { grant, window, .. } => window / grant.max(1),
            plan => plan.step(),
        }
    }

    /// Whether slots come evenly.
    pub(super) const fn is_even(&self) -> bool {
        matches!(self.plan, Plan::Even { .. })
    }

    /// How far apart slots are, if they come evenly, or nearly so.
    pub(super) const fn even_step(&self) -> Option<Duration> {
        match self.plan {
            Plan::Even { interval, .. } | Plan::Learned { interval, .. } => Some(interval),
            Plan::Window { .. } | Plan::SlowStart { .. } => None,
        }
    }

    /// When the first slot could be taken.
    pub(super) const fn start(&self) -> Moment {
        self.start
    }

    /// When the current window should end, if slots come in windows.
    pub(super) const fn window_ends(&self) -> Option<Moment> {
        match self.plan {
            Plan::Window { .. } => Some(self.ends),
            _ => None,
        }
    }

    /// Slots taken before `sent`, one of which it is itself: told by how far apart they are.
    pub(super) fn taken_before(&self, sent: Moment, now: Moment) -> u32 {
        let since = sent.until(now).as_nanos() / self.plan.step().max(SHORTEST_STEP).as_nanos();
        self.total.saturating_sub(1).saturating_sub(u32::try_from(since).unwrap_or(u32::MAX))
    }

    /// Slots taken in all.
    pub(super) const fn total(&self) -> u32 {
        self.total
    }

    /// How long until the turn of somebody with so many before them, if that can be told.
    pub(super) fn expected_wait(&self, ahead: usize, now: Moment) -> Option<Duration> {
        let ahead = u32::try_from(ahead).unwrap_or(u32::MAX);
        let first = now.until(self.next_slot);
        match self.plan {
            Plan::SlowStart { .. } => None,
            Plan::Even { interval, .. } | Plan::Learned { interval, .. } => {
                Some(first.saturating_add(interval.saturating_mul(ahead)))
            }
            Plan::Window { grant, window, .. } => {
                let left = if self.next_slot < self.ends { self.allowed.saturating_sub(self.taken) } else { 0 };
                let Some(later) = ahead.checked_sub(left) else { return Some(first + self.plan.step() * ahead) };
                Some(now.until(self.ends).saturating_add(window.saturating_mul(later / grant.max(1))))
            }
        }
    }

    /// Takes the next slot if it has come. Slots that nobody took are not saved up.
    pub fn take(&mut self, now: Moment, dice: &mut impl Dice) -> bool {
        self.speed_up(now);
        if now < self.next_slot {
            return false;
        }
        let step = self.plan.step();
        if self.next_slot >= self.ends {
            self.begin_window(self.ends.max(Moment::since_start(now.elapsed_since_start().saturating_sub(step))));
        }
        if std::mem::take(&mut self.extends) {
            self.extended_at = Some(now);
            self.extensions += 1;
        }
        self.taken = self.taken.saturating_add(1);
        self.total = self.total.saturating_add(1);
        let on_time = match &mut self.plan {
            Plan::Even { .. } => self.next_slot.after(step),
            // Uniform in (0.5, 1.5] of the step: the mean is the step, the pattern is none.
            Plan::SlowStart { .. } => self.next_slot.after(step / 2 + dice.within(step)),
            Plan::Learned { interval, fastest } => {
                // The longer nothing is throttled, the further off the rate may be.
                let slots = f64::from(self.total) / SLOTS_UNTIL_BOLDER;
                let seconds = self.start.until(now).as_secs_f64() / SECONDS_UNTIL_BOLDER;
                let faster =
                    (FASTER_PER_SLOT * (1.0 + slots)).min(FASTER_PER_SECOND * step.as_secs_f64() * (1.0 + seconds));
                *interval = interval.div_f64(1.0 + faster).max(*fastest);
                // Nearly even: a bucket of one has nothing for a slot that comes much too early.
                self.next_slot.after(step.mul_f64(0.95) + dice.within(step / 10))
            }
            Plan::Window { grant, shared, .. } => {
                let tests = *grant >= ENOUGH_TO_TEST || self.others_leave;
                if self.taken == *grant && *shared && tests {
                    let more = if self.others_leave { u32::MAX } else { *grant };
                    self.allowed = self.taken.saturating_add(more);
                    self.extends = true;
                    self.mark.after(SETTLED_AFTER + dice.within(SPREAD / 2))
                } else if self.taken >= self.allowed {
                    self.ends.after(dice.within(step))
                } else if self.taken >= *grant || self.extended_at.is_some() {
                    let gap = if *shared && self.answered {
                        step
                    } else {
                        // A grant that turns out too small may be much too small.
                        let doubles = !*shared || self.others_leave;
                        let doublings = if doubles { self.mark.after(SPREAD).until(now).as_secs() } else { 0 };
                        step * TEST_STEPS / (1 << doublings.min(16))
                    };
                    self.next_slot.after(gap.max(SHORTEST_STEP))
                } else {
                    // Within its own cell of an even grid: gaps are random, drift is none.
                    self.mark.after(step.saturating_mul(self.taken).saturating_add(dice.within(step)))
                }
            }
        };
        if !self.saves.is_zero() {
            // A slow pool saves nothing up: its limit may hold no more than one request.
            let saved = self.saves.saturating_sub(step);
            let earliest = now.after(step).elapsed_since_start().saturating_sub(saved);
            self.next_slot = on_time.max(Moment::since_start(earliest));
            return true;
        }
        // A slot that is taken late does not move the next one, but no more than that one is made up for; where many fall
        // into what a timer is late by, those.
        let earliest = match step / 2 {
            half if half < LATE => Moment::since_start(now.elapsed_since_start().saturating_sub(LATE)),
            half => now.after(half),
        };
        self.next_slot = on_time.max(earliest);
        true
    }

    /// Whether nobody has to wait any more.
    #[must_use]
    pub fn is_over(&mut self, now: Moment) -> bool {
        self.speed_up(now);
        self.saves.is_zero() && now >= self.next_slot.after(self.plan.step().max(NOBODY_WAITS))
    }

    fn begin_window(&mut self, begins: Moment) {
        let Plan::Window { grant, window, test_in, .. } = &mut self.plan else { return };
        if test_in.is_some() && self.taken > *grant {
            // It was tested to the window's end in vain.
            (*grant, *test_in) = (self.taken, Some(0));
        }
        // One step later each time: where a window slides, no slot comes before its forerunner has left it.
        let step = SPREAD.min(*window / 4) / (*grant).max(1);
        (self.mark, self.ends) = (begins, begins.after(*window + step));
        (self.taken, self.allowed) = (0, *grant);
        self.others_leave = std::mem::take(&mut self.leaves_now);
        (self.extends, self.answered, self.extended_at, self.extensions) = (false, false, None, 0);
        match test_in {
            Some(0) => {
                self.allowed = u32::MAX;
                *test_in = Some(WINDOWS_PER_TEST - 1);
            }
            Some(windows) => *windows -= 1,
            None => {}
        }
    }

    fn speed_up(&mut self, now: Moment) {
        let Plan::SlowStart { interval } = &mut self.plan else { return };
        while *interval > SHORTEST_STEP {
            let faster_at = self.mark.after(FASTER_EACH.max(*interval).saturating_mul(self.one_of));
            if faster_at > now {
                break;
            }
            self.mark = faster_at;
            *interval = interval.div_f64(2.0).max(SHORTEST_STEP);
        }
    }
}

#[cfg(test)]
#[path = "pace_tests.rs"]
mod tests;
