//! The engine of a process: clock, dice, gate, sink, and the registry of pools.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::time::Duration;

use crate::core::budget::BudgetSettings;
use crate::core::gate::{Gate as GateCore, Look};
use crate::core::rule::Table;
use crate::event::Event;
use crate::event::names::Policies;
use crate::event::sink::Sink;
use crate::event::words::BoundedLabel;
use crate::gate::{Gate, Node, StillInFlight, Trunk, drain};
use crate::run::builder::ForbearBuilder;
use crate::run::labels::PairBound;
use crate::run::pool::{PoolBuilder, Shared};

/// The engine: one per process. Cheap to clone; clones are the same engine.
///
/// Pools made from it keep it alive.
#[derive(Clone)]
pub struct Forbear {
    pub(super) engine: Arc<Engine>,
}

/// How long the end of a process waits for a store that does not answer.
#[cfg(feature = "redis")]
const LONGEST_FLUSH: Duration = Duration::from_secs(1);

impl Forbear {
    /// An engine in the making: a local gate and no sink unless told.
    pub fn builder() -> ForbearBuilder {
        ForbearBuilder::default()
    }

    /// The pool of this provider and path of names, widest first. The same provider and path is the same pool: its gate,
    /// budget and quotas are shared, and a second build may only add limits. What its gate was told holds even when no
    /// handle of it is left.
    pub fn pool<N: AsRef<str>>(&self, table: Table, path: impl IntoIterator<Item = N>) -> PoolBuilder {
        PoolBuilder::new(
            Arc::clone(&self.engine),
            table,
            path.into_iter().map(|name| name.as_ref().to_owned()).collect(),
        )
    }

    /// Lets no further request leave, and waits for those under way, at most `within`: for the end of a process.
    ///
    /// From the first poll on every call that would need a permit is refused
    /// ([`Refusal::Draining`](crate::Refusal::Draining)): new calls, calls that wait at a gate, and calls that
    /// sleep before another attempt, at once. Attempts in flight are left to end; so are streams that hold their
    /// [`permit`](crate::Attempt::permit). There is no way back.
    ///
    /// An engine with neither gate nor budget nor sink does not count its requests: there is nothing to wait for, and
    /// nobody is refused.
    ///
    /// ```
    /// # use std::time::Duration;
    /// # use forbear::{Forbear, Policy, Refusal, provider};
    /// # #[tokio::main(flavor = "current_thread", start_paused = true)] async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let forbear = Forbear::builder().build()?;
    /// # let pool = forbear.pool(provider::generic(), ["files"]).build()?;
    /// # let policy = Policy::interactive(Duration::from_secs(5)).build()?;
    /// forbear.drain(Duration::from_secs(30)).await?;
    /// let refused = pool.call(&policy).run(|_| async { Ok::<_, std::io::Error>(http::Response::new(())) }).await;
    /// assert_eq!(refused.expect_err("drained").refusal(), Some(Refusal::Draining));
    /// # Ok(()) }
    /// ```
    ///
    /// # Errors
    /// Requests were still in flight when the time was up; they are not cut.
    ///
    /// # Cancel safety
    /// Dropped, it waits no longer; the engine stays closed. Called again, it goes on waiting.
    ///
    /// # Panics
    /// Outside a tokio runtime with its timer enabled.
    pub async fn drain(&self, within: Duration) -> Result<(), StillInFlight> {
        let nodes = {
            let registry = self.engine.registry();
            // Under the lock: a node is made before, and told below, or after, and knows.
            drain::start(&self.engine.trunk);
            registry.nodes.values().map(Arc::clone).collect::<Vec<_>>()
        };
        let began = self.engine.trunk.clock.now();
        let drained = drain::drain(&self.engine.trunk, &nodes, within).await;
        #[cfg(feature = "redis")]
        if let Some(store) = &self.engine.store {
            // What was seen last is news for the others even now.
            let spent = began.until(self.engine.trunk.clock.now());
            store.flush(within.saturating_sub(spent).min(LONGEST_FLUSH)).await;
        }
        #[cfg(not(feature = "redis"))]
        let _ = began;
        drained
    }
}

impl std::fmt::Debug for Forbear {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Forbear").field("gate", &self.engine.gate).finish_non_exhaustive()
    }
}

pub(super) struct Engine {
    pub(super) trunk: Arc<Trunk>,
    pub(super) gate: Gate,
    pub(super) sink: Option<Arc<dyn Sink>>,
    /// Part of `sink`, if pools are to be diagnosed in this process.
    #[cfg(feature = "diagnose")]
    pub(super) chronicle: Option<crate::diagnose::Chronicle>,
    pub(super) observe_only: bool,
    pub(super) attempts_are_clients: bool,
    pub(super) shadow_pacer: bool,
    pub(super) budget: Option<BudgetSettings>,
    /// As configured; see [`Engine::replicas`].
    pub(super) replicas: Option<u32>,
    #[cfg(feature = "redis")]
    pub(super) store: Option<crate::store::redis::RedisStore>,
    /// The policies whose names are labels, in the order in which they were first used.
    pub(super) policies: Policies,
    pub(super) queue_limit: usize,
    pub(super) registry: Mutex<Registry>,
}

/// A pool or a level above one: provider and names.
pub(super) type Key = (&'static str, Vec<String>);

#[derive(Default)]
pub(super) struct Registry {
    pub(super) pools: HashMap<Key, Weak<Shared>>,
    /// Kept beyond their pools as long as they are not flowing: what a pool was told outlives its handles.
    nodes: HashMap<Key, Arc<Node>>,
    pub(super) pairs: PairBound,
}

impl Engine {
    pub(super) fn registry(&self) -> MutexGuard<'_, Registry> {
        // Whole between any two calls, so a panic elsewhere does not matter.
        self.registry.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// How many replicas share the pools: as the store counts them, or as configured.
    pub(super) fn replicas(&self) -> Option<u32> {
        #[cfg(feature = "redis")]
        if let Some(counted) = self.store.as_ref().and_then(crate::store::Store::replicas) {
            return Some(counted);
        }
        self.replicas
    }

    /// The node of a path, with all levels above it.
    pub(super) fn node(&self, registry: &mut Registry, table: &Table, path: &[String]) -> Arc<Node> {
        let key = (table.id, path.to_vec());
        if let Some(node) = registry.nodes.get(&key) {
            return Arc::clone(node);
        }
        let parent = match path {
            [above @ .., _] if !above.is_empty() => Some(self.node(registry, table, above)),
            _ => None,
        };
        let (labels, overflowed) = registry.pairs.admit(table.id, path);
        let listener = self.sink.as_ref().map(|sink| Arc::from(sink.listen(&labels)));
        let core = GateCore::new(table.shut_floor);
        let node = Node::attach(Arc::clone(&self.trunk), labels, parent, core, listener, self.queue_limit);
        #[cfg(feature = "redis")]
        if let Some(store) = &self.store {
            node.join(store, &crate::store::PoolId { provider: table.id, path: path.to_vec() });
        }
        let now = self.trunk.clock.now();
        if overflowed {
            node.tell(now, &Event::LabelOverflowed { label: BoundedLabel::Pool });
        }
        registry.nodes.retain(|_, node| Arc::strong_count(node) > 1 || node.look(now) != Look::Flowing);
        registry.nodes.insert(key, Arc::clone(&node));
        node
    }
}
