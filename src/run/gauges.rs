//! What an engine shows when it is asked: states, quotas, policies.

use std::time::Duration;

use crate::core::gate::Look;
use crate::core::moment::{Moment, WallTime};
use crate::core::policy::Policy;
use crate::event::catalogue::Metric;
use crate::event::sink::{GaugeSource, Sample};
use crate::event::words::{CallState, PolicyParameter, QuotaOrigin};
use crate::event::{GateState, SCHEMA};
use crate::gate::Node;
use crate::run::engine::Engine;
use crate::run::pool::Shared;

type Visit<'v> = &'v mut dyn FnMut(Sample<'_>);

impl GaugeSource for Engine {
    fn sample(&self, visit: &mut dyn FnMut(Sample<'_>)) {
        let version = [("version", env!("CARGO_PKG_VERSION")), ("schema", SCHEMA)];
        visit(Sample::new(Metric::BuildInfo, None, &version, 1.0));
        if let Some(replicas) = self.replicas {
            visit(Sample::new(Metric::Replicas, None, &[], f64::from(replicas)));
        }
        let now = self.trunk.clock.now();
        let wall = self.trunk.clock.wall();
        let pools: Vec<_> = self.registry().pools.values().filter_map(std::sync::Weak::upgrade).collect();
        for pool in &pools {
            sample_pool(pool, now, wall, visit);
        }
    }
}

fn sample_pool(pool: &Shared, now: Moment, wall: WallTime, visit: Visit<'_>) {
    sample_gate(&pool.node, now, wall, visit);
    let labels = Some(pool.node.labels());
    visit(Sample::new(Metric::GateInfo, labels, &[("mode", pool.engine.gate.as_str())], 1.0));
    let in_flight = [
        (CallState::Attempting, f64::from(pool.node.in_flight())),
        (CallState::Sleeping, f64::from(pool.sleeping())),
        (CallState::AtGate, pool.node.waiting() as f64),
    ];
    for (state, calls) in in_flight {
        visit(Sample::new(Metric::CallsInFlight, labels, &[("state", state.as_str())], calls));
    }
    sample_quotas(pool, now, wall, visit);
    for policy in pool.policies() {
        sample_policy(pool, policy, visit);
    }
}

/// A pool is as shut as the most shut level of its path.
pub(super) fn most_shut(leaf: &Node, now: Moment) -> Look {
    let mut worst = leaf.look(now);
    let mut level = leaf;
    while let Some(parent) = level.parent() {
        level = parent;
        worst = worse(worst, level.look(now));
    }
    worst
}

fn sample_gate(leaf: &Node, now: Moment, wall: WallTime, visit: Visit<'_>) {
    let labels = Some(leaf.labels());
    let worst = most_shut(leaf, now);
    let state = match worst {
        Look::Flowing => GateState::Flowing,
        Look::Paced(_) => GateState::Paced,
        Look::Shut(_) => GateState::Shut,
    };
    for known in GateState::ALL {
        let holds = f64::from(u8::from(*known == state));
        visit(Sample::new(Metric::GateState, labels, &[("state", known.as_str())], holds));
    }
    if let Look::Shut(shut) = worst {
        let until = wall.after(now.until(shut.until)).elapsed_since_epoch().as_secs_f64();
        let class = [("limit_class", shut.class.as_str())];
        visit(Sample::new(Metric::GateShutUntil, labels, &class, until));
    }
}

fn worse(a: Look, b: Look) -> Look {
    let rank = |look: &Look| match look {
        Look::Flowing => (0, Moment::START),
        Look::Paced(_) => (1, Moment::START),
        Look::Shut(shut) => (2, shut.until),
    };
    if rank(&b) > rank(&a) { b } else { a }
}

fn sample_quotas(pool: &Shared, now: Moment, wall: WallTime, visit: Visit<'_>) {
    let labels = Some(pool.node.labels());
    let board = pool.board();
    for limit in &board.configured {
        let quota = [
            ("dimension", limit.dimension().as_str()),
            ("window", limit.quota_window().as_str()),
            ("origin", QuotaOrigin::Config.as_str()),
        ];
        visit(Sample::new(Metric::QuotaLimit, labels, &quota, limit.amount() as f64));
    }
    for (reading, read_at) in board.readings() {
        let quota = [
            ("dimension", reading.dimension.as_str()),
            ("window", reading.window.as_str()),
            ("origin", QuotaOrigin::Header.as_str()),
        ];
        if let Some(limit) = reading.limit {
            visit(Sample::new(Metric::QuotaLimit, labels, &quota, limit as f64));
        }
        if let Some(remaining) = reading.remaining {
            visit(Sample::new(Metric::QuotaRemaining, labels, &quota, remaining as f64));
        }
        let age: Duration = read_at.until(now);
        let observed = wall.elapsed_since_epoch().saturating_sub(age).as_secs_f64();
        visit(Sample::new(Metric::QuotaObserved, labels, &quota[..2], observed));
        if let Some(reset) = reading.reset {
            let at = observed + reset.as_secs_f64();
            visit(Sample::new(Metric::QuotaReset, labels, &quota[..2], at));
        }
    }
}

fn sample_policy(pool: &Shared, policy: &Policy, visit: Visit<'_>) {
    let seconds = |duration: Duration| duration.as_secs_f64();
    let parameters = [
        (PolicyParameter::BaseSeconds, Some(seconds(policy.base))),
        (PolicyParameter::Factor, Some(policy.factor)),
        (PolicyParameter::CapSeconds, Some(seconds(policy.cap))),
        (PolicyParameter::HeaderCapSeconds, Some(seconds(policy.header_cap))),
        (PolicyParameter::DeadlineSeconds, Some(seconds(policy.deadline))),
        (PolicyParameter::AttemptTimeoutSeconds, policy.attempt_timeout.map(seconds)),
        (PolicyParameter::Attempts, Some(f64::from(policy.attempts))),
    ];
    for (parameter, value) in parameters.into_iter().filter_map(|(parameter, value)| Some((parameter, value?))) {
        let labels = [("policy", policy.name()), ("parameter", parameter.as_str())];
        visit(Sample::new(Metric::PolicyParameter, Some(pool.node.labels()), &labels, value));
    }
}
