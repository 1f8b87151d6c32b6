//! A call under way, with what its end must tell even if nobody is left to hear it.

use std::sync::atomic::{AtomicU32, Ordering};

use crate::clock::Clock;
use crate::core::call::{AttemptPlan, Call as Core};
use crate::core::decide::{AttemptOutcome, CallOutcome, Decision, DelaySource, GiveUp, Wait};
use crate::core::estimate::Estimate;
use crate::core::moment::Moment;
use crate::core::observation::Observation;
use crate::core::policy::Policy;
use crate::core::signal::{LimitClass, Signal};
use crate::error::Error;
use crate::event::{Event, GateResult};
use crate::gate::{Permit, Turn};
use crate::run::attempt::Attempt;
use crate::run::pool::{Pool, Shared};
use crate::run::spans::{CallSpans, Queue, Whose};

/// A call under way. Dropped before its end it tells that it was cancelled.
pub(super) struct Going<'a> {
    pool: &'a Pool,
    policy: &'a Policy,
    core: Core,
    /// The attempt's permit, while one is under way.
    permit: Option<Permit<'a>>,
    /// The last time read from the clock. While nothing was waited for, it is as good as another look.
    now: Moment,
    delay_source: DelaySource,
    /// Whether the call waits for its turn.
    queued: bool,
    ended: bool,
    pub(super) spans: CallSpans,
}

impl<'a> Going<'a> {
    /// A call that arrives now.
    pub(super) fn start(pool: &'a Pool, policy: &'a Policy, estimate: Option<Estimate>) -> Self {
        let shared = &*pool.shared;
        let now = shared.clock().now();
        if shared.node.is_heard() {
            shared.remember(policy);
            let arrived = Event::CallStarted { policy: policy.name(), deadline: policy.deadline, estimate };
            shared.node.tell(now, &arrived);
        }
        let spans = CallSpans::start(Whose { pool: pool.labels(), policy: policy.name() });
        let (core, delay_source) = (Core::start(now), DelaySource::None);
        Self { pool, policy, core, permit: None, now, delay_source, queued: false, ended: false, spans }
    }

    fn shared(&self) -> &'a Shared {
        &self.pool.shared
    }

    fn whose(&self) -> Whose<'a> {
        Whose { pool: self.pool.labels(), policy: self.policy.name() }
    }

    pub(super) fn clock(&self) -> &'a Clock {
        self.shared().clock()
    }

    fn look_at_clock(&mut self) -> Moment {
        let last = self.now;
        self.now = self.clock().now();
        last
    }

    fn is_first(&self) -> bool {
        self.core.attempts() == 0
    }

    /// Takes a permit without waiting, if the pool flows.
    pub(super) fn passes_at_once(&mut self) -> bool {
        let (shared, first) = (self.shared(), self.is_first());
        self.permit = if shared.gated {
            Permit::flowing(&shared.node, first)
        } else if shared.counted {
            Some(Permit::ungated(&shared.node, first))
        } else {
            Some(Permit::uncounted(&shared.node))
        };
        self.permit.is_some()
    }

    /// Waits for a permit at the call's place in the queue.
    pub(super) async fn wait_for_turn(&mut self, may_wait: bool) -> Result<(), GiveUp> {
        let shared = self.shared();
        let deadline = self.core.deadline(self.policy);
        let turn = Turn::new(&shared.node, self.core.started(), deadline, may_wait, self.is_first());
        let queue = || Queue { depth: shared.node.waiting(), stated: shared.shut_for() };
        self.queued = true;
        let turn = self.spans.at_gate(turn, queue).await;
        self.queued = false;
        let waited = self.look_at_clock().until(self.now);
        let result = if turn.is_ok() { GateResult::Admitted } else { GateResult::Refused };
        self.spans.gate_waited(result, waited);
        match turn {
            Ok(permit) => {
                self.permit = Some(permit);
                self.core.waited(DelaySource::Gate, waited);
                shared.tell(self.now, || Event::GateWaited { waited, result, class: LimitClass::None });
                Ok(())
            }
            Err(refusal) => {
                let class = refusal.class;
                shared.tell(self.now, || Event::GateWaited { waited, result, class });
                Err(self.core.refused(class, refusal.retry_at))
            }
        }
    }

    /// Begins the next attempt.
    pub(super) fn begin(&mut self) -> Result<AttemptPlan, GiveUp> {
        let plan = self.core.begin_attempt(self.policy, self.now)?;
        self.delay_source = plan.delay_source;
        self.spans.attempt_begins(&plan);
        Ok(plan)
    }

    /// What the operation is handed.
    pub(super) fn attempt(&self, plan: AttemptPlan) -> Attempt<'a> {
        Attempt::new(self.pool, plan, self.core.last_signal(), self.now)
    }

    /// What an observation means to the pool's provider.
    pub(super) fn read(&self, observation: &Observation<'_>) -> Signal {
        self.shared().read(observation)
    }

    /// A guard that reports what the head of an answer said, should the call be dropped while the body is read.
    pub(super) fn seen(&mut self, signal: Signal) -> Seen<'_, 'a> {
        Seen { shared: self.shared(), permit: self.permit.as_mut(), signal, sent_at: self.now, spans: &self.spans }
    }

    /// Tells and reports what the attempt showed, gives its permit back, and decides what follows.
    pub(super) fn end_attempt(&mut self, signal: &Signal) -> Decision {
        let (shared, began) = (self.shared(), self.now);
        if signal.failed || shared.node.is_heard() {
            self.look_at_clock();
        }
        let whose = self.whose();
        self.spans.attempt_ended(whose, signal.into(), signal);
        self.tell_attempt(signal.into(), Some(signal), began);
        if !signal.failed {
            if let Some(mut permit) = self.permit.take() {
                permit.succeeded(began, self.now);
            }
            return Decision::Done;
        }
        self.end_failed_attempt(signal, began)
    }

    #[cold]
    fn end_failed_attempt(&mut self, signal: &Signal, began: Moment) -> Decision {
        let (shared, now) = (self.shared(), self.now);
        if let Some(part) = signal.unreadable {
            shared.tell(now, || Event::SignalUnreadable { part });
        }
        if let Some(mut permit) = self.permit.take()
            && shared.gated
            && signal.is_throttle()
        {
            permit.throttled(shared.level(signal.scope), signal, began, now);
        }
        let mut budget = || shared.withdraw(now);
        let mut dice = shared.dice();
        match self.core.end_attempt(self.policy, signal, shared.gated, now, &mut dice, &mut budget) {
            Decision::Again(_) if shared.engine.observe_only => {
                let class = signal.class;
                let outcome = CallOutcome::AttemptsExhausted;
                Decision::GiveUp(GiveUp { outcome, class, ..GiveUp::not_retryable() })
            }
            decision => decision,
        }
    }

    /// Sleeps between two attempts.
    pub(super) async fn sleep(&mut self, wait: Wait) {
        let shared = self.shared();
        let Wait { at, delay, source, stated, clamped, .. } = wait;
        shared.tell(self.now, || Event::DelayScheduled { source, delay, stated, clamped });
        self.spans.delay_begins(&wait);
        {
            let _sleeping = Sleeping::new(shared);
            shared.clock().sleep_until(at).await;
        }
        self.spans.delay_ended();
        let slept = self.look_at_clock().until(self.now);
        self.core.waited(source, slept);
    }

    /// Ends the call well.
    pub(super) fn done(mut self) {
        self.spans.done(self.core.attempts());
        self.tell_end(CallOutcome::Ok, LimitClass::None, DelaySource::None);
    }

    /// Ends the call for this reason.
    pub(super) fn give_up<R>(mut self, give_up: GiveUp, last: Option<R>) -> Error<R> {
        let whose = self.whose();
        self.spans.gave_up(whose, &give_up, self.core.attempts());
        self.tell_end(give_up.outcome, give_up.class, give_up.source);
        let labels = self.pool.labels().clone();
        Error::new(labels, give_up, &self.core, self.now, last)
    }

    fn tell_attempt(&self, outcome: AttemptOutcome, signal: Option<&Signal>, began: Moment) {
        self.shared().tell(self.now, || Event::AttemptEnded {
            number: self.core.attempts(),
            delay_source: self.delay_source,
            outcome,
            class: signal.map_or(LimitClass::None, |signal| signal.class),
            token_kind: signal.and_then(|signal| signal.token_kind),
            status: signal.and_then(|signal| signal.status),
            duration: began.until(self.now),
        });
    }

    fn tell_end(&mut self, outcome: CallOutcome, class: LimitClass, delay_source: DelaySource) {
        self.ended = true;
        let now = self.now;
        self.shared().tell(now, || Event::CallEnded {
            policy: self.policy.name(),
            outcome,
            class,
            delay_source,
            early: outcome == CallOutcome::DeadlineExceeded && self.core.ends_early(self.policy, now),
            attempts: self.core.attempts(),
            duration: self.core.started().until(now),
        });
    }
}

impl Drop for Going<'_> {
    fn drop(&mut self) {
        if self.ended || !self.shared().node.is_heard() {
            return;
        }
        let began = self.look_at_clock();
        if self.queued {
            let (waited, result, class) = (began.until(self.now), GateResult::Cancelled, LimitClass::None);
            self.shared().tell(self.now, || Event::GateWaited { waited, result, class });
        }
        if self.permit.is_some() {
            self.tell_attempt(AttemptOutcome::Cancelled, None, began);
        }
        let class = self.core.last_signal().map_or(LimitClass::None, |signal| signal.class);
        self.tell_end(CallOutcome::Cancelled, class, DelaySource::None);
    }
}

/// A throttle whose head was seen while its body is still being read: reported even if the call is dropped.
pub(super) struct Seen<'s, 'a> {
    shared: &'a Shared,
    permit: Option<&'s mut Permit<'a>>,
    signal: Signal,
    sent_at: Moment,
    pub(super) spans: &'s CallSpans,
}

impl Seen<'_, '_> {
    /// The call goes on and reports by itself.
    pub(super) fn forget(&mut self) {
        self.permit = None;
    }
}

impl Drop for Seen<'_, '_> {
    fn drop(&mut self) {
        if let Some(permit) = self.permit.take()
            && self.signal.is_throttle()
            && self.shared.gated
        {
            let now = self.shared.clock().now();
            permit.throttled(self.shared.level(self.signal.scope), &self.signal, self.sent_at, now);
        }
    }
}

/// Counts a call as sleeping, where somebody listens.
struct Sleeping<'a>(Option<&'a AtomicU32>);

impl<'a> Sleeping<'a> {
    fn new(shared: &'a Shared) -> Self {
        let counter = shared.node.is_heard().then_some(&shared.sleeping);
        if let Some(counter) = counter {
            counter.fetch_add(1, Ordering::Relaxed);
        }
        Self(counter)
    }
}

impl Drop for Sleeping<'_> {
    fn drop(&mut self) {
        if let Some(counter) = self.0 {
            counter.fetch_sub(1, Ordering::Relaxed);
        }
    }
}
