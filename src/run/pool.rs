//! A capacity pool and its handle.

use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::Duration;

use crate::clock::{Clock, Glance, SharedDice};
use crate::core::budget::Budget;
use crate::core::estimate::{Estimate, Usage};
use crate::core::limit::Limit;
use crate::core::moment::Moment;
use crate::core::observation::Observation;
use crate::core::path;
use crate::core::policy::Policy;
use crate::core::quota_board::QuotaBoard;
use crate::core::rule::Table;
use crate::core::setting::{InvalidSetting, within};
use crate::core::shadow::ShadowPacer;
#[cfg(any(feature = "tower", feature = "reqwest-middleware"))]
use crate::core::signal::Dimension;
use crate::core::signal::{QuotaWindow, Quotas, Scope, Signal};
use crate::event::names::clean;
use crate::event::{Event, PoolLabels, StackedBy};
use crate::gate::{DEEPEST, Node};
use crate::run::about::{About, Server};
use crate::run::builder::check_queue_limit;
use crate::run::call::Call;
use crate::run::engine::Engine;
use crate::run::here::{self, PoolId};
use crate::run::pools::Pools;
use crate::run::reported::Reported;
use crate::run::spans::{CallSpans, Sites, quota_updated};
use crate::run::tokens::Learnt;

/// The most policies whose parameters are shown.
const MOST_POLICIES: usize = 16;

/// A capacity pool: what shares one quota. Cheap to clone; clones are the same pool.
///
/// A handle holds the engine: calls through it go on when the last [`Forbear`](crate::Forbear) is gone. No look-up is made per
/// call, so keep one beside the client it belongs to.
#[derive(Clone)]
pub struct Pool {
    pub(super) shared: Arc<Shared>,
    /// Kept as long as there are handles.
    pub(super) _pools: Arc<Pools>,
}

impl Pool {
    /// A call under this policy. Nothing happens before [`Call::run`].
    ///
    /// A call is one piece of work, whatever it takes: any number of attempts, waits and turns at the gate, bounded by the policy's
    /// deadline. The policy is borrowed, and may be another for each call.
    pub fn call<'a>(&'a self, policy: &'a Policy) -> Call<'a> {
        Call::new(self, policy)
    }

    /// Provider and pool as they stand in labels.
    #[must_use]
    pub fn labels(&self) -> &PoolLabels {
        self.shared.node.labels()
    }

    /// What the pool's provider says, and how.
    #[cfg(any(feature = "tower", feature = "reqwest-middleware"))]
    pub(crate) fn table(&self) -> Table {
        *self.shared.table
    }

    /// Whether anybody needs to know of tokens: a sink, or a gate that knows of a limit that counts them.
    #[cfg(any(feature = "tower", feature = "reqwest-middleware"))]
    pub(crate) fn wants_tokens(&self) -> bool {
        let counts = || self.shared.board().limits().any(|(dimension, ..)| dimension != Dimension::Requests);
        self.shared.is_heard || self.shared.is_gated() && counts()
    }

    /// Whether a call would pass without waiting, as far as a look tells.
    #[cfg(feature = "tower")]
    pub(crate) fn is_flowing(&self) -> bool {
        self.shared.node.is_flowing()
    }
}

impl std::fmt::Debug for Pool {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Pool").field("labels", self.labels()).finish_non_exhaustive()
    }
}

/// A [`Pool`] in the making.
#[must_use = "a pool is made by `build`"]
pub struct PoolBuilder {
    pools: Arc<Pools>,
    table: Table,
    path: Vec<String>,
    limits: Vec<Limit>,
    server: Option<(String, u16)>,
    queue_limit: Option<usize>,
    cold_start: bool,
}

impl std::fmt::Debug for PoolBuilder {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let mut told = f.debug_struct("PoolBuilder");
        told.field("provider", &self.table.id).field("path", &self.path).field("limits", &self.limits);
        told.field("queue_limit", &self.queue_limit).field("cold_start", &self.cold_start).finish_non_exhaustive()
    }
}

impl PoolBuilder {
    /// A pool without a limit of its own; nothing is checked before [`PoolBuilder::build`].
    pub(super) fn new(pools: Arc<Pools>, table: Table, path: Vec<String>) -> Self {
        Self { pools, table, path, limits: Vec::new(), server: None, queue_limit: None, cold_start: false }
    }

    /// A quota the pool is known to have. What headers say beats it.
    ///
    /// May be told several times, once for each thing that is counted. It matters for providers that do not tell their limits in
    /// headers, for the first seconds after a start, and for what the metrics say of demand against supply. Give what the whole pool
    /// is granted, also where several processes share it.
    ///
    /// ```
    /// # use std::time::Duration;
    /// # use forbear::{Forbear, Limit, provider};
    /// # use forbear::core::signal::Dimension;
    /// # let forbear = Forbear::builder().build()?;
    /// let pool = forbear
    ///     .pool(provider::mistral(), ["ours", "large"])
    ///     .limit(Limit::requests_per_minute(300))
    ///     .limit(Limit::per(Dimension::Tokens, 2_000_000, Duration::from_secs(60)))
    ///     .build()?;
    /// # let _ = pool;
    /// # Ok::<(), forbear::InvalidSetting>(())
    /// ```
    pub fn limit(mut self, limit: Limit) -> Self {
        self.limits.push(limit);
        self
    }

    /// Paces calls by the pool's limits from the start, not only after a throttle: for quotas that must not be met even
    /// once, and for services that start with a backlog. Slots of a second that nobody took are saved up. Such a pool never
    /// flows freely, so each of its calls asks the gate.
    ///
    /// ```
    /// # use forbear::{Forbear, Limit, provider};
    /// # let forbear = Forbear::builder().build()?;
    /// let limit = Limit::requests_per_minute(600);
    /// let backfill = forbear.pool(provider::generic(), ["backfill"]).limit(limit).cold_start().build()?;
    /// # let _ = backfill;
    /// // Without a limit there is nothing to pace by.
    /// assert!(forbear.pool(provider::generic(), ["search"]).cold_start().build().is_err());
    /// # Ok::<(), forbear::InvalidSetting>(())
    /// ```
    pub fn cold_start(mut self) -> Self {
        self.cold_start = true;
        self
    }

    /// Where the pool's requests go, as `server.address` and `server.port` on spans: a host's name or address, and a port of
    /// 1 to 65535. Nothing is sent there. What the first build said stays.
    pub fn server(mut self, address: &str, port: u16) -> Self {
        self.server = Some((address.to_owned(), port));
        self
    }

    /// How many calls may wait for this pool, 0 to 10,000,000; see [`ForbearBuilder::queue_limit`](crate::ForbearBuilder::queue_limit).
    ///
    /// ```
    /// # use forbear::{Forbear, provider};
    /// # let forbear = Forbear::builder().build()?;
    /// // Rather an error now than an answer that nobody waits for any more.
    /// let search = forbear.pool(provider::generic(), ["search"]).queue_limit(200).build()?;
    /// # let _ = search;
    /// # Ok::<(), forbear::InvalidSetting>(())
    /// ```
    pub fn queue_limit(mut self, most: usize) -> Self {
        self.queue_limit = Some(most);
        self
    }

    /// Checks path and limits and makes the pool, or finds it where it was made before.
    ///
    /// # Errors
    /// A path without names, deeper than 8, or with an empty name; a table whose id is no plain label; a limit or a queue
    /// limit outside its range; a server that is no bare host name.
    ///
    /// ```
    /// # use forbear::{Forbear, provider};
    /// # let forbear = Forbear::builder().build()?;
    /// let refused = forbear.pool(provider::openai(), [""]).build().unwrap_err();
    /// assert!(refused.to_string().starts_with("pool.path"));
    /// # Ok::<(), forbear::InvalidSetting>(())
    /// ```
    pub fn build(self) -> Result<Pool, InvalidSetting> {
        within("pool.path (names)", self.path.len(), 1..=DEEPEST, "1 to 8 names")?;
        if self.path.iter().any(String::is_empty) {
            return Err(InvalidSetting::new("pool.path", &self.path, "no empty name"));
        }
        let name = self.path.join("/");
        self.with_path().map_err(|refused| refused.of("pool", &name))
    }

    fn with_path(self) -> Result<Pool, InvalidSetting> {
        if self.table.id.is_empty() || clean(self.table.id) != self.table.id {
            return Err(InvalidSetting::new("table.id", self.table.id, "1 to 64 of A-Z, a-z, 0-9, . _ : / -"));
        }
        self.limits.iter().try_for_each(Limit::check)?;
        if self.cold_start && self.limits.iter().all(|limit| limit.quota_window() == QuotaWindow::Day) {
            return Err(InvalidSetting::new("pool.cold_start", true, "with a limit in a window of less than a day"));
        }
        let server = self.server.map(|(address, port)| Server::new(&address, port)).transpose()?;
        if let Some(most) = self.queue_limit {
            check_queue_limit("pool.queue_limit", most)?;
        }

        let shared = self.pools.find_or_make(self.table, self.path.into());
        if let Some(server) = server {
            shared.about.server.get_or_init(|| server);
        }
        if let Some(most) = self.queue_limit {
            shared.node.limit_queue(most);
        }
        if !self.limits.is_empty() {
            shared.board().configured = self.limits;
            shared.tell_gate_the_limit(shared.level(None));
        }
        if self.cold_start && shared.engine.trunk.has_gate() {
            shared.node.start_cold(shared.clock.now());
        }
        Ok(Pool { shared, _pools: self.pools })
    }
}

/// What all handles of a pool share.
pub(super) struct Shared {
    pub(super) engine: Arc<Engine>,
    pub(super) table: Arc<Table>,
    pub(super) node: Arc<Node>,
    /// Its names, widest first, as the application gave them.
    pub(super) path: Arc<[String]>,
    /// Whether anybody needs the numbers of calls and requests: gate, budget or sink.
    pub(super) counted: bool,
    /// Whether a sink listens.
    pub(super) is_heard: bool,
    /// The engine's, without the way to it: each call looks at it at least once.
    clock: Clock,
    budget: Option<Mutex<Budget>>,
    quotas: Mutex<QuotaBoard>,
    pub(super) learnt: Learnt,
    /// What operations reported while their attempts are under way.
    pub(super) reported: Reported,
    /// Calls that sleep between two attempts.
    sleeping: AtomicU32,
    /// The policies seen, where a sink shows them.
    policies: OnceLock<Box<[OnceLock<Policy>; MOST_POLICIES]>>,
    pub(super) about: About,
    /// Counts calls that no pacing could serve, where that was asked for.
    shadow: Option<Box<Mutex<ShadowPacer>>>,
    /// The call sites that were warned.
    sites: Sites,
}

impl Shared {
    /// What the handles of a new pool share; `node` is the last level of its path.
    pub(super) fn new(engine: &Arc<Engine>, table: Arc<Table>, path: &Arc<[String]>, node: Arc<Node>) -> Self {
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
    pub(super) fn clock(&self) -> &Clock {
        &self.clock
    }

    /// The engine's dice, which all its pools roll.
    pub(super) fn dice(&self) -> &SharedDice {
        &self.engine.trunk.dice
    }

    /// Whether throttles hold calls back now.
    pub(super) fn is_gated(&self) -> bool {
        self.engine.trunk.is_gated()
    }

    /// What an observation made now means to the provider. What it says of quotas is noted.
    #[inline]
    pub(super) fn read(&self, observation: &Observation<'_>) -> Signal {
        if observation.is_bare() { self.table.read_bare(observation) } else { self.read_all(observation).0 }
    }

    /// Reads an answer with headers or a body, and notes what it says of quotas: on the board for gauges, with the gate for
    /// its pace. A success also says how many tokens were used.
    pub(super) fn read_all(&self, observation: &Observation<'_>) -> (Signal, Usage) {
        let reading = self.table.read_at(observation, &|| self.clock().wall());
        if !reading.quotas.is_empty() {
            self.note(&reading.quotas, &reading.signal, self.clock().now());
        }
        (reading.signal, reading.used)
    }

    /// The level (0 = widest) of this pool's path that a limit of `scope` shuts.
    pub(super) fn level(&self, scope: Option<Scope>) -> usize {
        path::level(self.table.scopes, self.path.len(), scope)
    }

    /// Builds an event only if somebody listens.
    pub(super) fn tell<'e>(&self, now: Moment, event: impl FnOnce() -> Event<'e>) {
        if self.is_heard {
            self.node.tell(now, &event());
        }
    }

    /// Tells that a call arrived that has this long.
    pub(super) fn tell_arrival(
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
    pub(super) fn is_nested(&self, policy: &Policy) -> bool {
        let nested = here::is_inside(PoolId::of(self)) && !policy.allow_nested;
        if nested {
            self.tell_stacked(policy, StackedBy::Nested);
        }
        nested
    }

    /// Tells that a second retry layer was noticed, and warns the call site once.
    #[cold]
    pub(super) fn tell_stacked(&self, policy: &Policy, detector: StackedBy) {
        self.tell(self.clock.now(), || Event::RetriesStacked { detector });
        self.sites.warn(self.node.labels(), policy.name(), detector);
    }

    /// Tells that a throttle was shown without headers, and warns the call site once.
    #[cold]
    pub(super) fn tell_headers_hidden(&self, policy: &Policy) {
        self.tell(self.clock.now(), || Event::HeadersHidden);
        self.sites.warn_of_hidden_headers(self.node.labels(), policy.name());
    }

    /// Takes a retry from the budget, if there is one to take or no budget at all.
    pub(super) fn withdraw(&self, now: Moment) -> bool {
        self.budget
            .as_ref()
            .is_none_or(|budget| budget.lock().unwrap_or_else(PoisonError::into_inner).withdraw(self.node.calls(), now))
    }

    /// What is known of the quotas, locked.
    pub(super) fn board(&self) -> MutexGuard<'_, QuotaBoard> {
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
    pub(super) fn tell_gate_the_limit(&self, level: usize) {
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
    pub(super) fn policies(&self) -> impl Iterator<Item = &Policy> {
        self.policies.get().into_iter().flat_map(|policies| policies.iter().map_while(OnceLock::get))
    }

    /// How long the pool is shut from now, if it is.
    pub(super) fn shut_for(&self) -> Option<Duration> {
        self.node.shut_for(self.clock().now())
    }

    /// Counts a call as sleeping, where somebody listens.
    pub(super) fn falls_asleep(&self) {
        if self.is_heard {
            self.sleeping.fetch_add(1, Ordering::Relaxed);
        }
    }

    /// Counts a call as awake again. One per [`Shared::falls_asleep`].
    pub(super) fn wakes_up(&self) {
        if self.is_heard {
            self.sleeping.fetch_sub(1, Ordering::Relaxed);
        }
    }

    /// Calls that sleep between two attempts, where somebody listens; else nobody counts them.
    pub(super) fn sleeping(&self) -> u32 {
        self.sleeping.load(Ordering::Relaxed)
    }
}
