//! Who waits for a pool, in the order of arrival, and when they are to be woken.
//!
//! The head is woken when it may ask again, and anybody when their deadline comes: a waiter is polled when it comes and when
//! it goes, and hardly ever between.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError, Weak};
use std::task::{Wake, Waker};

use tokio::runtime::Id;

use crate::clock::Clock;
use crate::core::moment::Moment;
use crate::gate::line::{Line, Waiter};
use crate::gate::timer::{Set, Timers};

/// A place in the queue.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Place {
    /// Of a call that waits for its first attempt.
    InLine(u64),
    /// Of a call that comes back from an attempt: among the others by its arrival, then by this number.
    Returned(u64),
}

#[derive(Debug)]
pub(super) struct Waiting {
    line: Line,
    /// Calls that had an attempt and keep their place before those who came later.
    returned: BTreeMap<(Moment, u64), Waiter>,
    /// The number of the next that comes back.
    ticket: u64,
    /// When the head may ask again.
    head_at: Moment,
    /// No deadline of anybody is earlier.
    earliest_deadline: Moment,
    timers: Timers,
}

/// What a turn needs of the queue is done under its lock; who is to be woken is woken after.
impl Waiting {
    fn new() -> Self {
        Self {
            line: Line::default(),
            returned: BTreeMap::new(),
            ticket: 0,
            head_at: Moment::NEVER,
            earliest_deadline: Moment::NEVER,
            timers: Timers::default(),
        }
    }

    pub(super) fn len(&self) -> usize {
        self.line.len() + self.returned.len()
    }

    /// Takes a place: at the end, or, for a call that `returned` from an attempt, at that of its arrival.
    fn join(&mut self, waiter: Waiter, returned: bool) -> Place {
        self.earliest_deadline = self.earliest_deadline.min(waiter.deadline);
        if !returned {
            return Place::InLine(self.line.join(waiter));
        }
        self.ticket += 1;
        self.returned.insert((waiter.arrived, self.ticket), waiter);
        Place::Returned(self.ticket)
    }

    fn at(&mut self, place: Place, arrived: Moment) -> Option<&mut Waiter> {
        match place {
            Place::InLine(place) => self.line.at(place),
            Place::Returned(ticket) => self.returned.get_mut(&(arrived, ticket)),
        }
    }

    /// Who is first: of two that arrived together the one that asked first.
    fn head(&self) -> Option<(Place, &Waiter)> {
        let returned = self.returned.first_key_value().map(|(&(_, ticket), waiter)| (Place::Returned(ticket), waiter));
        let in_line = self.line.head().map(|(place, waiter)| (Place::InLine(place), waiter));
        match (returned, in_line) {
            (Some(returned), Some(in_line)) if in_line.1.arrived <= returned.1.arrived => Some(in_line),
            (returned, in_line) => returned.or(in_line),
        }
    }

    /// Gives up a place. Whether it was the head's.
    pub(super) fn leave(&mut self, place: Place, arrived: Moment) -> bool {
        let was_head = self.head().is_some_and(|(head, _)| head == place);
        match place {
            Place::InLine(place) => drop(self.line.leave(place)),
            Place::Returned(ticket) => drop(self.returned.remove(&(arrived, ticket))),
        }
        self.tidy();
        was_head
    }

    /// An empty queue keeps nothing that costs.
    fn tidy(&mut self) {
        if self.len() == 0 {
            (self.head_at, self.earliest_deadline, self.timers) = (Moment::NEVER, Moment::NEVER, Timers::default());
        }
    }

    /// Takes everybody out whose deadline is not after `now`.
    fn take_due(&mut self, now: Moment) -> Vec<Waker> {
        let mut due = Vec::new();
        if self.earliest_deadline <= now {
            self.line.take_due(now, &mut due);
            let mut earliest = self.line.earliest_deadline();
            self.returned.retain(|_, waiter| {
                let stays = waiter.deadline > now;
                if stays {
                    earliest = earliest.min(waiter.deadline);
                } else {
                    due.push(waiter.waker.clone());
                }
                stays
            });
            self.earliest_deadline = earliest;
            self.tidy();
        }
        due
    }

    fn everybody(&self) -> impl Iterator<Item = &Waiter> {
        self.line.iter().chain(self.returned.values())
    }

    fn head_waker(&self) -> Option<Waker> {
        self.head().map(|(_, head)| head.waker.clone())
    }

    /// When the timer must ring.
    fn rings_at(&self) -> Moment {
        self.head_at.min(self.earliest_deadline)
    }
}

/// The queue of one pool. Small until somebody has to wait.
#[derive(Debug, Default)]
pub(super) struct Queue(OnceLock<Arc<Mutex<Waiting>>>);

/// A queue that nobody else changes.
pub(super) struct Locked<'a> {
    queue: &'a Arc<Mutex<Waiting>>,
    clock: &'a Clock,
    waiting: MutexGuard<'a, Waiting>,
}

impl Queue {
    pub(super) fn lock<'a>(&'a self, clock: &'a Clock) -> Locked<'a> {
        let queue = self.0.get_or_init(|| Arc::new(Mutex::new(Waiting::new())));
        Locked { queue, clock, waiting: lock(queue) }
    }

    /// How many wait.
    pub(super) fn len(&self) -> usize {
        self.0.get().map_or(0, |waiting| lock(waiting).len())
    }

    /// Wakes the head, and everybody who cannot wait as long as `until`.
    pub(super) fn wake_who_cannot_wait(&self, until: Moment) {
        let Some(waiting) = self.0.get() else { return };
        let woken: Vec<Waker> = {
            let waiting = lock(waiting);
            let hopeless = waiting.everybody().filter(|waiter| waiter.deadline <= until);
            waiting.head_waker().into_iter().chain(hopeless.map(|waiter| waiter.waker.clone())).collect()
        };
        woken.into_iter().for_each(Waker::wake);
    }

    /// Wakes the head.
    pub(super) fn wake_head(&self) {
        let head = self.0.get().and_then(|waiting| lock(waiting).head_waker());
        if let Some(head) = head {
            head.wake();
        }
    }
}

impl Locked<'_> {
    pub(super) fn len(&self) -> usize {
        self.waiting.len()
    }

    /// Whether `place` is the first. Who has no place yet is first if nobody waits, or, come back from an attempt, if
    /// nobody who waits `arrived` before.
    pub(super) fn is_first(&self, place: Option<Place>, arrived: Moment, returned: bool) -> bool {
        match (self.waiting.head(), place) {
            (None, _) => true,
            (Some((head, _)), Some(place)) => head == place,
            (Some((_, head)), None) => returned && arrived < head.arrived,
        }
    }

    /// Takes a place, or keeps it: `waker` is woken when it is time to ask again.
    pub(super) fn wait(&mut self, place: Option<Place>, waiter: Waiter, returned: bool) -> Place {
        let known = place.and_then(|place| Some((place, self.waiting.at(place, waiter.arrived)?)));
        match known {
            Some((place, known)) => {
                known.waker.clone_from(&waiter.waker);
                place
            }
            None => self.waiting.join(waiter, returned),
        }
    }

    /// Lets the head be woken at `at`. Due if that is now, or the first deadline is.
    pub(super) fn wake_head_at(&mut self, at: Moment) -> Set {
        self.waiting.head_at = at;
        self.set_timer()
    }

    /// Sees to it that the runtime this is called in rings when the first deadline comes. Due if that is now.
    pub(super) fn ring_by_deadline(&mut self) -> Set {
        if self.waiting.timers.rings_here_by(self.waiting.earliest_deadline) { Set::Pending } else { self.set_timer() }
    }

    fn set_timer(&mut self) -> Set {
        let (queue, clock) = (self.queue, *self.clock);
        let alarm = |runtime| Waker::from(Arc::new(Alarm { queue: Arc::downgrade(queue), clock, runtime }));
        let at = self.waiting.rings_at();
        self.waiting.timers.set(at, self.clock, alarm)
    }

    /// Gives up a place; whether it was the head's, and somebody waits for being told.
    pub(super) fn leave(&mut self, place: Place, arrived: Moment) -> bool {
        self.waiting.leave(place, arrived) && self.waiting.len() > 0
    }

    /// Takes everybody out whose deadline is not after `now`, to be woken when the queue is free again.
    pub(super) fn take_due(&mut self, now: Moment) -> Vec<Waker> {
        self.waiting.take_due(now)
    }

    /// The head's waker, to be woken when the queue is free again.
    pub(super) fn head_waker(&self) -> Option<Waker> {
        self.waiting.head_waker()
    }
}

/// The waker of a queue's timer.
struct Alarm {
    queue: Weak<Mutex<Waiting>>,
    clock: Clock,
    runtime: Id,
}

impl Wake for Alarm {
    fn wake(self: Arc<Self>) {
        self.wake_by_ref();
    }

    /// Sees to everybody whose time has come, and sets the timer anew.
    fn wake_by_ref(self: &Arc<Self>) {
        let Some(queue) = self.queue.upgrade() else { return };
        let mut woken = Vec::new();
        {
            let mut waiting = lock(&queue);
            let head = waiting.head().map(|(place, _)| place);
            loop {
                let now = self.clock.now();
                woken.append(&mut waiting.take_due(now));
                let head_gone = waiting.head().map(|(place, _)| place) != head;
                // A head that was woken and did not ask before its deadline leaves a head nobody has woken.
                if waiting.head_at <= now || (head_gone && waiting.head_at == Moment::NEVER) {
                    // It asks, and says when it is to be woken next.
                    waiting.head_at = Moment::NEVER;
                    woken.extend(waiting.head_waker());
                }
                if waiting.len() == 0 {
                    break;
                }
                let at = waiting.rings_at();
                match waiting.timers.set_again(self.runtime, at, &self.clock) {
                    Set::Pending => break,
                    Set::Due => {}
                    Set::NoRuntime => {
                        // Each that lives on sets a timer where it lives.
                        woken.extend(waiting.everybody().map(|waiter| waiter.waker.clone()));
                        break;
                    }
                }
            }
        }
        woken.into_iter().for_each(Waker::wake);
    }
}

fn lock(waiting: &Mutex<Waiting>) -> MutexGuard<'_, Waiting> {
    // A panic elsewhere must not stop the pool: the queue is whole between any two of its calls.
    waiting.lock().unwrap_or_else(PoisonError::into_inner)
}
