//! Waiting for one's turn.

use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll};

use tokio::time::Sleep;

use crate::core::gate::{Admission, Hold};
use crate::core::moment::Moment;
use crate::core::signal::LimitClass;
use crate::gate::node::Node;
use crate::gate::permit::Permit;
use crate::gate::queue::{Place, Waiting};

/// The gate said no.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Refusal {
    /// What the pool is, or was last, shut for.
    pub(crate) class: LimitClass,
    /// When to come back: the reopening, if the pool is shut.
    pub(crate) retry_at: Option<Moment>,
}

/// A call's wait for its permit.
///
/// Waiters pass in the order their calls arrived. The timer they share is set for the head; the head that leaves sets it
/// for the next. A head that is woken but not polled keeps its place; those behind it wait, at the latest until their
/// deadlines. Cancel safe: a dropped waiter leaves the queue and takes no slot with it.
#[must_use = "futures do nothing unless polled"]
pub(crate) struct Turn<'a> {
    node: &'a Node,
    place: Place,
    deadline: Moment,
    may_wait: bool,
    first: bool,
    queued: bool,
    /// Ends the wait of a call that is not the head, should the head be kept somewhere without being polled.
    last_moment: Option<Pin<Box<Sleep>>>,
}

impl<'a> Turn<'a> {
    /// Waits at `node` for a call that arrived at `arrived`, at the latest until `deadline`. `first`: the permit is for
    /// the call's first attempt. Without `may_wait` a call that cannot pass now is refused.
    pub(crate) fn new(node: &'a Node, arrived: Moment, deadline: Moment, may_wait: bool, first: bool) -> Self {
        let place = node.queue.lock().place(arrived);
        Self { node, place, deadline, may_wait, first, queued: false, last_moment: None }
    }

    /// Asks the gate from this place: only the head takes a slot, the others learn what is in the way.
    fn ask(&self, waiting: &Waiting, now: Moment) -> Result<u8, Refused> {
        let is_head = waiting.head_is(self.place);
        let in_time = now < self.deadline;
        let (admission, probes) = self.node.ask(now, is_head && in_time);
        let hold = match admission {
            Admission::Pass(_) if is_head && in_time => return Ok(probes),
            // Somebody is before us, and will see to us when he goes.
            Admission::Pass(_) => Hold { ask_again: now, class: self.node.held_for(), shut: None },
            Admission::Hold(hold) => hold,
        };
        let hopeless = match hold.shut {
            Some(shut) => shut.is_hard() || shut.until >= self.deadline,
            None => is_head && hold.ask_again >= self.deadline,
        };
        if hopeless || !in_time || !self.may_wait { Err(Refused::Now(hold.into())) } else { Err(Refused::Yet(hold)) }
    }

    /// Leaves the queue; a head that leaves sees to the next.
    fn leave(&mut self, waiting: &mut Waiting, now: Moment) {
        if std::mem::take(&mut self.queued) && waiting.leave(self.place) {
            hand_over(self.node, waiting, now);
        }
    }
}

/// Why a call did not pass.
enum Refused {
    Now(Refusal),
    Yet(Hold),
}

impl From<Hold> for Refusal {
    fn from(hold: Hold) -> Self {
        Self { class: hold.class, retry_at: hold.shut.map(|shut| shut.until) }
    }
}

/// Wakes the head at its moment, or now.
fn hand_over(node: &Node, waiting: &mut Waiting, now: Moment) {
    let (admission, _) = node.ask(now, false);
    let waits = match admission {
        Admission::Pass(_) => false,
        Admission::Hold(hold) => waiting.wake_head_at(hold.ask_again, &node.trunk.clock),
    };
    if !waits {
        waiting.wake_head();
    }
}

impl<'a> Future for Turn<'a> {
    type Output = Result<Permit<'a>, Refusal>;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        let this = &mut *self;
        let node = this.node;
        let mut waiting = node.queue.lock();
        loop {
            let now = node.trunk.clock.now();
            let hold = match this.ask(&waiting, now) {
                Ok(probes) => {
                    this.leave(&mut waiting, now);
                    return Poll::Ready(Ok(Permit::counted(node, probes, this.first)));
                }
                Err(Refused::Now(refusal)) => {
                    this.leave(&mut waiting, now);
                    return Poll::Ready(Err(refusal));
                }
                Err(Refused::Yet(hold)) => hold,
            };
            this.queued = true;
            waiting.enter(this.place, this.deadline, cx.waker());
            if !waiting.head_is(this.place) {
                let at = this.deadline;
                let timer = this.last_moment.get_or_insert_with(|| Box::pin(node.trunk.clock.sleep_until(at)));
                if timer.as_mut().poll(cx).is_pending() {
                    return Poll::Pending;
                }
                continue;
            }
            waiting.wake_whose_deadline_comes_by(now);
            if waiting.wake_head_at(hold.ask_again, &node.trunk.clock) {
                return Poll::Pending;
            }
        }
    }
}

impl Drop for Turn<'_> {
    fn drop(&mut self) {
        if self.queued {
            let now = self.node.trunk.clock.now();
            let node = self.node;
            self.leave(&mut node.queue.lock(), now);
        }
    }
}
