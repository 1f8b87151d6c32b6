//! By whose slots a call goes.

use crate::core::gate::{Hold, Slots};
#[cfg(not(feature = "redis"))]
use crate::{core::moment::Moment, gate::lazy::LazyCore, gate::node::Node};

/// By whose slots a call goes at a level now.
pub(super) enum Goes {
    /// It asks the gate, which goes by these.
    By(Slots),
    /// There is none for it yet.
    #[cfg_attr(not(feature = "redis"), expect(dead_code, reason = "alone nobody hands out slots"))]
    NotYet(Hold),
}

/// A process that knows of no others.
#[cfg(not(feature = "redis"))]
impl Node {
    pub(super) fn goes_by(&self, _: &mut LazyCore, _: Moment, _: Option<usize>) -> Goes {
        Goes::By(Slots::Own)
    }

    pub(super) fn uses_given(&self) -> bool {
        false
    }
}
