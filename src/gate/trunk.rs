//! What all nodes of an engine share.

use std::sync::atomic::{AtomicBool, Ordering};

use tokio::sync::Notify;

use crate::clock::{Clock, SharedDice};
use crate::event::{Event, PoolLabels};

/// What all nodes of an engine share.
#[derive(Debug)]
pub(crate) struct Trunk {
    pub(crate) clock: Clock,
    pub(crate) dice: SharedDice,
    /// Told each change of a level's state.
    log: fn(&PoolLabels, &Event<'_>),
    /// Whether the engine was built with a gate.
    has_gate: bool,
    /// Whether an operator turned it off.
    switched_off: AtomicBool,
    draining: AtomicBool,
    /// Told when a request comes back while the engine is drained.
    pub(super) came_back: Notify,
}

impl Trunk {
    /// `has_gate`: throttles hold calls back. `log` is told each change of a level's state.
    pub(crate) fn new(clock: Clock, dice: SharedDice, has_gate: bool, log: fn(&PoolLabels, &Event<'_>)) -> Self {
        let (switched_off, draining) = (AtomicBool::new(false), AtomicBool::new(false));
        Self { clock, dice, log, has_gate, switched_off, draining, came_back: Notify::new() }
    }

    /// Whether the engine was built with a gate.
    pub(crate) fn has_gate(&self) -> bool {
        self.has_gate
    }

    /// Whether throttles hold calls back now.
    pub(crate) fn is_gated(&self) -> bool {
        self.has_gate && !self.switched_off.load(Ordering::Relaxed)
    }

    /// Turns the gate on or off, if there is one; nodes that exist have to be [told](super::Node::switched). Whether that changed
    /// anything.
    pub(crate) fn switch(&self, on: bool) -> bool {
        self.has_gate && self.switched_off.swap(!on, Ordering::Relaxed) == on
    }

    pub(crate) fn log(&self, pool: &PoolLabels, event: &Event<'_>) {
        (self.log)(pool, event);
    }

    /// Whether no call is let in any more.
    pub(crate) fn is_draining(&self) -> bool {
        self.draining.load(Ordering::Acquire)
    }

    /// Lets no call in any more; nodes that exist have to be [told](super::Node::drain).
    pub(super) fn start_draining(&self) {
        self.draining.store(true, Ordering::Release);
    }
}
