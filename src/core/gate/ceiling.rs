//! How many requests may be under way, learned from throttles that say there were too many.
//!
//! A throttle of this kind tells exactly one thing: with so many others under way this one was too much. So that is how many
//! there may be, and as those of one burst come back one after another the last tells the limit itself. Others may use
//! the same limit, and leave: now and then one more is tried; rarer and rarer while that is in vain.

use std::time::Duration;

use crate::core::moment::Moment;

/// One more is tried this long after a throttle.
const GROWS_AFTER: Duration = Duration::from_secs(5);
/// Where that was in vain it is tried half as often, down to this.
const GROWS_AT_LEAST_EACH: Duration = Duration::from_secs(320);
/// A limit that held nobody for this long is forgotten.
const FORGOTTEN_AFTER: Duration = Duration::from_secs(300);

/// A learned limit on requests under way.
#[derive(Clone, Debug)]
pub(super) struct Ceiling {
    /// So many may be under way.
    most: u32,
    /// When one more is tried.
    grows_at: Moment,
    /// How long after the last change that is.
    grows_each: Duration,
    /// Whether the last change was one more.
    grew: bool,
    /// When it was last lowered: what was sent before says nothing new of a try.
    lowered_at: Moment,
    /// When it last held somebody.
    held_at: Moment,
}

impl Ceiling {
    /// Learned from a throttle with so many others under way.
    pub(super) fn with(others: u32, now: Moment) -> Self {
        Self {
            most: others.max(1),
            grows_at: now.after(GROWS_AFTER),
            grows_each: GROWS_AFTER,
            grew: false,
            lowered_at: now,
            held_at: now,
        }
    }

    /// So many may be under way.
    pub(super) const fn most(&self) -> u32 {
        self.most
    }

    /// When one more may go although none comes back.
    pub(super) const fn grows_at(&self) -> Moment {
        self.grows_at
    }

    /// Hears of a throttle of a request sent at `sent`, with so many others under way.
    pub(super) fn throttled(&mut self, sent: Moment, others: u32, now: Moment) {
        // Those of one burst come back one after another: fewer are under way with each.
        self.most = self.most.min(others.max(1));
        self.held_at = now;
        if sent < self.lowered_at {
            return;
        }
        if std::mem::take(&mut self.grew) {
            self.grows_each = (self.grows_each * 2).min(GROWS_AT_LEAST_EACH);
        }
        self.lowered_at = now;
        self.grows_at = now.after(self.grows_each);
    }

    /// Whether one more request has to wait while so many are under way.
    pub(super) fn holds(&mut self, in_flight: u32, now: Moment) -> bool {
        if in_flight < self.most {
            return false;
        }
        self.held_at = now;
        if now < self.grows_at {
            return true;
        }
        if std::mem::replace(&mut self.grew, true) {
            // The last one more went well.
            self.grows_each = GROWS_AFTER;
        }
        self.most = self.most.saturating_add(1);
        self.grows_at = now.after(self.grows_each);
        in_flight >= self.most
    }

    /// Whether it has held nobody for long.
    pub(super) fn is_over(&self, now: Moment) -> bool {
        now >= self.held_at.after(FORGOTTEN_AFTER)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(seconds: f64) -> Moment {
        Moment::since_start(Duration::from_secs_f64(seconds))
    }

    #[test]
    fn the_last_throttle_of_a_burst_tells_the_limit_itself() {
        let mut ceiling = Ceiling::with(99, at(0.1));
        for others in (3..99).rev() {
            ceiling.throttled(at(0.0), others, at(0.1));
        }
        assert_eq!(ceiling.most(), 3);
        assert!(!ceiling.holds(2, at(1.0)) && ceiling.holds(3, at(1.0)));
    }

    #[test]
    fn one_more_is_tried_and_rarer_each_time_it_is_in_vain() {
        let (mut ceiling, mut now, mut tries) = (Ceiling::with(3, at(0.0)), 0.0, Vec::new());
        while tries.len() < 4 {
            now += 0.5;
            if !ceiling.holds(3, at(now)) {
                tries.push(now);
                ceiling.throttled(at(now), 3, at(now));
            }
        }
        assert_eq!(tries, [5.0, 15.0, 35.0, 75.0]);
    }

    #[test]
    fn a_raised_limit_is_found_one_by_one() {
        let mut ceiling = Ceiling::with(3, at(0.0));
        let mut in_flight = 3;
        for half_seconds in 1..=40 {
            while !ceiling.holds(in_flight, at(f64::from(half_seconds) / 2.0)) {
                in_flight += 1;
            }
        }
        assert_eq!((ceiling.most(), in_flight), (7, 7));
    }

    #[test]
    fn a_limit_of_nothing_lets_one_through() {
        assert_eq!(Ceiling::with(0, at(0.0)).most(), 1);
    }

    #[test]
    fn what_held_nobody_for_five_minutes_is_forgotten() {
        let mut ceiling = Ceiling::with(3, at(0.0));
        assert!(ceiling.holds(3, at(1.0)));
        assert!(!ceiling.is_over(at(300.0)));
        assert!(ceiling.is_over(at(301.0)));
    }
}
