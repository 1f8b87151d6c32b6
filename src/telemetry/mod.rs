//! Sinks: where events become metrics.
//!
//! Nothing is emitted until the application subscribes: a sink without a recorder, like a span without a subscriber,
//! costs a few nanoseconds.

mod meters;
#[cfg(feature = "otlp")]
mod otel;
#[cfg(feature = "otlp")]
pub mod otlp;
#[cfg(feature = "prometheus")]
pub mod prometheus;
#[cfg(feature = "prometheus")]
mod scrape;

pub use meters::{Meters, meters};
#[cfg(feature = "otlp")]
pub use otel::{Instruments, instruments};
