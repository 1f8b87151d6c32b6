//! What happens inside an attempt while it is polled.

use std::sync::atomic::Ordering::Relaxed;

use crate::event::{Event, StackedBy};
use crate::run::going::Going;
use crate::run::here::{self, Outer, PoolId};

impl<'a> Going<'a> {
    /// Enters the attempt under way until the guard is dropped.
    #[inline]
    pub(in crate::run) fn enter(&self) -> Entered<'_, 'a> {
        Entered { going: self, outer: here::enter(PoolId::of(self.shared())) }
    }

    /// Counts requests a tap saw in the attempt under way. More than one is another layer's retry; a call is counted as
    /// stacked once.
    #[cold]
    fn requests_sent(&self, requests: u32) {
        if self.nested {
            // The attempt around it sends them.
            return here::requests_sent(requests);
        }
        let shared = self.shared();
        let now = shared.clock().now();
        for _ in 0..requests {
            shared.tell(now, || Event::RequestSent);
        }
        let sent = self.requests.fetch_add(requests, Relaxed).saturating_add(requests);
        if sent > 1 && !self.stacked.swap(true, Relaxed) {
            shared.tell_stacked(self.policy, StackedBy::Wire);
        }
    }
}

/// An attempt that is being polled. Leaving it counts what a tap saw meanwhile.
pub(in crate::run) struct Entered<'s, 'a> {
    going: &'s Going<'a>,
    outer: Outer,
}

impl Drop for Entered<'_, '_> {
    #[inline]
    fn drop(&mut self) {
        let requests = here::leave(self.outer);
        if requests > 0 {
            self.going.requests_sent(requests);
        }
    }
}
