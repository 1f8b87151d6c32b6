//! Levels of paths as a tree: a bar that falls at one level falls at every level below it.
//!
//! Free of the runtime, and of what a state or a level's other parts are: the model in `tests/loom` runs this very file.

use std::sync::{Arc, PoisonError, Weak};

use super::flow::Flow;
use super::sync::{Mutex, MutexGuard};

/// The most levels a path may have.
pub(crate) const DEEPEST: usize = 8;

/// One level of a path: the pool itself, or a level above it whose limits bind all pools below.
#[derive(Debug)]
pub(crate) struct Level<S, P> {
    /// The only thing a call looks at while all flows. Barred for a whole subtree when one of its levels shuts; unbarred
    /// by the call that finds every level of its path flowing.
    pub(super) flow: Flow,
    state: Mutex<S>,
    above: Option<Arc<Self>>,
    below: Mutex<Below<S, P>>,
    /// The level's other parts.
    pub(super) parts: P,
}

#[derive(Debug)]
struct Below<S, P> {
    levels: Vec<Weak<Level<S, P>>>,
    /// Levels that are gone are forgotten when there are so many: a list of thousands is not walked for each.
    prune_at: usize,
}

/// The states of a path's levels, locked; widest first.
pub(super) struct States<'a, S>([Option<MutexGuard<'a, S>>; DEEPEST]);

impl<S> States<'_, S> {
    pub(super) fn each(&mut self) -> impl Iterator<Item = &mut S> {
        self.0.iter_mut().flatten().map(|state| &mut **state)
    }
}

impl<S, P> Level<S, P> {
    /// A level below `above`.
    pub(super) fn new(above: Option<Arc<Self>>, state: S, parts: P) -> Arc<Self> {
        let below = Mutex::new(Below { levels: Vec::new(), prune_at: 8 });
        let level = Arc::new(Self { flow: Flow::new(), state: Mutex::new(state), above, below, parts });
        if let Some(above) = &level.above {
            lock(&above.below).add(&level);
            // After it can be found: a bar that did not find it fell on the level above before.
            if above.flow.is_barred() {
                level.flow.bar();
            }
        }
        level
    }

    pub(crate) fn above(&self) -> Option<&Arc<Self>> {
        self.above.as_ref()
    }

    /// This level's state, locked.
    pub(super) fn state(&self) -> MutexGuard<'_, S> {
        lock(&self.state)
    }

    /// The levels of the path, widest first.
    pub(crate) fn path(&self) -> impl Iterator<Item = &Self> {
        let mut path = [None; DEEPEST];
        let mut next = Some(self);
        for place in &mut path {
            *place = next;
            next = next.and_then(|level| level.above.as_deref());
        }
        path.into_iter().rev().flatten()
    }

    /// The states of all levels of the path, locked together.
    pub(super) fn states(&self) -> States<'_, S> {
        let mut states = [const { None }; DEEPEST];
        // Always widest first, so that two calls never wait for each other.
        for (place, level) in states.iter_mut().zip(self.path()) {
            *place = Some(level.state());
        }
        States(states)
    }

    /// Lets calls here pass without asking: every level of the path flows, as was seen under locks still held. Whoever
    /// changes one of them later bars the subtree after this.
    pub(super) fn unbar(&self, _seen_under: &States<'_, S>) {
        self.flow.unbar();
    }

    /// Makes every call of the subtree ask, and visits each of its levels.
    pub(super) fn bar(&self, visit: &dyn Fn(&Self)) {
        self.flow.bar();
        visit(self);
        self.each_below(&|level| level.bar(visit));
    }

    /// Visits each level directly below.
    pub(super) fn each_below(&self, visit: &dyn Fn(&Self)) {
        let levels: Vec<Arc<Self>> = lock(&self.below).levels.iter().filter_map(Weak::upgrade).collect();
        levels.iter().for_each(|level| visit(level));
    }
}

impl<S, P> Below<S, P> {
    fn add(&mut self, level: &Arc<Level<S, P>>) {
        if self.levels.len() >= self.prune_at {
            self.levels.retain(|level| level.strong_count() > 0);
            self.prune_at = 2 * self.levels.len().max(4);
        }
        self.levels.push(Arc::downgrade(level));
    }
}

/// A panic elsewhere must not stop the pool: what is locked here is whole between any two calls.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
