//! An operation polled inside its attempt.

use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll};

use pin_project_lite::pin_project;

use crate::run::going::Going;

pin_project! {
    /// An operation polled inside the attempt under way: its span is current and [`here`](super::here) knows of it, so what
    /// it opens nests there and what it sends is counted there.
    #[must_use = "futures do nothing unless polled"]
    pub(super) struct Inside<'s, 'a, F> {
        going: &'s Going<'a>,
        #[pin]
        operation: F,
    }
}

impl<'s, 'a, F> Inside<'s, 'a, F> {
    /// Makes the operation inside the attempt as well: some send when they are called.
    #[inline(always)]
    pub(super) fn new(going: &'s Going<'a>, operation: impl FnOnce() -> F) -> Self {
        let operation = {
            let _span = going.spans.enter();
            let _entered = going.enter();
            operation()
        };
        Self { going, operation }
    }
}

impl<F: Future> Future for Inside<'_, '_, F> {
    type Output = F::Output;

    #[inline(always)]
    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<F::Output> {
        let this = self.project();
        let _span = this.going.spans.enter();
        let _entered = this.going.enter();
        this.operation.poll(cx)
    }
}
