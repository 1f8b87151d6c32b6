//! The gate beside what one would put in its place: governor's limiter and tokio's semaphore.
//!
//! | topic | what |
//! |---|---|
//! | [`grant`] | a permit taken and given back where nobody has to wait, on one thread |
//! | [`threads`] | the same on two threads at one pool |
//! | [`waiters`] | a hundred thousand who wait: what each costs in memory, and how they leave |
//! | [`pools`] | a hundred thousand pools that nobody uses |
//! | [`burst`] | twenty thousand who come at once, against twenty thousand a second |

pub mod burst;
pub mod grant;
pub mod ours;
pub mod peers;
pub mod pools;
pub mod threads;
pub mod verdict;
pub mod waiters;

/// The packages measured here.
pub const PACKAGES: &[&str] = &["forbear", "tokio", "governor"];
