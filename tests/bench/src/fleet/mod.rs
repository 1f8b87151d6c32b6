//! The gate that replicas share over a real Redis: what it costs, how fast news is, and what an outage does.

mod arrivals;
mod clocks;
mod happy;
mod many_pools;
mod news;
mod outage;
mod reports;
mod server_side;

use std::fmt;
use std::time::Duration;

use forbear::{Forbear, Gate, Limit, Pool, RedisOptions, provider};
use http::Response;

pub use clocks::clocks;
pub use happy::happy;
pub use many_pools::many_pools;
pub use news::news;
pub use outage::outage;
pub use reports::reports;

use crate::server::Server;

/// One number beside what it should be.
#[derive(Debug)]
#[non_exhaustive]
pub struct Finding {
    /// What was measured.
    pub what: String,
    /// How it came out.
    pub measured: String,
    /// What it should be.
    pub target: String,
    /// Whether it is.
    pub met: bool,
}

impl Finding {
    fn new(what: impl Into<String>, measured: impl Into<String>, target: impl Into<String>, met: bool) -> Self {
        Self { what: what.into(), measured: measured.into(), target: target.into(), met }
    }
}

impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { what, measured, target, met } = self;
        write!(f, "  {what:<58} {measured:>22}  {} {target}", if *met { "pass" } else { "MISS" })
    }
}

/// The options of a fleet that meets at this address.
fn options(addr: std::net::SocketAddr) -> RedisOptions {
    RedisOptions::new(format!("redis://{addr}"), "bench")
}

fn engine(gate: Gate) -> Forbear {
    Forbear::builder().gate(gate).build().expect("valid settings")
}

fn pool(forbear: &Forbear, name: &str) -> Pool {
    forbear.pool(provider::generic(), ["account", name]).build().expect("a valid pool")
}

/// A pool of the kind whose answers tell how the limit comes back.
fn limited_pool(forbear: &Forbear, a_minute: u64) -> Pool {
    let pool = forbear.pool(provider::openai(), ["account", "model"]).limit(Limit::requests_per_minute(a_minute));
    pool.build().expect("a valid pool")
}

fn throttle(seconds: u64) -> Response<()> {
    Response::builder().status(429).header("retry-after", seconds).body(()).expect("a well-formed answer")
}

/// The value that this share of all is not above.
fn quantile(times: &mut [Duration], share: f64) -> Duration {
    times.sort_unstable();
    times[((times.len() - 1) as f64 * share).round() as usize]
}

/// Time for a subscription to stand and replicas to count each other.
async fn met() {
    tokio::time::sleep(Duration::from_millis(500)).await;
}

fn redis() -> Server {
    Server::redis(&[])
}

/// An empty Redis.
#[must_use]
pub fn server() -> Server {
    redis()
}
