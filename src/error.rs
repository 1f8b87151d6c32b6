//! Errors of a call.
