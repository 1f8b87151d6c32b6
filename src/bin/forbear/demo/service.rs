//! The three services: what they call, how they retry, how much they are asked for.

use std::time::Duration;

use forbear::core::rule::Table;
use forbear::core::signal::Dimension;
use forbear::emulator::limits::{Algorithm, RetryAfter};
use forbear::emulator::{Emulator, EmulatorBuilder};
use forbear::event::sink::Sink;
use forbear::{Forbear, Gate, InvalidSetting, Limit, Policy, Pool, provider};

use super::arrivals::{Burst, Demand};

/// One service, as its team would describe it.
#[derive(Clone)]
pub(crate) struct Service {
    /// The name of its pool and of its policy.
    pub(crate) name: &'static str,
    /// Whom it calls.
    pub(crate) provider: Table,
    /// How long a "minute" of the emulated provider lasts.
    pub(crate) minute: Duration,
    /// Where there.
    pub(crate) path: &'static str,
    /// What it is granted a minute.
    pub(crate) requests_per_minute: u64,
    /// How the provider counts, and what it tells.
    pub(crate) counting: fn(EmulatorBuilder, Duration) -> EmulatorBuilder,
    /// Whether its calls hold each other back.
    pub(crate) gate: Gate,
    /// How long it tries.
    pub(crate) deadline: Duration,
    /// The first bound of its curve.
    pub(crate) base: Duration,
    /// How often it tries.
    pub(crate) attempts: u32,
    /// What is asked of it.
    pub(crate) demand: Demand,
}

/// The services of the demonstration, whose minute lasts so long. What is wrong with two of them is in these numbers; nothing else tells the
/// conclusions.
pub(crate) fn services(minute: Duration) -> [Service; 3] {
    let window = |share: f64| minute.mul_f64(share);
    let tuned = Service {
        name: "chat",
        provider: provider::openai(),
        minute,
        path: "/v1/chat/completions",
        requests_per_minute: 120,
        counting: |emulator, minute| emulator.algorithm(Algorithm::TokenBucket).burst(minute / 10),
        gate: Gate::local(),
        deadline: window(2.0),
        base: window(0.1),
        attempts: 8,
        demand: Demand {
            steady_per_minute: 66.0,
            burst: Some(Burst { calls: 20, first_after: window(0.8), every: window(2.0) }),
        },
    };
    [
        tuned.clone(),
        Service {
            name: "summaries",
            provider: provider::anthropic(),
            path: "/v1/messages",
            requests_per_minute: 60,
            counting: |emulator, minute| emulator.algorithm(Algorithm::TokenBucket).burst(minute / 4),
            deadline: Duration::from_secs(2),
            demand: Demand { steady_per_minute: 120.0, burst: None },
            ..tuned.clone()
        },
        Service {
            name: "nightly",
            provider: provider::generic(),
            path: "/v1/enrich",
            // The minute ends long after the burst's last attempt, and neither header nor body says when.
            counting: |emulator, _| emulator.algorithm(Algorithm::FixedWindow).retry_after(RetryAfter::None),
            gate: Gate::off(),
            base: Duration::from_millis(10),
            attempts: 4,
            demand: Demand {
                steady_per_minute: 0.0,
                burst: Some(Burst { calls: 136, first_after: window(0.6), every: window(2.0) }),
            },
            ..tuned
        },
    ]
}

impl Service {
    /// Starts its provider.
    pub(crate) async fn emulate(&self, seed: u64) -> Result<Emulator, Box<dyn std::error::Error>> {
        // A quota header names an amount per minute, and no header can say that this minute is short: the limit is
        // configured instead, with its window.
        let emulator = Emulator::builder()
            .speaks(self.provider)
            .quota_headers(false)
            .window(self.minute)
            .requests_per_minute(self.requests_per_minute)
            .service_time(Duration::from_millis(10))
            .seed(seed);
        Ok((self.counting)(emulator, self.minute).start().await?)
    }

    /// Its pool, in an engine of its own: the services stand for three processes.
    pub(crate) fn pool(&self, sink: impl Sink, seed: u64) -> Result<Pool, InvalidSetting> {
        let forbear = Forbear::builder().gate(self.gate.clone()).sink(sink).seed(seed).build()?;
        let limit = Limit::per(Dimension::Requests, self.requests_per_minute, self.minute);
        forbear.pool(self.provider, [self.name]).limit(limit).build()
    }

    /// How its calls retry.
    pub(crate) fn policy(&self) -> Result<Policy, InvalidSetting> {
        Policy::background(self.deadline)
            .named(self.name)
            .base(self.base)
            .cap(self.minute * 2)
            .attempts(self.attempts)
            .build()
    }
}
