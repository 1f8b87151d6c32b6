//! One pace for several processes: whoever hands out the slots of all is asked by each before a call passes.
//!
//! What a gate knows of a limit is worth the same whoever hands out the slots: how far apart they are. Where somebody does
//! it for all, each process says what a slot costs the whole pool, and takes the slots it is given; without one it goes on
//! with its part of the same pace, so that all together are as fast as before.
//!
//! | the gate | needs |
//! |---|---|
//! | flowing, or shut without a probe that is due | nothing |
//! | shut, and a probe is due | leave to be the one that probes |
//! | paced evenly, or ever faster since nothing is known | a slot |
//! | paced by windows, or from the start | nothing: each has its part of the window, or of the slots |

use std::time::Duration;

use crate::core::dice::Dice;
use crate::core::gate::admission::{Admission, Ask};
use crate::core::gate::{Gate, State};
use crate::core::moment::Moment;
use crate::core::signal::LimitClass;

/// What a call needs of the pace that several processes share.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Need {
    /// Nothing: its own gate decides.
    Nothing,
    /// To be the only one that probes.
    Probe,
    /// A slot.
    Slot {
        /// The whole pool has one per so long.
        every: Duration,
        /// Whether that is known; else it is a guess.
        known: bool,
    },
}

/// Whose slots a call that asks goes by.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum Slots {
    /// The gate's own.
    #[default]
    Own,
    /// The gate's own, as one of so many processes that begin at the same time: what nobody knows of the limit they must
    /// not find out all at once. Together they begin as one would, and each tries more so many times as seldom: who finds
    /// the limit cannot tell the others.
    OneOf(u32),
    /// The call was given one.
    Given,
}

impl Gate {
    /// What a call needs of a pace shared by so many processes.
    pub fn needs(&mut self, replicas: u32, now: Moment, dice: &mut impl Dice) -> Need {
        let probe_due = matches!(self.peek_for(Ask::at(now), dice), Admission::Pass(pass) if pass.probe);
        match &self.state {
            State::Shut { .. } if probe_due => Need::Probe,
            State::Paced(pace, _) => {
                let of_all = pace.of_all(replicas, self.supply.knows_limit());
                of_all.map_or(Need::Nothing, |every| Need::Slot { every, known: pace.is_known() })
            }
            State::Flowing | State::Shut { .. } => Need::Nothing,
        }
    }

    /// How far apart slots of the whole pool will be when its shut is over, if this process knows: those who do not should
    /// hear of it, though nobody here may want a slot.
    pub fn knows_slots(&self, replicas: u32) -> Option<Duration> {
        let plan = self.supply.plan();
        match &self.state {
            State::Shut { shut, .. } if shut.class != LimitClass::Overload && plan.is_known() => {
                plan.of_all(replicas, self.supply.knows_limit())
            }
            _ => None,
        }
    }

    /// Hears how far apart slots of the whole pool are, from somebody who knows: who only guesses takes one of so many
    /// parts of that.
    pub fn agrees(&mut self, every: Duration, replicas: u32) {
        if let State::Paced(pace, _) = &mut self.state {
            pace.agrees(every, replicas);
        }
    }

    /// Notes that somebody waits for a slot that comes at `until` at the earliest: the pace is not over before.
    pub fn awaits_slot(&mut self, until: Moment) {
        if let State::Paced(pace, _) = &mut self.state {
            pace.not_before(until);
        }
    }

    /// Hears that nobody hands out slots any more, and that it goes on by itself, as one of so many.
    pub fn goes_alone(&mut self, replicas: u32, now: Moment, dice: &mut impl Dice) {
        let (times, _) = self.apart(Slots::OneOf(replicas));
        let limit_known = self.supply.knows_limit();
        if let State::Paced(pace, _) = &mut self.state
            && pace.of_all(replicas, limit_known).is_some()
        {
            pace.goes_alone(times, now, dice);
        }
    }

    /// By how much slots are further apart than the gate's own, for one of those who begin together; and how many these are.
    pub(super) fn apart(&self, slots: Slots) -> (u32, u32) {
        match slots {
            Slots::OneOf(replicas) if !self.supply.knows_limit() => (replicas.max(1), replicas),
            Slots::OneOf(replicas) => (1, replicas),
            Slots::Own | Slots::Given => (1, 1),
        }
    }
}
