//! Who waits for a pool: the order and the one timer of the engine's own queue, without its wakers.

use std::collections::{BTreeMap, BTreeSet};

use crate::core::moment::Moment;

/// A call's place: when it arrived, then the order in which calls of the same instant asked. A throttled call keeps it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Place {
    /// When its call arrived.
    arrived: Moment,
    /// Which it was of those who ever asked.
    ticket: u64,
}

/// The queue of one pool. What it wakes is to be asked again now; a waiter is named by its slot among the calls.
#[derive(Debug, Default)]
pub(super) struct Queue {
    /// Each waiter's slot among the calls, and its deadline.
    waiters: BTreeMap<Place, (usize, Moment)>,
    /// The waiters' deadlines.
    deadlines: BTreeSet<(Moment, Place)>,
    /// How many tickets were given.
    next_ticket: u64,
}

impl Queue {
    /// Takes a place for a call that arrived then.
    pub(super) fn place(&mut self, arrived: Moment) -> Place {
        self.next_ticket += 1;
        Place { arrived, ticket: self.next_ticket }
    }

    /// Waits at `place` until `deadline`.
    pub(super) fn enter(&mut self, place: Place, slot: usize, deadline: Moment) {
        self.waiters.insert(place, (slot, deadline));
        self.deadlines.insert((deadline, place));
    }

    /// Whether nobody is before `place`.
    pub(super) fn head_is(&self, place: Place) -> bool {
        self.waiters.first_key_value().is_none_or(|(&head, _)| place <= head)
    }

    /// Leaves `place`; returns whether it was taken and was the head, so that somebody must see to the next.
    pub(super) fn leave(&mut self, place: Place) -> bool {
        let was_head = self.head_is(place);
        let Some((_, deadline)) = self.waiters.remove(&place) else { return false };
        self.deadlines.remove(&(deadline, place));
        was_head
    }

    /// The head.
    pub(super) fn head(&self) -> Option<(Place, usize)> {
        self.waiters.first_key_value().map(|(&place, &(slot, _))| (place, slot))
    }

    /// When the timer for `at` is due: then, or at the first deadline of anybody who waits.
    pub(super) fn due(&self, at: Moment) -> Moment {
        self.deadlines.first().map_or(at, |&(deadline, _)| deadline.min(at))
    }

    /// Takes somebody out whose deadline is not after `now`.
    pub(super) fn take_due(&mut self, now: Moment) -> Option<(Place, usize)> {
        let &(deadline, place) = self.deadlines.first().filter(|(deadline, _)| *deadline <= now)?;
        self.deadlines.remove(&(deadline, place));
        self.waiters.remove(&place).map(|(slot, _)| (place, slot))
    }

    /// Everybody whose deadline is not after `moment`.
    pub(super) fn due_by(&self, moment: Moment) -> Vec<(Place, usize)> {
        let due = self.deadlines.iter().take_while(|(deadline, _)| *deadline <= moment);
        due.filter_map(|(_, place)| Some((*place, self.waiters.get(place)?.0))).collect()
    }

    /// How many wait.
    pub(super) fn len(&self) -> usize {
        self.waiters.len()
    }
}
