//! The lock-free part of the gate under a model checker: the engine's own files, built from loom's words and locks.
//!
//! `tests/run loom` runs each model through the orders its threads can take, those that weak memory
//! allows included. A model that fails prints the order that breaks it.
#![cfg(test)]

#[allow(dead_code, reason = "the models need a part of it")]
#[path = "../../../src/gate/flow.rs"]
mod flow;
#[path = "../../../src/gate/handed.rs"]
mod handed;
#[path = "../../../src/gate/level.rs"]
#[allow(dead_code, reason = "the models need what races")]
mod level;

mod models;

/// What `src/gate/sync.rs` is in the engine.
mod sync {
    pub(super) use loom::sync::atomic::{AtomicBool, AtomicU64, Ordering};
    pub(super) use loom::sync::{Mutex, MutexGuard};
}
