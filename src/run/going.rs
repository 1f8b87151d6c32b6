//! A call under way, with what its end must tell even if nobody is left to hear it.
//!
//! Here is the way of a call that goes well; what the others need is kept apart:
//!
//! | file | job |
//! |---|---|
//! | `course` | how far the call has come |
//! | `failing` | what a failed attempt means, and what follows |
//! | `waiting` | sleeps and waits at the gate |
//! | `telling` | events and spans of attempts and of the end |
//! | `seen` | a throttle whose body is still being read |

mod course;
mod failing;
mod seen;
mod telling;
mod waiting;

use crate::clock::Clock;
use crate::core::call::AttemptPlan;
use crate::core::decide::GiveUp;
use crate::core::estimate::Estimate;
use crate::core::moment::Moment;
use crate::core::policy::Policy;
use crate::gate::Permit;
use crate::run::attempt::Attempt;
use crate::run::going::course::Course;
pub(super) use crate::run::going::failing::Next;
use crate::run::pool::{Pool, Shared};
use crate::run::spans::{CallSpans, Whose};

/// A call under way. Dropped before its end it tells that it was cancelled.
///
/// What most calls do (pass the gate at once and succeed) is inlined into the caller's future and touches nothing else;
/// the rest is kept out of the way.
pub(super) struct Going<'a> {
    pool: &'a Pool,
    policy: &'a Policy,
    estimate: Option<Estimate>,
    course: Course,
    /// The attempt's permit, while one is under way in a pool that counts.
    permit: Option<Permit<'a>>,
    pub(super) spans: CallSpans,
    step: Step,
    may_wait: bool,
}

/// What a call is doing.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Step {
    /// Nobody has polled it.
    NotStarted,
    Attempting,
    /// It waits for its turn.
    Queued,
    /// It waits between two attempts.
    Sleeping,
    Ended,
}

impl<'a> Going<'a> {
    /// A call nobody has polled. It lives in the caller's future from the beginning, which need not hold its parts twice.
    #[inline]
    pub(super) fn new(pool: &'a Pool, policy: &'a Policy, estimate: Option<Estimate>, may_wait: bool) -> Self {
        // Until it starts, the engine's start stands for its arrival.
        let course = Course::AtOnce(pool.shared.clock().start());
        let (permit, spans, step) = (None, CallSpans::none(), Step::NotStarted);
        Self { pool, policy, estimate, course, permit, spans, step, may_wait }
    }

    /// The call arrives now.
    #[inline]
    pub(super) fn start(&mut self) {
        let shared = self.shared();
        let arrived = shared.clock().glance();
        if shared.is_heard {
            shared.tell_arrival(arrived, self.policy, self.estimate);
        }
        self.course = Course::AtOnce(arrived);
        self.spans = CallSpans::start(self.whose());
        self.step = Step::Attempting;
    }

    /// Takes a permit without waiting, if the pool flows. Where nobody counts, none is needed.
    #[inline]
    pub(super) fn passes_at_once(&mut self) -> bool {
        let shared = self.shared();
        if !shared.counted {
            return true;
        }
        let first = self.course.is_first();
        self.permit = if shared.gated {
            Permit::flowing(&shared.node, first)
        } else {
            Some(Permit::ungated(&shared.node, first))
        };
        self.permit.is_some()
    }

    /// Begins the next attempt.
    ///
    /// # Errors
    /// The deadline has come: no request is sent.
    #[inline]
    pub(super) fn begin(&mut self) -> Result<(), GiveUp> {
        self.course.begin_attempt(self.policy)?;
        if self.spans.are_open() {
            let plan = self.plan();
            self.spans.attempt_begins(&plan);
        }
        Ok(())
    }

    /// What the operation is handed.
    #[inline]
    pub(super) fn attempt(&self) -> Attempt<'a> {
        match &self.course {
            Course::UnderWay(under_way) => {
                Attempt::planned(self.pool, under_way.plan(self.policy), under_way.last_signal(), under_way.now)
            }
            Course::AtOnce(arrived) => Attempt::at_once(self.pool, self.policy, *arrived),
        }
    }

    /// Ends the call well.
    #[inline(always)]
    pub(super) fn succeeded(&mut self, status: Option<u16>) {
        if self.is_watched() {
            self.succeeded_watched(status);
        } else {
            self.give_permit_back();
        }
        self.step = Step::Ended;
    }

    /// When the attempt under way is cut. Who only observes cuts nothing.
    #[cold]
    pub(super) fn cut(&self) -> Moment {
        if self.shared().engine.observe_only { Moment::NEVER } else { self.plan().cut }
    }

    pub(super) fn clock(&self) -> &'a Clock {
        self.shared().clock()
    }

    #[inline]
    fn shared(&self) -> &'a Shared {
        &self.pool.shared
    }

    fn whose(&self) -> Whose<'a> {
        Whose { pool: self.pool.labels(), policy: self.policy.name() }
    }

    /// The attempt under way.
    fn plan(&self) -> AttemptPlan {
        match &self.course {
            Course::UnderWay(under_way) => under_way.plan(self.policy),
            Course::AtOnce(arrived) => AttemptPlan::first(self.policy, self.clock().moment(*arrived)),
        }
    }

    /// When what is under way began.
    fn began(&self) -> Moment {
        self.course.began(self.clock())
    }

    /// Whether a sink or a subscriber wants to know.
    #[inline]
    fn is_watched(&self) -> bool {
        self.shared().is_heard || self.spans.are_open()
    }

    /// Gives the permit of an attempt back that succeeded.
    #[inline]
    fn give_permit_back(&mut self) {
        if let Some(permit) = self.permit.take()
            && permit.is_probe()
        {
            permit.succeeded(self.began(), self.clock().now());
        }
    }
}

impl Drop for Going<'_> {
    #[inline]
    fn drop(&mut self) {
        if !matches!(self.step, Step::NotStarted | Step::Ended) && self.shared().is_heard {
            self.tell_cancelled();
        }
    }
}
