//! Futures polled inside a span, or that open one when they have to wait.

use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll};

use pin_project_lite::pin_project;
use tracing::Span;

use crate::run::spans::Queue;
use crate::run::spans::on::Open;

pin_project! {
    /// A future polled inside a span. Dropped outside of it: what it opened has its parent already.
    #[must_use = "futures do nothing unless polled"]
    pub(in crate::run) struct Inside<'a, F> {
        pub(super) span: Option<&'a Span>,
        #[pin]
        pub(super) future: F,
    }
}

impl<F: Future> Future for Inside<'_, F> {
    type Output = F::Output;

    #[inline]
    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<F::Output> {
        let this = self.project();
        let _entered = this.span.map(Span::enter);
        this.future.poll(cx)
    }
}

pin_project! {
    /// A turn at the gate that opens a span when it has to wait.
    #[must_use = "futures do nothing unless polled"]
    pub(in crate::run) struct AtGate<'a, F, Q> {
        pub(super) open: Option<&'a mut Open>,
        pub(super) queue: Option<Q>,
        #[pin]
        pub(super) turn: F,
    }
}

impl<F: Future, Q: FnOnce() -> Queue> Future for AtGate<'_, F, Q> {
    type Output = F::Output;

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<F::Output> {
        let this = self.project();
        let polled = this.turn.poll(cx);
        if polled.is_pending()
            && let (Some(open), Some(queue)) = (this.open, this.queue.take())
        {
            open.gate_wait_begins(queue());
        }
        polled
    }
}
