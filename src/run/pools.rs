//! The pools of an engine: found by their names, kept while they matter.
//!
//! A pool is kept as long as somebody holds a handle of it, a request or a stream of it is under way, or its gate does not
//! flow; and ten minutes longer, so that an application which makes a handle for each request finds what the pool has
//! learned, its retry budget and its quotas. Then it is forgotten: the next who names it begins anew.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use crate::core::gate::Look;
use crate::core::moment::Moment;
use crate::core::rule::Table;
use crate::event::sink::Listener;
use crate::event::words::BoundedLabel;
use crate::event::{Event, PoolLabels};
use crate::gate::{LazyCore, Node};
use crate::run::engine::Engine;
use crate::run::labels::PairBound;
use crate::run::pool::Shared;

/// A pool without a call for this long, and with nobody who holds it, is forgotten. Ten windows of a minute, and two turns
/// of a probe.
const IDLE: Duration = Duration::from_secs(600);
/// So few pools are not worth looking through.
const FEW: usize = 64;

/// An engine with its pools.
pub(super) struct Pools {
    pub(super) engine: Arc<Engine>,
    registry: Mutex<Registry>,
}

/// A pool or a level above one: provider and names.
type Key = (&'static str, Arc<[String]>);

#[derive(Default)]
struct Registry {
    levels: HashMap<Key, Kept>,
    pairs: PairBound,
    /// The tables that pools were built with: hundreds of bytes each, and hardly ever more than one of a provider.
    tables: Vec<Arc<Table>>,
    /// The ear for all pools beyond the bound of labels, by the labels they share.
    others: Vec<(PoolLabels, Arc<dyn Listener>)>,
    /// Idle ones are looked for when there are so many.
    sweep_at: usize,
    swept: Moment,
    /// How many were looked at for that; only a test wants to know.
    #[cfg(test)]
    looked_at: usize,
}

/// One level of a path.
struct Kept {
    node: Arc<Node>,
    /// What makes it a pool, if it was ever built as one.
    pool: Option<Arc<Shared>>,
    /// When it was last seen in use.
    used: Moment,
    /// Its calls then.
    calls: u32,
}

impl Pools {
    pub(super) fn new(engine: Arc<Engine>) -> Self {
        Self { engine, registry: Mutex::default() }
    }

    fn registry(&self) -> MutexGuard<'_, Registry> {
        // Whole between any two calls, so a panic elsewhere does not matter.
        self.registry.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The pool of this path, with all levels above it; made if nobody knows it.
    pub(super) fn find_or_make(&self, table: Table, path: Arc<[String]>) -> Arc<Shared> {
        let now = self.engine.trunk.clock.now();
        let key = (table.id, path);
        let mut registry = self.registry();
        if let Some(kept) = registry.levels.get_mut(&key)
            && let Some(pool) = &kept.pool
        {
            kept.used = now;
            let pool = Arc::clone(pool);
            registry.sweep_in_time(now);
            return pool;
        }
        let node = registry.node(&self.engine, &table, &key.1, now);
        let table = registry.table(table);
        let pool = Arc::new(Shared::new(&self.engine, table, &key.1, node));
        if let Some(kept) = registry.levels.get_mut(&key) {
            kept.pool = Some(Arc::clone(&pool));
        }
        pool
    }

    /// Every pool that was built and is not forgotten, in no order.
    pub(super) fn all(&self) -> Vec<Arc<Shared>> {
        let mut registry = self.registry();
        registry.sweep_in_time(self.engine.trunk.clock.now());
        registry.levels.values().filter_map(|kept| kept.pool.as_ref().map(Arc::clone)).collect()
    }

    /// Every level there is, after `first` was done: a level is made before it, or after it.
    pub(super) fn levels_after(&self, first: impl FnOnce()) -> Vec<Arc<Node>> {
        let registry = self.registry();
        first();
        registry.levels.values().map(|kept| Arc::clone(&kept.node)).collect()
    }
}

impl Registry {
    /// The node of a path, with all levels above it.
    fn node(&mut self, engine: &Engine, table: &Table, path: &Arc<[String]>, now: Moment) -> Arc<Node> {
        let key = (table.id, Arc::clone(path));
        if let Some(kept) = self.levels.get_mut(&key) {
            kept.used = now;
            return Arc::clone(&kept.node);
        }
        let above = match &**path {
            [above @ .., _] if !above.is_empty() => Some(self.node(engine, table, &Arc::from(above), now)),
            _ => None,
        };
        let (labels, overflowed) = self.pairs.admit(table.id, path);
        let listener = self.listener(engine, &labels, overflowed);
        let core = LazyCore::new(table.shut_floor);
        let node = Node::attach(Arc::clone(&engine.trunk), labels, above, core, listener, engine.queue_limit);
        #[cfg(feature = "redis")]
        if let Some(store) = &engine.store {
            node.join(store, &crate::store::PoolId { provider: table.id, path: path.to_vec() });
        }
        if overflowed {
            node.tell(now, &Event::LabelOverflowed { label: BoundedLabel::Pool });
        }
        if self.levels.len() >= self.sweep_at.max(FEW) {
            self.sweep(now);
        }
        self.levels.insert(key, Kept { node: Arc::clone(&node), pool: None, used: now, calls: 0 });
        node
    }

    /// A table, kept once.
    fn table(&mut self, table: Table) -> Arc<Table> {
        if let Some(known) = self.tables.iter().find(|known| are_same(known, &table)) {
            return Arc::clone(known);
        }
        let kept = Arc::new(table);
        // Somebody who makes one for each pool gets what they ask for.
        if self.tables.len() < FEW {
            self.tables.push(Arc::clone(&kept));
        }
        kept
    }

    /// Who hears of a pool. Those that share their labels share their ear: it may hold kilobytes.
    fn listener(&mut self, engine: &Engine, labels: &PoolLabels, shared: bool) -> Option<Arc<dyn Listener>> {
        let sink = engine.sink.as_ref()?;
        if !shared {
            return Some(Arc::from(sink.listen(labels)));
        }
        if let Some((_, known)) = self.others.iter().find(|(known, _)| known == labels) {
            return Some(Arc::clone(known));
        }
        let listener: Arc<dyn Listener> = Arc::from(sink.listen(labels));
        self.others.push((labels.clone(), Arc::clone(&listener)));
        Some(listener)
    }

    /// Forgets idle ones, if that was long ago.
    fn sweep_in_time(&mut self, now: Moment) {
        if self.levels.len() > FEW && now >= self.swept.after(IDLE) {
            self.sweep(now);
        }
    }

    /// Forgets idle ones.
    fn sweep(&mut self, now: Moment) {
        #[cfg(test)]
        {
            self.looked_at += self.levels.len();
        }
        self.levels.retain(|_, kept| kept.stays(now));
        self.swept = now;
        // Twice as many as are worth keeping: each is looked at once or twice in the time in which as many are made.
        self.sweep_at = 2 * self.levels.len();
        self.levels.shrink_to(self.sweep_at);
    }
}

/// Whether two tables say the same of a provider, as far as a look at where they point can tell.
fn are_same(a: &Table, b: &Table) -> bool {
    let points = |table: &Table| {
        let Table { headers, fields, rules, user_rules, scopes, answers, tokens, .. } = *table;
        let of_lists = [scopes.as_ptr() as usize, answers.as_ptr() as usize, tokens.answer.as_ptr() as usize];
        (
            &raw const *headers,
            &raw const *fields,
            &raw const *rules,
            &raw const *user_rules,
            &raw const *tokens.request,
            of_lists,
        )
    };
    (a.id, a.semconv, a.shut_floor, a.states_delay, a.states_class, a.tokens.limit_counts)
        == (b.id, b.semconv, b.shut_floor, b.states_delay, b.states_class, b.tokens.limit_counts)
        && points(a) == points(b)
        && std::ptr::fn_addr_eq(a.read_body, b.read_body)
        && std::ptr::fn_addr_eq(a.tokens.read, b.tokens.read)
}

impl Kept {
    /// Whether somebody may still want to know what this level knows.
    fn stays(&mut self, now: Moment) -> bool {
        let calls = self.node.calls();
        let has_handle = self.pool.as_ref().is_some_and(|pool| Arc::strong_count(pool) > 1);
        // Levels below, and streams.
        let is_held = Arc::strong_count(&self.node) > 1 + usize::from(self.pool.is_some());
        if has_handle || is_held || calls != self.calls {
            (self.used, self.calls) = (now, calls);
            return true;
        }
        now < self.used.after(IDLE) || self.node.look(now) != Look::Flowing
    }
}

#[cfg(test)]
#[path = "pools_tests.rs"]
mod tests;
