//! What is to happen, in the order of its time.
//!
//! Things of the same instant happen in the order in which they were noted, and what they bring about at once happens after
//! all of them. That is how a runtime of one thread does it: it fires the timers of an instant, then runs the tasks they
//! woke, then those which these woke.

use std::cmp::Ordering;
use std::collections::{BinaryHeap, VecDeque};
use std::time::Duration;

use crate::core::moment::Moment;

/// Things to happen, each at its moment; of one moment, in the order in which they were noted.
#[derive(Debug)]
pub(super) struct Calendar<T> {
    /// What is to happen later.
    heap: BinaryHeap<Entry<T>>,
    /// How much was ever noted.
    noted: u64,
    /// The moment it is.
    now: Moment,
    /// What happens now: things whose moment has come, and behind them what they bring about at once.
    ready: VecDeque<T>,
    /// What moments are rounded up to, in nanoseconds.
    tick: u64,
}

/// One thing to happen.
#[derive(Debug)]
struct Entry<T> {
    /// When.
    at: Moment,
    /// Which it was of those ever noted.
    noted: u64,
    /// What.
    what: T,
}

impl<T> Calendar<T> {
    /// An empty calendar. Moments are rounded up to whole `tick`s, as a timer of that resolution does; zero keeps them
    /// exact.
    pub(super) fn new(tick: Duration) -> Self {
        let tick = u64::try_from(tick.as_nanos()).unwrap_or(0).max(1);
        Self { heap: BinaryHeap::new(), noted: 0, now: Moment::START, ready: VecDeque::new(), tick }
    }

    /// The moment it is.
    pub(super) const fn now(&self) -> Moment {
        self.now
    }

    /// When something noted for `at` will happen.
    pub(super) fn rounded(&self, at: Moment) -> Moment {
        if self.tick == 1 {
            return at;
        }
        let nanos = u64::try_from(at.elapsed_since_start().as_nanos()).unwrap_or(u64::MAX);
        let rounded = nanos.checked_next_multiple_of(self.tick).unwrap_or(u64::MAX);
        Moment::since_start(Duration::from_nanos(rounded))
    }

    /// Notes what is to happen at `at`, and not before now.
    pub(super) fn note(&mut self, at: Moment, what: T) {
        let at = self.rounded(at).max(self.now);
        self.noted += 1;
        self.heap.push(Entry { at, noted: self.noted, what });
    }

    /// Notes what is to happen at `at`, before all else that is noted for then.
    pub(super) fn note_first(&mut self, at: Moment, what: T) {
        let at = self.rounded(at).max(self.now);
        self.heap.push(Entry { at, noted: 0, what });
    }

    /// Notes what is to happen now, after all that is to happen now already.
    pub(super) fn note_now(&mut self, what: T) {
        self.ready.push_back(what);
    }

    /// The next thing; time moves on to it.
    pub(super) fn next(&mut self) -> Option<T> {
        if let Some(what) = self.ready.pop_front() {
            return Some(what);
        }
        let first = self.heap.pop()?;
        self.now = first.at;
        while let Some(entry) = self.heap.peek()
            && entry.at == first.at
        {
            self.ready.extend(self.heap.pop().map(|entry| entry.what));
        }
        Some(first.what)
    }

    /// When the next thing happens, if anything does.
    pub(super) fn next_at(&self) -> Option<Moment> {
        if self.ready.is_empty() { self.heap.peek().map(|entry| entry.at) } else { Some(self.now) }
    }
}

/// The earliest is the greatest: a binary heap gives that first.
impl<T> Ord for Entry<T> {
    fn cmp(&self, other: &Self) -> Ordering {
        (other.at, other.noted).cmp(&(self.at, self.noted))
    }
}

impl<T> PartialOrd for Entry<T> {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl<T> PartialEq for Entry<T> {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other) == Ordering::Equal
    }
}

impl<T> Eq for Entry<T> {}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(millis: u64) -> Moment {
        Moment::since_start(Duration::from_millis(millis))
    }

    #[test]
    fn things_happen_by_time_then_in_the_order_they_were_noted() {
        let mut calendar = Calendar::new(Duration::ZERO);
        for (millis, what) in [(3, "d"), (1, "a"), (2, "b"), (2, "c")] {
            calendar.note(at(millis), what);
        }
        let mut order = vec![calendar.next(), calendar.next()];
        calendar.note(at(0), "late");
        calendar.note_now("at once");
        order.extend(std::iter::from_fn(|| Some(calendar.next())).take(5));
        assert_eq!(
            order,
            ["a", "b", "c", "at once", "late", "d"].map(Some).into_iter().chain([None]).collect::<Vec<_>>()
        );
    }

    #[test]
    fn a_coarse_calendar_rounds_up() {
        let mut calendar = Calendar::new(Duration::from_millis(1));
        calendar.note(Moment::since_start(Duration::from_micros(1_001)), ());
        assert_eq!(calendar.next_at(), Some(at(2)));
        assert_eq!(calendar.rounded(Moment::NEVER), Moment::NEVER);
    }
}
