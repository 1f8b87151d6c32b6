//! Asking all levels of a path at once.

use crate::core::estimate::Estimate;
use crate::core::gate::{Admission, Ask, Gate as Core, Hold, Look, Pass, Slots};
use crate::core::moment::Moment;
use crate::gate::by_hand::is_by_hand;
use crate::gate::goes::Goes;
use crate::gate::lazy::LazyCore;
use crate::gate::level::{DEEPEST, States};
use crate::gate::node::Node;

/// A request is let in.
#[derive(Clone, Copy)]
pub(super) struct LetIn {
    /// A bit for each level (0 = widest) it is a probe of.
    pub(super) probes: u8,
    /// When the next may ask, where this one took a slot.
    pub(super) next: Moment,
}

impl Node {
    /// Asks every level of the path; passes only if all let pass, and takes slots only then.
    /// `estimate` is what the request is expected to use; so many calls wait `behind` it.
    ///
    /// # Errors
    /// What is in the way.
    pub(super) fn ask(&self, now: Moment, take: bool, behind: usize, estimate: Estimate) -> Result<LetIn, Hold> {
        let dice = &mut &self.trunk().dice;
        let mut states = self.states();
        if let Some(hold) = self.in_the_way(&mut states, now, take.then_some(behind), estimate) {
            return Err(hold);
        }
        let mut let_in = LetIn { probes: 0, next: now };
        if take {
            for (bit, (node, level)) in self.path().zip(states.each()).enumerate() {
                let by = match node.goes_by(level, now, None) {
                    Goes::By(slots) => slots,
                    Goes::NotYet(_) => Slots::Own,
                };
                let asks = node.asks(level, now, estimate).by(by);
                let mut probes =
                    level.is_made() && matches!(level.take_for(asks, dice), Admission::Pass(Pass { probe: true, .. }));
                if by == Slots::Given {
                    probes |= node.uses_given();
                }
                let_in.probes |= u8::from(probes) << bit;
                node.take_by_hand(now);
            }
        }
        let mut all_flow = true;
        let mut reopened = [None; DEEPEST];
        for ((node, level), reopened) in self.path().zip(states.each()).zip(&mut reopened) {
            let look = node.look_at(level, now);
            all_flow &= look == Look::Flowing;
            *reopened = node.notices_look(level, &look);
        }
        if all_flow && !self.trunk().is_draining() {
            self.unbar(&states);
        } else if take && let Some(hold) = self.in_the_way(&mut states, now, behind.checked_sub(1), Estimate::default())
        {
            let_in.next = hold.ask_again;
        }
        drop(states);
        for (node, state) in self.path().zip(reopened) {
            node.tell_reopened(state, now);
        }
        Ok(let_in)
    }

    /// What keeps a request back at the level of the path that binds longest, if one does. Slots that all replicas share are
    /// asked for by the head of the queue alone, which has so many `behind` it.
    fn in_the_way(
        &self,
        states: &mut States<'_, LazyCore>,
        now: Moment,
        behind: Option<usize>,
        estimate: Estimate,
    ) -> Option<Hold> {
        let dice = &mut &self.trunk().dice;
        let held = self.path().zip(states.each()).filter_map(|(node, level)| match node.look_at(level, now) {
            Look::Shut(shut) if is_by_hand(&shut) => {
                Some(Hold { ask_again: shut.until, class: shut.class, shut: Some(shut) })
            }
            look => {
                let held = match node.goes_by(level, now, behind) {
                    Goes::NotYet(hold) => Some(hold),
                    Goes::By(_) if !level.is_made() => None,
                    Goes::By(slots) => {
                        let asks = node.asks(level, now, estimate).by(slots);
                        match level.peek_for(asks, dice) {
                            Admission::Hold(hold) => Some(hold),
                            Admission::Pass(_) => None,
                        }
                    }
                };
                let by_hand = if look == Look::Flowing { None } else { node.waits_by_hand(now) };
                held.into_iter().chain(by_hand).reduce(longer)
            }
        });
        held.reduce(longer)
    }

    /// A request that asks at this level.
    fn asks(&self, level: &Core, now: Moment, estimate: Estimate) -> Ask {
        // Counted only where their number is limited: it is the whole subtree's.
        let in_flight = level.in_flight_limit().map_or(0, |_| self.in_flight_below());
        Ask::at(now).with_in_flight(in_flight).with_estimate(Some(estimate))
    }
}

/// Of two holds the one that binds longer; a shut names the reason before a pace does.
fn longer(a: Hold, b: Hold) -> Hold {
    let until = |hold: &Hold| hold.shut.map_or(hold.ask_again, |shut| shut.until);
    let (long, short) = if until(&a) >= until(&b) { (a, b) } else { (b, a) };
    Hold { ask_again: long.ask_again.max(short.ask_again), shut: long.shut.or(short.shut), ..long }
}
