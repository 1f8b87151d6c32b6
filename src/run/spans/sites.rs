//! Which call sites were warned of a second retry layer.

use std::sync::atomic::{AtomicU8, Ordering::Relaxed};

use crate::event::names::Policies;
use crate::event::{PoolLabels, StackedBy};
use crate::run::spans::log;

/// The call sites of one pool that were warned, each once for each way of noticing. A call site is its policy's name; the
/// seventeenth and later share one warning.
#[derive(Debug, Default)]
pub(in crate::run) struct Sites {
    names: Policies,
    warned: [AtomicU8; Policies::CAPACITY + 1],
}

impl Sites {
    /// Warns this call site, unless it was.
    pub(in crate::run) fn warn(&self, pool: &PoolLabels, policy: &str, detector: StackedBy) {
        let bit = 1 << detector as u8;
        if self.warned[self.names.index(policy)].fetch_or(bit, Relaxed) & bit == 0 {
            log::stacked(pool, policy, detector);
        }
    }
}
