//! What all handles of a pool share.

use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::Duration;

use crate::clock::{Clock, Glance, SharedDice};
use crate::core::budget::Budget;
use crate::core::estimate::{Estimate, Usage};
use crate::core::moment::Moment;
use crate::core::observation::Observation;
use crate::core::path;
use crate::core::policy::Policy;
use crate::core::quota_board::QuotaBoard;
use crate::core::rule::Table;
use crate::core::shadow::ShadowPacer;
use crate::core::signal::{Quotas, Scope, Signal};
use crate::event::{Event, StackedBy};
use crate::gate::Node;
use crate::run::about::About;
use crate::run::engine::Engine;
use crate::run::here::{self, PoolId};
use crate::run::reported::Reported;
use crate::run::spans::{CallSpans, Sites, quota_updated};
use crate::run::tokens::Learnt;

/// The most policies whose parameters are shown.
const MOST_POLICIES: usize = 16;

/// What all handles of a pool share.
pub(in crate::run) struct Shared {
    pub(in crate::run) engine: Arc<Engine>,
    pub(in crate::run) table: Arc<Table>,
    pub(in crate::run) node: Arc<Node>,
    /// Its names, widest first, as the application gave them.
    pub(in crate::run) path: Arc<[String]>,
    /// Whether anybody needs the numbers of calls and requests: gate, budget or sink.
    pub(in crate::run) counted: bool,
    /// Whether a sink listens.
    pub(in crate::run) is_heard: bool,
    /// The engine's, without the way to it: each call looks at it at least once.
    clock: Clock,
    budget: Option<Mutex<Budget>>,
    quotas: Mutex<QuotaBoard>,
    pub(in crate::run) learnt: Learnt,
    /// What operations reported while their attempts are under way.
    pub(in crate::run) reported: Reported,
    /// Calls that sleep between two attempts.
    sleeping: AtomicU32,
    /// The policies seen, where a sink shows them.
    policies: OnceLock<Box<[OnceLock<Policy>; MOST_POLICIES]>>,
    pub(in crate::run) about: About,
    /// Counts calls that no pacing could serve, where that was asked for.
    shadow: Option<Box<Mutex<ShadowPacer>>>,
    /// The call sites that were warned.
    sites: Sites,
}

impl Shared {
    /// What the handles of a new pool share; `node` is the last level of its path.
    pub(in crate::run) fn new(engine: &Arc<Engine>, table: Arc<Table>, path: &Arc<[String]>, node: Arc<Node>) -> Self {
        let clock = engine.trunk.clock;
        Self {
            path: Arc::clone(path),
            about: About::new(&table, path, engine.attempts_are_clients),
            table,
            sites: Sites::default(),
            shadow: engine.shadow_pacer.then(|| Box::new(Mutex::new(ShadowPacer::new(engine.replicas.unwrap_or(1))))),
            counted: engine.trunk.has_gate() || engine.budget.is_some() || node.is_heard(),
            is_heard: node.is_heard(),
            clock,
            budget: engine.budget.map(|settings| Mutex::new(Budget::new(settings, clock.now()))),
            quotas: Mutex::default(),
            learnt: Learnt::default(),
            reported: Reported::default(),
            sleeping: AtomicU32::new(0),
            policies: OnceLock::new(),
            node,
            engine: Arc::clone(engine),
        }
    }

    /// The engine's clock. A copy of it: a call looks at it at least once, and should not go a long way for that.
    #[inline]
    pub(in crate::run) fn clock(&self) -> &Clock {
        &self.clock
    }

    /// The engine's dice, which all its pools roll.
    pub(in crate::run) fn dice(&self) -> &SharedDice {
        &self.engine.trunk.dice
    }

    /// Whether throttles hold calls back now.
    pub(in crate::run) fn is_gated(&self) -> bool {
        self.engine.trunk.is_gated()
    }

    /// What an observation made now means to the provider. What it says of quotas is noted.
    #[inline]
    pub(in crate::run) fn read(&self, observation: &Observation<'_>) -> Signal {
        if observation.is_bare() { self.table.read_bare(observation) } else { self.read_all(observation).0 }
    }

    /// Reads an answer with headers or a body, and notes what it says of quotas: on the board for gauges, with the gate for
    /// its pace. A success also says how many tokens were used.
    pub(in crate::run) fn read_all(&self, observation: &Observation<'_>) -> (Signal, Usage) {
        let reading = self.table.read_at(observation, &|| self.clock().wall());
        if !reading.quotas.is_empty() {
            self.note(&reading.quotas, &reading.signal, self.clock().now());
        }
        (reading.signal, reading.used)
    }

    /// The level (0 = widest) of this pool's path that a limit of `scope` shuts.
    pub(in crate::run) fn level(&self, scope: Option<Scope>) -> usize {
        path::level(self.table.scopes, self.path.len(), scope)
    }

    /// Builds an event only if somebody listens.
    pub(in crate::run) fn tell<'e>(&self, now: Moment, event: impl FnOnce() -> Event<'e>) {
        if self.is_heard {
            self.node.tell(now, &event());
        }
    }

    /// Tells that a call arrived that has this long.
    pub(in crate::run) fn tell_arrival(
        &self,
        arrived: Glance,
        policy: &Policy,
        deadline: Duration,
        estimate: Option<Estimate>,
    ) {
        self.remember(policy);
        let now = self.clock.moment(arrived);
        self.node.tell(now, &Event::CallStarted { policy: policy.name(), deadline, estimate });
        if let Some(shadow) = &self.shadow {
            let mut shadow = shadow.lock().unwrap_or_else(PoisonError::into_inner);
            let feasible = shadow.can_serve(&self.board(), estimate, deadline, now);
            drop(shadow);
            if !feasible {
                self.node.tell(now, &Event::CallInfeasible);
            }
        }
    }

    /// Whether a call that begins now is inside an attempt of another call at this pool, and is to leave retrying to it. Then
    /// that is told.
    #[cold]
    pub(in crate::run) fn is_nested(&self, policy: &Policy) -> bool {
        let nested = here::is_inside(PoolId::of(self)) && !policy.allow_nested;
        if nested {
            self.tell_stacked(policy, StackedBy::Nested);
        }
        nested
    }

    /// Tells that a second retry layer was noticed, and warns the call site once.
    #[cold]
    pub(in crate::run) fn tell_stacked(&self, policy: &Policy, detector: StackedBy) {
        self.tell(self.clock.now(), || Event::RetriesStacked { detector });
        self.sites.warn(self.node.labels(), policy.name(), detector);
    }

    /// Tells that a throttle was shown without headers, and warns the call site once.
    #[cold]
    pub(in crate::run) fn tell_headers_hidden(&self, policy: &Policy) {
        self.tell(self.clock.now(), || Event::HeadersHidden);
        self.sites.warn_of_hidden_headers(self.node.labels(), policy.name());
    }

    /// Takes a retry from the budget, if there is one to take or no budget at all.
    pub(in crate::run) fn withdraw(&self, now: Moment) -> bool {
        self.budget
            .as_ref()
            .is_none_or(|budget| budget.lock().unwrap_or_else(PoisonError::into_inner).withdraw(self.node.calls(), now))
    }

    /// What is known of the quotas, locked.
    pub(in crate::run) fn board(&self) -> MutexGuard<'_, QuotaBoard> {
        self.quotas.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Notes what an answer says of quotas.
    fn note(&self, quotas: &Quotas, signal: &Signal, now: Moment) {
        self.note_on_board(quotas, now);
        for reading in quotas.iter() {
            self.tell(now, || Event::QuotaRead { reading: *reading });
        }
        let level = self.level(signal.scope);
        self.tell_gate_the_limit(level);
        self.node.read(level, quotas, signal, now);
    }

    /// Notes readings on the board, and logs limits that are not what they were.
    fn note_on_board(&self, quotas: &Quotas, now: Moment) {
        let mut changed = [None; Quotas::CAPACITY];
        let mut board = self.board();
        if CallSpans::LOG {
            for (reading, changed) in quotas.iter().zip(&mut changed) {
                let known = board.limit(reading.dimension, reading.window);
                *changed = (reading.limit.is_some() && reading.limit != known).then_some((*reading, known));
            }
        }
        board.note(quotas, now);
        drop(board);
        for (reading, known) in changed.iter().flatten() {
            quota_updated(self.node.labels(), reading, *known);
        }
    }

    /// Tells a level of the path what limit this pool's answers, or the application, say it has.
    pub(in crate::run) fn tell_gate_the_limit(&self, level: usize) {
        let replicas = self.engine.replicas().unwrap_or(1);
        for (dimension, amount, window) in self.board().limits() {
            self.node.with_level(level, |core| core.know_limit(dimension, amount, window, replicas));
        }
    }

    /// Remembers a policy so that its parameters can be shown; the seventeenth and later are not.
    fn remember(&self, policy: &Policy) {
        let policies = self.policies.get_or_init(|| Box::new([const { OnceLock::new() }; MOST_POLICIES]));
        for slot in policies.iter() {
            let first = || {
                let _ = self.engine.policies.index(policy.name());
                policy.clone()
            };
            let known = slot.get_or_init(first);
            // Mostly the same word in the same place, which need not be read.
            if std::ptr::eq(&*known.name, &*policy.name) || known.name == policy.name {
                return;
            }
        }
    }

    /// The policies seen so far.
    pub(in crate::run) fn policies(&self) -> impl Iterator<Item = &Policy> {
        self.policies.get().into_iter().flat_map(|policies| policies.iter().map_while(OnceLock::get))
    }

    /// How long the pool is shut from now, if it is.
    pub(in crate::run) fn shut_for(&self) -> Option<Duration> {
        self.node.shut_for(self.clock().now())
    }

    /// Counts a call as sleeping, where somebody listens.
    pub(in crate::run) fn falls_asleep(&self) {
        if self.is_heard {
            self.sleeping.fetch_add(1, Ordering::Relaxed);
        }
    }

    /// Counts a call as awake again. One per [`Shared::falls_asleep`].
    pub(in crate::run) fn wakes_up(&self) {
        if self.is_heard {
            self.sleeping.fetch_sub(1, Ordering::Relaxed);
        }
    }

    /// Calls that sleep between two attempts, where somebody listens; else nobody counts them.
    pub(in crate::run) fn sleeping(&self) -> u32 {
        self.sleeping.load(Ordering::Relaxed)
    }
}
