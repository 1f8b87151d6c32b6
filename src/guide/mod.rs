//! The handbook.
