//! Async shell of a call.
