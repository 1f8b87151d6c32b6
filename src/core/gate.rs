//! The state machine of one pool: Flowing, Paced, or Shut.
//!
//! [`Gate::take`] must be called again at the moment it names, or when anything was reported; calling it more often is
//! harmless. Time that passes changes the state only inside these calls.
//!
//! Beside the three states a pool may have learned how many requests may be under way: that holds calls in any of them.
//!
//! | file | job |
//! |---|---|
//! | `admission` | what a call asks, and what it is answered |
//! | `outcomes`, `ends` | throttles and successes of its requests; when a shut ends |
//! | `hear` | news of other processes |
//! | `release`, `lesson`, `supply` | how calls come back, what that teaches of the limit, and what is known of it |
//! | `token_slots`, `ceiling`, `together` | slots that tokens take, how many may be under way, slots that processes share |
//! | `patience` | how long attempts take |

mod admission;
mod ceiling;
mod ends;
mod hear;
mod lesson;
mod outcomes;
mod patience;
mod release;
mod supply;
mod together;
mod token_slots;

use std::time::Duration;

use crate::core::dice::Dice;
use crate::core::estimate::Estimate;
pub use crate::core::gate::admission::{Admission, Ask, Hold, Look, Pass};
use crate::core::gate::ceiling::Ceiling;
use crate::core::gate::lesson::{Drought, Release};
use crate::core::gate::patience::Patience;
use crate::core::gate::supply::Supply;
pub use crate::core::gate::together::{Need, Slots};
use crate::core::gate::token_slots::TokenSlots;
use crate::core::merge::Shut;
use crate::core::moment::Moment;
use crate::core::pace::{NOBODY_WAITS, Pace};
use crate::core::signal::{LimitClass, TokenKind};

/// Nothing but a daily limit shuts a pool for longer, whoever says so: a hostile or mistaken "one year" must not outlive an
/// hour unprobed.
pub(crate) const LONGEST_SHUT: Duration = Duration::from_secs(3_600);
/// Daily limits may reach over a day and a time zone's change.
pub(crate) const LONGEST_DAILY: Duration = Duration::from_secs(26 * 3_600);
/// Strikes are forgotten after this long without a throttle.
pub(crate) const STRIKES_FADE_AFTER: Duration = Duration::from_secs(120);
/// No more processes draw on one limit, whoever counted them.
pub(crate) const MOST_REPLICAS: u32 = 100_000;
/// A shut longer than this is probed.
const PROBED_ABOVE: Duration = Duration::from_secs(60);
/// One probe each.
pub(crate) const PROBE_EVERY: Duration = Duration::from_secs(300);
/// Throttles answer fast, answers take up to minutes: a probe that was not throttled for this long is good.
pub(crate) const PROBE_GOOD_AFTER: Duration = Duration::from_millis(1_500);

/// The longest a limit of this class shuts a pool from now, whatever was stated.
pub(crate) const fn longest_shut(class: LimitClass) -> Duration {
    match class {
        LimitClass::Daily => LONGEST_DAILY,
        _ => LONGEST_SHUT,
    }
}

/// What the gate does with calls.
#[derive(Clone, Debug)]
enum State {
    Flowing,
    /// Calls come back after a shut for this class, or never had but this pace.
    Paced(Pace, LimitClass),
    Shut {
        shut: Shut,
        probe: Probe,
    },
}

/// Where a shut's probing stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Probe {
    /// Too short a shut to be probed.
    Never,
    /// The next may go at this moment.
    DueAt(Moment),
    /// One went at this moment and nothing has been heard of it.
    SentAt(Moment),
}

/// The state of one pool's gate.
#[derive(Clone, Debug)]
pub struct Gate {
    state: State,
    round: u32,
    strikes: u32,
    /// Strikes ever counted; wraps. Unlike `strikes` it is never set back.
    bursts: u32,
    /// A probe reopened the pool before its end, and nobody asked yet.
    reopened_early: bool,
    last_shut: Option<Moment>,
    last_throttle: Moment,
    floor: Duration,
    supply: Supply,
    tokens: TokenSlots,
    ceiling: Option<Ceiling>,
    patience: Patience,
    /// Whether calls are paced by the known limits even when nothing was throttled.
    cold: bool,
    drought: Option<Drought>,
    /// The last release that ended in a throttle; refusals of what it sent are still counted.
    release: Option<Release>,
    /// How calls came back until the pool shut.
    interrupted: Option<Pace>,
    /// The latest end that was stated since the pool last reopened: an assumed end may cover it for a while, not undo it.
    stated: Option<Shut>,
}

impl Gate {
    /// A flowing gate. `floor` is the least time a throttle shuts it (the provider table's).
    #[must_use]
    pub const fn new(floor: Duration) -> Self {
        Self {
            state: State::Flowing,
            round: 0,
            strikes: 0,
            bursts: 0,
            reopened_early: false,
            last_shut: None,
            last_throttle: Moment::START,
            floor,
            supply: Supply::new(),
            tokens: TokenSlots::new(),
            ceiling: None,
            patience: Patience::new(),
            cold: false,
            drought: None,
            release: None,
            interrupted: None,
            stated: None,
        }
    }

    /// What the pool is, or was last, shut for.
    #[must_use]
    pub const fn held_for(&self) -> LimitClass {
        match &self.state {
            State::Flowing => LimitClass::None,
            State::Paced(_, class) => *class,
            State::Shut { shut, .. } => shut.class,
        }
    }

    /// The current round.
    #[must_use]
    pub const fn round(&self) -> u32 {
        self.round
    }

    /// Throttled rounds in a row.
    #[must_use]
    pub const fn strikes(&self) -> u32 {
        self.strikes
    }

    /// Strikes ever counted here, wrapping: whether it moved tells a new burst from more of the same.
    #[must_use]
    pub const fn bursts(&self) -> u32 {
        self.bursts
    }

    /// Whether a probe reopened the pool before its end since this was last asked: news for others who hold it shut.
    #[must_use]
    pub const fn take_reopened_early(&mut self) -> bool {
        std::mem::replace(&mut self.reopened_early, false)
    }

    /// The state at `now`.
    #[must_use]
    pub fn look(&mut self, now: Moment, dice: &mut impl Dice) -> Look {
        self.catch_up(now, dice);
        match &self.state {
            State::Flowing => match &self.ceiling {
                // As many pass as come back.
                Some(ceiling) => Look::Paced(self.patience.usual().unwrap_or(PROBE_GOOD_AFTER) / ceiling.most()),
                None => Look::Flowing,
            },
            State::Paced(pace, _) => Look::Paced(pace.interval()),
            State::Shut { shut, .. } => Look::Shut(*shut),
        }
    }

    /// How many requests may be under way, if that was learned.
    #[must_use]
    pub fn in_flight_limit(&self) -> Option<u32> {
        self.ceiling.as_ref().map(Ceiling::most)
    }

    /// Hears how long a request took that was let in and went well.
    pub fn went_well(&mut self, took: Duration) {
        self.patience.took(took);
    }

    /// Hears that a request that was let in was cut after this time, by its call's deadline or timeout.
    pub fn was_cut(&mut self, after: Duration) {
        self.patience.was_cut(after);
    }

    /// The last moment at which a call that arrived then, with this deadline, is worth an attempt: after it there is less
    /// time left than most attempts take.
    #[must_use]
    pub fn latest_start(&self, arrived: Moment, deadline: Moment) -> Moment {
        self.patience.latest(arrived, deadline)
    }

    /// By how much the turn of a call with so many waiting before it comes after `latest`, if it does and that can be told.
    /// For the caller it is better to be refused now than then.
    #[must_use]
    pub fn comes_too_late_by(&self, ahead: usize, latest: Moment, now: Moment) -> Option<Duration> {
        let State::Paced(pace, _) = &self.state else { return None };
        let late = latest.until(now.after(pace.expected_wait(ahead, now)?));
        (!late.is_zero()).then_some(late)
    }

    /// Settles what a request that was let in with this estimate used of a side.
    pub fn settle(&mut self, estimate: Option<Estimate>, kind: TokenKind, used: u64, now: Moment) {
        if let State::Paced(pace, _) = &self.state {
            self.tokens.settle(now, estimate.unwrap_or_default(), kind, used, pace.window_ends().is_some());
        }
    }

    /// [`Gate::peek_for`] a call with nothing under way.
    pub fn peek(&mut self, now: Moment, dice: &mut impl Dice) -> Admission {
        self.peek_for(Ask::at(now), dice)
    }

    /// What a call that asks would be told, without taking a slot.
    pub fn peek_for(&mut self, ask: Ask, dice: &mut impl Dice) -> Admission {
        let now = ask.now;
        self.catch_up(now, dice);
        let hold = |ask_again, class| Admission::Hold(Hold { ask_again, class, shut: None });
        match &self.state {
            State::Shut { shut, probe } => {
                let ask_again = match *probe {
                    Probe::DueAt(due) if due <= now => return Admission::Pass(Pass { at: now, probe: true }),
                    Probe::DueAt(due) => due.min(shut.until),
                    Probe::SentAt(sent) => sent.after(PROBE_GOOD_AFTER).min(shut.until),
                    Probe::Never => shut.until,
                };
                return Admission::Hold(Hold { ask_again, class: shut.class, shut: Some(*shut) });
            }
            State::Paced(pace, class) => {
                let own = if ask.slots == Slots::Given { Moment::START } else { pace.next_slot() };
                let slot = own.max(self.tokens.next_slot());
                if now < slot {
                    return hold(slot, *class);
                }
            }
            State::Flowing => {}
        }
        if let Some(ceiling) = &mut self.ceiling
            && ceiling.holds(ask.in_flight, now)
        {
            return hold(ceiling.grows_at(), LimitClass::Concurrency);
        }
        Admission::Pass(Pass { at: now, probe: false })
    }

    /// [`Gate::take_for`] a call with nothing under way and no estimate.
    pub fn take(&mut self, now: Moment, dice: &mut impl Dice) -> Admission {
        self.take_for(Ask::at(now), dice)
    }

    /// Takes leave to send one request, or says when to ask again (always later than now).
    pub fn take_for(&mut self, ask: Ask, dice: &mut impl Dice) -> Admission {
        let admission = self.peek_for(ask, dice);
        if let Admission::Pass(pass) = admission {
            let (times, one_of) = self.apart(ask.slots);
            match &mut self.state {
                State::Paced(pace, _) => {
                    match ask.slots {
                        Slots::Given => pace.take_given(ask.now, dice),
                        Slots::Own | Slots::OneOf(_) => pace.take_apart(times, one_of, ask.now, dice),
                    }
                    let at_once = pace.window_ends().is_some();
                    self.tokens.take(ask.now, ask.estimate.unwrap_or_default(), at_once);
                }
                State::Shut { probe, .. } if pass.probe => *probe = Probe::SentAt(ask.now),
                _ => {}
            }
        }
        admission
    }

    /// Reopens a shut pool now, paced: an operator's word, or a good probe.
    pub fn reopen(&mut self, now: Moment, dice: &mut impl Dice) {
        self.round = self.round.wrapping_add(1);
        self.stated = None;
        let class = match self.state {
            State::Shut { shut, .. } => shut.class,
            State::Paced(_, class) => class,
            State::Flowing => LimitClass::None,
        };
        self.state = State::Paced(self.pace(now, class, dice), class);
    }

    /// Shuts the pool, and keeps how calls came back until then.
    fn shut(&mut self, shut: Shut, probe: Probe) {
        if let State::Paced(pace, _) = std::mem::replace(&mut self.state, State::Shut { shut, probe }) {
            self.interrupted = Some(pace);
        }
    }

    /// What time alone has changed.
    fn catch_up(&mut self, now: Moment, dice: &mut impl Dice) {
        if let State::Shut { shut, probe } = self.state {
            let probe_good = match probe {
                Probe::SentAt(sent) => Some(sent.after(PROBE_GOOD_AFTER)),
                _ => None,
            };
            let reopens_at = probe_good.map_or(shut.until, |good| good.min(shut.until));
            if now >= reopens_at {
                self.stated = None;
                self.reopened_early = reopens_at < shut.until;
                self.state = State::Paced(self.pace(reopens_at, shut.class, dice), shut.class);
            }
        }
        if let State::Paced(pace, _) = &mut self.state
            && pace.is_over(now)
            && now >= self.tokens.next_slot().after(NOBODY_WAITS)
        {
            self.state = State::Flowing;
            if self.cold {
                self.start_cold(now);
            }
        }
        self.ceiling.take_if(|ceiling| ceiling.is_over(now));
    }
}

#[cfg(test)]
#[path = "gate_tests.rs"]
mod tests;
