//! Futures that are part of an attempt although they run in another task.

use std::future::Future;
use std::pin::Pin;
use std::sync::atomic::{AtomicU32, Ordering::Relaxed};
use std::task::{Context, Poll};

use pin_project_lite::pin_project;

use crate::core::policy::Policy;
use crate::event::{Event, StackedBy};
use crate::run::here::{self, Outer, PoolId};
use crate::run::pool::Pool;
use crate::run::spans::CurrentSpan;

pin_project! {
    /// A future that is part of an attempt in whatever task it runs. Made by [`Attempt::scope`](crate::Attempt::scope).
    #[must_use = "futures do nothing unless polled"]
    pub struct AttemptScope<F> {
        attempt: Carried,
        #[pin]
        future: F,
    }
}

/// What a future takes with it of its attempt.
struct Carried {
    pool: Pool,
    policy: Policy,
    span: CurrentSpan,
    requests: AtomicU32,
}

impl<F> AttemptScope<F> {
    /// Makes `future` part of an attempt at `pool`, and of the span that is current.
    pub(super) fn new(pool: &Pool, policy: &Policy, future: F) -> Self {
        let attempt = Carried {
            pool: pool.clone(),
            policy: policy.clone(),
            span: CurrentSpan::take(),
            requests: AtomicU32::new(0),
        };
        Self { attempt, future }
    }
}

impl<F: Future> Future for AttemptScope<F> {
    type Output = F::Output;

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<F::Output> {
        let this = self.project();
        let _span = this.attempt.span.enter();
        let outer = Some(here::enter(PoolId::of(&*this.attempt.pool.shared)));
        let _entered = Entered { attempt: this.attempt, outer };
        this.future.poll(cx)
    }
}

/// The future is being polled. Leaving it counts what a tap saw meanwhile.
struct Entered<'a> {
    attempt: &'a Carried,
    outer: Option<Outer>,
}

impl Drop for Entered<'_> {
    fn drop(&mut self) {
        let requests = self.outer.take().map_or(0, here::leave);
        if requests > 0 {
            self.attempt.requests_sent(requests);
        }
    }
}

impl Carried {
    /// Counts requests a tap saw. The attempt the future was made in counts its own: more than one here is a retry.
    #[cold]
    fn requests_sent(&self, requests: u32) {
        let shared = &self.pool.shared;
        let now = shared.clock().now();
        for _ in 0..requests {
            shared.tell(now, || Event::RequestSent);
        }
        let before = self.requests.fetch_add(requests, Relaxed);
        if before <= 1 && before.saturating_add(requests) > 1 {
            shared.tell_stacked(&self.policy, StackedBy::Wire);
        }
    }
}
