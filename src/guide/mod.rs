//! The handbook.
//!
//! - [`start`]: the first call, what to set, and how to see it.
//! - [`how_it_works`]: the way of one call, what a throttle does to a pool, every default with its reason.
//! - [`events_and_metrics`]: what is told, and under which names.
//!
//! Examples are compiled and, where nothing outside is needed, run. Tables are held against the code by tests.

pub mod events_and_metrics;
pub mod how_it_works;
pub mod start;
