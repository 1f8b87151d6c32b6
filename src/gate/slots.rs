//! The slots of a pace that all replicas share, as this process holds them.
//!
//! A level asks for a few at a time when somebody waits for one, and goes on with its part of the pace by itself where no
//! answer comes in time: then nobody waits longer than [`ANSWER_WITHIN`] for the store.

use std::collections::VecDeque;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use crate::core::dice::Dice;
use crate::core::gate::{Hold, Look, Need, Slots};
use crate::core::moment::Moment;
use crate::gate::goes::Goes;
use crate::gate::lazy::LazyCore;
use crate::gate::node::Node;
use crate::store::{Grant, Want};

/// An answer that takes longer is not waited for.
const ANSWER_WITHIN: Duration = Duration::from_millis(100);
/// So long after one that did not come slots are this process's own.
const ALONE_FOR: Duration = Duration::from_secs(1);
/// A slot that nobody took for this long is none any more: slots are not saved up.
const KEPT_FOR: Duration = Duration::from_millis(500);
/// The most that is asked for at once, so that replicas share evenly.
const MOST_AT_ONCE: usize = 4;
/// Whoever waits asks again after this, though nobody told them to.
const ASKS_EVERY: Duration = Duration::from_millis(500);
/// The same of a pool that is shut, and whose probe is somebody else's.
const PROBE_ASKED_EVERY: Duration = Duration::from_secs(30);

/// What this process was given and has not used.
#[derive(Debug, Default)]
pub(super) struct Given(Mutex<State>);

#[derive(Debug, Default)]
struct State {
    /// When each slot is.
    slots: VecDeque<Moment>,
    /// Whether the first of them tests the pool after its shut.
    probes: bool,
    /// Leave to probe a pool that is shut.
    probe: bool,
    asked_at: Option<Moment>,
    again_at: Moment,
    alone_until: Moment,
    /// Whether the last who asked went by slots of the store.
    by_store: bool,
}

impl Given {
    fn lock(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Forgets what was given: the pool is shut.
    pub(super) fn clear(&self) {
        let mut state = self.lock();
        *state = State { asked_at: state.asked_at, alone_until: state.alone_until, ..State::default() };
    }
}

impl State {
    fn has_slot(&mut self, now: Moment) -> bool {
        while self.slots.front().is_some_and(|slot| slot.after(KEPT_FOR) < now) {
            self.slots.pop_front();
            self.probes = false;
        }
        self.slots.front().is_some_and(|slot| *slot <= now)
    }

    /// Goes by the gate's own slots; from now on, if it went by the store's.
    fn goes_alone(&mut self, core: &mut LazyCore, replicas: u32, now: Moment, dice: &mut impl Dice) -> Goes {
        if std::mem::take(&mut self.by_store) {
            core.goes_alone(replicas, now, dice);
        }
        Goes::By(Slots::OneOf(replicas))
    }
}

impl Node {
    /// By whose slots a call goes at this level, whose state is `core`. The head of the queue, which has so many `behind` it,
    /// asks the store for slots where there are too few.
    pub(super) fn goes_by(&self, core: &mut LazyCore, now: Moment, behind: Option<usize>) -> Goes {
        let link = &self.parts.link;
        if !core.is_made() || !link.is_paced() {
            return Goes::By(Slots::Own);
        }
        let replicas = link.replicas();
        let dice = &mut &self.trunk().dice;
        let mut state = self.parts.given.lock();
        if now < state.alone_until || !link.is_up() {
            return state.goes_alone(core, replicas, now, dice);
        }
        let need = core.needs(replicas, now, dice);
        let given = match need {
            Need::Probe => state.probe,
            Need::Slot { .. } => state.has_slot(now),
            _ => return Goes::By(Slots::Own),
        };
        if behind.is_some() && state.asked_at.is_some_and(|asked_at| asked_at.until(now) >= ANSWER_WITHIN) {
            state.asked_at = None;
            state.alone_until = now.after(ALONE_FOR);
            return state.goes_alone(core, replicas, now, dice);
        }
        state.by_store = matches!(need, Need::Slot { .. });
        let few = if need == Need::Probe { !given } else { state.slots.len() <= usize::from(given) };
        if let Some(behind) = behind.filter(|_| few && state.asked_at.is_none() && now >= state.again_at) {
            state.asked_at = Some(now);
            let slots = (behind + 1).div_ceil(replicas as usize).clamp(1, MOST_AT_ONCE) as u32;
            link.want(match need {
                Need::Slot { every, known } => Want::Slots { slots, every, known },
                _ => Want::Probe,
            });
        }
        if given {
            return Goes::By(Slots::Given);
        }
        let answer_at = state.asked_at.map(|asked_at| asked_at.after(ANSWER_WITHIN));
        let next = state.slots.front().copied().or(answer_at).unwrap_or(state.again_at);
        drop(state);
        let latest = now.after(if need == Need::Probe { PROBE_ASKED_EVERY } else { ASKS_EVERY });
        let ask_again = next.clamp(now.after(Duration::from_millis(1)), latest);
        core.awaits_slot(ask_again);
        let (class, shut) = match core.look(now, &mut &self.trunk().dice) {
            Look::Shut(shut) => (shut.class, Some(shut)),
            _ => (core.held_for(), None),
        };
        Goes::NotYet(Hold { ask_again, class, shut })
    }

    /// Uses a slot, or the leave to probe; whether it tests the pool after its shut.
    pub(super) fn uses_given(&self) -> bool {
        let mut state = self.parts.given.lock();
        if std::mem::take(&mut state.probe) {
            return false;
        }
        state.slots.pop_front();
        std::mem::take(&mut state.probes)
    }

    /// Hears that a request went well that tested the pool after its shut: all may come back now.
    pub(super) fn tested_for_all(&self, now: Moment) {
        let link = &self.parts.link;
        if link.is_paced() && matches!(self.look(now), Look::Paced(_)) {
            link.tell_reopened(true);
        }
    }

    /// Takes in what the store gave, or that it gave nothing.
    pub(super) fn takes_in(&self, grant: Option<&Grant>, now: Moment) {
        if let Some(every) = grant.and_then(|grant| grant.every) {
            self.state().agrees(every, self.parts.link.replicas());
        }
        let mut state = self.parts.given.lock();
        state.asked_at = None;
        match grant {
            None => state.alone_until = now.after(ALONE_FOR),
            Some(Grant { slots, probes, again_in, .. }) => {
                state.again_at = now.after(*again_in);
                state.probes |= *probes && !slots.is_empty();
                state.probe |= *probes && slots.is_empty();
                state.slots.extend(slots.iter().map(|left| now.after(*left)));
            }
        }
        drop(state);
        self.wake_heads();
    }

    /// Tells the store how far apart slots will be, where this process knows.
    pub(super) fn tells_slots(&self) {
        let link = &self.parts.link;
        if !link.is_paced() {
            return;
        }
        let every = self.state().knows_slots(link.replicas());
        if let Some(every) = every {
            link.want(Want::Slots { slots: 0, every, known: true });
        }
    }

    /// For a while slots are this process's own: an operator reopened it here.
    pub(super) fn goes_alone(&self, until: Moment) {
        self.parts.given.lock().alone_until = until;
    }

    /// Asks the store at once when somebody waits: the pool is on its way back.
    pub(super) fn asks_again(&self) {
        self.parts.given.lock().again_at = Moment::START;
    }
}

#[cfg(test)]
#[path = "slots_tests.rs"]
mod tests;
