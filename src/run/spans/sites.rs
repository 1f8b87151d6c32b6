//! Which call sites were warned: of a second retry layer, of headers that do not reach the engine.

use std::sync::atomic::{AtomicU8, Ordering::Relaxed};

use crate::event::names::Policies;
use crate::event::{PoolLabels, StackedBy};
use crate::run::spans::log;

/// The bit of the one warning that is not about a second layer.
const HIDDEN_HEADERS: u8 = 1 << 7;

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
        if self.is_first(policy, 1 << detector as u8) {
            log::stacked(pool, policy, detector);
        }
    }

    /// Warns this call site that it hides headers, unless it was.
    pub(in crate::run) fn warn_of_hidden_headers(&self, pool: &PoolLabels, policy: &str) {
        if self.is_first(policy, HIDDEN_HEADERS) {
            log::headers_hidden(pool, policy);
        }
    }

    fn is_first(&self, policy: &str, bit: u8) -> bool {
        self.warned[self.names.index(policy)].fetch_or(bit, Relaxed) & bit == 0
    }
}
