//! The handle of a capacity pool.

use std::sync::Arc;

use crate::core::policy::Policy;
#[cfg(any(feature = "tower", feature = "reqwest-middleware"))]
use crate::core::rule::Table;
#[cfg(any(feature = "tower", feature = "reqwest-middleware"))]
use crate::core::signal::Dimension;
use crate::event::PoolLabels;
use crate::run::call::Call;
use crate::run::pools::Pools;

mod builder;
mod shared;

pub use builder::PoolBuilder;
pub(super) use shared::Shared;

/// A capacity pool: what shares one quota. Cheap to clone; clones are the same pool.
///
/// A handle holds the engine: calls through it go on when the last [`Forbear`](crate::Forbear) is gone. No look-up is made per
/// call, so keep one beside the client it belongs to.
#[derive(Clone)]
pub struct Pool {
    pub(super) shared: Arc<Shared>,
    /// Kept as long as there are handles.
    pub(super) _pools: Arc<Pools>,
}

impl Pool {
    /// A call under this policy. Nothing happens before [`Call::run`].
    ///
    /// A call is one piece of work, whatever it takes: any number of attempts, waits and turns at the gate, bounded by the policy's
    /// deadline. The policy is borrowed, and may be another for each call.
    pub fn call<'a>(&'a self, policy: &'a Policy) -> Call<'a> {
        Call::new(self, policy)
    }

    /// Provider and pool as they stand in labels.
    #[must_use]
    pub fn labels(&self) -> &PoolLabels {
        self.shared.node.labels()
    }

    /// What the pool's provider says, and how.
    #[cfg(any(feature = "tower", feature = "reqwest-middleware"))]
    pub(crate) fn table(&self) -> Table {
        *self.shared.table
    }

    /// Whether anybody needs to know of tokens: a sink, or a gate that knows of a limit that counts them.
    #[cfg(any(feature = "tower", feature = "reqwest-middleware"))]
    pub(crate) fn wants_tokens(&self) -> bool {
        let counts = || self.shared.board().limits().any(|(dimension, ..)| dimension != Dimension::Requests);
        self.shared.is_heard || self.shared.is_gated() && counts()
    }

    /// Whether a call would pass without waiting, as far as a look tells.
    #[cfg(feature = "tower")]
    pub(crate) fn is_flowing(&self) -> bool {
        self.shared.node.is_flowing()
    }
}

impl std::fmt::Debug for Pool {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Pool").field("labels", self.labels()).finish_non_exhaustive()
    }
}
