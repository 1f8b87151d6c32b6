//! One level of a pool's path, with the state machine of its gate.

use std::cell::Cell;
use std::sync::Arc;
use std::sync::atomic::{AtomicU8, AtomicU32, AtomicUsize, Ordering};
use std::time::Duration;

use tokio::sync::Notify;
use tokio::sync::futures::Notified;

use crate::core::estimate::Estimate;
use crate::core::gate::{Gate as Core, Look, Pass};
use crate::core::merge::Shut;
use crate::core::moment::Moment;
use crate::core::signal::{LimitClass, Quotas, Signal, TokenKind};
use crate::event::sink::Listener;
use crate::event::{Event, GateState, PoolLabels};
use crate::gate::by_hand::ByHand;
#[cfg(feature = "redis")]
use crate::gate::fleet::FleetLink;
use crate::gate::lazy::LazyCore;
use crate::gate::level::{DEEPEST, Level};
use crate::gate::queue::Queue;
#[cfg(feature = "redis")]
use crate::gate::slots::Given;
use crate::gate::sync::MutexGuard;
use crate::gate::trunk::Trunk;

/// One level of a path: the pool itself, or a level above it whose limits bind all pools below.
pub(crate) type Node = Level<LazyCore, Station>;

/// What a level has beside its state.
pub(crate) struct Station {
    pub(super) trunk: Arc<Trunk>,
    labels: PoolLabels,
    listener: Option<Arc<dyn Listener>>,
    /// The state that was told last, as a [`GateState`]. Written under the lock of the state.
    told: AtomicU8,
    pub(super) queue: Queue,
    pub(super) by_hand: ByHand,
    /// The way to the other replicas, if there is one.
    #[cfg(feature = "redis")]
    pub(super) link: FleetLink,
    /// Slots of the pace all replicas share.
    #[cfg(feature = "redis")]
    pub(super) given: Given,
    /// How many calls may wait here.
    pub(super) queue_limit: AtomicUsize,
    /// Numbers that were given to no call's first request, but to retries, streams, and calls that had to ask; wraps.
    no_calls: AtomicU32,
    /// Wakes calls that sleep between attempts when there will be no other.
    no_more: Notify,
}

impl Node {
    /// A flowing node below `above`.
    pub(crate) fn attach(
        trunk: Arc<Trunk>,
        labels: PoolLabels,
        above: Option<Arc<Self>>,
        core: LazyCore,
        listener: Option<Arc<dyn Listener>>,
        queue_limit: usize,
    ) -> Arc<Self> {
        let draining = trunk.is_draining();
        let station = Station {
            trunk,
            labels,
            listener,
            told: AtomicU8::new(GateState::Flowing as u8),
            queue: Queue::default(),
            by_hand: ByHand::default(),
            #[cfg(feature = "redis")]
            link: FleetLink::default(),
            #[cfg(feature = "redis")]
            given: Given::default(),
            queue_limit: AtomicUsize::new(queue_limit),
            no_calls: AtomicU32::new(0),
            no_more: Notify::new(),
        };
        let node = Self::new(above, core, station);
        if draining {
            node.flow.bar();
        }
        node
    }

    pub(crate) fn labels(&self) -> &PoolLabels {
        &self.parts.labels
    }

    pub(super) fn trunk(&self) -> &Trunk {
        &self.parts.trunk
    }

    pub(super) fn now(&self) -> Moment {
        self.parts.trunk.clock.now()
    }

    /// Lets at most so many calls wait here.
    pub(crate) fn limit_queue(&self, most: usize) {
        self.parts.queue_limit.store(most, Ordering::Relaxed);
    }

    /// Calls so far, modulo 2^32.
    pub(crate) fn calls(&self) -> u32 {
        self.flow.numbers().wrapping_sub(self.parts.no_calls.load(Ordering::Relaxed))
    }

    /// Counts a number that was given to no call's first request.
    #[cold]
    pub(super) fn count_no_call(&self) {
        self.parts.no_calls.fetch_add(1, Ordering::Relaxed);
    }

    /// Requests under way.
    pub(crate) fn in_flight(&self) -> u32 {
        self.flow.in_flight()
    }

    /// Requests under way here and below.
    pub(super) fn in_flight_below(&self) -> u32 {
        let below = Cell::new(self.in_flight());
        self.each_below(&|node| below.set(below.get().saturating_add(node.in_flight_below())));
        below.get()
    }

    /// How many requests may be under way here, if that was learned.
    pub(crate) fn in_flight_limit(&self) -> Option<u32> {
        self.state().in_flight_limit()
    }

    /// Calls that wait here.
    pub(crate) fn waiting(&self) -> usize {
        self.parts.queue.len()
    }

    /// This level's own state.
    pub(crate) fn look(&self, now: Moment) -> Look {
        let mut core = self.state();
        let look = self.look_at(&mut core, now);
        let reopened = self.notices_look(&mut core, &look);
        drop(core);
        self.tell_reopened(reopened, now);
        look
    }

    /// How long the path is shut from now, if it is. Whoever only wants to show it changes nothing that is told.
    pub(crate) fn shut_for(&self, now: Moment) -> Option<Duration> {
        let shut = |node: &Self| match node.look_at(&mut node.state(), now) {
            Look::Shut(shut) => Some(now.until(shut.until)),
            Look::Flowing | Look::Paced(_) => None,
        };
        self.path().filter_map(shut).max()
    }

    /// Notes the state this level is in; gives it back where it lets calls in and did not before. To be
    /// [told](Self::tell_reopened) outside of the lock.
    pub(super) fn notices(&self, core: &mut LazyCore, now: Moment) -> Option<Reopened> {
        let look = self.look_at(core, now);
        self.notices_look(core, &look)
    }

    pub(super) fn notices_look(&self, core: &mut LazyCore, look: &Look) -> Option<Reopened> {
        let state = GateState::of(look);
        let told = self.parts.told.swap(state as u8, Ordering::Relaxed);
        let early = core.is_made() && core.take_reopened_early();
        (state != GateState::Shut && told != state as u8).then_some(Reopened { state, early })
    }

    /// Tells, outside of all locks, that this level lets calls in again.
    pub(super) fn tell_reopened(&self, reopened: Option<Reopened>, now: Moment) {
        if let Some(Reopened { state, early }) = reopened {
            #[cfg(feature = "redis")]
            self.parts.link.tell_reopened(early);
            #[cfg(not(feature = "redis"))]
            let _ = early;
            let event = Event::GateReopened { state };
            self.tell(now, &event);
            self.trunk().log(self.labels(), &event);
        }
    }

    /// Changes what the state machine of a level (0 = widest) of the path knows.
    pub(crate) fn with_level(&self, level: usize, change: impl FnOnce(&mut Core)) {
        if let Some(node) = self.path().nth(level) {
            change(&mut node.state());
        }
    }

    /// Tells a level (0 = widest) of the path what an answer says of quotas.
    pub(crate) fn read(&self, level: usize, quotas: &Quotas, signal: &Signal, now: Moment) {
        if let Some(node) = self.path().nth(level)
            && node.state().read(quotas, signal, now, &mut &self.trunk().dice)
        {
            node.wake_heads();
        }
    }

    /// What the path's levels are, or were last, shut for: the widest that is names it.
    pub(super) fn held_for(&self) -> LimitClass {
        let mut classes = self.path().map(|node| node.state().held_for());
        classes.find(|class| *class != LimitClass::None).unwrap_or(LimitClass::None)
    }

    /// Reports a throttle of a request sent from here to the level (0 = widest) its limit belongs to. Never waits; what
    /// it changes holds before it returns.
    pub(crate) fn report(&self, level: usize, pass: Pass, signal: &Signal, now: Moment) {
        if let Some(node) = self.path().nth(level) {
            let _ = node.throttled(pass, signal, now);
        }
    }

    /// Hears that a request of this very level's limit was throttled.
    pub(super) fn throttled(&self, pass: Pass, signal: &Signal, now: Moment) -> Option<Shut> {
        let in_flight = if signal.class == LimitClass::Concurrency { self.in_flight_below() } else { 1 };
        let mut core = self.state();
        let bursts = core.bursts();
        let shut = core.throttled_among(in_flight, pass, signal, now, &mut &self.trunk().dice);
        if shut.is_none() && signal.class == LimitClass::Concurrency {
            // Not told: nobody is held who could go.
            self.notices(&mut core, now);
            drop(core);
            self.bar(&|node| {
                node.flow.watch();
                node.parts.queue.wake_head();
            });
            return None;
        }
        let shut = shut?;
        let new_burst = core.bursts() != bursts;
        self.shut(core, shut, now);
        #[cfg(feature = "redis")]
        {
            self.parts.link.report(shut, new_burst, now);
            self.tells_slots();
        }
        #[cfg(not(feature = "redis"))]
        let _ = new_burst;
        Some(shut)
    }

    /// Makes every call of the subtree ask, and tells why. `core` holds the shut.
    pub(super) fn shut(&self, core: MutexGuard<'_, LazyCore>, shut: Shut, now: Moment) {
        let was = self.parts.told.swap(GateState::Shut as u8, Ordering::Relaxed);
        drop(core);
        #[cfg(feature = "redis")]
        self.parts.given.clear();
        let until = if shut.is_hard() { Moment::NEVER } else { shut.until };
        self.bar(&|node| node.parts.queue.wake_who_cannot_wait(until));
        let event = Event::GateShut { class: shut.class, told: shut.told(), shut_for: now.until(shut.until) };
        self.tell(now, &event);
        if was != GateState::Shut as u8 {
            self.trunk().log(self.labels(), &event);
        }
    }

    /// Hears that a probe of this level went well.
    pub(super) fn succeeded(&self, pass: Pass, now: Moment) {
        let mut core = self.state();
        if !core.succeeded(pass, now, &mut &self.trunk().dice) {
            drop(core);
            #[cfg(feature = "redis")]
            self.tested_for_all(now);
            return;
        }
        let reopened = self.notices(&mut core, now);
        drop(core);
        self.tell_reopened(reopened, now);
        self.wake_heads();
    }

    /// Paces this very level's calls by the limits it knows, from now on.
    pub(crate) fn start_cold(&self, now: Moment) {
        let mut core = self.state();
        core.start_cold(now);
        // Not told: it never was otherwise.
        self.notices(&mut core, now);
        drop(core);
        self.bar(&|_| {});
    }

    /// Hears how long a request took that the gate let in and that went well.
    pub(super) fn went_well(&self, took: Duration) {
        self.state().went_well(took);
    }

    /// Hears that a request the gate let in was cut after this time.
    pub(super) fn was_cut(&self, after: Duration) {
        self.state().was_cut(after);
    }

    /// Settles what a request that the gate let in with this estimate used of a side.
    pub(crate) fn settle(&self, estimate: Estimate, kind: TokenKind, used: u64, now: Moment) {
        self.path().for_each(|node| node.state().settle(Some(estimate), kind, used, now));
    }

    /// The last moment at which a call that arrived then, with this deadline, is worth an attempt.
    pub(super) fn latest_start(&self, arrived: Moment, deadline: Moment) -> Moment {
        if self.trunk().is_gated() { self.state().latest_start(arrived, deadline) } else { deadline }
    }

    /// By how much the turn of a call with so many before it would come after `latest`, if it would.
    pub(super) fn comes_too_late_by(&self, ahead: usize, latest: Moment, now: Moment) -> Option<Duration> {
        self.state().comes_too_late_by(ahead, latest, now)
    }

    /// Wakes who waits for a request to come back, where their number is limited. With nobody left who waits for that,
    /// they come back unheard again.
    pub(super) fn makes_room(&self) {
        let mut states = self.states();
        let mut limited = [false; DEEPEST];
        for (level, limited) in states.each().zip(&mut limited) {
            *limited = level.in_flight_limit().is_some();
        }
        if !limited.contains(&true) && !self.trunk().is_draining() {
            // Under the locks: a limit that is learned later watches after this.
            self.flow.unwatch();
        }
        drop(states);
        self.path().zip(limited).filter(|(_, limited)| *limited).for_each(|(node, _)| node.wake_heads());
    }

    /// Hears that a probe of this level said nothing.
    pub(super) fn unknown(&self, pass: Pass, now: Moment) {
        self.state().unknown(pass, now);
        self.wake_heads();
    }

    /// Refuses everybody who waits here, and whoever comes: the engine is draining. From now on requests that come back
    /// are told.
    pub(super) fn drain(&self) {
        {
            // Whoever unbars or stops watching holds this lock, and has looked whether the engine is draining.
            let _state = self.state();
            self.flow.watch();
            self.flow.bar();
        }
        self.parts.queue.wake_who_cannot_wait(Moment::NEVER);
        self.parts.no_more.notify_waiters();
    }

    /// Ends when the engine begins to drain; it does not know of a drain that has begun before it was made.
    pub(crate) fn no_more(&self) -> Notified<'_> {
        self.parts.no_more.notified()
    }

    /// Whether anybody listens; without one no event is built.
    #[inline]
    pub(crate) fn is_heard(&self) -> bool {
        self.parts.listener.is_some()
    }

    /// Hands one event to the sink.
    pub(crate) fn tell(&self, now: Moment, event: &Event<'_>) {
        if let Some(listener) = &self.parts.listener {
            listener.hear(now, event);
        }
    }

    pub(super) fn wake_heads(&self) {
        self.parts.queue.wake_head();
        self.each_below(&|node| node.wake_heads());
    }
}

/// A level lets calls in again.
#[derive(Clone, Copy)]
pub(super) struct Reopened {
    state: GateState,
    /// Before the end that was known: others may still hold it shut.
    early: bool,
}
