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
    /// The timer is made when the operation first has to wait, and boxed: an answer that is there at once costs none, and
    /// a caller's future does not grow by a timer's 112 bytes.
    #[must_use = "futures do nothing unless polled"]
    pub(super) struct Cut<'a, F> {
        #[pin]
        operation: F,
        timer: Option<Pin<Box<Sleep>>>,
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
        let this = self.project();
        if let Poll::Ready(output) = this.operation.poll(cx) {
            return Poll::Ready(Some(output));
        }
        let timer = this.timer.get_or_insert_with(|| Box::pin(this.clock.sleep_until(*this.at)));
        timer.as_mut().poll(cx).map(|()| None)
    }
}
