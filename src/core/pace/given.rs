//! Slots that somebody hands out for several processes.

use std::time::Duration;

use crate::core::dice::Dice;
use crate::core::moment::Moment;
use crate::core::pace::Pace;
use crate::core::pace::plan::{Plan, SHORTEST_STEP};

impl Pace {
    /// How far apart the slots of the whole pool are, of which this pace has the part of one of so many processes; `None`
    /// where they come in windows, or are saved up.
    pub(in crate::core) fn of_all(&self, replicas: u32, limit_known: bool) -> Option<Duration> {
        if self.saves.is_zero() { self.plan.of_all(replicas, limit_known) } else { None }
    }

    /// Whether the interval is known, or learned, by this very process.
    pub(in crate::core) const fn is_known(&self) -> bool {
        self.plan.is_known() && !self.agreed
    }

    /// Takes over what somebody else knows, in the place of a guess.
    pub(in crate::core) fn agrees(&mut self, every: Duration, replicas: u32) {
        if self.agreed || matches!(self.plan, Plan::SlowStart { .. }) {
            self.agreed = true;
            let interval = every.max(SHORTEST_STEP) * replicas.max(1);
            self.plan = Plan::Even { interval, slowest: interval, fastest: every.max(SHORTEST_STEP) };
        }
    }

    /// Takes a slot that was given, whenever the next of its own would be.
    pub(in crate::core) fn take_given(&mut self, now: Moment, dice: &mut impl Dice) {
        self.is_one_of(1, now);
        self.next_slot = self.next_slot.min(now);
        self.take(now, dice);
    }

    /// Takes the next slot, `times` as far from the one after it as the plan says, as one of so many who do the same and
    /// hear nothing of each other.
    pub(in crate::core) fn take_apart(&mut self, times: u32, one_of: u32, now: Moment, dice: &mut impl Dice) {
        self.is_one_of(one_of, now);
        if self.take(now, dice) && times > 1 {
            self.next_slot = self.next_slot.after(self.plan.step() * (times - 1));
        }
    }

    /// Goes on with slots of its own, `times` as far apart as the plan says: those who begin with it do not begin together.
    pub(in crate::core) fn goes_alone(&mut self, times: u32, now: Moment, dice: &mut impl Dice) {
        self.next_slot = now.after(dice.within(self.plan.step().saturating_mul(times)));
    }

    /// Notes how many find out what nobody knows each by itself.
    fn is_one_of(&mut self, processes: u32, now: Moment) {
        let processes = processes.max(1);
        if self.one_of != processes && matches!(self.plan, Plan::SlowStart { .. }) {
            // What was waited for as one of another number says nothing.
            self.mark = now;
        }
        self.one_of = processes;
    }

    /// Somebody waits for a slot that comes at this moment.
    pub(in crate::core) fn not_before(&mut self, moment: Moment) {
        self.next_slot = self.next_slot.max(moment);
    }
}
