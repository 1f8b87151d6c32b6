//! The same increments and records as one call's, through handles that were made before.

use std::future::Future;
use std::hint::black_box;

use metrics::{counter, histogram};
use opentelemetry::{KeyValue, global};

use crate::operation::Answer;

/// A duration as a call has it.
const SECONDS: f64 = 0.000_025;
/// A deadline as a call has it.
const DEADLINE_SECONDS: f64 = 60.0;

/// Cached handles of the `metrics` facade, made while a recorder was there.
pub struct Meters {
    calls: metrics::Counter,
    deadline: metrics::Histogram,
    attempts: metrics::Counter,
    attempt: metrics::Histogram,
    call: metrics::Histogram,
}

impl Default for Meters {
    fn default() -> Self {
        let pool = [("provider", "generic"), ("pool", "floor")];
        let attempts = [("attempt", "1"), ("delay_source", "none"), ("outcome", "ok"), ("limit_class", "none")];
        let labels = |more: &[(&'static str, &'static str)]| pool.iter().chain(more).copied().collect::<Vec<_>>();
        let (policy, outcome) = (labels(&[("policy", "chat")]), labels(&[("outcome", "ok")]));
        Self {
            calls: counter!("floor_calls_total", &policy),
            deadline: histogram!("floor_call_deadline_seconds", &policy),
            attempts: counter!("floor_attempts_total", &labels(&attempts)),
            attempt: histogram!("floor_attempt_duration_seconds", &labels(&[])),
            call: histogram!("floor_call_duration_seconds", &outcome),
        }
    }
}

impl Meters {
    /// One call that succeeds at its first attempt: two increments and three records.
    pub async fn call<Fut: Future<Output = Answer>>(&self, operation: impl FnOnce() -> Fut) -> Answer {
        self.calls.increment(1);
        self.deadline.record(black_box(DEADLINE_SECONDS));
        let answer = operation().await;
        self.attempts.increment(1);
        self.attempt.record(black_box(SECONDS));
        self.call.record(black_box(SECONDS));
        answer
    }
}

/// Instruments of OpenTelemetry's global meter, with attributes made before.
pub struct Instruments {
    calls: opentelemetry::metrics::Counter<u64>,
    deadline: opentelemetry::metrics::Histogram<f64>,
    attempts: opentelemetry::metrics::Counter<u64>,
    attempt: opentelemetry::metrics::Histogram<f64>,
    call: opentelemetry::metrics::Histogram<f64>,
    of_pool: [KeyValue; 2],
    of_policy: [KeyValue; 3],
    of_outcome: [KeyValue; 3],
    of_attempts: [KeyValue; 6],
}

impl Default for Instruments {
    fn default() -> Self {
        let meter = global::meter("floor");
        let bounds = vec![0.25, 1.0, 5.0, 30.0, 120.0, 900.0];
        let histogram = |name: &'static str, bounds| meter.f64_histogram(name).with_boundaries(bounds).build();
        let (provider, pool) = (KeyValue::new("provider", "generic"), KeyValue::new("pool", "floor"));
        let label = |key: &'static str, value: &'static str| KeyValue::new(key, value);
        Self {
            calls: meter.u64_counter("floor.calls").build(),
            deadline: histogram("floor.call.deadline", vec![60.0]),
            attempts: meter.u64_counter("floor.attempts").build(),
            attempt: histogram("floor.attempt.duration", bounds.clone()),
            call: histogram("floor.call.duration", bounds),
            of_pool: [provider.clone(), pool.clone()],
            of_policy: [provider.clone(), pool.clone(), label("policy", "chat")],
            of_outcome: [provider.clone(), pool.clone(), label("outcome", "ok")],
            of_attempts: [
                provider,
                pool,
                label("attempt", "1"),
                label("delay_source", "none"),
                label("outcome", "ok"),
                label("limit_class", "none"),
            ],
        }
    }
}

impl Instruments {
    /// One call that succeeds at its first attempt: two additions and three records.
    pub async fn call<Fut: Future<Output = Answer>>(&self, operation: impl FnOnce() -> Fut) -> Answer {
        self.calls.add(1, &self.of_policy);
        self.deadline.record(black_box(DEADLINE_SECONDS), &self.of_policy);
        let answer = operation().await;
        self.attempts.add(1, &self.of_attempts);
        self.attempt.record(black_box(SECONDS), &self.of_pool);
        self.call.record(black_box(SECONDS), &self.of_outcome);
        answer
    }
}
