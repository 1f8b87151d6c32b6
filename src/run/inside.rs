//! An operation made and polled inside its attempt.

use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll};

use pin_project_lite::pin_project;

use crate::run::going::Going;

pin_project! {
    /// An operation made and polled inside the attempt under way: its span is current and [`here`](super::here) knows of
    /// it, so what it opens nests there and what it sends is counted there.
    #[must_use = "futures do nothing unless polled"]
    pub(super) struct Inside<'s, 'a, M, F> {
        going: &'s Going<'a>,
        #[pin]
        operation: Operation<M, F>,
    }
}

pin_project! {
    /// Made at the first poll, as part of the attempt: some send when they are called. To enter the attempt once for
    /// both is half the price.
    #[project = Projected]
    enum Operation<M, F> {
        ToBeMade { make: M },
        Made { #[pin] operation: F },
    }
}

impl<'s, 'a, F, M: FnMut(&Going<'a>) -> F> Inside<'s, 'a, M, F> {
    /// What `make` makes of the call, inside the attempt under way.
    #[inline(always)]
    pub(super) fn new(going: &'s Going<'a>, make: M) -> Self {
        Self { going, operation: Operation::ToBeMade { make } }
    }

    /// The call whose attempt it is.
    #[inline]
    pub(super) fn going(&self) -> &'s Going<'a> {
        self.going
    }
}

impl<'a, F: Future, M: FnMut(&Going<'a>) -> F> Future for Inside<'_, 'a, M, F> {
    type Output = F::Output;

    #[inline(always)]
    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<F::Output> {
        let mut this = self.project();
        let _span = this.going.spans.enter();
        let _entered = this.going.enter();
        if let Projected::ToBeMade { make } = this.operation.as_mut().project() {
            let operation = make(this.going);
            this.operation.set(Operation::Made { operation });
        }
        match this.operation.project() {
            Projected::Made { operation } => operation.poll(cx),
            Projected::ToBeMade { .. } => unreachable!("it was made above"),
        }
    }
}
