//! A provider that throttles.

pub mod limits;
