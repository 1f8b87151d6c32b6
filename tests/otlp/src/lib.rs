//! An OTLP collector in the test's own process, and a workload whose numbers are known.

mod collector;
mod workload;

pub use collector::Collector;
pub use workload::{assert_pushed_as_scraped, assert_same, lines_of, workload};
