//! The engine and the other replicas.

use std::sync::{Arc, Weak};

use crate::clock::{Clock, SharedDice};
use crate::core::setting::InvalidSetting;
use crate::event::sink::Sink;
use crate::gate::Gate;
use crate::run::pools::Pools;
use crate::run::spans;
use crate::store::Fleet;
use crate::store::redis::RedisStore;

/// The store the gate's options ask for.
pub(super) fn store(gate: &Gate, clock: Clock, sink: Option<&dyn Sink>) -> Result<Option<RedisStore>, InvalidSetting> {
    let Some(options) = gate.redis_options() else { return Ok(None) };
    let listener = sink.map(Sink::listen_to_process);
    // Never seeded: the dice name this replica, and two of one seed would take each other's news for their own.
    RedisStore::start(options, clock, SharedDice::from_system(), listener, spans::store).map(Some)
}

/// Has the engine told when the number of replicas changes.
pub(super) fn watch(pools: &Arc<Pools>) {
    if let Some(store) = &pools.engine.store {
        let weak = Arc::downgrade(pools);
        store.watch(weak as Weak<dyn Fleet>);
    }
}

impl Fleet for Pools {
    fn replicas_changed(&self) {
        for pool in self.all() {
            pool.tell_gate_the_limit(pool.level(None));
        }
    }
}
