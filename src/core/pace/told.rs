//! What answers tell of a limit while calls come back.

use std::time::Duration;

use crate::core::dice::Dice;
use crate::core::moment::Moment;
use crate::core::pace::plan::{Plan, SPREAD};
use crate::core::pace::{Pace, SAME_INSTANT, SETTLED_AFTER};

/// How much an answer that tells of enough left, or of too little, changes the pace of one of several processes.
const BY_NEWS: f64 = 1.05;
/// Where a process hears of it less often than this, by more, up to so much.
const HEARD_OF_EACH: Duration = Duration::from_secs(3);
const BY_RARE_NEWS: f64 = 1.3;
/// With so many left in a bucket, requests of several processes that meet by chance are all served.
const ENOUGH_LEFT: u64 = 3;

impl Pace {
    /// Hears from an answer that the current window ends at `ends`: believed if that is clearly sooner than its length says.
    /// Where a window slides, no answer says so.
    pub(in crate::core) fn window_told(&mut self, ends: Moment, now: Moment, dice: &mut impl Dice) {
        if self.window_ends().is_none() || ends <= now || ends.after(SAME_INSTANT) >= self.ends {
            return;
        }
        let waits_for_next = self.next_slot >= self.ends;
        self.ends = ends;
        if waits_for_next {
            self.next_slot = ends.after(dice.within(self.plan.step()));
        }
    }

    /// Hears from an answer how much is left of the limit that several processes share, and how much a bucket `holds`.
    ///
    /// In a window, what is left after all have taken their shares belongs to those who still wait: each takes as large a
    /// part of it as it has of what was used. Where the limit refills evenly a few are to be left, so that requests that
    /// meet by chance are served; more than that means that others do not use their shares.
    pub(in crate::core) fn left_told(&mut self, left: u64, limit: u64, holds: u64, now: Moment, dice: &mut impl Dice) {
        match &mut self.plan {
            Plan::Window { .. } => self.extend_window(left, limit, now, dice),
            Plan::Even { interval, slowest, fastest } => {
                let enough = ENOUGH_LEFT.min(holds.saturating_sub(2)).max(1);
                let rare = interval.as_secs_f64() / HEARD_OF_EACH.as_secs_f64();
                let by_news = BY_NEWS.powf(rare.max(1.0)).min(BY_RARE_NEWS);
                let factor = if left < enough { by_news } else { by_news.recip() };
                *interval = interval.mul_f64(factor).clamp(*fastest, *slowest);
            }
            Plan::SlowStart { .. } | Plan::Learned { .. } => {}
        }
    }

    fn extend_window(&mut self, left: u64, limit: u64, now: Moment, dice: &mut impl Dice) {
        let used = limit.saturating_sub(left);
        self.answered = true;
        if now >= self.mark.after(SETTLED_AFTER) {
            self.leaves_now |= left > 0;
        }
        let waits_for_next = self.taken >= self.allowed && self.next_slot >= self.ends;
        if !waits_for_next && !self.extends {
            return;
        }
        let at = now.max(self.extended_at.unwrap_or(self.mark).after(SETTLED_AFTER));
        let step = self.plan.step();
        self.extends = left > 0 && used > 0 && at.after(SAME_INSTANT) < self.ends;
        if !self.extends {
            (self.allowed, self.next_slot) = (self.taken, self.ends.after(dice.within(step)));
            return;
        }
        // Each time twice as bold: those who have finished take no part any more.
        let part = left as f64 * f64::from(self.taken) / used as f64 * f64::from(1u32 << self.extensions.min(16));
        // Answers take long: the next would come too late to go by.
        let last = self.mark.until(now) > now.until(self.ends);
        let more = if last { left } else { left.min(part.ceil() as u64) };
        self.allowed = self.taken.saturating_add(u32::try_from(more).unwrap_or(u32::MAX));
        self.next_slot = at.after(dice.within(SPREAD / 2));
    }

    /// How calls come back by `plan` from `start` on, after they came back as this does and were throttled: the first of so
    /// many that were refused was sent at `refused`. Where windows follow each other it is known whether others left
    /// something of the last; where one `slides`, and is not over, a slot came a little before its forerunner left it: the
    /// others follow, as much later.
    pub(in crate::core) fn resumed(
        &self,
        refused: (Moment, u32),
        start: Moment,
        plan: Plan,
        slides: bool,
        dice: &mut impl Dice,
    ) -> Self {
        let new = Self::new(start, plan, dice);
        if !matches!((self.plan, plan), (Plan::Window { .. }, Plan::Window { .. })) {
            return new;
        }
        let new = Self { others_leave: self.leaves_now, ..new };
        if !slides || start.after(SAME_INSTANT) >= self.ends {
            return new;
        }
        let (refused_at, refused) = refused;
        let late = refused_at.until(start);
        let (mark, ends) = (self.mark.after(late), self.ends.after(late));
        Self { mark, ends, taken: self.taken.saturating_sub(refused), allowed: self.allowed, ..new }
    }

    /// Goes over to a window of which so much is left: what was sent since the pace began is taken of it. It ends when an
    /// answer `told`, unless that is one window after the last request was sent: a window that slides is whole then, and
    /// that says nothing of what is sent from now on.
    pub(in crate::core) fn windowed(
        &self,
        left: u64,
        told: Option<Moment>,
        now: Moment,
        plan: Plan,
        dice: &mut impl Dice,
    ) -> Self {
        let mut pace = Self::new(now, plan, dice);
        let left = u32::try_from(left).unwrap_or(u32::MAX);
        pace.allowed = pace.allowed.saturating_sub(self.total).min(left);
        if pace.allowed == 0 {
            pace.next_slot = pace.ends;
        }
        if let (Some(told), Plan::Window { window, .. }) = (told, plan) {
            let whole = self.next_slot.after(window).elapsed_since_start().saturating_sub(self.plan.step());
            if told.elapsed_since_start().abs_diff(whole) > SAME_INSTANT {
                pace.window_told(told, now, dice);
            }
        }
        pace
    }
}
