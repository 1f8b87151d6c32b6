//! A throttle whose head was seen while its body is still being read.

use crate::core::moment::Moment;
use crate::core::signal::Signal;
use crate::gate::Permit;
use crate::run::going::Going;
use crate::run::pool::Shared;
use crate::run::spans::CallSpans;

/// Reports what the head of an answer said, should the call be dropped while the body is read.
pub(in crate::run) struct Seen<'s, 'a> {
    shared: &'a Shared,
    permit: Option<&'s mut Permit<'a>>,
    signal: Signal,
    sent_at: Moment,
    pub(in crate::run) spans: &'s CallSpans,
}

impl<'a> Going<'a> {
    /// A guard that reports what the head of an answer said.
    pub(in crate::run) fn seen(&mut self, signal: Signal) -> Seen<'_, 'a> {
        let (shared, sent_at) = (self.shared(), self.began());
        Seen { shared, permit: self.permit.as_mut(), signal, sent_at, spans: &self.spans }
    }
}

impl Seen<'_, '_> {
    /// The call goes on and reports by itself.
    pub(in crate::run) fn forget(&mut self) {
        self.permit = None;
    }
}

impl Drop for Seen<'_, '_> {
    fn drop(&mut self) {
        if let Some(permit) = self.permit.take()
            && self.signal.is_throttle()
            && self.shared.gated
        {
            let now = self.shared.clock().now();
            permit.throttled(self.shared.level(self.signal.scope), &self.signal, self.sent_at, now);
        }
    }
}
