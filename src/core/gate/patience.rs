//! How long attempts take, and so how little time is too little to begin one.

use std::time::Duration;

use crate::core::moment::Moment;

/// How much the last attempt moves what is known: an eighth, as for round trips (RFC 6298).
const GAIN: u32 = 8;
/// And how far they spread: a quarter.
const GAIN_OF_SPREAD: u32 = 4;
/// In less than this not even a throttle is heard of: throttles answer fast.
const HEARS_NOTHING: Duration = Duration::from_millis(1_500);
/// No attempt is taken to last longer than this.
const LONGEST: Duration = Duration::from_secs(3_600);
/// Fewer attempts than this say nothing.
const ENOUGH: u32 = 8;

/// How long attempts that went well took lately.
#[derive(Clone, Copy, Debug)]
pub(super) struct Patience {
    usual: Duration,
    /// How far they lie from it, on the average.
    spread: Duration,
    seen: u32,
}

impl Patience {
    pub(super) const fn new() -> Self {
        Self { usual: Duration::ZERO, spread: Duration::ZERO, seen: 0 }
    }

    /// Hears how long an attempt took that went well.
    pub(super) fn took(&mut self, time: Duration) {
        if self.seen == 0 {
            (self.usual, self.spread) = (time, time / 2);
        } else {
            let off = time.abs_diff(self.usual);
            self.spread = self.spread - self.spread / GAIN_OF_SPREAD + off / GAIN_OF_SPREAD;
            self.usual = self.usual - self.usual / GAIN + time / GAIN;
        }
        self.seen = self.seen.saturating_add(1);
    }

    /// Hears that an attempt was cut after this time: it would have taken longer, nobody knows how much. Without it only
    /// the short ones would be heard of, and calls would be let in with ever less time.
    pub(super) fn was_cut(&mut self, after: Duration) {
        self.took(after.max(self.usual).saturating_mul(2).min(LONGEST));
    }

    /// How long most attempts take, if enough were seen.
    pub(super) fn usual(&self) -> Option<Duration> {
        (self.seen >= ENOUGH).then(|| self.usual + self.spread)
    }

    /// How much time a call must have left to be worth an attempt, of what it had when it arrived: what most attempts take,
    /// but never more than half of what it was given. Where nothing is known, what it takes to hear even of a refusal.
    pub(super) fn least(&self, given: Duration) -> Duration {
        self.usual().map_or(HEARS_NOTHING.min(given / 8), |usual| usual.min(given / 2))
    }

    /// The last moment at which a call that arrived then, with this deadline, is worth an attempt.
    pub(super) fn latest(&self, arrived: Moment, deadline: Moment) -> Moment {
        let given = arrived.until(deadline);
        arrived.after(given.saturating_sub(self.least(given)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const S: Duration = Duration::from_secs(1);

    fn after(times: &[u64]) -> Patience {
        let mut patience = Patience::new();
        times.iter().for_each(|seconds| patience.took(S * *seconds as u32));
        patience
    }

    #[test]
    fn a_few_attempts_say_nothing() {
        assert_eq!(after(&[60; 7]).least(S * 1_000), HEARS_NOTHING);
        assert_eq!(after(&[]).least(S), S / 8);
    }

    #[test]
    fn a_call_needs_what_most_attempts_take_and_at_most_half_of_its_time() {
        let mut times = [1, 2, 3].repeat(20);
        times.push(2);
        let least = after(&times).least(S * 15);
        assert!((S * 2..S * 3).contains(&least), "{least:?}");
        assert_eq!(after(&[60; 30]).least(S * 15), Duration::from_millis(7_500));
    }

    #[test]
    fn attempts_that_were_cut_ask_for_more_time() {
        let mut patience = after(&[2; 30]);
        (0..10).for_each(|_| patience.was_cut(S * 2));
        assert!(patience.least(S * 60) > S * 4);
    }

    #[test]
    fn a_provider_that_never_answers_does_not_make_it_grow_without_end() {
        let mut patience = Patience::new();
        (0..10_000).for_each(|_| patience.was_cut(S * 15));
        assert!(patience.usual().is_some_and(|usual| usual <= LONGEST * 2), "{patience:?}");
    }

    #[test]
    fn a_call_has_to_begin_while_there_is_time_for_an_attempt() {
        let at = |seconds| Moment::since_start(S * seconds);
        let latest = after(&[4; 60]).latest(at(100), at(115));
        assert!(at(110) < latest && latest < at(112), "{latest:?}");
    }
}
