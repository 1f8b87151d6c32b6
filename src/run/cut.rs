//! An operation that is cut when its time is up.
//!
//! The cut is at the attempt's timeout or the call's deadline, whichever comes first; the runtime's timer rounds up to whole
//! milliseconds and is never early. An answer that is there counts, however late it is polled: the operation goes first.

use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll};

use pin_project_lite::pin_project;
use tokio::time::Sleep;

pin_project! {
    /// Runs an operation until a timer ends. The operation is polled first: an answer that is there counts, however late.
    ///
    /// The timer is made when the operation first has to wait, and boxed: an answer that is there at once costs none, and
    /// a caller's future does not grow by a timer's 112 bytes.
    #[must_use = "futures do nothing unless polled"]
    pub(super) struct Cut<F, T> {
        #[pin]
        operation: F,
        timer: Option<Pin<Box<Sleep>>>,
        make_timer: T,
    }
}

impl<F, T: Fn(&F) -> Sleep> Cut<F, T> {
    /// Runs `operation`; `make_timer` is asked only if it has to wait. It is shown the operation, so that what it needs of
    /// it need not be kept twice.
    pub(super) fn new(operation: F, make_timer: T) -> Self {
        Self { operation, timer: None, make_timer }
    }
}

impl<F: Future, T: Fn(&F) -> Sleep> Future for Cut<F, T> {
    /// `None` when the time was up.
    type Output = Option<F::Output>;

    // Out of line its output would pass through memory, which costs more than all the rest.
    #[inline(always)]
    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        let mut this = self.project();
        if let Poll::Ready(output) = this.operation.as_mut().poll(cx) {
            return Poll::Ready(Some(output));
        }
        let operation = this.operation.as_ref().get_ref();
        let timer = this.timer.get_or_insert_with(|| Box::pin((this.make_timer)(operation)));
        timer.as_mut().poll(cx).map(|()| None)
    }
}
