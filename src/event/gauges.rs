//! From the engine's state to the samples of its gauges: for the running engine and the simulated one alike.

use std::time::Duration;

use crate::core::gate::Look;
use crate::core::moment::{Moment, WallTime};
use crate::core::policy::Policy;
use crate::core::quota_board::QuotaBoard;
use crate::event::catalogue::Metric;
use crate::event::sink::Sample;
use crate::event::words::{CallState, PolicyParameter, QuotaOrigin};
use crate::event::{GateState, PoolLabels, SCHEMA};

/// Where samples go.
pub(crate) type Visit<'v> = &'v mut dyn FnMut(Sample<'_>);

/// The build, and how many replicas there are if that is known.
pub(crate) fn process(replicas: Option<u32>, visit: Visit<'_>) {
    let version = [("version", env!("CARGO_PKG_VERSION")), ("schema", SCHEMA)];
    visit(Sample::new(Metric::BuildInfo, None, &version, 1.0));
    if let Some(replicas) = replicas {
        visit(Sample::new(Metric::Replicas, None, &[], f64::from(replicas)));
    }
}

/// Whether the shared store is relied on.
#[cfg(feature = "redis")]
pub(crate) fn store(is_up: bool, visit: Visit<'_>) {
    visit(Sample::new(Metric::StoreUp, None, &[], f64::from(u8::from(is_up))));
}

/// How a pool's gate works and what it does now.
pub(crate) fn gate(labels: &PoolLabels, mode: &str, look: Look, now: Moment, wall: WallTime, visit: Visit<'_>) {
    let labels = Some(labels);
    let state = GateState::of(&look);
    for known in GateState::ALL {
        let holds = f64::from(u8::from(*known == state));
        visit(Sample::new(Metric::GateState, labels, &[("state", known.as_str())], holds));
    }
    if let Look::Shut(shut) = look {
        let until = wall.after(now.until(shut.until)).elapsed_since_epoch().as_secs_f64();
        let class = [("limit_class", shut.class.as_str())];
        visit(Sample::new(Metric::GateShutUntil, labels, &class, until));
    }
    visit(Sample::new(Metric::GateInfo, labels, &[("mode", mode)], 1.0));
}

/// What a pool's calls are doing: attempting, sleeping between attempts, waiting at the gate.
pub(crate) fn calls(labels: &PoolLabels, attempting: u32, sleeping: u32, at_gate: usize, visit: Visit<'_>) {
    let in_flight = [
        (CallState::Attempting, f64::from(attempting)),
        (CallState::Sleeping, f64::from(sleeping)),
        (CallState::AtGate, at_gate as f64),
    ];
    for (state, calls) in in_flight {
        visit(Sample::new(Metric::CallsInFlight, Some(labels), &[("state", state.as_str())], calls));
    }
}

/// A pool's quotas, as configured and as read.
pub(crate) fn quotas(labels: &PoolLabels, board: &QuotaBoard, now: Moment, wall: WallTime, visit: Visit<'_>) {
    let labels = Some(labels);
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

/// What a policy sets; `name` is its name as a label.
pub(crate) fn policy(labels: &PoolLabels, policy: &Policy, name: &str, visit: Visit<'_>) {
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
        let named = [("policy", name), ("parameter", parameter.as_str())];
        visit(Sample::new(Metric::PolicyParameter, Some(labels), &named, value));
    }
}
