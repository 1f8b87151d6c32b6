//! Random scenarios, what is wrong with them, and what the verdict says.

pub mod draw;
pub mod truth;
