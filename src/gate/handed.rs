//! Attempts whose place in the count a stream took over.

use std::collections::HashSet;
use std::sync::PoisonError;

use super::flow::Flow;
use super::sync::{Mutex, MutexGuard};

/// The numbers of attempts under way that handed their place over. Not there, and never looked at, where nobody does that.
#[derive(Debug, Default)]
#[allow(clippy::box_collection, reason = "one word for each of a hundred thousand pools that never stream")]
pub(super) struct HandedOver(Mutex<Option<Box<HashSet<u32>>>>);

impl HandedOver {
    /// Notes that this attempt's place is a guard's; `false` if it is one's already.
    pub(super) fn note(&self, number: u32, flow: &Flow) -> bool {
        let mut numbers = self.lock();
        flow.mark_handed_over(true);
        numbers.get_or_insert_default().insert(number)
    }

    /// Forgets it, since the attempt or its guard has ended; whether it was noted, so that the other still holds the
    /// place.
    pub(super) fn forget(&self, number: u32, flow: &Flow) -> bool {
        let mut numbers = self.lock();
        let noted = numbers.as_mut().is_some_and(|numbers| numbers.remove(&number));
        if numbers.as_ref().is_none_or(|numbers| numbers.is_empty()) {
            *numbers = None;
            flow.mark_handed_over(false);
        }
        noted
    }

    #[allow(clippy::box_collection, reason = "as above")]
    fn lock(&self) -> MutexGuard<'_, Option<Box<HashSet<u32>>>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
