//! The async shell of a call: the engine, its pools, and the loop that drives one call.

mod about;
mod attempt;
mod builder;
mod call;
mod classify;
mod cut;
#[cfg(feature = "diagnose")]
mod diagnosis;
mod drive;
mod engine;
#[cfg(feature = "redis")]
mod fleet;
mod gauges;
mod going;
mod here;
mod incoming;
mod inside;
mod labels;
mod outcome;
mod peek;
mod pool;
mod progress;
mod reported;
#[cfg(feature = "reqwest")]
mod reqwest;
mod scope;
mod seen;
mod spans;

pub use attempt::{Attempt, Head, InFlight};
pub use builder::ForbearBuilder;
pub use call::Call;
pub use classify::{ByOutcome, ByRule, Observe};
pub use engine::Forbear;
pub(crate) use here::request_sent;
pub use incoming::IncomingRetry;
pub use outcome::{Failure, Outcome, PeekBody, Settle};
pub use peek::{Peek, peek};
pub use pool::{Pool, PoolBuilder};
pub use scope::AttemptScope;
