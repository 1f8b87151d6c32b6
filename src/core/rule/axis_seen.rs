//! What the headers say of one axis.

use crate::core::rule::header::When;

/// What is told of an axis. As small as it gets, and all zeros where nothing is told: an answer is read into sixteen of
/// them.
#[derive(Clone, Copy, Debug)]
pub(crate) struct AxisSeen {
    limit: u64,
    remaining: u64,
    reset: When,
    /// The row of the header that told the reset, counted from 1.
    reset_row: u8,
    limit_is: Is,
    remaining_is: Is,
    /// What the provider says in words.
    spent: Spent,
}

/// Whether a number was there: for "is it exhausted" absent and refused differ.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Is {
    Absent,
    Unreadable,
    Read,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Spent {
    Unsaid,
    No,
    Yes,
}

impl AxisSeen {
    /// Nothing is told.
    pub(crate) const NONE: Self = Self {
        limit: 0,
        remaining: 0,
        reset: When::after_nanos(0),
        reset_row: 0,
        limit_is: Is::Absent,
        remaining_is: Is::Absent,
        spent: Spent::Unsaid,
    };

    #[inline]
    pub(super) fn read_limit(&mut self, value: Option<u64>) {
        read(&mut self.limit, &mut self.limit_is, value);
    }

    #[inline]
    pub(super) fn read_remaining(&mut self, value: Option<u64>) {
        read(&mut self.remaining, &mut self.remaining_is, value);
    }

    /// Reads when it resets: of several lines the latest. `by_fallback` tells whether a row gives way to others.
    #[inline]
    pub(super) fn read_reset(&mut self, value: Option<When>, row: u8, by_fallback: impl Fn(u8) -> bool) {
        let Some(when) = value else { return };
        if self.reset_row > 0 && !by_fallback(self.reset_row - 1) {
            self.reset = self.reset.or_later(when);
        } else {
            (self.reset, self.reset_row) = (when, row + 1);
        }
    }

    /// Reads the same where nothing else told it.
    pub(super) fn read_later_reset(&mut self, value: Option<When>, row: u8) {
        if self.reset_row == 0
            && let Some(when) = value
        {
            (self.reset, self.reset_row) = (when, row + 1);
        }
    }

    pub(super) fn read_spent(&mut self, value: Option<bool>) {
        match value {
            Some(true) => self.spent = Spent::Yes,
            Some(false) => self.spent = Spent::No,
            None => {}
        }
    }

    pub(crate) fn limit(&self) -> Option<u64> {
        (self.limit_is == Is::Read).then_some(self.limit)
    }

    pub(crate) fn remaining(&self) -> Option<u64> {
        (self.remaining_is == Is::Read).then_some(self.remaining)
    }

    /// When it resets, with the number of the row that told.
    pub(crate) fn reset(&self) -> Option<(When, u8)> {
        (self.reset_row > 0).then(|| (self.reset, self.reset_row - 1))
    }

    /// Whether it is exhausted; `None` when the headers do not tell. One whose remaining cannot be read is not.
    pub(crate) fn is_exhausted(&self) -> Option<bool> {
        match (self.spent, self.remaining_is) {
            (Spent::Yes, _) => Some(true),
            (Spent::No, _) => Some(false),
            (Spent::Unsaid, Is::Absent) => None,
            (Spent::Unsaid, Is::Unreadable) => Some(false),
            (Spent::Unsaid, Is::Read) => Some(self.remaining == 0),
        }
    }
}

/// Lines that contradict each other say nothing.
#[inline]
fn read(known: &mut u64, is: &mut Is, value: Option<u64>) {
    *is = match (*is, value) {
        (Is::Absent, Some(value)) => {
            *known = value;
            Is::Read
        }
        (Is::Read, Some(value)) if *known == value => Is::Read,
        _ => Is::Unreadable,
    };
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_that_agree_count_once_and_others_say_nothing() {
        let mut axis = AxisSeen::NONE;
        assert_eq!((axis.limit(), axis.remaining(), axis.is_exhausted()), (None, None, None));
        axis.read_remaining(Some(0));
        axis.read_remaining(Some(0));
        assert_eq!((axis.remaining(), axis.is_exhausted()), (Some(0), Some(true)));
        axis.read_remaining(Some(5));
        assert_eq!((axis.remaining(), axis.is_exhausted()), (None, Some(false)));
        axis.read_remaining(Some(0));
        assert_eq!(axis.is_exhausted(), Some(false));
        axis.read_spent(Some(true));
        assert_eq!(axis.is_exhausted(), Some(true));
    }

    #[test]
    fn the_latest_reset_counts_and_a_fallback_gives_way() {
        let after = |nanos| Some(When::after_nanos(nanos));
        let mut axis = AxisSeen::NONE;
        axis.read_later_reset(after(9), 4);
        assert_eq!(axis.reset(), Some((When::after_nanos(9), 4)));
        axis.read_reset(after(5), 1, |row| row == 4);
        axis.read_later_reset(after(90), 4);
        assert_eq!(axis.reset(), Some((When::after_nanos(5), 1)));
        axis.read_reset(after(7), 1, |row| row == 4);
        axis.read_reset(None, 1, |row| row == 4);
        assert_eq!(axis.reset(), Some((When::after_nanos(7), 1)));
    }
}
