//! A level shut, and reopened, by an operator's hand.
//!
//! It stands beside what the provider said and is not mixed with it: no probe goes through, news of throttles neither
//! prolong nor shorten it, and when it ends a provider's shut that still runs holds on.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

use crate::core::gate::Look;
use crate::core::merge::{End, Shut};
use crate::core::moment::Moment;
use crate::core::signal::LimitClass;
use crate::event::words::OperatorAction;
use crate::event::{Event, GateState};
use crate::gate::lazy::LazyCore;
use crate::gate::node::Node;

/// What an operator has shut, until when and why; boxed, since hardly any level is.
#[derive(Debug, Default)]
pub(super) struct ByHand {
    held: Mutex<Option<Box<Held>>>,
    /// Whether there is any: whoever holds the lock of the level's state need not look further.
    any: AtomicBool,
}

#[derive(Debug)]
struct Held {
    until: Moment,
    reason: Box<str>,
}

impl ByHand {
    /// Until when the level is held, if it is. Under the lock of the level's state.
    fn until(&self, now: Moment) -> Option<Moment> {
        if !self.any.load(Ordering::Relaxed) {
            return None;
        }
        self.lock().as_ref().map(|held| held.until).filter(|until| *until > now)
    }

    /// Why the level is held, if it is.
    fn reason(&self, now: Moment) -> Option<Box<str>> {
        self.lock().as_ref().filter(|held| held.until > now).map(|held| held.reason.clone())
    }

    /// Forgets what has ended by `now`; whether there was something. Under the lock of the level's state.
    fn has_ended(&self, now: Moment) -> bool {
        let ended = self.any.load(Ordering::Relaxed) && self.lock().take_if(|held| held.until <= now).is_some();
        if ended {
            self.any.store(false, Ordering::Relaxed);
        }
        ended
    }

    /// Holds the level, or lets it go. Under the lock of the level's state.
    fn set(&self, held: Option<Box<Held>>) {
        self.any.store(held.is_some(), Ordering::Relaxed);
        *self.lock() = held;
    }

    fn lock(&self) -> MutexGuard<'_, Option<Box<Held>>> {
        self.held.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A shut for no limit of the provider's: an operator's.
pub(super) fn is_by_hand(shut: &Shut) -> bool {
    shut.class == LimitClass::None
}

impl Node {
    /// The state of this level, the operator's word included. `core` is its own.
    pub(super) fn look_at(&self, core: &mut LazyCore, now: Moment) -> Look {
        let dice = &mut &self.trunk().dice;
        if self.parts.by_hand.has_ended(now) && !matches!(core.look(now, dice), Look::Shut(_)) {
            // Those who waited come back one after another, as after any shut.
            core.reopen(now, dice);
        }
        let look = if core.is_made() { core.look(now, dice) } else { Look::Flowing };
        match (self.parts.by_hand.until(now), look) {
            (Some(until), Look::Shut(shut)) if shut.until >= until => look,
            (Some(until), _) => Look::Shut(Shut { until, class: LimitClass::None, end: End::Stated }),
            (None, _) => look,
        }
    }

    /// Why an operator shut this very level, if one did.
    pub(crate) fn shut_by_hand_for(&self, now: Moment) -> Option<Box<str>> {
        self.parts.by_hand.reason(now)
    }

    /// Shuts this level, and all below it, until then. A second one takes the place of the first.
    pub(crate) fn shut_by_hand(&self, until: Moment, reason: &str, now: Moment) {
        self.tell_operated(OperatorAction::Shut, reason, now);
        // Under the lock of the state, as is whoever unbars.
        let core = self.state();
        self.parts.by_hand.set(Some(Box::new(Held { until, reason: reason.into() })));
        self.shut(core, Shut { until, class: LimitClass::None, end: End::Stated }, now);
    }

    /// Reopens this level, whoever shut it: calls come back one after another. Whether it was shut.
    pub(crate) fn reopen_by_hand(&self, reason: &str, now: Moment) -> bool {
        self.tell_operated(OperatorAction::Reopened, reason, now);
        let mut core = self.state();
        let was_shut = matches!(self.look_at(&mut core, now), Look::Shut(_));
        if was_shut {
            self.parts.by_hand.set(None);
            core.reopen(now, &mut &self.trunk().dice);
            let reopened = self.notices(&mut core, now);
            drop(core);
            self.tell_reopened(reopened, now);
            self.wake_heads();
        }
        was_shut
    }

    /// Makes every call here ask: whether calls are held at all has changed.
    pub(crate) fn switched(&self) {
        self.flow.bar();
        self.parts.queue.wake_who_cannot_wait(Moment::NEVER);
    }

    fn tell_operated(&self, action: OperatorAction, reason: &str, now: Moment) {
        let event = Event::GateOperated { action, reason };
        self.tell(now, &event);
        self.trunk().log(self.labels(), &event);
    }
}

/// The state of a gate as a word.
pub(super) const fn state_of(look: &Look) -> GateState {
    match look {
        Look::Flowing => GateState::Flowing,
        Look::Paced(_) => GateState::Paced,
        Look::Shut(_) => GateState::Shut,
    }
}
