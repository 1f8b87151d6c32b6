//! How far a call has come.

use crate::clock::{Clock, Glance};
use crate::core::call::{AttemptPlan, Call as Core};
use crate::core::decide::{DelaySource, GiveUp};
use crate::core::moment::Moment;
use crate::core::policy::Policy;
use crate::core::signal::Signal;

/// How far a call has come. It lives in the caller's future, so it is small, and most calls never leave its first form.
pub(super) enum Course {
    /// The first attempt is under way, and the call did not wait for it.
    AtOnce(Glance),
    /// It has waited, or an attempt has failed.
    UnderWay(UnderWay),
}

/// What a call keeps from its first wait or failure on.
pub(super) struct UnderWay {
    pub(super) core: Core,
    /// When what is under way (attempt, wait at the gate, sleep) began.
    pub(super) now: Moment,
    /// Where the wait before the attempt under way came from; of a call that sleeps, where this sleep comes from.
    pub(super) source: DelaySource,
    /// What the last failed attempt meant; a success while none has failed.
    pub(super) failure: Signal,
}

impl Course {
    /// The call as the core knows it.
    #[inline]
    pub(super) fn core(&self) -> Option<&Core> {
        match self {
            Self::AtOnce(_) => None,
            Self::UnderWay(under_way) => Some(&under_way.core),
        }
    }

    /// Whether no attempt was begun yet, or none but the one that began when the call arrived.
    #[inline]
    pub(super) fn is_first(&self) -> bool {
        self.core().is_none_or(|core| core.attempts() == 0)
    }

    /// Attempts begun.
    pub(super) fn attempts(&self) -> u32 {
        self.core().map_or(1, Core::attempts)
    }

    /// When what is under way began.
    pub(super) fn began(&self, clock: &Clock) -> Moment {
        match self {
            Self::AtOnce(arrived) => clock.moment(*arrived),
            Self::UnderWay(under_way) => under_way.now,
        }
    }

    /// When the call arrived.
    pub(super) fn arrived(&self, clock: &Clock) -> Moment {
        self.core().map_or_else(|| self.began(clock), Core::started)
    }

    /// Begins the next attempt.
    ///
    /// # Errors
    /// The deadline has come.
    #[inline]
    pub(super) fn begin_attempt(&mut self, policy: &Policy) -> Result<(), GiveUp> {
        if let Self::UnderWay(under_way) = self {
            under_way.source = under_way.core.begin_attempt(policy, under_way.now)?.delay_source;
        }
        Ok(())
    }

    /// The same call, whose first attempt failed or is under way.
    #[inline]
    pub(super) fn after_first_attempt(&mut self, clock: &Clock) -> &mut UnderWay {
        self.under_way(clock, Core::in_first_attempt)
    }

    /// The same call, which has to wait for its first attempt.
    pub(super) fn before_first_attempt(&mut self, clock: &Clock) -> &mut UnderWay {
        self.under_way(clock, Core::start)
    }

    #[inline]
    fn under_way(&mut self, clock: &Clock, start: fn(Moment) -> Core) -> &mut UnderWay {
        if let Self::AtOnce(arrived) = *self {
            let now = clock.moment(arrived);
            let (source, failure) = (DelaySource::None, Signal::success());
            *self = Self::UnderWay(UnderWay { core: start(now), now, source, failure });
        }
        match self {
            Self::UnderWay(under_way) => under_way,
            Self::AtOnce(_) => unreachable!("it was made so above"),
        }
    }
}

impl UnderWay {
    /// The attempt under way.
    #[inline]
    pub(super) fn plan(&self, policy: &Policy) -> AttemptPlan {
        self.core.plan(policy, self.now, self.source)
    }

    /// What the last failed attempt meant.
    #[inline]
    pub(super) fn last_signal(&self) -> Option<Signal> {
        Some(self.failure).filter(|failure| failure.failed)
    }
}
