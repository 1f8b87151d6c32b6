//! Sinks: where events become metrics.
//!
//! | | the sink | what reads it |
//! |---|---|---|
//! | [`meters()`] | the `metrics` facade, under final Prometheus names | any recorder the application installs |
//! | `prometheus::install` (feature `prometheus`) | the same, with a recorder | a scrape of its `/metrics` |
//! | `instruments` (feature `otlp`) | OpenTelemetry's metrics API, under dotted names | any SDK the application sets up |
//! | `otlp::install` (feature `otlp`) | the same, with an SDK | a collector it pushes to, traces included |
//!
//! All of them read one table, the [catalogue](crate::event::catalogue), and the one place where events become numbers
//! ([`series::moves`](crate::event::series::moves)), so they cannot disagree; a test compares them series by series.
//!
//! Nothing is emitted until the application subscribes: a sink without a recorder, like a span without a subscriber,
//! costs a few nanoseconds. How to set either road up is in [the handbook](crate::guide::telemetry).

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
