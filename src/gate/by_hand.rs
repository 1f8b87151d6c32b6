//! A level shut, paced, and reopened by an operator's hand.
//!
//! It stands beside what the provider said and is not mixed with it: no probe goes through, news of throttles neither
//! prolong nor shorten it, and when it ends a provider's shut that still runs holds on. A pace by hand comes on top of the
//! gate's own: the slower of the two holds.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use crate::core::dice::Dice;
#[cfg(feature = "redis")]
use crate::core::gate::LONGEST_SHUT;
use crate::core::gate::{Hold, Look};
use crate::core::merge::{End, Shut};
use crate::core::moment::Moment;
use crate::core::signal::LimitClass;
use crate::event::Event;
use crate::event::words::OperatorAction;
use crate::gate::lazy::LazyCore;
use crate::gate::node::Node;

/// What an operator has ordered, until when and why; boxed, since hardly any level is held.
#[derive(Debug, Default)]
pub(super) struct ByHand {
    held: Mutex<Option<Box<Held>>>,
    /// Whether there is any: whoever holds the lock of the level's state need not look further.
    any: AtomicBool,
}

#[derive(Debug)]
struct Held {
    until: Moment,
    /// None: nobody passes.
    pace: Option<Slots>,
    reason: Box<str>,
    /// The order for all replicas that it is, by the server's millisecond; none where it is this process's own.
    #[cfg_attr(not(feature = "redis"), expect(dead_code, reason = "nobody else gives orders"))]
    fleet: Option<u64>,
}

/// A pace by hand.
#[derive(Clone, Copy, Debug)]
struct Slots {
    /// One call per so long; of an order for all replicas, over all of them.
    every: Duration,
    next: Moment,
}

/// How an operator holds a level.
#[derive(Clone, Copy, Debug)]
pub(super) enum Order {
    Shut,
    /// One call per so long.
    Pace(Duration),
}

impl ByHand {
    /// What holds at `now`, if anything. Under the lock of the level's state.
    fn holds<T>(&self, now: Moment, of: impl FnOnce(&mut Held) -> T) -> Option<T> {
        if !self.any.load(Ordering::Relaxed) {
            return None;
        }
        self.lock().as_mut().filter(|held| held.until > now).map(|held| of(held))
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
        let held = self.parts.by_hand.holds(now, |held| (held.until, self.share(held)));
        match (held, look) {
            (None, _) => look,
            (Some((until, None)), Look::Shut(shut)) if shut.until >= until => look,
            (Some((until, None)), _) => Look::Shut(Shut { until, class: LimitClass::None, end: End::Stated }),
            (Some((_, Some(_))), Look::Shut(_)) => look,
            (Some((_, Some(every))), Look::Paced(interval)) => Look::Paced(interval.max(every)),
            (Some((_, Some(every))), Look::Flowing) => Look::Paced(every),
        }
    }

    /// How far apart the slots of a pace by hand are in this process.
    fn share(&self, held: &Held) -> Option<Duration> {
        let every = held.pace?.every;
        #[cfg(feature = "redis")]
        if held.fleet.is_some() {
            return Some(every * self.parts.link.replicas());
        }
        Some(every)
    }

    /// What a pace by hand keeps a call from, if its slot has not come.
    pub(super) fn waits_by_hand(&self, now: Moment) -> Option<Hold> {
        let next = self.parts.by_hand.holds(now, |held| held.pace.map(|slots| slots.next.min(held.until))).flatten()?;
        (next > now).then_some(Hold { ask_again: next, class: LimitClass::None, shut: None })
    }

    /// Takes a slot of a pace by hand, where there is one.
    pub(super) fn take_by_hand(&self, now: Moment) {
        self.parts.by_hand.holds(now, |held| {
            if let (Some(share), Some(slots)) = (self.share(held), &mut held.pace) {
                // A slot that is taken late does not move the next one, but no more than half of one is made up for.
                slots.next = slots.next.after(share).max(now.after(share / 2));
            }
        });
    }

    /// Why an operator shut this very level, if one did.
    pub(crate) fn shut_by_hand_for(&self, now: Moment) -> Option<Box<str>> {
        self.parts.by_hand.holds(now, |held| held.pace.is_none().then(|| held.reason.clone())).flatten()
    }

    /// Why an operator paced this very level, if one did.
    pub(crate) fn paced_by_hand_for(&self, now: Moment) -> Option<Box<str>> {
        self.parts.by_hand.holds(now, |held| held.pace.map(|_| held.reason.clone())).flatten()
    }

    /// Shuts this level, and all below it, until then. A second order takes the place of the first.
    pub(crate) fn shut_by_hand(&self, until: Moment, reason: &str, now: Moment) {
        self.hold(Order::Shut, until, reason, None, now);
    }

    /// Lets one call pass per `every`, here and below, until then. A second order takes the place of the first.
    pub(crate) fn pace_by_hand(&self, every: Duration, until: Moment, reason: &str, now: Moment) {
        self.hold(Order::Pace(every), until, reason, None, now);
    }

    /// Holds this level, and all below it. `fleet` is the order for all replicas that this is, if it is one.
    pub(super) fn hold(&self, order: Order, until: Moment, reason: &str, fleet: Option<u64>, now: Moment) {
        let (action, pace) = match order {
            Order::Shut => (OperatorAction::Shut, None),
            // Replicas that hear it together do not begin together.
            Order::Pace(every) => {
                let next = now.after((&mut &self.trunk().dice).within(every));
                (OperatorAction::Paced, Some(Slots { every, next }))
            }
        };
        self.tell_operated(action, reason, now);
        // Under the lock of the state, as is whoever unbars.
        let mut core = self.state();
        self.parts.by_hand.set(Some(Box::new(Held { until, pace, reason: reason.into(), fleet })));
        match order {
            Order::Shut => self.shut(core, Shut { until, class: LimitClass::None, end: End::Stated }, now),
            Order::Pace(_) => {
                let reopened = self.notices(&mut core, now);
                drop(core);
                self.bar(&|node| node.parts.queue.wake_head());
                self.tell_reopened(reopened, now);
            }
        }
    }

    /// Ends what was ordered for all replicas, if that is what holds; calls come back one after another.
    #[cfg(feature = "redis")]
    pub(super) fn let_go(&self, reason: &str, now: Moment) {
        self.tell_operated(OperatorAction::Reopened, reason, now);
        let core = self.state();
        self.parts.by_hand.holds(now, |held| {
            if held.fleet.is_some() {
                held.until = now;
            }
        });
        drop(core);
        self.look(now);
        self.wake_heads();
    }

    /// Whether the order for all replicas of this server millisecond is what holds.
    #[cfg(feature = "redis")]
    pub(super) fn is_held_by(&self, given_at: u64, now: Moment) -> bool {
        let _core = self.state();
        self.parts.by_hand.holds(now, |held| held.fleet == Some(given_at)).unwrap_or(false)
    }

    /// Reopens this level, whoever shut or paced it: calls come back one after another. Whether it was held.
    pub(crate) fn reopen_by_hand(&self, reason: &str, now: Moment) -> bool {
        self.tell_operated(OperatorAction::Reopened, reason, now);
        let mut core = self.state();
        let was_shut = matches!(self.look_at(&mut core, now), Look::Shut(_));
        let was_held = self.parts.by_hand.holds(now, |_| ()).is_some();
        if was_shut || was_held {
            self.parts.by_hand.set(None);
            #[cfg(feature = "redis")]
            self.goes_alone(now.after(LONGEST_SHUT));
            core.reopen(now, &mut &self.trunk().dice);
            let reopened = self.notices(&mut core, now);
            drop(core);
            self.tell_reopened(reopened, now);
            self.wake_heads();
        }
        was_shut || was_held
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
