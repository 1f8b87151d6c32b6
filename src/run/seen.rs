//! What the head of an answer said before its body was read.
//!
//! The status and `retry-after` are there at once; the body that names the limit may take seconds or never come. A caller who
//! loses patience meanwhile drops the call, and with it what everybody else in the pool should know. This guard tells it.

use crate::core::moment::Moment;
use crate::core::signal::Signal;
use crate::gate::Permit;
use crate::run::pool::Shared;
use crate::run::spans::CallSpans;

/// A throttle whose head was seen while its body is still being read: reported even if the call is dropped.
pub(super) struct Seen<'s, 'a> {
    pub(super) shared: &'a Shared,
    pub(super) permit: Option<&'s mut Permit<'a>>,
    pub(super) signal: Signal,
    pub(super) sent_at: Moment,
    pub(super) spans: &'s CallSpans,
}

impl Seen<'_, '_> {
    /// The call goes on and reports by itself.
    pub(super) fn forget(&mut self) {
        self.permit = None;
    }
}

impl Drop for Seen<'_, '_> {
    fn drop(&mut self) {
        if let Some(permit) = self.permit.take()
            && self.signal.is_throttle()
            && self.shared.is_gated()
        {
            let now = self.shared.clock().now();
            permit.throttled(self.shared.level(self.signal.scope), &self.signal, self.sent_at, now);
        }
    }
}
