//! What an engine shows when it is asked: states, quotas, policies.

use std::collections::HashSet;

use crate::core::gate::Look;
use crate::core::moment::{Moment, WallTime};
use crate::event::PoolLabels;
use crate::event::gauges::{self, Visit};
use crate::event::names::{OTHER, Policies};
use crate::event::sink::{GaugeSource, Sample};
use crate::gate::Node;
use crate::run::pool::Shared;
use crate::run::pools::Pools;

impl GaugeSource for Pools {
    fn sample(&self, visit: &mut dyn FnMut(Sample<'_>)) {
        let (pools, engine) = (self.all(), &self.engine);
        gauges::process(engine.replicas(), visit);
        #[cfg(feature = "redis")]
        if let Some(store) = &engine.store {
            gauges::store(crate::store::Store::is_up(store), visit);
        }
        let now = engine.trunk.clock.now();
        let wall = engine.trunk.clock.wall();
        // One sample per series: pools beyond the bound share their labels, and so may those whose names were cleaned.
        let mut sampled: HashSet<&PoolLabels> = HashSet::new();
        for pool in &pools {
            let labels = pool.node.labels();
            if &*labels.pool != OTHER && sampled.insert(labels) {
                sample_pool(pool, now, wall, visit);
            }
        }
    }
}

/// Shows one pool: its gate, its calls by what they do, its quotas, and what its policies set.
fn sample_pool(pool: &Shared, now: Moment, wall: WallTime, visit: Visit<'_>) {
    let (node, labels) = (&pool.node, pool.node.labels());
    gauges::gate(labels, pool.engine.gate_mode(), most_shut(node, now), now, wall, visit);
    gauges::calls(labels, node.in_flight(), pool.sleeping(), node.waiting(), visit);
    gauges::quotas(labels, &pool.board(), now, wall, visit);
    for policy in pool.policies() {
        // Bounded like the label of what calls count; what does not fit is not shown, as one value for all would be none.
        let index = pool.engine.policies.index(policy.name());
        if index < Policies::CAPACITY {
            gauges::policy(labels, policy, pool.engine.policies.label(index), visit);
        }
    }
}

/// A pool is as shut as the most shut level of its path.
pub(super) fn most_shut(leaf: &Node, now: Moment) -> Look {
    let mut worst = leaf.look(now);
    let mut level = leaf;
    while let Some(above) = level.above() {
        level = above;
        worst = worse(worst, level.look(now));
    }
    worst
}

/// Of two levels the one that holds calls longer: shut before paced before flowing, and of two shuts the later end.
fn worse(a: Look, b: Look) -> Look {
    let rank = |look: &Look| match look {
        Look::Flowing => (0, Moment::START),
        Look::Paced(_) => (1, Moment::START),
        Look::Shut(shut) => (2, shut.until),
    };
    if rank(&b) > rank(&a) { b } else { a }
}
