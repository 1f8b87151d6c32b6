//! What a call keeps from its first wait or failure on.
//!
//! Kept in a box, made once: a hundred thousand calls that wait for a pool, or for an answer, should not each carry room for
//! a failure that most of them never meet.

use crate::clock::{Clock, Glance};
use crate::core::call::{AttemptPlan, Call as Core};
use crate::core::decide::DelaySource;
use crate::core::moment::Moment;
use crate::core::policy::Policy;
use crate::run::fallback::{End, Place};

/// How far a call has come. Boxed by its call, and made when the call first waits or fails: most calls never do, and
/// their futures need not hold it.
pub(super) struct Progress {
    pub(super) core: Core,
    /// The last time read from the clock. While nothing was waited for, it is as good as another look.
    pub(super) now: Moment,
    /// The attempt under way.
    pub(super) plan: AttemptPlan,
    /// Where the wait before the next attempt came from.
    pub(super) sleep_source: DelaySource,
    /// Which of its pools this is: 0 is its own.
    pub(super) choice: usize,
    /// Where its end is put, if it has another pool to go to.
    pub(super) end: Option<End>,
}

impl Progress {
    /// Of a call that arrived at `arrived` and has to wait for its first attempt.
    pub(super) fn at_gate(policy: &Policy, arrived: Moment) -> Self {
        let plan = AttemptPlan::first(policy, arrived);
        let sleep_source = DelaySource::None;
        Self { core: Core::start(arrived), now: arrived, plan, sleep_source, choice: 0, end: None }
    }

    /// Of a call that comes at `now` to one of the pools it may be served by.
    pub(super) fn at_place(policy: &Policy, place: Place, now: Moment) -> Self {
        Self { now, choice: place.choice, end: place.end, ..Self::at_gate(policy, place.started) }
    }

    /// Of a call whose first attempt began when it arrived.
    #[cold]
    pub(super) fn in_first_attempt(policy: &Policy, clock: &Clock, arrived: Glance) -> Box<Self> {
        let arrived = clock.moment(arrived);
        let mut progress = Box::new(Self::at_gate(policy, arrived));
        // A deadline is longer than nothing.
        let _ = progress.core.begin_attempt(policy, arrived);
        progress
    }

    /// Looks at the clock; gives back the time read before.
    pub(super) fn look_at(&mut self, clock: &Clock) -> Moment {
        std::mem::replace(&mut self.now, clock.now())
    }
}
