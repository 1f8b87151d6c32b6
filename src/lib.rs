//! A retry engine and a shared capacity gate for services that call rate-limited providers.
//!
//! A call goes through the [`Pool`] whose quota it uses, under the [`Policy`] of its call site. What the provider answers
//! is read by its table ([`provider`]): which limit was hit, how long to wait, how much is left. One caller's throttle
//! holds back every caller of the pool; deadlines bound everything; and each step is an event that becomes span and
//! metric, so that it can be seen which attempt waited for what.
//!
#![cfg_attr(all(feature = "reqwest", feature = "telemetry"), doc = "```no_run")]
#![cfg_attr(not(all(feature = "reqwest", feature = "telemetry")), doc = "```ignore")]
//! # use std::time::Duration;
//! use forbear::{Estimate, Forbear, Gate, Limit, Policy, provider, telemetry};
//!
//! # async fn example(client: reqwest::Client, url: &str) -> Result<(), Box<dyn std::error::Error>> {
//! // once per process
//! let forbear = Forbear::builder()
//!     .gate(Gate::local())
//!     .sink(telemetry::meters())
//!     .replicas(12) // only where no shared gate knows it
//!     .build()?;
//!
//! // once per quota: provider table and path of names, widest first; the handle is cheap to clone
//! let sonnet = forbear
//!     .pool(provider::anthropic(), ["prod-account", "claude-sonnet"])
//!     .limit(Limit::requests_per_minute(1_000)) // optional; what headers say beats it
//!     .limit(Limit::input_tokens_per_minute(400_000))
//!     .build()?;
//!
//! // once per call site
//! let chat = Policy::interactive(Duration::from_secs(15)).named("chat").build()?;
//!
//! let response = sonnet
//!     .call(&chat)
//!     .tokens(Estimate::input(1_200).output(400)) // optional
//!     .run(|attempt| client.post(url).timeout(attempt.time_left()).body("{}").send())
//!     .await?;
//! # Ok(()) }
//! ```
//!
//! Read on in the [`guide`]: [the first call](guide::start), [how it works](guide::how_it_works) with every default,
//! [telemetry](guide::telemetry), [events and metrics](guide::events_and_metrics), [spans](guide::spans),
//! [one retry layer](guide::stacked_retries).
//!
//! # Features
//!
//! | feature | what it adds |
//! |---|---|
//! | (none) | the engine: policies, pools, gate, provider tables, events; `http::Response` is an outcome |
//! | `telemetry` | spans (`tracing`) and the sink over the `metrics` facade |
//! | `prometheus` | `/metrics` in one call, on loopback unless told; includes `telemetry` |
//! | `otlp` | traces and metrics pushed over OTLP; includes `telemetry` |
//! | `reqwest` | `reqwest::Response` is an outcome |
//! | `redis` | one gate for all replicas of a service, over Redis or Valkey |
//! | `tower` | a retry layer and a wire tap for services of `tower` |
//! | `reqwest-middleware` | the same for chains of `reqwest-middleware`; includes `reqwest` |
//! | `axum` | routes by which operators see and hold the gates of one process |
//! | `diagnose` | what is wrong with a pool and what to change: [`Forbear::diagnose`], and the same from metrics |
//! | `emulator` | a provider that throttles, on 127.0.0.1, for tests of clients |
//! | `simulate` | a service and its provider in virtual time; includes `emulator` and `diagnose` |
//! | `cli` | the command `forbear` |
//! | `full` | all but `emulator`, `simulate` and `cli` |
//!
//! Features only add API.

#![warn(missing_debug_implementations)]

// The command line is a crate of its own and waits by the same clock.
#[doc(hidden)]
pub mod clock;
pub mod core;
#[cfg(feature = "diagnose")]
pub mod diagnose;
#[cfg(feature = "emulator")]
pub mod emulator;
mod error;
pub mod event;
mod gate;
pub mod guide;
pub mod layer;
pub mod provider;
mod run;
#[cfg(feature = "simulate")]
pub mod simulate;
#[cfg(feature = "redis")]
mod store;
#[cfg(feature = "telemetry")]
pub mod telemetry;

pub use crate::clock::wall_now;
pub use crate::core::budget::BudgetSettings;
pub use crate::core::decide::{AttemptOutcome, CallOutcome, DelaySource};
pub use crate::core::estimate::Estimate;
pub use crate::core::limit::Limit;
pub use crate::core::observation::{Observation, TransportFailure};
pub use crate::core::policy::{OnAmbiguous, OnOverCap, Policy, PolicyBuilder};
pub use crate::core::refusal::Refusal;
pub use crate::core::setting::InvalidSetting;
pub use crate::core::signal::{Dimension, LimitClass, Scope, Signal, TokenKind};
pub use crate::error::Error;
pub use crate::event::GateState;
pub use crate::gate::{Gate, StillInFlight};
pub use crate::run::{
    Attempt, AttemptScope, ByInstant, ByOutcome, ByRule, Call, Failure, FallbackCall, Forbear, ForbearBuilder, Head,
    InFlight, IncomingRetry, Observe, Outcome, Peek, PeekBody, Pool, PoolBuilder, PoolSnapshot, Settle, ShutSnapshot,
    peek,
};
#[cfg(feature = "redis")]
pub use crate::store::redis::{FleetOrder, FleetPool, FleetShut, Operator, OperatorError, PoolName, RedisOptions};
#[cfg(feature = "otlp")]
pub use crate::telemetry::otlp;
#[cfg(feature = "prometheus")]
pub use crate::telemetry::prometheus;

/// The examples of the README, compiled.
#[cfg(all(doctest, feature = "reqwest", feature = "prometheus", feature = "otlp"))]
#[doc = include_str!("../README.md")]
struct Readme;
