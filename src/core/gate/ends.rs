//! When a shut ends, as one throttle says it or as it is guessed.
//!
//! | class | stated | not stated |
//! |---|---|---|
//! | `request_rate`, `token_throughput`, `unknown` | the floor to 1 h | 1 s, doubling with each strike, to 60 s, and not past the minute in which it was used up; or when what was learned says |
//! | `overload` | the floor to 1 h | 1 s, doubling with each strike, to 30 s |
//! | `daily` | the floor to 26 h | 26 h, as told |
//! | `spend` | the floor to 1 h | 1 h, as told |
//!
//! The floor is the provider table's: a bucket states the time until its *next* request, milliseconds at a large quota, and
//! reopening for everybody then would be a storm.

use std::time::Duration;

use crate::core::gate::{LONGEST_DAILY, longest_shut};
use crate::core::merge::{End, Shut};
use crate::core::moment::Moment;
use crate::core::signal::{LimitClass, Signal};

/// A spend limit whose end nobody stated is looked at again after this.
const ASSUMED_SPEND: Duration = Duration::from_secs(3_600);
/// Guessed ends grow from the floor up to this; one window of the usual per-minute limits.
const LONGEST_GUESS: Duration = Duration::from_secs(60);
/// Overload passes sooner than a window.
const LONGEST_OVERLOAD_GUESS: Duration = Duration::from_secs(30);
/// The shortest guess, where the provider's floor is less.
const SHORTEST_GUESS: Duration = Duration::from_secs(1);

/// What a guess goes by.
#[derive(Clone, Copy, Debug)]
pub(super) struct Guess {
    /// The least time a throttle shuts a pool.
    pub(super) floor: Duration,
    /// Throttled rounds in a row, this one among them.
    pub(super) strikes: u32,
    /// When the limit serves again, by what was learned of it.
    pub(super) learned: Option<Moment>,
    /// When the limit was used up, after it had served something.
    pub(super) used_up: Option<Moment>,
}

impl Guess {
    /// The news one throttle is, on its own.
    pub(super) fn news(&self, signal: &Signal, now: Moment) -> Shut {
        let class = signal.class;
        let stated = signal.stated.map(|stated| stated.delay.max(self.floor));
        let (wait, end) = match (class, stated) {
            (_, Some(stated)) => (stated.min(longest_shut(class)), End::Stated),
            (LimitClass::Daily, None) => (LONGEST_DAILY, End::Assumed),
            (LimitClass::Spend, None) => (ASSUMED_SPEND, End::Assumed),
            (LimitClass::Overload, None) => (self.doubled().min(LONGEST_OVERLOAD_GUESS), End::Guessed),
            (_, None) => {
                let learned = self.learned.map_or(Duration::ZERO, |again| now.until(again));
                let wait = self.doubled().max(learned).min(LONGEST_GUESS);
                // Nearly all limits are per minute: a guess that reaches over the end of one ends there.
                let minute = self.used_up.map_or(Duration::ZERO, |used_up| now.until(used_up.after(LONGEST_GUESS)));
                let ends_with_it = learned.is_zero() && wait / 2 < minute && minute < wait;
                (if ends_with_it { minute } else { wait }, End::Guessed)
            }
        };
        Shut { until: now.after(wait), class, end }
    }

    /// Twice as long with each strike.
    fn doubled(&self) -> Duration {
        let first = self.floor.max(SHORTEST_GUESS);
        let doublings = self.strikes.saturating_sub(1).min(16);
        first.saturating_mul(1 << doublings)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_guess_ends_with_the_minute_in_which_the_limit_was_used_up() {
        let seconds = |since, strikes| {
            let now = Moment::since_start(Duration::from_secs(since));
            let guess = Guess { floor: SHORTEST_GUESS, strikes, learned: None, used_up: Some(Moment::START) };
            now.until(guess.news(&Signal::throttle(LimitClass::Unknown), now).until).as_secs()
        };
        assert_eq!(seconds(15, 5), 16);
        assert_eq!(seconds(31, 6), 29, "not 32, 3 s into the next minute");
        assert_eq!(seconds(50, 6), 32, "less than half of what was guessed is no wait");
        assert_eq!(seconds(61, 7), 60);
    }
}
