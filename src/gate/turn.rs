//! Waiting for one's turn.

use std::future::Future;
use std::pin::Pin;
use std::sync::atomic::Ordering;
use std::task::{Context, Poll, Waker};

use crate::core::estimate::Estimate;
use crate::core::gate::Hold;
use crate::core::moment::Moment;
use crate::core::refusal::Refusal;
use crate::core::signal::LimitClass;
use crate::gate::ask::LetIn;
use crate::gate::by_hand::is_by_hand;
use crate::gate::line::Waiter;
use crate::gate::node::Node;
use crate::gate::permit::Permit;
use crate::gate::queue::{Locked, Place};
use crate::gate::timer::Set;

/// The gate said no.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Refused {
    pub(crate) why: Refusal,
    /// What the pool is, or was last, shut for.
    pub(crate) class: LimitClass,
    /// When to come back: the reopening or the next slot, as far as they are known.
    pub(crate) retry_at: Option<Moment>,
}

/// A call's wait for its permit.
///
/// Waiters pass in the order their calls arrived. A timer they share wakes the head when it may ask, and everybody at their
/// deadline; the head that leaves sets it for the next. A head that is woken but not polled keeps its place until its own
/// deadline. Cancel safe: a dropped waiter leaves the queue and takes no slot with it.
#[must_use = "futures do nothing unless polled"]
pub(crate) struct Turn<'a> {
    node: &'a Node,
    arrived: Moment,
    /// The last moment at which it is worth an attempt.
    deadline: Moment,
    place: Option<Place>,
    may_wait: bool,
    first: bool,
    estimate: Estimate,
}

impl<'a> Turn<'a> {
    /// Waits at `node` for a call that arrived at `arrived`, at the latest until `deadline`. `first`: the permit is for
    /// the call's first attempt. Without `may_wait` a call that cannot pass now is refused.
    pub(crate) fn new(node: &'a Node, arrived: Moment, deadline: Moment, may_wait: bool, first: bool) -> Self {
        let deadline = node.latest_start(arrived, deadline);
        Self { node, arrived, deadline, place: None, may_wait, first, estimate: Estimate::default() }
    }

    /// The same for a request that is expected to use so many tokens.
    pub(crate) fn estimated(mut self, estimate: Option<Estimate>) -> Self {
        self.estimate = estimate.unwrap_or_default();
        self
    }

    /// Asks the gate from this place: only the head takes a slot, the others learn what is in the way.
    fn ask(&self, queue: &Locked<'_>, now: Moment) -> Result<LetIn, No> {
        let refused = |why, hold: Hold| {
            let next_slot = Some(hold.ask_again).filter(|next| *next > now);
            Refused { why, class: hold.class, retry_at: hold.shut.map(|shut| shut.until).or(next_slot) }
        };
        if self.node.trunk().is_draining() {
            return Err(No::Never(Refused { why: Refusal::Draining, class: LimitClass::None, retry_at: None }));
        }
        if !self.node.trunk().is_gated() {
            return Ok(LetIn { probes: 0, next: now });
        }
        if self.place.is_none()
            && self.first
            && let Some(late) = self.node.comes_too_late_by(queue.len(), self.deadline, now)
        {
            let (class, retry_at) = (self.node.held_for(), Some(now.after(late)));
            return Err(No::Never(Refused { why: Refusal::Deadline, class, retry_at }));
        }
        let is_first = queue.is_first(self.place, self.arrived, !self.first);
        let in_time = now < self.deadline;
        let hold = match self.node.ask(now, is_first && in_time, queue.len(), self.estimate) {
            Ok(let_in) if is_first && in_time => return Ok(let_in),
            // Somebody is before us, and will see to us when they go.
            Ok(_) => Hold { ask_again: now, class: self.node.held_for(), shut: None },
            Err(hold) => hold,
        };
        let hopeless = hold.is_hopeless(is_first, self.deadline);
        let why = match hold.shut {
            Some(shut) if shut.is_hard() => Some(Refusal::Spent),
            Some(shut) if is_by_hand(&shut) && (hopeless || !in_time || !self.may_wait) => Some(Refusal::ByHand),
            _ if hopeless || !in_time => Some(Refusal::Deadline),
            _ if !self.may_wait => Some(Refusal::NoWait),
            // A call that had an attempt was let in before: there is room for it.
            _ if self.place.is_none() && self.first && self.is_full(queue) => Some(Refusal::QueueFull),
            _ => None,
        };
        Err(why.map_or(No::NotYet(hold), |why| No::Never(refused(why, hold))))
    }

    fn is_full(&self, queue: &Locked<'_>) -> bool {
        queue.len() >= self.node.parts.queue_limit.load(Ordering::Relaxed)
    }

    /// Leaves the queue; a head that leaves sees to the next, who may ask at `next` and is to be woken if that is now.
    fn leave(&mut self, queue: &mut Locked<'_>, now: Moment, next: Moment) -> Option<Waker> {
        let place = self.place.take()?;
        if !queue.leave(place, self.arrived) {
            return None;
        }
        let pending = next > now && queue.wake_head_at(next) == Set::Pending;
        if pending { None } else { queue.head_waker() }
    }

    fn poll_locked(&mut self, queue: &mut Locked<'_>, cx: &Context<'_>, woken: &mut Vec<Waker>) -> Answer<'a> {
        let node = self.node;
        loop {
            let now = node.now();
            let hold = match self.ask(queue, now) {
                Ok(LetIn { probes, next }) => {
                    woken.extend(self.leave(queue, now, next));
                    return Poll::Ready(Ok(Permit::given(node, probes, self.first, now)));
                }
                Err(No::Never(refused)) => {
                    // The next asks, and hears what is in the way.
                    woken.extend(self.leave(queue, now, now));
                    return Poll::Ready(Err(refused));
                }
                Err(No::NotYet(hold)) => hold,
            };
            let waiter = Waiter { arrived: self.arrived, deadline: self.deadline, waker: cx.waker().clone() };
            let place = queue.wait(self.place, waiter, !self.first);
            self.place = Some(place);
            let set = if queue.is_first(Some(place), self.arrived, !self.first) {
                queue.wake_head_at(hold.ask_again)
            } else {
                queue.ring_by_deadline()
            };
            match set {
                Set::Pending => return Poll::Pending,
                Set::Due => woken.append(&mut queue.take_due(now)),
                // Panics, and says what is missing.
                Set::NoRuntime => drop(node.trunk().clock.sleep_until(hold.ask_again)),
            }
        }
    }
}

type Answer<'a> = Poll<Result<Permit<'a>, Refused>>;

/// Why a call does not pass.
enum No {
    Never(Refused),
    NotYet(Hold),
}

impl<'a> Future for Turn<'a> {
    type Output = Result<Permit<'a>, Refused>;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        let this = &mut *self;
        let station = &this.node.parts;
        let mut woken = Vec::new();
        let answer = this.poll_locked(&mut station.queue.lock(&station.trunk.clock), cx, &mut woken);
        woken.into_iter().for_each(Waker::wake);
        answer
    }
}

impl Drop for Turn<'_> {
    fn drop(&mut self) {
        let Some(place) = self.place.take() else { return };
        let station = &self.node.parts;
        let mut queue = station.queue.lock(&station.trunk.clock);
        let next = if queue.leave(place, self.arrived) { queue.head_waker() } else { None };
        drop(queue);
        if let Some(next) = next {
            next.wake();
        }
    }
}
