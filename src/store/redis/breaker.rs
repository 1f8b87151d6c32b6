//! When a store is not relied on, and when it is asked again.
//!
//! | what went wrong | relied on no more after | asked again after |
//! |---|---|---|
//! | answered too late | 5 in 10 s | 1 s, then 2 s |
//! | could not be reached | the first | 1 s, then 2 s |
//! | refused what it was asked | the first | 30 s |
//! | its news stopped coming | the first | 1 s, then 2 s |
//!
//! It is asked that often so that all know of it within 3 s when it is back, and it costs one connection a replica.
//! A refusal is a setting that somebody has to change; only a server that may not write is asked again as one that is away,
//! since another has taken over from it. Half of each wait is jittered, so that replicas do not come back together.
//! Transitions are answered once, whatever number of calls meets the same outage.

use std::time::Duration;

use crate::core::dice::Dice;
use crate::core::moment::Moment;
use crate::event::words::DegradedReason;

const SLOW_ALLOWED: usize = 5;
const SLOW_WITHIN: Duration = Duration::from_secs(10);
const FIRST_WAIT: Duration = Duration::from_secs(1);
const LONGEST_WAIT: Duration = Duration::from_secs(2);
/// All replicas find it again within this.
pub(super) const FOUND_WITHIN: Duration = Duration::from_secs(3);
const WAIT_AFTER_REFUSAL: Duration = Duration::from_secs(30);

/// Whether the store is relied on.
#[derive(Clone, Debug, Default)]
pub(super) struct Breaker {
    /// When the last answers that came too late were given up.
    slow: [Option<Moment>; SLOW_ALLOWED],
    open: Option<Open>,
    /// Whether it was ever reached.
    met: bool,
    /// When all replicas have found it again, after it was away.
    settles_at: Moment,
}

#[derive(Clone, Copy, Debug)]
struct Open {
    reason: DegradedReason,
    since: Moment,
    again_at: Moment,
    wait: Duration,
}

/// What everybody should be told.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Transition {
    /// Not relied on from now.
    Degraded(DegradedReason),
    /// It was away, and now refuses: that is for somebody to mend.
    Refuses,
    /// Relied on again, after so long.
    Recovered(Duration),
}

impl Breaker {
    /// Whether it is relied on.
    pub(super) fn is_up(&self) -> bool {
        self.open.is_none() && self.met
    }

    /// Whether it is relied on, and by all replicas: each finds it again within [`FOUND_WITHIN`]. What they share of it begins
    /// then, so that nobody takes from the whole while others still go on with their parts.
    pub(super) fn is_settled(&self, now: Moment) -> bool {
        self.is_up() && now >= self.settles_at
    }

    /// Whether it was away, and some may not have found it again.
    pub(super) fn awaits_others(&self, now: Moment) -> bool {
        self.open.is_some() || now < self.settles_at
    }

    /// Hears when those begin who found it again together with this replica.
    pub(super) fn begins_with_others(&mut self, at: Moment) {
        self.settles_at = at;
    }

    /// Whether it is not relied on since it refuses.
    pub(super) fn refuses(&self) -> bool {
        self.open.is_some_and(|open| open.reason == DegradedReason::Rejected)
    }

    /// Whether it may be asked now; if not, when.
    pub(super) fn may_ask(&self, now: Moment) -> Result<(), Moment> {
        match self.open {
            Some(open) if now < open.again_at => Err(open.again_at),
            _ => Ok(()),
        }
    }

    /// It answered what it was asked at `asked_at`. One that refused has to take something it is told (`wrote`): a server
    /// without memory, or one that may not write, answers whoever reads. And it has to be told after it refused: what was on
    /// its way then says nothing of now.
    pub(super) fn answered(&mut self, wrote: bool, asked_at: Moment, now: Moment) -> Option<Transition> {
        self.met = true;
        let heals = |open: &mut Open| open.reason != DegradedReason::Rejected || (wrote && asked_at >= open.since);
        let open = self.open.take_if(heals)?;
        self.slow = [None; SLOW_ALLOWED];
        self.settles_at = now.after(FOUND_WITHIN);
        Some(Transition::Recovered(open.since.until(now)))
    }

    /// It failed, or refuses. `fails_over`: it may not write, since another has taken over: nobody has to change anything.
    pub(super) fn failed(
        &mut self,
        reason: DegradedReason,
        fails_over: bool,
        now: Moment,
        dice: &mut impl Dice,
    ) -> Option<Transition> {
        let refusal = reason == DegradedReason::Rejected;
        if let Some(open) = &mut self.open {
            let longer = (open.wait * 2).min(LONGEST_WAIT);
            open.wait = if refusal && !fails_over { WAIT_AFTER_REFUSAL } else { longer };
            open.again_at = now.after(jittered(open.wait, dice));
            let before = std::mem::replace(&mut open.reason, reason);
            return (refusal && before != reason).then_some(Transition::Refuses);
        }
        if reason == DegradedReason::Slow {
            self.slow.rotate_left(1);
            self.slow[SLOW_ALLOWED - 1] = Some(now);
            if self.slow[0].is_none_or(|first| first.until(now) > SLOW_WITHIN) {
                return None;
            }
        }
        let wait = if refusal && !fails_over { WAIT_AFTER_REFUSAL } else { FIRST_WAIT };
        self.open = Some(Open { reason, since: now, again_at: now.after(jittered(wait, dice)), wait });
        let first_of_all = !self.met && matches!(reason, DegradedReason::Down | DegradedReason::Slow);
        Some(Transition::Degraded(if first_of_all { DegradedReason::Absent } else { reason }))
    }
}

/// Between half of `wait` and all of it.
pub(super) fn jittered(wait: Duration, dice: &mut impl Dice) -> Duration {
    let half = wait / 2;
    half + half.mul_f64(dice.roll() as f64 / u64::MAX as f64)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::core::dice::SeededDice;

    fn at(seconds: u64) -> Moment {
        Moment::since_start(Duration::from_secs(seconds))
    }

    fn met() -> Breaker {
        let mut breaker = Breaker::default();
        assert_eq!(breaker.answered(true, at(0), at(0)), None);
        breaker
    }

    #[test]
    fn an_outage_is_told_once_and_its_end_once() {
        let (mut breaker, dice) = (met(), &mut SeededDice::new(1));
        assert!(breaker.is_up());
        assert_eq!(
            breaker.failed(DegradedReason::Down, false, at(10), dice),
            Some(Transition::Degraded(DegradedReason::Down))
        );
        for second in 11..40 {
            assert_eq!(breaker.failed(DegradedReason::Down, false, at(second), dice), None);
        }
        assert!(!breaker.is_up());
        assert_eq!(breaker.answered(true, at(40), at(40)), Some(Transition::Recovered(Duration::from_secs(30))));
        assert_eq!(breaker.answered(true, at(41), at(41)), None);
        assert!(breaker.is_up() && !breaker.is_settled(at(42)) && breaker.is_settled(at(43)));
        breaker.begins_with_others(at(42));
        assert!(!breaker.is_settled(at(41)) && breaker.is_settled(at(42)), "another found it a second before");
        assert!(
            breaker.awaits_others(at(41)) && !breaker.awaits_others(at(42)) && !Breaker::default().awaits_others(at(0))
        );
    }

    #[test]
    fn one_that_was_away_and_then_refuses_is_told_of_and_one_that_may_not_write_is_asked_again_soon() {
        let (mut breaker, dice) = (met(), &mut SeededDice::new(1));
        breaker.failed(DegradedReason::Down, false, at(0), dice).expect("an outage");
        assert_eq!(breaker.failed(DegradedReason::Rejected, false, at(1), dice), Some(Transition::Refuses));
        assert_eq!(breaker.failed(DegradedReason::Rejected, false, at(40), dice), None, "once");
        assert_eq!(breaker.answered(false, at(70), at(70)), None, "to read was never refused");
        assert_eq!(breaker.answered(true, at(71), at(71)), Some(Transition::Recovered(Duration::from_secs(71))));
        let mut breaker = met();
        breaker.failed(DegradedReason::Rejected, false, at(10), dice).expect("an outage");
        assert_eq!(breaker.answered(true, at(9), at(11)), None, "it was told before it refused");
        let mut breaker = met();
        breaker.failed(DegradedReason::Rejected, true, at(0), dice).expect("an outage");
        assert!(at(0).until(breaker.may_ask(at(0)).expect_err("not now")) <= Duration::from_secs(1));
    }

    #[test]
    fn one_slow_answer_is_no_outage_but_five_in_ten_seconds_are() {
        let (mut breaker, dice) = (met(), &mut SeededDice::new(1));
        for second in [0, 20, 21, 22, 23] {
            assert_eq!(breaker.failed(DegradedReason::Slow, false, at(second), dice), None, "{second}");
        }
        assert_eq!(
            breaker.failed(DegradedReason::Slow, false, at(24), dice),
            Some(Transition::Degraded(DegradedReason::Slow))
        );
    }

    #[test]
    fn it_is_asked_again_soon_and_then_every_two_seconds() {
        let (mut breaker, dice) = (met(), &mut SeededDice::new(7));
        let mut now = at(100);
        let mut waits = Vec::new();
        for _ in 0..8 {
            breaker.failed(DegradedReason::Down, false, now, dice);
            let again_at = breaker.may_ask(now).expect_err("not now");
            waits.push(now.until(again_at).as_secs_f64());
            now = again_at;
            assert_eq!(breaker.may_ask(now), Ok(()));
        }
        for (wait, most) in waits.iter().zip([1.0, 2.0, 2.0, 2.0, 2.0, 2.0, 2.0, 2.0]) {
            assert!((most / 2.0..=most).contains(wait), "{waits:?}");
        }
    }

    #[test]
    fn a_refusal_is_no_reason_to_ask_fast_and_an_absent_store_is_called_so() {
        let dice = &mut SeededDice::new(3);
        let mut breaker = met();
        breaker.failed(DegradedReason::Rejected, false, at(0), dice);
        assert!(at(0).until(breaker.may_ask(at(0)).expect_err("not now")) >= Duration::from_secs(15));
        let absent = Breaker::default().failed(DegradedReason::Down, false, at(0), dice);
        assert_eq!(absent, Some(Transition::Degraded(DegradedReason::Absent)));
    }
}
