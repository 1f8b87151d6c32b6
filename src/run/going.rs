//! A call under way, with what its end must tell even if nobody is left to hear it.
//!
//! Here is the way of a call that goes well; what the others need is kept apart:
//!
//! | file | job |
//! |---|---|
//! | `failing` | what a failed attempt means, and what follows |
//! | `waiting` | sleeps and waits at the gate |
//! | `telling` | events and spans of attempts and of the end |
//! | `entered` | what happens inside an attempt while it is polled |

mod entered;
mod failing;
mod telling;
mod waiting;

use std::sync::atomic::{AtomicBool, AtomicU32};

use tokio::time::{Instant, Sleep};

use crate::clock::{Clock, Glance};
use crate::core::call::AttemptPlan;
use crate::core::decide::GiveUp;
use crate::core::estimate::Estimate;
use crate::core::moment::Moment;
use crate::core::policy::Policy;
use crate::gate::Permit;
use crate::run::attempt::Attempt;
use crate::run::fallback::Place;
use crate::run::here;
use crate::run::pool::{Pool, Shared};
use crate::run::progress::Progress;
use crate::run::spans::{CallSpans, Whose};

/// A call under way. Dropped before its end it tells that it was cancelled.
///
/// What most calls do (pass the gate at once and succeed) is inlined into the caller's future and touches nothing else;
/// the rest is kept out of the way.
pub(super) struct Going<'a> {
    pool: &'a Pool,
    policy: &'a Policy,
    arrived: Glance,
    /// The attempt's permit, while one is under way in a pool that counts.
    permit: Option<Permit<'a>>,
    /// `None` while the first attempt is under way, if it did not have to wait.
    progress: Option<Box<Progress>>,
    pub(super) spans: CallSpans,
    /// Requests a tap saw in the attempt under way.
    requests: AtomicU32,
    /// Whether one of its attempts sent more than one.
    stacked: AtomicBool,
    step: Step,
    /// It runs inside an attempt of another call at this pool: once, unseen by the gate, and not counted as demand.
    nested: bool,
}

/// What a call is doing. In two bytes: with them what is nothing at first comes to a round number of bytes, and is not
/// written by stores that overlap, which would hold back whoever reads it next.
#[derive(Clone, Copy, PartialEq, Eq)]
#[repr(u16)]
enum Step {
    Attempting,
    /// It waits for its turn.
    Queued,
    /// It waits between two attempts.
    Sleeping,
    Ended,
}

impl<'a> Going<'a> {
    /// A call that arrives now. [`Going::arrives`] tells it.
    #[inline(always)]
    pub(super) fn start(pool: &'a Pool, policy: &'a Policy) -> Self {
        let arrived = pool.shared.clock().glance();
        let (permit, progress, spans, step) = (None, None, CallSpans::none(), Step::Attempting);
        let (requests, stacked, nested) = (AtomicU32::new(0), AtomicBool::new(false), false);
        Self { pool, policy, arrived, permit, progress, spans, requests, stacked, step, nested }
    }

    /// Takes its place among pools: its deadline counts from its arrival at the first.
    #[cold]
    pub(super) fn takes_place(&mut self, place: Place) {
        let now = self.clock().moment(self.arrived);
        self.progress = Some(Box::new(Progress::at_place(self.policy, place, now)));
    }

    /// Takes an end of its own.
    #[cold]
    pub(super) fn ends_by(&mut self, latest: Instant) {
        let latest = self.clock().moment_of(latest);
        let (policy, arrived) = (self.policy, self.began());
        self.progress.get_or_insert_with(|| Box::new(Progress::at_gate(policy, arrived))).core.end_by(latest);
    }

    /// Tells that the call has arrived, to whoever is there to hear it; `estimate` is what the application says it takes.
    #[inline(always)]
    pub(super) fn arrives(&mut self, estimate: &Option<Estimate>) {
        if here::is_inside_any() {
            self.nested = self.shared().is_nested(self.policy);
        }
        if self.shared().is_heard {
            self.tell_arrival(estimate);
        }
        self.spans = CallSpans::start(self.whose(), here::depth);
    }

    /// Takes a permit without waiting, if the pool flows. Where nobody counts, none is needed.
    #[inline(always)]
    pub(super) fn passes_at_once(&mut self) -> bool {
        let shared = self.shared();
        if !shared.counted || self.nested {
            return true;
        }
        self.permit = Permit::flowing(&shared.node, self.is_first());
        self.permit.is_some()
    }

    /// Begins the next attempt.
    ///
    /// # Errors
    /// The deadline has come: no request is sent.
    #[inline]
    pub(super) fn begin(&mut self) -> Result<(), GiveUp> {
        if let Some(progress) = &mut self.progress {
            progress.plan = progress.core.begin_attempt(self.policy, progress.now)?;
            *self.requests.get_mut() = 0;
        }
        if self.spans.are_open() {
            let plan = self.plan();
            self.spans.attempt_begins(&plan);
        }
        Ok(())
    }

    /// What the operation is handed; `estimate` is what the application says the call takes.
    #[inline]
    pub(super) fn attempt(&self, estimate: &Option<Estimate>) -> Attempt<'a> {
        match &self.progress {
            None => Attempt::at_once(self.pool, self.permit_number(), self.policy, self.arrived),
            Some(progress) => {
                let (whose, previous) = ((self.pool, self.policy), progress.core.last_signal());
                let let_in = self.permit.as_ref().is_some_and(Permit::is_let_in);
                let takes = let_in.then(|| estimate.unwrap_or_default());
                Attempt::planned(whose, self.permit_number(), progress.plan, previous, progress.now, takes)
                    .of_choice(progress.choice)
            }
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

    /// Whether a call that has ended holds nothing that its drop would have to give back.
    #[inline(always)]
    pub(super) fn holds_nothing(&self) -> bool {
        self.permit.is_none() && self.progress.is_none() && !self.spans.are_open()
    }

    /// The engine's clock, by which everything in a call is timed.
    pub(super) fn clock(&self) -> &'a Clock {
        self.shared().clock()
    }

    /// A timer that ends when the attempt under way is cut.
    #[cold]
    pub(super) fn cut_timer(&self) -> Sleep {
        self.clock().sleep_until(self.cut())
    }

    /// When the attempt under way is cut. Who only observes cuts nothing.
    pub(super) fn cut(&self) -> Moment {
        if self.shared().engine.observe_only { Moment::NEVER } else { self.plan().cut }
    }

    /// What all handles of the pool share.
    #[inline]
    fn shared(&self) -> &'a Shared {
        &self.pool.shared
    }

    /// Pool and policy, as spans and log lines name them.
    fn whose(&self) -> Whose<'a> {
        Whose { pool: self.pool.labels(), about: &self.shared().about, policy: self.policy }
    }

    /// Whether no attempt has been begun before the one that is to begin: demand is counted then and not again.
    #[inline]
    fn is_first(&self) -> bool {
        self.progress.as_ref().is_none_or(|progress| progress.core.attempts() == 0)
    }

    /// The number of the attempt's permit: no other attempt under way in the pool has it.
    #[inline]
    fn permit_number(&self) -> Option<u32> {
        self.permit.as_ref().map(Permit::number)
    }

    /// Whether a sink or a subscriber wants to know.
    #[inline]
    fn is_watched(&self) -> bool {
        self.shared().is_heard || self.spans.are_open()
    }

    /// The call's progress, made if this is its first attempt, and under way.
    fn progress(&mut self) -> &mut Progress {
        let (clock, policy, arrived) = (self.clock(), self.policy, self.arrived);
        self.progress.get_or_insert_with(|| Progress::in_first_attempt(policy, clock, arrived))
    }

    /// The attempt under way.
    fn plan(&self) -> AttemptPlan {
        self.progress.as_ref().map_or_else(|| AttemptPlan::first(self.policy, self.began()), |progress| progress.plan)
    }

    /// When what is under way began.
    fn began(&self) -> Moment {
        self.progress.as_ref().map_or_else(|| self.clock().moment(self.arrived), |progress| progress.now)
    }

    /// Gives the permit of an attempt back that succeeded.
    #[inline(always)]
    fn give_permit_back(&mut self) {
        let Some(permit) = &mut self.permit else { return };
        if permit.is_let_in() {
            return self.permit_succeeded();
        }
        // In its place: to move it costs more than to give it back.
        permit.give_back();
        std::mem::forget(self.permit.take());
    }

    /// Gives back a permit the gate was asked for.
    #[cold]
    fn permit_succeeded(&mut self) {
        let (began, now) = (self.began(), self.clock().now());
        if let Some(permit) = self.permit.take() {
            permit.succeeded(began, now);
        }
    }
}

impl Drop for Going<'_> {
    #[inline(always)]
    fn drop(&mut self) {
        if self.step != Step::Ended && self.shared().is_heard {
            self.tell_cancelled();
        }
    }
}
