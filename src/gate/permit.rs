//! Leave to have one request under way.

use std::sync::Arc;

use crate::core::gate::Pass;
use crate::core::moment::Moment;
use crate::core::signal::Signal;
use crate::gate::node::Node;

/// One request under way in a pool. Dropping it takes the request off the count and gives an unsettled probe back, so a
/// call that is dropped at any point leaves nothing behind.
#[must_use = "a permit that is dropped at once counts nothing"]
pub(crate) struct Permit<'a> {
    node: &'a Node,
    /// A bit for each level (0 = widest) this request is an unsettled probe of.
    probes: u8,
}

impl<'a> Permit<'a> {
    /// A permit without asking the gate; `first` of its call.
    #[inline]
    pub(crate) fn ungated(node: &'a Node, first: bool) -> Self {
        Self::counted(node, 0, first)
    }

    /// A permit at once, if the pool and all levels above it flow: one load and one locked addition.
    #[inline]
    pub(crate) fn flowing(node: &'a Node, first: bool) -> Option<Self> {
        if node.is_barred() { None } else { Some(Self::counted(node, 0, first)) }
    }

    #[inline]
    pub(super) fn counted(node: &'a Node, probes: u8, first: bool) -> Self {
        node.load.enter(first);
        Self { node, probes }
    }

    /// Reports a throttle of the request sent at `sent_at` to the level (0 = widest) its limit belongs to.
    pub(crate) fn throttled(&mut self, level: usize, signal: &Signal, sent_at: Moment, now: Moment) {
        let pass = Pass { at: sent_at, probe: self.probes & (1 << level) != 0 };
        self.probes &= !(1 << level);
        self.node.report(level, pass, signal, now);
    }

    /// Whether it is a probe whose end nobody told.
    #[inline]
    pub(crate) fn is_probe(&self) -> bool {
        self.probes != 0
    }

    /// Reports a success of the request sent at `sent_at`: what it was a probe of reopens.
    #[cold]
    pub(crate) fn succeeded(mut self, sent_at: Moment, now: Moment) {
        self.settle(sent_at, |node, pass| node.succeeded(pass, now));
    }

    #[cold]
    fn gone(&mut self) {
        let now = self.node.trunk.clock.now();
        self.settle(now, |node, pass| node.unknown(pass, now));
    }

    fn settle(&mut self, at: Moment, tell: impl Fn(&Node, Pass)) {
        for (bit, node) in self.node.path().into_iter().enumerate() {
            if self.probes & (1 << bit) != 0 {
                tell(node, Pass { at, probe: true });
            }
        }
        self.probes = 0;
    }
}

impl Drop for Permit<'_> {
    #[inline]
    fn drop(&mut self) {
        if self.is_probe() {
            self.gone();
        }
        self.node.load.leave();
    }
}

/// A request under way that outlives its call: counted, and a probe of nothing.
pub(crate) struct OwnedPermit(Arc<Node>);

impl OwnedPermit {
    /// Counts one more request of this pool.
    pub(crate) fn new(node: Arc<Node>) -> Self {
        node.load.enter(false);
        Self(node)
    }
}

impl Drop for OwnedPermit {
    fn drop(&mut self) {
        self.0.load.leave();
    }
}
