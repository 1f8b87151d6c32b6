//! Who waits for a pool, in the order of arrival.

use std::collections::BTreeMap;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::task::Waker;

use crate::core::moment::Moment;

/// A call's place: when it arrived, then the order in which calls of the same instant asked. A throttled call keeps it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Place {
    pub(super) arrived: Moment,
    pub(super) ticket: u64,
}

#[derive(Debug, Default)]
pub(super) struct Waiting {
    wakers: BTreeMap<Place, Waker>,
    next_ticket: u64,
}

impl Waiting {
    /// Takes a place for a call that arrived then.
    pub(super) fn place(&mut self, arrived: Moment) -> Place {
        self.next_ticket += 1;
        Place { arrived, ticket: self.next_ticket }
    }

    /// Waits at `place`; returns whether that is the head.
    pub(super) fn wait_at(&mut self, place: Place, waker: &Waker) -> bool {
        self.wakers.entry(place).and_modify(|known| known.clone_from(waker)).or_insert_with(|| waker.clone());
        self.head_is(place)
    }

    /// Whether `place` is the head.
    pub(super) fn head_is(&self, place: Place) -> bool {
        self.wakers.first_key_value().is_none_or(|(&head, _)| place <= head)
    }

    /// Leaves `place`; a head that leaves hands the next one its waker back, to be woken once the lock is released.
    #[must_use = "the next head must be woken"]
    pub(super) fn leave(&mut self, place: Place) -> Option<Waker> {
        let was_head = self.head_is(place);
        self.wakers.remove(&place)?;
        if was_head { self.head() } else { None }
    }

    /// The head's waker.
    pub(super) fn head(&self) -> Option<Waker> {
        self.wakers.first_key_value().map(|(_, waker)| waker.clone())
    }

    /// Every waker.
    pub(super) fn all(&self) -> Vec<Waker> {
        self.wakers.values().cloned().collect()
    }
}

/// The queue of one pool.
#[derive(Debug, Default)]
pub(super) struct Queue(Mutex<Waiting>);

impl Queue {
    pub(super) fn lock(&self) -> MutexGuard<'_, Waiting> {
        // A panic elsewhere must not stop the pool: the queue is whole between any two of its calls.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn len(&self) -> usize {
        self.lock().wakers.len()
    }

    pub(super) fn wake_head(&self) {
        let head = self.lock().head();
        if let Some(waker) = head {
            waker.wake();
        }
    }

    pub(super) fn wake_all(&self) {
        let all = self.lock().all();
        all.into_iter().for_each(Waker::wake);
    }
}
