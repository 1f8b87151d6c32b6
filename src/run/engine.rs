//! The engine of a process: clock, dice, gate, sink, and the registry of pools.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};

use crate::core::budget::BudgetSettings;
use crate::core::gate::{Gate as GateCore, Look};
use crate::core::rule::Table;
use crate::event::sink::Sink;
use crate::gate::{Gate, Node, Trunk};
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
    pub(super) observe_only: bool,
    pub(super) attempts_are_clients: bool,
    pub(super) budget: Option<BudgetSettings>,
    pub(super) replicas: Option<u32>,
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

    /// Calls are held back by each other's throttles.
    pub(super) fn is_gated(&self) -> bool {
        self.gate.is_on() && !self.observe_only
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
        let labels = registry.pairs.admit(table.id, path);
        let listener = self.sink.as_ref().map(|sink| Arc::from(sink.listen(&labels)));
        let node = Node::new(Arc::clone(&self.trunk), labels, parent, GateCore::new(table.shut_floor), listener);
        let now = self.trunk.clock.now();
        registry.nodes.retain(|_, node| Arc::strong_count(node) > 1 || node.look(now) != Look::Flowing);
        registry.nodes.insert(key, Arc::clone(&node));
        node
    }
}
