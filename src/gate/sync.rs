//! What the lock-free part is built from. The model checker in `tests/loom` puts its own in this file's place.

pub(super) use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
pub(super) use std::sync::{Mutex, MutexGuard};
