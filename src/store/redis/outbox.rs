//! What waits to be told: one slot per pool, however many throttles there are and however long the store is away.

use std::collections::HashMap;

use crate::core::merge::{Shut, merge};
use crate::core::moment::Moment;

/// What is to be told of one pool.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Slip {
    pub(super) shut: Shut,
    pub(super) seen_at: Moment,
    /// The round the throttled request was let in under.
    pub(super) admitted: u64,
    /// Whether the store knew of it before and lost it.
    pub(super) again: bool,
}

/// What is to be told, by the pool's tag.
#[derive(Debug, Default)]
pub(super) struct Outbox {
    slips: HashMap<String, Slip>,
}

impl Outbox {
    /// Puts a slip in; one that waits for the same pool becomes one with it.
    pub(super) fn put(&mut self, tag: &str, slip: Slip, now: Moment) {
        let Some(waiting) = self.slips.get_mut(tag) else {
            self.slips.insert(tag.to_owned(), slip);
            return;
        };
        let shut = merge(Some(waiting.shut), slip.shut, now).unwrap_or(slip.shut);
        let later = if shut == slip.shut { slip } else { *waiting };
        // One burst is one strike: the first of it was let in under the earlier round at most once.
        *waiting =
            Slip { shut, admitted: waiting.admitted.max(slip.admitted), again: waiting.again && slip.again, ..later };
    }

    /// Takes everything out that is still worth telling.
    pub(super) fn take(&mut self, now: Moment) -> Vec<(String, Slip)> {
        self.slips.drain().filter(|(_, slip)| slip.shut.until > now).collect()
    }

    pub(super) fn is_empty(&self) -> bool {
        self.slips.is_empty()
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;
    use crate::core::merge::End;
    use crate::core::signal::LimitClass;

    fn at(seconds: u64) -> Moment {
        Moment::since_start(Duration::from_secs(seconds))
    }

    fn slip(until: u64, end: End, admitted: u64) -> Slip {
        Slip {
            shut: Shut { until: at(until), class: LimitClass::RequestRate, end },
            seen_at: at(0),
            admitted,
            again: false,
        }
    }

    #[test]
    fn a_thousand_reports_of_one_pool_are_one_slip_and_what_is_told_is_not_shortened() {
        let mut outbox = Outbox::default();
        for until in (1..=1_000).rev() {
            outbox.put("a", slip(until, End::Stated, 4), at(0));
        }
        outbox.put("a", slip(5_000, End::Guessed, 5), at(0));
        let told = outbox.take(at(0));
        assert_eq!(told, [("a".to_owned(), slip(1_000, End::Stated, 5))]);
        assert!(outbox.is_empty());
    }

    #[test]
    fn what_is_over_is_not_told() {
        let mut outbox = Outbox::default();
        outbox.put("a", slip(10, End::Stated, 0), at(0));
        outbox.put("b", slip(20, End::Stated, 0), at(0));
        let told: Vec<String> = outbox.take(at(15)).into_iter().map(|(tag, _)| tag).collect();
        assert_eq!(told, ["b"]);
    }
}
