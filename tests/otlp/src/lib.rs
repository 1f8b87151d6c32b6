//! Both roads of the telemetry, to their ends: a collector in the test's own process, real servers beside it, and a workload
//! whose numbers are known.
//!
//! | command | what |
//! |---|---|
//! | `cargo test -p forbear-otlp-tests` | what a scrape shows, what is pushed over gRPC and HTTP, what servers make of both |
//! | `cargo run -p forbear-otlp-tests --bin over_rotel` | the same through a collector between service and server |

mod collector;
#[path = "../../support/server.rs"]
pub mod server;
mod shown;
mod traced;
mod workload;

pub use collector::Collector;
pub use shown::{assert_shows, everything_in};
pub use traced::{assert_traced_call_arrived, traced_call};
pub use workload::{assert_pushed_as_scraped, assert_same, lines_of, translate, workload};
