//! The engine without a runtime: pure values and step functions.
//!
//! | module | what it knows |
//! |---|---|
//! | [`observation`], [`signal`] | what an attempt showed, and what that means |
//! | [`rule`] | how a provider's table is read |
//! | [`policy`], [`backoff`], [`budget`], [`tune`] | what a call site sets, and numbers that fit |
//! | [`decide`], [`call`] | what follows an attempt; one call from its arrival to its end |
//! | [`gate`], [`pace`], [`merge`], [`refusal`] | one pool: flowing, paced or shut, and how two pieces of news become one |
//! | [`limit`], [`estimate`], [`quota_board`], [`path`] | what a pool is granted, what a call takes, whose limit it is |
//! | [`shadow`] | whether any pacing could have served a call |
//! | [`moment`], [`dice`], [`setting`] | time, chance, and settings out of range |
//!
//! Nothing here reads a clock, rolls a die or does I/O: time comes in as a [`Moment`](moment::Moment), chance as
//! [`Dice`](dice::Dice). That is what lets the simulator, the tests and the running service share one engine.

pub mod backoff;
pub mod budget;
pub mod call;
pub mod decide;
pub mod dice;
pub mod estimate;
pub mod gate;
pub mod limit;
pub mod merge;
pub mod moment;
pub mod observation;
pub mod pace;
pub mod path;
pub mod policy;
pub mod quota_board;
pub mod refusal;
pub mod rule;
pub mod setting;
pub mod shadow;
pub mod signal;
pub mod tune;
