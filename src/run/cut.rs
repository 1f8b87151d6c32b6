//! An operation that is cut when its time is up.

use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll};

use pin_project_lite::pin_project;
use tokio::time::Sleep;

use crate::clock::Clock;
use crate::core::moment::Moment;

pin_project! {
    /// Runs an operation until a moment. The operation is polled first: an answer that is there counts, however late.
    ///
    /// The timer is made when the operation first has to wait, so that an answer which is there at once costs none.
    #[must_use = "futures do nothing unless polled"]
    pub(super) struct Cut<'a, F> {
        #[pin]
        operation: F,
        #[pin]
        timer: Option<Sleep>,
        clock: &'a Clock,
        at: Moment,
    }
}

impl<'a, F> Cut<'a, F> {
    pub(super) fn new(operation: F, clock: &'a Clock, at: Moment) -> Self {
        Self { operation, timer: None, clock, at }
    }
}

impl<F: Future> Future for Cut<'_, F> {
    /// `None` when the time was up.
    type Output = Option<F::Output>;

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        let mut this = self.project();
        if let Poll::Ready(output) = this.operation.poll(cx) {
            return Poll::Ready(Some(output));
        }
        if this.timer.is_none() {
            this.timer.set(Some(this.clock.sleep_until(*this.at)));
        }
        match this.timer.as_pin_mut() {
            Some(timer) => timer.poll(cx).map(|()| None),
            None => Poll::Pending,
        }
    }
}
