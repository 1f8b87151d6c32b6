//! Waiting for one's turn.

use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll};

use pin_project_lite::pin_project;
use tokio::time::Sleep;

use crate::core::gate::{Admission, Hold};
use crate::core::merge::Shut;
use crate::core::moment::Moment;
use crate::core::signal::LimitClass;
use crate::gate::node::Node;
use crate::gate::permit::Permit;
use crate::gate::queue::Place;

/// The gate said no.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Refusal {
    /// What the pool is shut for.
    pub(crate) class: LimitClass,
    /// When to come back: the reopening, if the pool is shut.
    pub(crate) retry_at: Option<Moment>,
}

pin_project! {
    /// A call's wait for its permit.
    ///
    /// Waiters pass in the order their calls arrived. The head holds the timer; the others sleep until they become head, or
    /// until their deadline. Cancel safe: a dropped waiter leaves the queue, takes no slot with it, and wakes the next.
    #[must_use = "futures do nothing unless polled"]
    pub(crate) struct Turn<'a> {
        queued: Queued<'a>,
        deadline: Moment,
        may_wait: bool,
        first: bool,
        #[pin]
        timer: Sleep,
    }
}

impl<'a> Turn<'a> {
    /// Waits at `node` for a call that arrived at `arrived`, at the latest until `deadline`. `first`: the permit is for
    /// the call's first attempt. Without `may_wait` a call that cannot pass now is refused.
    pub(crate) fn new(node: &'a Node, arrived: Moment, deadline: Moment, may_wait: bool, first: bool) -> Self {
        let place = node.queue.lock().place(arrived);
        Self {
            queued: Queued { node, place },
            deadline,
            may_wait,
            first,
            timer: node.trunk.clock.sleep_until(deadline),
        }
    }
}

impl<'a> Future for Turn<'a> {
    type Output = Result<Permit<'a>, Refusal>;

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        let mut this = self.project();
        let node = this.queued.node;
        loop {
            let now = node.trunk.clock.now();
            if now >= *this.deadline {
                // Whatever is in the way is the reason; nobody asks the gate for a slot it cannot use.
                let (admission, _) = node.ask(now, false);
                return Poll::Ready(Err(refusal(admission)));
            }
            let (asked, is_head) = this.queued.ask(now, cx);
            let hold = match asked {
                Ok(probes) => return Poll::Ready(Ok(Permit::counted(node, probes, *this.first))),
                Err(hold) => hold,
            };
            let too_long = match hold.shut {
                Some(shut) => shut.is_hard() || shut.until >= *this.deadline,
                None => is_head && hold.ask_again >= *this.deadline,
            };
            if too_long || !*this.may_wait {
                return Poll::Ready(Err(refusal(Admission::Hold(hold))));
            }
            let wake_at = if is_head { hold.ask_again.min(*this.deadline) } else { *this.deadline };
            this.timer.as_mut().reset(node.trunk.clock.instant(wake_at));
            if this.timer.as_mut().poll(cx).is_pending() {
                return Poll::Pending;
            }
        }
    }
}

fn refusal(admission: Admission) -> Refusal {
    let shut: Option<Shut> = match admission {
        Admission::Hold(hold) => hold.shut,
        Admission::Pass(_) => None,
    };
    Refusal { class: shut.map_or(LimitClass::None, |shut| shut.class), retry_at: shut.map(|shut| shut.until) }
}

/// A place in a queue, given up when dropped.
struct Queued<'a> {
    node: &'a Node,
    place: Place,
}

impl Queued<'_> {
    /// Asks the gate from this place. Only the head takes a slot; the others learn what the head waits for.
    fn ask(&self, now: Moment, cx: &Context<'_>) -> (Result<u8, Hold>, bool) {
        let mut waiting = self.node.queue.lock();
        let is_head = waiting.wait_at(self.place, cx.waker());
        let (admission, probes) = self.node.ask(now, is_head);
        match admission {
            Admission::Pass(_) if is_head => {
                let next = waiting.leave(self.place);
                drop(waiting);
                if let Some(next) = next {
                    next.wake();
                }
                (Ok(probes), true)
            }
            // Somebody is before us and will wake us when he has gone through.
            Admission::Pass(_) => (Err(Hold { ask_again: now, shut: None }), false),
            Admission::Hold(hold) => (Err(hold), is_head),
        }
    }
}

impl Drop for Queued<'_> {
    fn drop(&mut self) {
        let next = self.node.queue.lock().leave(self.place);
        if let Some(next) = next {
            next.wake();
        }
    }
}
