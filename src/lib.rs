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

pub use crate::core::estimate::Estimate;
pub use crate::core::limit::Limit;
pub use crate::core::policy::{OnAmbiguous, OnOverCap, Policy, PolicyBuilder};
pub use crate::core::setting::InvalidSetting;
