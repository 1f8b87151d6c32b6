//! The async shell of a call: the engine, its pools, and the loop that drives one call.
//!
//! | file | job |
//! |---|---|
//! | `builder`, `engine`, `pools` | making an engine; what its clones share; the registry of its pools |
//! | `pool`, `labels` | making a pool, its handle, what its handles share; labels that stay bounded |
//! | `call`, `drive`, `going`, `progress` | one call: in the making, the loop, and what it keeps on its way |
//! | `fallback` | going on at another pool |
//! | `cut`, `inside`, `here` | an attempt: cut at its time, polled inside its span, known to what it calls |
//! | `attempt`, `scope`, `in_flight` | what an operation is handed, how a spawned task stays a part of it, what a stream tells after it |
//! | `outcome`, `observe`, `peek`, `reqwest` | how what comes back is observed, its body's beginning included |
//! | `tokens` | what a call was expected to use, and what its answer says was used |
//! | `seen`, `reported` | throttles told before an attempt has ended: none is lost, none counts twice |
//! | `incoming` | requests that arrive as somebody's retry |
//! | `gauges`, `snapshot`, `diagnosis` | what is shown when somebody reads: samples, one pool as data, what is wrong with it |
//! | `operate` | an operator's levers |
//! | `spans`, `about` | what one call looks like in a trace and in the log |
//! | `fleet` | the other replicas (feature `redis`) |
//!
//! Decisions are made in [`core`](crate::core), which knows neither runtime nor clock; here they are carried out. A call is
//! one future, polled by its caller's task: there is no task of its own, no channel, and nothing to be cleaned up after it
//! but what its drop does. What lives over an await is what every caller in flight pays for, so it is little: the operation
//! itself, some hundred bytes beside it, and one box from the first wait or failure on.

mod about;
mod attempt;
mod builder;
mod call;
mod cut;
#[cfg(feature = "diagnose")]
mod diagnosis;
mod drive;
mod engine;
mod fallback;
#[cfg(feature = "redis")]
mod fleet;
mod gauges;
mod going;
mod here;
mod in_flight;
mod incoming;
mod inside;
mod labels;
mod observe;
mod operate;
mod outcome;
mod peek;
mod pool;
mod pools;
mod progress;
mod reported;
#[cfg(feature = "reqwest")]
mod reqwest;
mod scope;
mod seen;
mod snapshot;
mod spans;
mod tokens;

pub use attempt::{Attempt, Head};
pub use builder::ForbearBuilder;
pub use call::Call;
pub use engine::Forbear;
pub use fallback::FallbackCall;
pub(crate) use here::request_sent;
pub use in_flight::InFlight;
pub use incoming::IncomingRetry;
pub use observe::{ByInstant, ByOutcome, ByRule, Observe};
#[cfg(feature = "reqwest-middleware")]
pub(crate) use outcome::read_chain;
pub use outcome::{Failure, Outcome, PeekBody, Settle};
pub use peek::{Peek, peek};
pub use pool::{Pool, PoolBuilder};
#[cfg(all(feature = "reqwest", any(feature = "tower", feature = "reqwest-middleware")))]
pub(crate) use reqwest::with_body;
pub use scope::AttemptScope;
pub use snapshot::{PoolSnapshot, ShutSnapshot};
