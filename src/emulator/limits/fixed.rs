//! The fixed window: a count that starts anew at each boundary.
//!
//! Two quotas' worth can pass within moments of each other, on either side of a boundary. Days are counted so, too.

use std::time::Duration;

use crate::core::moment::Moment;

/// At most `amount` between two boundaries.
#[derive(Clone, Debug)]
pub(super) struct Fixed {
    amount: u64,
    window: Duration,
    ends: Moment,
    used: u64,
}

impl Fixed {
    /// An unused window that ends at `ends`, and every `window` after.
    pub(super) fn ending(ends: Moment, amount: u64, window: Duration) -> Self {
        Self { amount, window, ends, used: 0 }
    }

    /// How long until `need` fits: nothing, or the rest of the window.
    pub(super) fn wait(&mut self, now: Moment, need: u64) -> Duration {
        self.turn(now);
        if self.used.saturating_add(need) <= self.amount { Duration::ZERO } else { now.until(self.ends) }
    }

    /// Takes `need`, whether it fits or not.
    pub(super) fn take(&mut self, now: Moment, need: u64) {
        self.turn(now);
        self.used = self.used.saturating_add(need);
    }

    /// How much this window still grants.
    pub(super) fn remaining(&mut self, now: Moment) -> u64 {
        self.turn(now);
        self.amount.saturating_sub(self.used)
    }

    /// How long until the next window.
    pub(super) fn replenished(&mut self, now: Moment) -> Duration {
        self.turn(now);
        now.until(self.ends)
    }

    /// Moves the next boundary.
    pub(super) fn ends_at(&mut self, ends: Moment) {
        self.ends = ends;
    }

    /// The same use under other settings; a window of another length starts anew.
    pub(super) fn resized(&self, mut other: Self) -> Self {
        if other.window == self.window {
            (other.ends, other.used) = (self.ends, self.used);
        }
        other
    }

    /// Begins the window that `now` lies in. Boundaries stay where they are, however long nobody asked.
    fn turn(&mut self, now: Moment) {
        if now < self.ends {
            return;
        }
        let (late, window) = (self.ends.until(now).as_nanos(), self.window.as_nanos());
        let windowed = Duration::from_nanos(u64::try_from(late % window).unwrap_or(0));
        self.ends = now.after(self.window - windowed);
        self.used = 0;
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
    fn boundaries_keep_their_phase_over_idle_windows() {
        let mut window = Fixed::ending(at(20), 1, MINUTE);
        window.take(at(5), 1);
        assert_eq!(window.wait(at(5), 1), Duration::from_secs(15));
        assert_eq!(window.replenished(at(20)), MINUTE);
        assert_eq!(window.replenished(at(1_000)), Duration::from_secs(40));
    }

    #[test]
    fn two_full_windows_fit_around_one_boundary() {
        let mut window = Fixed::ending(at(60), 10, MINUTE);
        window.take(at(59), 10);
        assert!(window.wait(at(60), 10).is_zero());
    }
}
