//! One level of a pool's path, with the state machine of its gate.

use std::sync::atomic::{AtomicBool, AtomicU8, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};

use crate::clock::{Clock, SharedDice};
use crate::core::gate::{Admission, Gate as Core, Hold, Look, Pass};
use crate::core::merge::Shut;
use crate::core::moment::Moment;
use crate::core::signal::{LimitClass, Quotas, Signal};
use crate::event::sink::Listener;
use crate::event::{Event, GateState, PoolLabels};
use crate::gate::load::Load;
use crate::gate::queue::Queue;

/// What all nodes of an engine share.
#[derive(Debug)]
pub(crate) struct Trunk {
    pub(crate) clock: Clock,
    pub(crate) dice: SharedDice,
    /// Told each change of a level's state.
    pub(crate) log: fn(&PoolLabels, &Event<'_>),
}

/// One level of a path: the pool itself, or a level above it whose limits bind all pools below.
pub(crate) struct Node {
    pub(super) trunk: Arc<Trunk>,
    pub(super) labels: PoolLabels,
    parent: Option<Arc<Node>>,
    children: Mutex<Vec<Weak<Node>>>,
    listener: Option<Arc<dyn Listener>>,
    /// Whether a call must look at the state machines: set for a whole subtree when one of its levels shuts, cleared by
    /// the call that finds every level of its path flowing. The only thing a call looks at while all flows.
    barred: AtomicBool,
    core: Mutex<Core>,
    /// The state that was told last, as a [`GateState`]. Written under the lock of `core`.
    told: AtomicU8,
    pub(super) load: Load,
    pub(super) queue: Queue,
}

impl Node {
    /// A flowing node below `parent`.
    pub(crate) fn new(
        trunk: Arc<Trunk>,
        labels: PoolLabels,
        parent: Option<Arc<Self>>,
        core: Core,
        listener: Option<Arc<dyn Listener>>,
    ) -> Arc<Self> {
        let node = Arc::new(Self {
            trunk,
            labels,
            parent,
            children: Mutex::default(),
            listener,
            barred: AtomicBool::new(false),
            core: Mutex::new(core),
            told: AtomicU8::new(GateState::Flowing as u8),
            load: Load::default(),
            queue: Queue::default(),
        });
        if let Some(parent) = &node.parent {
            let mut siblings = lock(&parent.children);
            siblings.retain(|sibling| sibling.strong_count() > 0);
            siblings.push(Arc::downgrade(&node));
            drop(siblings);
            // After it can be found: a shut that did not find it was told to the parent before.
            if parent.is_barred() {
                node.barred.store(true, Ordering::Release);
            }
        }
        node
    }

    pub(crate) fn labels(&self) -> &PoolLabels {
        &self.labels
    }

    pub(crate) fn parent(&self) -> Option<&Arc<Self>> {
        self.parent.as_ref()
    }

    /// Whether calls must ask; false while everything flows.
    #[inline]
    pub(super) fn is_barred(&self) -> bool {
        self.barred.load(Ordering::Acquire)
    }

    /// Calls so far, modulo 2^32.
    pub(crate) fn calls(&self) -> u32 {
        self.load.calls()
    }

    /// Requests under way.
    pub(crate) fn in_flight(&self) -> u32 {
        self.load.in_flight()
    }

    /// Calls that wait here.
    pub(crate) fn waiting(&self) -> usize {
        self.queue.len()
    }

    /// This level's own state.
    pub(crate) fn look(&self, now: Moment) -> Look {
        let mut core = lock(&self.core);
        let look = core.look(now, &mut &self.trunk.dice);
        let reopened = self.notices(look);
        drop(core);
        self.tell_reopened(reopened, now);
        look
    }

    /// Notes the state that was seen under the lock; gives it back where it lets calls in and did not before.
    fn notices(&self, look: Look) -> Option<GateState> {
        let state = match look {
            Look::Flowing => GateState::Flowing,
            Look::Paced(_) => GateState::Paced,
            Look::Shut(_) => GateState::Shut,
        };
        let told = self.told.swap(state as u8, Ordering::Relaxed);
        (state != GateState::Shut && told != state as u8).then_some(state)
    }

    /// Tells, outside of all locks, that this level lets calls in again.
    fn tell_reopened(&self, state: Option<GateState>, now: Moment) {
        if let Some(state) = state {
            let event = Event::GateReopened { state };
            self.tell(now, &event);
            (self.trunk.log)(&self.labels, &event);
        }
    }

    /// Changes what the state machine of a level (0 = widest) of the path knows.
    pub(crate) fn with_level(&self, level: usize, change: impl FnOnce(&mut Core)) {
        if let Some(node) = self.path().get(level) {
            change(&mut lock(&node.core));
        }
    }

    /// Tells a level (0 = widest) of the path what an answer says of quotas.
    pub(crate) fn read(&self, level: usize, quotas: &Quotas, signal: &Signal, now: Moment) {
        if let Some(node) = self.path().get(level)
            && lock(&node.core).read(quotas, signal, now, &mut &self.trunk.dice)
        {
            node.wake_heads();
        }
    }

    /// What the path's levels are, or were last, shut for: the widest that is names it.
    pub(super) fn held_for(&self) -> LimitClass {
        let classes = self.path().into_iter().map(|node| lock(&node.core).held_for());
        classes.into_iter().find(|class| *class != LimitClass::None).unwrap_or(LimitClass::None)
    }

    /// The levels of the path, widest first.
    pub(super) fn path(&self) -> Vec<&Self> {
        let mut path = vec![self];
        while let Some(parent) = path[path.len() - 1].parent.as_deref() {
            path.push(parent);
        }
        path.reverse();
        path
    }

    /// Asks every level of the path; passes only if all let pass, and takes slots only then. The second value has a bit
    /// set for each level (0 = widest) this request is a probe of.
    pub(super) fn ask(&self, now: Moment, take: bool) -> (Admission, u8) {
        let path = self.path();
        let dice = &mut &self.trunk.dice;
        // Always widest first, so that two calls never wait for each other.
        let mut levels: Vec<MutexGuard<'_, Core>> = path.iter().map(|node| lock(&node.core)).collect();
        let held = levels.iter_mut().filter_map(|level| match level.peek(now, dice) {
            Admission::Hold(hold) => Some(hold),
            Admission::Pass(_) => None,
        });
        if let Some(hold) = held.reduce(longer) {
            return (Admission::Hold(hold), 0);
        }
        let mut probes = 0;
        if take {
            for (bit, level) in levels.iter_mut().enumerate() {
                if let Admission::Pass(Pass { probe: true, .. }) = level.take(now, dice) {
                    probes |= 1 << bit;
                }
            }
        }
        let mut all_flow = true;
        let mut reopened = [None; 8];
        for ((node, level), reopened) in path.iter().zip(&mut levels).zip(&mut reopened) {
            let look = level.look(now, dice);
            all_flow &= look == Look::Flowing;
            *reopened = node.notices(look);
        }
        if all_flow {
            // Under the locks: a report that comes later bars the subtree after this.
            self.barred.store(false, Ordering::Release);
        }
        drop(levels);
        for (node, state) in path.iter().zip(reopened) {
            node.tell_reopened(state, now);
        }
        (Admission::Pass(Pass { at: now, probe: probes != 0 }), probes)
    }

    /// Reports a throttle of a request sent from here to the level (0 = widest) its limit belongs to. Never waits; what
    /// it changes holds before it returns.
    pub(crate) fn report(&self, level: usize, pass: Pass, signal: &Signal, now: Moment) {
        if let Some(node) = self.path().get(level) {
            let _ = node.throttled(pass, signal, now);
        }
    }

    /// Hears that a request of this very level's limit was throttled.
    pub(super) fn throttled(&self, pass: Pass, signal: &Signal, now: Moment) -> Option<Shut> {
        let mut core = lock(&self.core);
        let shut = core.throttled(pass, signal, now, &mut &self.trunk.dice)?;
        let was = self.told.swap(GateState::Shut as u8, Ordering::Relaxed);
        drop(core);
        self.bar(if shut.is_hard() { Moment::NEVER } else { shut.until });
        let event = Event::GateShut { class: shut.class, told: shut.told(), shut_for: now.until(shut.until) };
        self.tell(now, &event);
        if was != GateState::Shut as u8 {
            (self.trunk.log)(&self.labels, &event);
        }
        Some(shut)
    }

    /// Hears that a probe of this level went well.
    pub(super) fn succeeded(&self, pass: Pass, now: Moment) {
        let mut core = lock(&self.core);
        if core.succeeded(pass, now, &mut &self.trunk.dice) {
            let reopened = self.notices(core.look(now, &mut &self.trunk.dice));
            drop(core);
            self.tell_reopened(reopened, now);
            self.wake_heads();
        }
    }

    /// Hears that a probe of this level said nothing.
    pub(super) fn unknown(&self, pass: Pass, now: Moment) {
        lock(&self.core).unknown(pass, now);
        self.wake_heads();
    }

    /// Whether anybody listens; without one no event is built.
    #[inline]
    pub(crate) fn is_heard(&self) -> bool {
        self.listener.is_some()
    }

    /// Hands one event to the sink.
    pub(crate) fn tell(&self, now: Moment, event: &Event<'_>) {
        if let Some(listener) = &self.listener {
            listener.hear(now, event);
        }
    }

    /// Makes every call of the subtree ask, and refuses those who wait for what comes after their deadline.
    fn bar(&self, until: Moment) {
        self.barred.store(true, Ordering::Release);
        let mut waiting = self.queue.lock();
        waiting.wake_whose_deadline_comes_by(until);
        waiting.wake_head();
        drop(waiting);
        self.each_child(&|child| child.bar(until));
    }

    fn wake_heads(&self) {
        self.queue.lock().wake_head();
        self.each_child(&|child| child.wake_heads());
    }

    fn each_child(&self, act: &dyn Fn(&Self)) {
        let children: Vec<Arc<Self>> = lock(&self.children).iter().filter_map(Weak::upgrade).collect();
        children.iter().for_each(|child| act(child));
    }
}

/// A panic elsewhere must not stop the pool: what is locked here is whole between any two calls.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Of two holds the one that binds longer; a shut names the reason before a pace does.
fn longer(a: Hold, b: Hold) -> Hold {
    let until = |hold: &Hold| hold.shut.map_or(hold.ask_again, |shut| shut.until);
    let (long, short) = if until(&a) >= until(&b) { (a, b) } else { (b, a) };
    Hold { ask_again: long.ask_again.max(short.ask_again), shut: long.shut.or(short.shut), ..long }
}
