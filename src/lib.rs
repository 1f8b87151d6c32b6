//! A retry engine and a shared capacity gate for rate-limited providers.

mod clock;
pub mod core;
#[cfg(feature = "emulator")]
pub mod emulator;
mod error;
pub mod event;
mod gate;
pub mod guide;
pub mod provider;
mod run;
#[cfg(feature = "telemetry")]
pub mod telemetry;

pub use crate::clock::wall_now;
pub use crate::core::budget::BudgetSettings;
pub use crate::core::decide::{AttemptOutcome, CallOutcome, DelaySource};
pub use crate::core::estimate::Estimate;
pub use crate::core::limit::Limit;
pub use crate::core::observation::{Observation, TransportFailure};
pub use crate::core::policy::{OnAmbiguous, OnOverCap, Policy, PolicyBuilder};
pub use crate::core::setting::InvalidSetting;
pub use crate::core::signal::{LimitClass, Scope, Signal, TokenKind};
pub use crate::error::Error;
pub use crate::gate::Gate;
pub use crate::run::{
    Attempt, ByOutcome, ByRule, Call, Failure, Forbear, ForbearBuilder, Head, InFlight, Observe, Outcome, Peek,
    PeekBody, Pool, PoolBuilder, Settle, peek,
};
#[cfg(feature = "otlp")]
pub use crate::telemetry::otlp;
#[cfg(feature = "prometheus")]
pub use crate::telemetry::prometheus;
