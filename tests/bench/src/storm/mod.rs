//! A storm: many callers within moments, against a small quota. In virtual time, so hours of it take seconds.
//!
//! [`cell`] says which storms there are, [`ours`] meets them with this crate's engine and with the ideal one, [`crowd`] with
//! the peers' rules ([`rules`]), [`table`] puts the figures beside each other, and [`picture`] draws what comes after a
//! reopening.

pub mod cell;
pub mod crowd;
pub mod ours;
pub mod picture;
pub mod rules;
pub mod runs;
pub mod table;

/// The packages whose rules are compared.
pub const PACKAGES: &[&str] = &["forbear", "backon", "tokio-retry2", "retry-policies", "throttle-net"];
