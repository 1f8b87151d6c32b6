//! Async shell of the gate.
