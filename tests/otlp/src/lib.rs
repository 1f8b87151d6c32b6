//! An OTLP collector in the test's own process, and a workload whose numbers are known.

mod collector;
#[path = "../../support/server.rs"]
pub mod server;
mod shown;
mod traced;
mod workload;

pub use collector::Collector;
pub use shown::{assert_shows, everything_in};
pub use traced::{assert_traced_call_arrived, traced_call};
pub use workload::{assert_pushed_as_scraped, assert_same, lines_of, workload};
