//! A call's sleep between two attempts.

use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll};

use pin_project_lite::pin_project;
use tokio::sync::futures::Notified;
use tokio::time::Sleep;

use crate::gate::node::Node;

pin_project! {
    /// Sleeps, but not beyond the beginning of a drain: then there is no other attempt to sleep for.
    #[must_use = "futures do nothing unless polled"]
    pub(crate) struct Nap<'a> {
        #[pin]
        sleep: Sleep,
        // Boxed, and made when the sleep has to wait: futures of calls need not hold it.
        no_more: Option<Pin<Box<Notified<'a>>>>,
        node: Option<&'a Node>,
    }
}

impl<'a> Nap<'a> {
    /// A sleep that ends early when `node` lets no further request go.
    pub(crate) fn cut_by(node: &'a Node, sleep: Sleep) -> Self {
        Self { sleep, no_more: None, node: Some(node) }
    }

    /// A sleep that nothing ends early.
    pub(crate) fn uncut(sleep: Sleep) -> Self {
        Self { sleep, no_more: None, node: None }
    }
}

impl Future for Nap<'_> {
    type Output = ();

    #[inline(always)]
    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<()> {
        let this = self.project();
        if this.sleep.poll(cx).is_ready() {
            return Poll::Ready(());
        }
        match *this.node {
            Some(node) => poll_no_more(node, this.no_more, cx),
            None => Poll::Pending,
        }
    }
}

/// Whether a drain has begun at `node`.
fn poll_no_more<'a>(node: &'a Node, no_more: &mut Option<Pin<Box<Notified<'a>>>>, cx: &mut Context<'_>) -> Poll<()> {
    let no_more = no_more.get_or_insert_with(|| Box::pin(node.no_more()));
    if node.trunk().is_draining() {
        return Poll::Ready(());
    }
    no_more.as_mut().poll(cx)
}
