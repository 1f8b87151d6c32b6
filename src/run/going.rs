//! A call under way, with what its end must tell even if nobody is left to hear it.

use std::sync::atomic::{AtomicBool, AtomicU32, Ordering::Relaxed};

use tokio::time::Sleep;

use crate::clock::{Clock, Glance};
use crate::core::call::AttemptPlan;
use crate::core::decide::{AttemptOutcome, CallOutcome, Decision, DelaySource, GiveUp, Wait};
use crate::core::estimate::Estimate;
use crate::core::gate::Pass;
use crate::core::moment::Moment;
use crate::core::observation::Observation;
use crate::core::policy::Policy;
use crate::core::signal::{LimitClass, Signal};
use crate::error::Error;
use crate::event::{Event, GateResult, StackedBy};
use crate::gate::{Nap, Permit, Refused, Turn};
use crate::run::attempt::Attempt;
use crate::run::here::{self, Outer, PoolId};
use crate::run::pool::{Pool, Shared};
use crate::run::progress::Progress;
use crate::run::seen::Seen;
use crate::run::spans::{CallSpans, Queue, Whose};

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
    step: Step,
    /// It runs inside an attempt of another call at this pool: once, unseen by the gate, and not counted as demand.
    nested: bool,
    /// Requests a tap saw in the attempt under way.
    requests: AtomicU32,
    /// Whether one of its attempts sent more than one.
    stacked: AtomicBool,
    pub(super) spans: CallSpans,
}

/// What a call is doing.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Step {
    Attempting,
    /// It waits for its turn.
    Queued,
    /// It waits between two attempts.
    Sleeping,
    Ended,
}

/// The way of a call that goes well.
impl<'a> Going<'a> {
    /// A call that arrives now.
    #[inline]
    pub(super) fn start(pool: &'a Pool, policy: &'a Policy, estimate: &Option<Estimate>) -> Self {
        let shared = &*pool.shared;
        let arrived = shared.clock().glance();
        let nested = here::is_inside(PoolId::of(shared)) && !policy.allow_nested;
        if nested {
            shared.tell_stacked(policy, StackedBy::Nested);
        } else if shared.is_heard {
            shared.tell_arrival(arrived, policy, *estimate);
        }
        let spans = CallSpans::start(Whose { pool: pool.labels(), about: &shared.about, policy }, here::depth);
        Self {
            pool,
            policy,
            arrived,
            permit: None,
            progress: None,
            step: Step::Attempting,
            nested,
            requests: AtomicU32::new(0),
            stacked: AtomicBool::new(false),
            spans,
        }
    }

    /// Takes a permit without waiting, if the pool flows. Where nobody counts, none is needed.
    #[inline]
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
        }
        *self.requests.get_mut() = 0;
        if self.spans.are_open() {
            let plan = self.plan();
            self.spans.attempt_begins(&plan);
        }
        Ok(())
    }

    /// Enters the attempt under way until the guard is dropped.
    #[inline]
    pub(super) fn enter(&self) -> Entered<'_, 'a> {
        // What a nested call sends, the attempt around it sends.
        Entered { going: self, outer: (!self.nested).then(|| here::enter(PoolId::of(self.shared()))) }
    }

    /// What the operation is handed.
    #[inline]
    pub(super) fn attempt(&self, estimate: &Option<Estimate>) -> Attempt<'a> {
        match &self.progress {
            None => Attempt::at_once(self.pool, self.permit_number(), self.policy, self.arrived),
            Some(progress) => {
                let (whose, previous) = ((self.pool, self.policy), progress.core.last_signal());
                let let_in = self.permit.as_ref().is_some_and(Permit::is_let_in);
                let takes = let_in.then(|| estimate.unwrap_or_default());
                Attempt::planned(whose, self.permit_number(), progress.plan, previous, progress.now, takes)
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

    #[inline]
    fn shared(&self) -> &'a Shared {
        &self.pool.shared
    }

    #[inline]
    fn is_first(&self) -> bool {
        self.progress.as_ref().is_none_or(|progress| progress.core.attempts() == 0)
    }

    #[inline]
    fn permit_number(&self) -> Option<u32> {
        self.permit.as_ref().map(Permit::number)
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
            && permit.is_let_in()
        {
            permit.succeeded(self.began(), self.clock().now());
        }
    }
}

/// The way of the others.
impl<'a> Going<'a> {
    pub(super) fn clock(&self) -> &'a Clock {
        self.shared().clock()
    }

    fn whose(&self) -> Whose<'a> {
        Whose { pool: self.pool.labels(), about: &self.shared().about, policy: self.policy }
    }

    /// Counts requests a tap saw in the attempt under way. More than one is another layer's retry; a call is counted as
    /// stacked once.
    #[cold]
    fn requests_sent(&self, requests: u32) {
        let shared = self.shared();
        let now = shared.clock().now();
        for _ in 0..requests {
            shared.tell(now, || Event::RequestSent);
        }
        let sent = self.requests.fetch_add(requests, Relaxed).saturating_add(requests);
        if sent > 1 && !self.stacked.swap(true, Relaxed) {
            shared.tell_stacked(self.policy, StackedBy::Wire);
        }
    }

    /// The call's progress, made if this is its first attempt, and under way.
    fn progress(&mut self) -> &mut Progress {
        let (clock, policy, arrived) = (self.clock(), self.policy, self.arrived);
        self.progress.get_or_insert_with(|| Box::new(Progress::in_first_attempt(policy, clock.moment(arrived))))
    }

    /// The attempt under way.
    pub(super) fn plan(&self) -> AttemptPlan {
        self.progress.as_ref().map_or_else(|| AttemptPlan::first(self.policy, self.began()), |progress| progress.plan)
    }

    /// When what is under way began.
    fn began(&self) -> Moment {
        self.progress.as_ref().map_or_else(|| self.clock().moment(self.arrived), |progress| progress.now)
    }

    /// The timer that cuts the attempt under way.
    #[cold]
    pub(super) fn timer(&self) -> Sleep {
        self.clock().sleep_until(self.plan().cut)
    }

    /// Waits for a permit at the call's place in the queue.
    pub(super) async fn wait_for_turn(&mut self, may_wait: bool, estimate: &Option<Estimate>) -> Result<(), GiveUp> {
        let shared = self.shared();
        let turn = self.turn(may_wait).estimated(*estimate);
        let queue = || Queue { depth: shared.node.waiting(), stated: shared.shut_for() };
        self.step = Step::Queued;
        let turn = self.spans.at_gate(turn, queue).await;
        self.took_turn(turn)
    }

    fn turn(&self, may_wait: bool) -> Turn<'a> {
        // Before the first attempt nothing is kept of a call that waits but what it came with.
        let arrived = self.progress.as_ref().map_or_else(|| self.began(), |progress| progress.core.started());
        let deadline = arrived.after(self.policy.deadline);
        Turn::new(&self.shared().node, arrived, deadline, may_wait, self.is_first())
    }

    fn took_turn(&mut self, turn: Result<Permit<'a>, Refused>) -> Result<(), GiveUp> {
        let (shared, policy, arrived) = (self.shared(), self.policy, self.began());
        self.step = Step::Attempting;
        let progress = self.progress.get_or_insert_with(|| Box::new(Progress::at_gate(policy, arrived)));
        let waited = progress.look_at(shared.clock()).until(progress.now);
        let now = progress.now;
        let result = turn.as_ref().map_or_else(|refused| refused.why.into(), |_| GateResult::Admitted);
        let given = match turn {
            Ok(permit) => {
                progress.core.waited(DelaySource::Gate, waited);
                self.permit = Some(permit);
                Ok(())
            }
            Err(Refused { why, class, retry_at }) => Err(progress.core.refused(why, class, retry_at)),
        };
        self.spans.gate_waited(result, waited);
        let class = given.map_or_else(|refused| refused.class, |()| LimitClass::None);
        shared.tell(now, || Event::GateWaited { waited, result, class });
        given
    }

    /// Sleeps until the next attempt, or until it is known that there will be none.
    pub(super) fn nap(&self, until: Moment) -> Nap<'a> {
        let shared = self.shared();
        let sleep = shared.clock().sleep_until(until);
        if shared.counted { Nap::cut_by(&shared.node, sleep) } else { Nap::uncut(sleep) }
    }

    /// What an observation means to the pool's provider.
    #[inline]
    pub(super) fn read(&self, observation: &Observation<'_>) -> Signal {
        self.shared().read(observation)
    }

    /// Whether an observation is a failure; then it is noted. Takes it by value, so that one that need not be read need
    /// not be in memory.
    pub(super) fn reads_failure(&mut self, observation: Observation<'_>) -> bool {
        let signal = self.read(&observation);
        self.note_if_failed(signal)
    }

    /// Notes a failure that was read. Says whether it is one.
    #[inline]
    pub(super) fn note_if_failed(&mut self, signal: Signal) -> bool {
        if signal.failed {
            self.progress().core.note_failure(signal);
        }
        signal.failed
    }

    /// A guard that reports what the head of an answer said, should the call be dropped while the body is read.
    pub(super) fn seen(&mut self, signal: Signal) -> Seen<'_, 'a> {
        let (shared, sent_at) = (self.shared(), self.began());
        Seen { shared, permit: self.permit.as_mut(), signal, sent_at, spans: &self.spans }
    }

    /// Tells and reports the failure that was noted, gives the attempt's permit back, and decides what follows: a wait
    /// until a moment, from which [`Going::slept`] leads on.
    ///
    /// # Errors
    /// The call ends.
    pub(super) fn attempt_failed(&mut self) -> Result<Moment, GiveUp> {
        let (shared, policy) = (self.shared(), self.policy);
        let progress = self.progress();
        let began = progress.look_at(shared.clock());
        let now = progress.now;
        let class = progress.core.failure().class;
        if shared.is_heard || CallSpans::LOG {
            self.tell_failure(now, began);
        }
        if let Some(mut permit) = self.permit.take().filter(|_| shared.gated) {
            let signal = self.progress().core.failure();
            if class != LimitClass::None {
                permit.throttled(shared.level(signal.scope), signal, began, now);
            } else if signal.timed_out {
                permit.was_cut(began, now);
            }
        }
        let nested = self.nested;
        if nested && shared.gated && class != LimitClass::None {
            let (signal, pass) = (self.progress().core.failure(), Pass { at: began, probe: false });
            shared.node.report(shared.level(signal.scope), pass, signal, now);
        }
        // The outer call's retries come out of the budget, not this one's, which are none.
        let mut budget = || nested || shared.withdraw(now);
        let mut dice = shared.dice();
        match self.progress().core.end_failed(policy, shared.gated, now, &mut dice, &mut budget) {
            Decision::Again(_) if shared.engine.observe_only || nested => {
                let outcome = CallOutcome::AttemptsExhausted;
                Err(GiveUp { outcome, class, ..GiveUp::not_retryable() })
            }
            Decision::Again(ref wait) => {
                self.goes_to_sleep(now, wait);
                Ok(wait.at)
            }
            Decision::GiveUp(give_up) => Err(give_up),
            // A failure is never done.
            Decision::Done => Err(GiveUp::not_retryable()),
        }
    }

    fn tell_failure(&mut self, now: Moment, began: Moment) {
        let signal = *self.progress().core.failure();
        self.tell_attempt(now, began, (&signal).into(), Some(&signal));
        if let Some(part) = signal.unreadable.filter(|_| !self.nested) {
            self.shared().tell(now, || Event::SignalUnreadable { part });
        }
    }

    fn goes_to_sleep(&mut self, now: Moment, wait: &Wait) {
        let Wait { delay, source, stated, clamped, .. } = *wait;
        let shared = self.shared();
        shared.tell(now, || Event::DelayScheduled { source, delay, stated, clamped });
        self.spans.delay_begins(wait);
        shared.falls_asleep();
        self.step = Step::Sleeping;
        self.progress().sleep_source = source;
    }

    /// A wait between two attempts has ended.
    pub(super) fn slept(&mut self) {
        let shared = self.shared();
        shared.wakes_up();
        self.step = Step::Attempting;
        let progress = self.progress();
        let slept = progress.look_at(shared.clock()).until(progress.now);
        progress.core.waited(progress.sleep_source, slept);
        self.spans.delay_ended(slept);
    }

    #[cold]
    fn succeeded_watched(&mut self, status: Option<u16>) {
        let now = self.attempt_succeeded(status);
        self.spans.done(self.attempts());
        self.tell_end(now, CallOutcome::Ok, LimitClass::None, DelaySource::None);
    }

    /// Tells that the attempt succeeded, and gives its permit back; gives back when that was.
    fn attempt_succeeded(&mut self, status: Option<u16>) -> Moment {
        let (now, began) = (self.clock().now(), self.began());
        let signal = Signal { status, ..Signal::success() };
        self.tell_attempt(now, began, AttemptOutcome::Ok, Some(&signal));
        self.give_permit_back();
        now
    }

    /// Ends a call whose attempt was observed as a success, but holds no value.
    #[cold]
    pub(super) fn succeeded_in_vain<R>(&mut self, status: Option<u16>, last: Option<R>) -> Error<R> {
        let now = self.attempt_succeeded(status);
        self.progress().now = now;
        self.give_up(GiveUp::not_retryable(), last)
    }

    /// Ends the call for this reason.
    #[cold]
    pub(super) fn give_up<R>(&mut self, give_up: GiveUp, last: Option<R>) -> Error<R> {
        let (whose, labels) = (self.whose(), self.pool.labels().clone());
        self.spans.gave_up(whose, &give_up, self.attempts());
        self.tell_end(self.began(), give_up.outcome, give_up.class, give_up.source);
        let Progress { core, now, .. } = self.progress();
        Error::new(labels, give_up, core, *now, last)
    }

    /// Attempts begun.
    fn attempts(&self) -> u32 {
        let at_once = || u32::from(self.step != Step::Queued);
        self.progress.as_ref().map_or_else(at_once, |progress| progress.core.attempts())
    }

    fn tell_attempt(&mut self, now: Moment, began: Moment, outcome: AttemptOutcome, signal: Option<&Signal>) {
        if let Some(signal) = signal {
            let whose = self.whose();
            self.spans.requests_sent(self.requests.load(Relaxed));
            self.spans.attempt_ended(whose, outcome, signal);
        }
        if self.nested {
            return;
        }
        let plan = self.plan();
        self.shared().tell(now, || Event::AttemptEnded {
            number: plan.number,
            delay_source: plan.delay_source,
            outcome,
            class: signal.map_or(LimitClass::None, |signal| signal.class),
            token_kind: signal.and_then(|signal| signal.token_kind),
            status: signal.and_then(|signal| signal.status),
            duration: began.until(now),
        });
    }

    fn tell_end(&mut self, now: Moment, outcome: CallOutcome, class: LimitClass, delay_source: DelaySource) {
        let attempts = self.attempts();
        self.step = Step::Ended;
        if self.nested {
            return;
        }
        let core = self.progress.as_ref().map(|progress| &progress.core);
        let started = || self.clock().moment(self.arrived);
        self.shared().tell(now, || Event::CallEnded {
            policy: self.policy.name(),
            outcome,
            class,
            delay_source,
            early: outcome == CallOutcome::DeadlineExceeded
                && core.is_some_and(|core| core.ends_early(self.policy, now)),
            attempts,
            duration: started().until(now),
        });
    }

    #[cold]
    fn tell_cancelled(&mut self) {
        let (now, began) = (self.clock().now(), self.began());
        if self.step == Step::Sleeping {
            self.shared().wakes_up();
        }
        if self.step == Step::Queued {
            let (waited, result, class) = (began.until(now), GateResult::Cancelled, LimitClass::None);
            self.shared().tell(now, || Event::GateWaited { waited, result, class });
        }
        if self.permit.is_some() {
            self.tell_attempt(now, began, AttemptOutcome::Cancelled, None);
        }
        let class = self.progress.as_ref().map_or(LimitClass::None, |progress| progress.core.failure().class);
        self.tell_end(now, CallOutcome::Cancelled, class, DelaySource::None);
    }
}

impl Drop for Going<'_> {
    #[inline]
    fn drop(&mut self) {
        if self.step != Step::Ended && self.shared().is_heard {
            self.tell_cancelled();
        }
    }
}

/// An attempt that is being polled. Leaving it counts what a tap saw meanwhile.
pub(super) struct Entered<'s, 'a> {
    going: &'s Going<'a>,
    outer: Option<Outer>,
}

impl Drop for Entered<'_, '_> {
    #[inline]
    fn drop(&mut self) {
        if let Some(outer) = self.outer.take() {
            let requests = here::leave(outer);
            if requests > 0 {
                self.going.requests_sent(requests);
            }
        }
    }
}
