//! How many calls a pool has seen and how many requests it has under way, in one word.

use std::sync::atomic::{AtomicU64, Ordering};

/// Calls so far in the high half (wraps), requests in flight in the low half: one locked operation counts both.
#[derive(Debug, Default)]
pub(super) struct Load(AtomicU64);

const ONE_CALL: u64 = 1 << 32;

impl Load {
    /// Counts a request that leaves; `first` of its call.
    #[inline]
    pub(super) fn enter(&self, first: bool) {
        // Relaxed: the numbers order nothing else.
        self.0.fetch_add(if first { ONE_CALL + 1 } else { 1 }, Ordering::Relaxed);
    }

    /// Counts a request that came back or was dropped. One per `enter`.
    #[inline]
    pub(super) fn leave(&self) {
        self.0.fetch_sub(1, Ordering::Relaxed);
    }

    /// Calls so far, modulo 2^32.
    pub(super) fn calls(&self) -> u32 {
        (self.0.load(Ordering::Relaxed) >> 32) as u32
    }

    /// Requests under way.
    pub(super) fn in_flight(&self) -> u32 {
        self.0.load(Ordering::Relaxed) as u32
    }
}
