//! Who waits for a pool, in the order of arrival, and the one timer they share.
//!
//! The timer always has the waker of the head. Whoever changes the head, or what it waits for, sets the timer for it: so a
//! waiter is polled when it comes and when it goes, and hardly ever between.

use std::collections::{BTreeMap, BTreeSet};
use std::future::Future;
use std::pin::Pin;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::task::{Context, Waker};

use tokio::runtime::{Handle, Id};
use tokio::time::Sleep;

use crate::clock::Clock;
use crate::core::moment::Moment;

/// A call's place: when it arrived, then the order in which calls of the same instant asked. A throttled call keeps it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Place {
    arrived: Moment,
    ticket: u64,
}

#[derive(Debug)]
struct Waiter {
    waker: Waker,
    deadline: Moment,
}

#[derive(Debug, Default)]
pub(super) struct Waiting {
    waiters: BTreeMap<Place, Waiter>,
    /// The waiters' deadlines, until they were woken by theirs.
    deadlines: BTreeSet<(Moment, Place)>,
    next_ticket: u64,
    timer: Option<Timer>,
}

/// A runtime's timer; one that a runtime made is of no use to another.
#[derive(Debug)]
struct Timer {
    sleep: Pin<Box<Sleep>>,
    runtime: Id,
}

impl Waiting {
    /// Takes a place for a call that arrived then.
    pub(super) fn place(&mut self, arrived: Moment) -> Place {
        self.next_ticket += 1;
        Place { arrived, ticket: self.next_ticket }
    }

    /// Waits at `place` until `deadline`.
    pub(super) fn enter(&mut self, place: Place, deadline: Moment, waker: &Waker) {
        self.waiters
            .entry(place)
            .and_modify(|known| known.waker.clone_from(waker))
            .or_insert_with(|| Waiter { waker: waker.clone(), deadline });
        // Again each time: it was taken out when the waiter was last woken by it.
        self.deadlines.insert((deadline, place));
    }

    /// Whether nobody is before `place`.
    pub(super) fn head_is(&self, place: Place) -> bool {
        self.waiters.first_key_value().is_none_or(|(&head, _)| place <= head)
    }

    /// Leaves `place`; returns whether it was taken and was the head, so that somebody must see to the next.
    pub(super) fn leave(&mut self, place: Place) -> bool {
        let was_head = self.head_is(place);
        let Some(waiter) = self.waiters.remove(&place) else { return false };
        self.deadlines.remove(&(waiter.deadline, place));
        if self.waiters.is_empty() {
            self.timer = None;
        }
        was_head
    }

    /// Wakes the head when the time comes: at `at`, or at the first deadline of anybody who waits. Returns `false` if that
    /// is now.
    pub(super) fn wake_head_at(&mut self, at: Moment, clock: &Clock) -> bool {
        let at = self.deadlines.first().map_or(at, |&(deadline, _)| deadline.min(at));
        let Some((_, head)) = self.waiters.first_key_value() else { return true };
        let Ok(runtime) = Handle::try_current().map(|handle| handle.id()) else {
            // Dropped outside a runtime: the head sets its own timer.
            head.waker.wake_by_ref();
            return true;
        };
        let timer = match &mut self.timer {
            Some(timer) if timer.runtime == runtime => {
                timer.sleep.as_mut().reset(clock.instant(at));
                timer
            }
            timer => timer.insert(Timer { sleep: Box::pin(clock.sleep_until(at)), runtime }),
        };
        timer.sleep.as_mut().poll(&mut Context::from_waker(&head.waker)).is_pending()
    }

    /// Wakes the head now.
    pub(super) fn wake_head(&self) {
        if let Some((_, head)) = self.waiters.first_key_value() {
            head.waker.wake_by_ref();
        }
    }

    /// Wakes everybody whose deadline is not after `moment`: they have nothing left to wait for.
    pub(super) fn wake_whose_deadline_comes_by(&mut self, moment: Moment) {
        while let Some(&(deadline, place)) = self.deadlines.first()
            && deadline <= moment
        {
            self.deadlines.remove(&(deadline, place));
            if let Some(waiter) = self.waiters.get(&place) {
                waiter.waker.wake_by_ref();
            }
        }
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
        self.lock().waiters.len()
    }
}
