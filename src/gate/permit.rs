//! Leave to have one request under way.

use std::sync::Arc;

use crate::core::gate::Pass;
use crate::core::moment::Moment;
use crate::core::signal::Signal;
use crate::gate::flow::Barred;
use crate::gate::node::Node;

/// One request under way in a pool. Dropping it takes the request off the count and gives an unsettled probe back, so a
/// call that is dropped at any point leaves nothing behind.
#[must_use = "a permit that is dropped at once counts nothing"]
pub(crate) struct Permit<'a> {
    node: &'a Node,
    /// The request's number; no other under way in the pool has it.
    number: u32,
    /// A bit for each level (0 = widest) this request is an unsettled probe of.
    probes: u8,
    /// Whether the gate was asked for it, and when it gave it: a probe of an earlier round is none any more.
    let_in: Option<Moment>,
}

impl<'a> Permit<'a> {
    /// A permit at once, if the pool and all levels above it flow: one look and one locked addition. `first` of its call.
    #[inline]
    pub(crate) fn flowing(node: &'a Node, first: bool) -> Option<Self> {
        match node.flow.pass() {
            Ok(number) => {
                if !first {
                    node.count_no_call();
                }
                Some(Self { node, number, probes: 0, let_in: None })
            }
            Err(barred) => {
                node.turned_away(&barred);
                None
            }
        }
    }

    /// A permit the gate gave; `first` of its call.
    pub(super) fn given(node: &'a Node, probes: u8, first: bool, now: Moment) -> Self {
        let number = node.flow.enter();
        if !first {
            node.count_no_call();
        }
        Self { node, number, probes, let_in: Some(now) }
    }

    /// The request's number.
    #[inline]
    pub(crate) fn number(&self) -> u32 {
        self.number
    }

    /// Reports a throttle of the request sent at `sent_at` to the level (0 = widest) its limit belongs to.
    pub(crate) fn throttled(&mut self, level: usize, signal: &Signal, sent_at: Moment, now: Moment) {
        let pass = Pass { at: sent_at, probe: self.probes & (1 << level) != 0 };
        self.probes &= !(1 << level);
        self.node.report(level, pass, signal, now);
    }

    /// Whether it is a probe whose end nobody told.
    #[inline]
    fn is_probe(&self) -> bool {
        self.probes != 0
    }

    /// Whether the gate was asked for it: then its success is to be reported.
    #[inline]
    pub(crate) fn is_let_in(&self) -> bool {
        self.let_in.is_some()
    }

    /// Reports a success of the request sent at `sent_at`, which the gate let in: what it was a probe of reopens, and how
    /// long it took is noted.
    #[cold]
    pub(crate) fn succeeded(mut self, sent_at: Moment, now: Moment) {
        self.node.went_well(sent_at.until(now));
        self.settle(sent_at, |node, pass| node.succeeded(pass, now));
    }

    /// Reports that the request sent at `sent_at`, which the gate let in, was cut.
    #[cold]
    pub(crate) fn was_cut(&self, sent_at: Moment, now: Moment) {
        if self.is_let_in() {
            self.node.was_cut(sent_at.until(now));
        }
    }

    #[cold]
    fn gone(&mut self) {
        let now = self.node.now();
        self.settle(self.let_in.unwrap_or(now), |node, pass| node.unknown(pass, now));
    }

    /// What its drop does, in line: for whoever forgets it then.
    #[inline(always)]
    pub(crate) fn give_back(&mut self) {
        if self.is_probe() {
            self.gone();
        }
        let watched = self.node.flow.leave(self.number);
        if watched {
            self.node.came_back(watched);
        }
    }

    fn settle(&mut self, at: Moment, tell: impl Fn(&Node, Pass)) {
        for (bit, node) in self.node.path().enumerate() {
            if self.probes & (1 << bit) != 0 {
                tell(node, Pass { at, probe: true });
            }
        }
        self.probes = 0;
    }
}

impl Drop for Permit<'_> {
    // Out of line, so that it is in nobody's way: calls that go well give theirs back.
    #[inline(never)]
    fn drop(&mut self) {
        self.give_back();
    }
}

/// A request under way that outlives its call: counted, and a probe of nothing.
pub(crate) struct OwnedPermit {
    node: Arc<Node>,
    /// The number of the attempt whose place this is, if it is one's.
    taken_over: Option<u32>,
}

impl OwnedPermit {
    /// Takes over the place of the attempt with this number. Without one, or if it was taken over before, counts one
    /// request more.
    pub(crate) fn of(node: Arc<Node>, attempt: Option<u32>) -> Self {
        let taken_over = node.flow.stream_begins(attempt);
        if taken_over.is_none() {
            node.count_no_call();
        }
        Self { node, taken_over }
    }
}

impl Drop for OwnedPermit {
    fn drop(&mut self) {
        let watched = self.node.flow.stream_ends(self.taken_over);
        self.node.came_back(watched);
    }
}

impl Node {
    /// Whether a call would pass at once, as far as a look tells.
    #[cfg(feature = "tower")]
    pub(crate) fn is_flowing(&self) -> bool {
        !self.flow.is_barred()
    }

    /// A call saw the bar after it was counted.
    #[cold]
    fn turned_away(&self, barred: &Barred) {
        if barred.number_used {
            self.count_no_call();
        }
        self.came_back(barred.watched);
    }

    /// Tells whoever waits for requests to come back.
    #[cold]
    fn came_back(&self, watched: bool) {
        if watched {
            self.trunk().came_back.notify_waiters();
            self.makes_room();
        }
    }
}
