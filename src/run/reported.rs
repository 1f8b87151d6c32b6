//! Throttles an operation reported before its attempt ended.

use std::collections::VecDeque;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

use crate::core::moment::Moment;
use crate::core::signal::Signal;

/// The most reports remembered in a pool. Each belongs to an attempt that is under way or was dropped; a pool with more
/// of them at once counts the oldest a second time.
const MOST: usize = 64;

/// The throttles that were reported to the gate by [`Attempt::saw`](crate::Attempt::saw) and whose attempts have not
/// failed yet: so that the end of an attempt does not report the same throttle again.
///
/// An attempt is known by when it was sent and the number of its permit. Nested calls have none: two of the same instant
/// that were told the same are taken for each other, which changes nothing, as each is reported once.
#[derive(Debug, Default)]
pub(super) struct Reported {
    /// Whether there may be any: most pools never see one.
    any: AtomicBool,
    reports: Mutex<VecDeque<Report>>,
}

/// One throttle that an operation reported.
#[derive(Clone, Copy, Debug)]
struct Report {
    sent_at: Moment,
    permit: Option<u32>,
    signal: Signal,
}

impl Reported {
    /// Remembers that this throttle of the attempt sent at `sent_at` under `permit` was reported.
    pub(super) fn note(&self, sent_at: Moment, permit: Option<u32>, signal: Signal) {
        let mut reports = self.lock();
        if reports.len() == MOST {
            reports.pop_front();
        }
        reports.push_back(Report { sent_at, permit, signal });
        self.any.store(true, Ordering::Relaxed);
    }

    /// Whether the attempt that ended with `signal` reported as much before; forgets what it reported.
    #[inline]
    pub(super) fn has(&self, sent_at: Moment, permit: Option<u32>, signal: &Signal) -> bool {
        // Relaxed: the task that ends an attempt is the one that polled it.
        self.any.load(Ordering::Relaxed) && self.take(sent_at, permit, signal)
    }

    /// Takes the report out that says the same, if there is one.
    #[cold]
    fn take(&self, sent_at: Moment, permit: Option<u32>, signal: &Signal) -> bool {
        let mut reports = self.lock();
        let mut same = false;
        reports.retain(|report| {
            let is_its = (report.sent_at, report.permit) == (sent_at, permit);
            let found = is_its && !same && says_the_same(&report.signal, signal);
            same |= found;
            !found
        });
        self.any.store(!reports.is_empty(), Ordering::Relaxed);
        same
    }

    fn lock(&self) -> MutexGuard<'_, VecDeque<Report>> {
        // Whole between any two calls, so a panic elsewhere does not matter.
        self.reports.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Whether two readings of one answer are the same news to a gate.
fn says_the_same(a: &Signal, b: &Signal) -> bool {
    let news = |signal: &Signal| {
        let delay = signal.stated.map(|stated| stated.delay);
        (signal.class, signal.scope, delay, signal.larger_than_limit)
    };
    news(a) == news(b)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::core::signal::LimitClass;

    #[test]
    fn each_report_spares_one_and_only_the_same_news() {
        let reported = Reported::default();
        let (throttle, worse) = (Signal::throttle(LimitClass::Unknown), Signal::throttle(LimitClass::Daily));
        assert!(!reported.has(Moment::START, Some(1), &throttle));
        reported.note(Moment::START, Some(1), throttle);
        reported.note(Moment::START, Some(1), throttle);
        assert!(!reported.has(Moment::START, Some(2), &throttle) && !reported.has(Moment::START, Some(1), &worse));
        assert!(reported.has(Moment::START, Some(1), &throttle) && reported.has(Moment::START, Some(1), &throttle));
        assert!(!reported.has(Moment::START, Some(1), &throttle));
    }

    #[test]
    fn reports_of_attempts_that_were_dropped_do_not_pile_up() {
        let reported = Reported::default();
        for number in 0..1_000 {
            reported.note(Moment::START, Some(number), Signal::throttle(LimitClass::Unknown));
        }
        assert_eq!(reported.lock().len(), MOST);
    }
}
