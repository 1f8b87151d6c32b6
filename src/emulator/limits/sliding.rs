//! The sliding window: a log of what was taken.
//!
//! The strictest of the three: no span of one window's length holds more than the quota, wherever it begins.

use std::collections::VecDeque;
use std::time::Duration;

use crate::core::moment::Moment;

/// The most entries of a log; when there would be more, two become one that leaves with the later of them.
const MOST_ENTRIES: usize = 1 << 20;

/// At most `amount` in any span of `window`.
#[derive(Clone, Debug)]
pub(super) struct Sliding {
    amount: u64,
    window: Duration,
    log: VecDeque<(Moment, u64)>,
    used: u64,
}

impl Sliding {
    /// An empty log.
    pub(super) fn unused(amount: u64, window: Duration) -> Self {
        Self { amount, window, log: VecDeque::new(), used: 0 }
    }

    /// How long until enough of the log has left the window for `need` to fit.
    pub(super) fn wait(&mut self, now: Moment, need: u64) -> Duration {
        self.forget(now);
        let mut excess = self.used.saturating_add(need).saturating_sub(self.amount);
        let mut wait = Duration::ZERO;
        for &(at, taken) in &self.log {
            if excess == 0 {
                break;
            }
            excess = excess.saturating_sub(taken);
            wait = now.until(at.after(self.window));
        }
        wait
    }

    /// Takes `need`, whether it fits or not.
    pub(super) fn take(&mut self, now: Moment, need: u64) {
        self.forget(now);
        if need == 0 {
            return;
        }
        match self.log.back_mut() {
            Some((at, taken)) if *at >= now => *taken = taken.saturating_add(need),
            _ => self.log.push_back((now, need)),
        }
        if self.log.len() > MOST_ENTRIES {
            self.coarsen();
        }
        self.used = self.used.saturating_add(need);
        // What is older than a whole quota's worth decides nothing any more: the log stays as short as the quota, however
        // many refused requests are counted.
        while let Some(&(_, oldest)) = self.log.front() {
            if self.log.len() < 2 || self.used.saturating_sub(oldest) < self.amount {
                break;
            }
            self.log.pop_front();
            self.used -= oldest;
        }
    }

    /// How much fits at `now`.
    pub(super) fn remaining(&mut self, now: Moment) -> u64 {
        self.forget(now);
        self.amount.saturating_sub(self.used)
    }

    /// How long until the log is empty.
    pub(super) fn replenished(&mut self, now: Moment) -> Duration {
        self.forget(now);
        self.log.back().map_or(Duration::ZERO, |&(at, _)| now.until(at.after(self.window)))
    }

    /// The same log under other settings.
    pub(super) fn resized(&self, mut other: Self) -> Self {
        (other.log, other.used) = (self.log.clone(), self.used);
        other
    }

    /// Makes two entries one: what was taken first is freed a little late, and never too early.
    fn coarsen(&mut self) {
        let entries = self.log.make_contiguous();
        let pair = |pair: &[(Moment, u64)]| {
            let taken = pair.iter().fold(0, |sum: u64, (_, taken)| sum.saturating_add(*taken));
            pair.last().map(|(at, _)| (*at, taken))
        };
        self.log = entries.chunks(2).filter_map(pair).collect();
    }

    /// Drops what has left the window.
    fn forget(&mut self, now: Moment) {
        while let Some(&(at, taken)) = self.log.front() {
            if at.after(self.window) > now {
                break;
            }
            self.log.pop_front();
            self.used = self.used.saturating_sub(taken);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MINUTE: Duration = Duration::from_secs(60);

    fn at(seconds: u64) -> Moment {
        Moment::since_start(Duration::from_secs(seconds))
    }

    #[test]
    fn each_request_frees_its_place_one_window_later() {
        let mut window = Sliding::unused(2, MINUTE);
        window.take(at(0), 1);
        window.take(at(10), 1);
        assert_eq!(window.wait(at(20), 1), Duration::from_secs(40));
        assert_eq!(window.wait(at(20), 2), Duration::from_secs(50));
        assert_eq!(window.replenished(at(20)), Duration::from_secs(50));
        assert!(window.wait(at(60), 1).is_zero());
        assert_eq!(window.wait(at(60), 2), Duration::from_secs(10));
    }

    #[test]
    fn a_log_of_millions_is_coarser_and_still_keeps_the_quota() {
        let (amount, step) = (3 << 20, Duration::from_micros(1));
        let mut window = Sliding::unused(amount, MINUTE);
        (0..amount as u32).for_each(|number| window.take(Moment::since_start(step * number), 1));
        assert!(window.log.len() <= MOST_ENTRIES, "{}", window.log.len());
        let last = Moment::since_start(step * (amount as u32 - 1));
        assert_eq!((window.used, window.remaining(last)), (amount, 0));
        let freed_at = last.after(window.wait(last, 1));
        assert!((at(60)..=at(60).after(step * 16)).contains(&freed_at), "{freed_at:?}");
    }

    #[test]
    fn the_log_stays_as_short_as_the_quota_however_many_are_counted() {
        let mut window = Sliding::unused(5, MINUTE);
        for second in 0..50 {
            window.take(at(second), 1);
        }
        assert_eq!(window.log.len(), 5);
        assert_eq!(window.wait(at(50), 1), Duration::from_secs(55));
    }
}
