//! The engine without a runtime: pure values and step functions.
//!
//! Nothing here reads a clock, rolls a die or does I/O: time comes in as a [`Moment`](moment::Moment), chance as
//! [`Dice`](dice::Dice). That is what lets the simulator, the tests and the running service share one engine.

mod admission;
pub mod backoff;
pub mod budget;
pub mod call;
mod ceiling;
pub mod decide;
pub mod dice;
mod ends;
pub mod estimate;
pub mod gate;
mod lesson;
pub mod limit;
pub mod merge;
pub mod moment;
pub mod observation;
pub mod pace;
pub mod path;
mod patience;
mod plan;
pub mod policy;
pub mod quota_board;
pub mod refusal;
pub mod rule;
pub mod setting;
pub mod shadow;
pub mod signal;
mod supply;
mod tokens;
pub mod tune;
