//! The steps of one call. Each returns whether the call goes on.
//!
//! | step | in the engine's shell |
//! |---|---|
//! | [`World::ask_gate`] | `run::drive`: passes at once, or a new `gate::Turn` |
//! | [`World::take_turn`] | one poll of `gate::Turn`, and what `run::going` does with its end |
//! | `begin`, [`World::send`] | `run::going` begins an attempt; the operation is polled for the first time |
//! | [`World::answered`], [`World::cut`] | the operation is ready, or `run::cut` ends it |
//! | `end_attempt` | `run::going`: tell, report, give the permit back, decide |
//! | [`World::awake`] | the sleep between two attempts is over |
//!
//! What the shell does in one go is one step here: nothing else happens in between, there as here. Events are told at the
//! same instants and in the same order; a test holds that against the engine itself, event by event.

use std::time::Duration;

use crate::core::decide::{CallOutcome, Decision, DelaySource, GiveUp};
use crate::core::dice::Dice;
use crate::core::gate::Pass;
use crate::core::moment::Moment;
use crate::core::policy::Policy;
use crate::core::refusal::Refusal;
use crate::core::signal::{LimitClass, Quotas, Signal, TokenKind};
use crate::event::{Event, GateResult};
use crate::simulate::plan::ClassPlan;
use crate::simulate::provider::no_answer;
use crate::simulate::scenario::GateMode;
use crate::simulate::world::going::Going;
use crate::simulate::world::pool::{Asking, Turn};
use crate::simulate::world::{Happening, NEWS_TRAVELS, News, World};

impl World<'_> {
    /// The gate, first or again.
    pub(super) fn ask_gate(&mut self, going: &mut Going, slot: usize) -> bool {
        let process = self.process(going.replica);
        going.since = self.calendar.now();
        if self.pools[process].flows() {
            (going.probe, going.let_in) = (false, false);
            return self.begin(going, slot);
        }
        let pool = &mut self.pools[process];
        let arrived = going.core.started();
        (going.place, going.queued) = (Some(pool.queue.place(arrived)), false);
        let deadline = going.core.deadline(&self.plan.callers.classes[going.class].policy);
        going.latest = if pool.gated { pool.gate.latest_start(arrived, deadline) } else { deadline };
        self.take_turn(going, slot)
    }

    /// Asks for its turn from its place in the queue.
    pub(super) fn take_turn(&mut self, going: &mut Going, slot: usize) -> bool {
        let Some(place) = going.place else { return true };
        let asking = Asking {
            place,
            slot,
            deadline: going.latest,
            estimate: going.estimate,
            first: going.core.attempts() == 0,
            queued: std::mem::replace(&mut going.queued, true),
        };
        let process = self.process(going.replica);
        let turn = self.pools[process].poll(&asking, &mut self.calendar);
        self.tell_reopened(going.replica);
        let waited = going.since.until(self.calendar.now());
        match turn {
            Turn::Waits => true,
            Turn::Passed { probe } => {
                going.place = None;
                (going.probe, going.let_in) = (probe, true);
                going.core.waited(DelaySource::Gate, waited);
                let result = GateResult::Admitted;
                self.tell(going.replica, || Event::GateWaited { waited, result, class: LimitClass::None });
                self.begin(going, slot)
            }
            Turn::Refused { class, retry_at } => {
                going.place = None;
                self.tell(going.replica, || Event::GateWaited { waited, result: GateResult::Refused, class });
                let spent = matches!(class, LimitClass::Daily | LimitClass::Spend);
                let why = if spent { Refusal::Spent } else { Refusal::Deadline };
                let refused = going.core.refused(self.policy(going), self.calendar.now(), why, class, retry_at);
                self.give_up(going, refused)
            }
        }
    }

    /// Begins the next attempt.
    fn begin(&mut self, going: &mut Going, slot: usize) -> bool {
        let now = self.calendar.now();
        let process = self.process(going.replica);
        self.pools[process].enter(going.core.attempts() == 0);
        let class = &self.plan.callers.classes[going.class];
        let plan = match going.core.begin_attempt(&class.policy, now) {
            Ok(plan) => plan,
            Err(give_up) => {
                let ends = self.give_up(going, give_up);
                self.return_permit(going);
                return ends;
            }
        };
        (going.since, going.source, going.cut, going.resent) = (now, plan.delay_source, plan.cut, 0);
        let pool = &self.pools[process];
        let reopened = if pool.gated { pool.has_shut && !going.probe } else { self.fits_from <= now };
        if reopened && now >= self.plan.measured_from {
            self.tally.crowds(now);
        }
        self.tally.attempts += u64::from(going.measured);
        self.send(going, slot)
    }

    /// Sends a request: the attempt's first, or one the client repeats.
    pub(super) fn send(&mut self, going: &mut Going, slot: usize) -> bool {
        let now = self.calendar.now();
        let answer = self.provider.ask(now, going.cost);
        self.tally.requests += u64::from(going.measured);
        if let Some(timeline) = &mut self.timeline {
            timeline.asked(now, answer.in_flight, answer.signal.is_some_and(|signal| signal.is_throttle()));
            timeline.quota(now, self.provider.share_left(now));
        }
        if let Some(wait) = answer.fits_in {
            self.fits_from = self.fits_from.min(now.after(wait));
        }
        let answered_at = if answer.signal.is_some() { now.after(answer.takes) } else { Moment::NEVER };
        going.answer = Some(answer);
        if self.calendar.rounded(answered_at) <= self.calendar.rounded(going.cut) {
            self.calendar.note(answered_at, Happening::Answer { slot });
        } else {
            let client_cut = going.since.after(ClassPlan::CLIENT_TIMEOUT);
            let cut = if answered_at == Moment::NEVER { going.cut.min(client_cut) } else { going.cut };
            self.calendar.note(cut, Happening::Cut { slot });
        }
        true
    }

    /// The answer has come.
    pub(super) fn answered(&mut self, going: &mut Going, slot: usize) -> bool {
        let now = self.calendar.now();
        let Some(answer) = going.answer.take() else { return true };
        if answer.in_flight {
            self.provider.finished();
        }
        let signal = answer.signal.unwrap_or(no_answer());
        let repeats = signal.failed && (signal.is_throttle() || signal.retryable);
        if repeats && going.resent < self.plan.callers.classes[going.class].sdk_retries {
            return self.resend(going, slot);
        }
        let quotas = if signal.is_throttle() { answer.quotas } else { self.provider.quotas(now) };
        self.end_attempt(going, slot, &signal, quotas.as_deref())
    }

    /// The client below repeats the request after a wait of its own; the engine sees nothing of it.
    fn resend(&mut self, going: &mut Going, slot: usize) -> bool {
        const LONGEST: f64 = 8.0;
        let most = (0.5 * f64::from(1u32 << going.resent)).min(LONGEST);
        let wait = Duration::from_secs_f64(most * (0.75 + 0.25 * self.client_dice.unit()));
        going.resent += 1;
        let at = self.calendar.now().after(wait);
        if at < going.cut {
            self.calendar.note(at, Happening::Resend { slot });
        } else {
            self.calendar.note(going.cut, Happening::Cut { slot });
        }
        true
    }

    /// The attempt's time is up.
    pub(super) fn cut(&mut self, going: &mut Going, slot: usize) -> bool {
        if going.answer.take().is_some_and(|answer| answer.in_flight) {
            self.provider.finished();
        }
        self.end_attempt(going, slot, &no_answer(), None)
    }

    /// Notes, tells and reports what the attempt showed, gives its permit back, and decides what follows.
    fn end_attempt(&mut self, going: &mut Going, slot: usize, signal: &Signal, quotas: Option<&Quotas>) -> bool {
        let now = self.calendar.now();
        let (replica, process, began) = (going.replica, self.process(going.replica), going.since);
        if !signal.failed {
            let sides = [(TokenKind::Input, going.cost.input_tokens), (TokenKind::Output, going.cost.output_tokens)];
            for (kind, tokens) in sides {
                if going.let_in {
                    self.pools[process].settle(going.estimate, kind, tokens, now);
                }
                self.tell(replica, || Event::TokensUsed { kind, tokens });
            }
        }
        if let Some(quotas) = quotas {
            self.pools[process].note(quotas, signal, &mut self.calendar);
            for reading in quotas.iter() {
                self.tell(replica, || Event::QuotaRead { reading: *reading });
            }
        }
        self.tell(replica, || Event::AttemptEnded {
            number: going.core.attempts(),
            delay_source: going.source,
            outcome: signal.into(),
            class: signal.class,
            token_kind: signal.token_kind,
            status: signal.status,
            duration: began.until(now),
        });
        if signal.is_throttle() {
            self.count_throttle(going, now);
        }
        let policy = self.policy(going);
        if !signal.failed {
            if going.let_in {
                self.pools[process].went_well(began.until(now));
            }
            if going.probe {
                self.pools[process].probe_succeeded(began, &mut self.calendar);
                self.tell_reopened(replica);
            }
            going.probe = false;
        } else if signal.timed_out && going.let_in {
            self.pools[process].gate.was_cut(began.until(now));
        } else if self.pools[process].gated && signal.is_throttle() {
            let stated = signal.stated.filter(|_| policy.manners.honour_header);
            let heeded = Signal { stated, ..*signal };
            let pass = Pass { at: began, probe: going.probe };
            let moved = self.report(process, replica, pass, &heeded);
            if moved && self.plan.gate == GateMode::News {
                let news = News { from: process, pass: Pass { probe: false, ..pass }, signal: heeded };
                self.calendar.note(now.after(NEWS_TRAVELS), Happening::News(Box::new(news)));
            }
            going.probe = false;
        }
        self.return_permit(going);
        let pool = &mut self.pools[process];
        let gated = pool.gated;
        let mut dice = pool.dice.clone();
        let mut budget = || pool.withdraw(now);
        let decision = going.core.end_attempt(policy, signal, gated, now, &mut dice, &mut budget);
        self.pools[process].dice = dice;
        match decision {
            Decision::Done => self.done(going, began),
            Decision::GiveUp(give_up) => self.give_up(going, give_up),
            Decision::Again(wait) => {
                let (source, delay, stated, clamped) = (wait.source, wait.delay, wait.stated, wait.clamped);
                self.tell(replica, || Event::DelayScheduled { source, delay, stated, clamped });
                self.pools[process].sleeping += 1;
                (going.since, going.source) = (now, source);
                self.calendar.note(wait.at, Happening::Awake { slot });
                true
            }
        }
    }

    /// A wait between attempts is over: back to the gate.
    pub(super) fn awake(&mut self, going: &mut Going, slot: usize) -> bool {
        let process = self.process(going.replica);
        self.pools[process].sleeping -= 1;
        going.core.waited(going.source, going.since.until(self.calendar.now()));
        self.ask_gate(going, slot)
    }

    /// Reports a throttle to a process's gate, in the name of `replica`. Returns whether that shut it or moved its end.
    pub(super) fn report(&mut self, process: usize, replica: usize, pass: Pass, signal: &Signal) -> bool {
        let now = self.calendar.now();
        let Some(shut) = self.pools[process].throttled(pass, signal, &mut self.calendar) else { return false };
        self.tell(replica, || Event::GateShut {
            class: shut.class,
            told: shut.told(),
            shut_for: now.until(shut.until),
        });
        true
    }

    /// Tells that the gate lets calls in again, if that was just seen.
    fn tell_reopened(&mut self, replica: usize) {
        let process = self.process(replica);
        if let Some(state) = self.pools[process].reopened.take() {
            self.tell(replica, || Event::GateReopened { state });
        }
    }

    /// Notes when this process first heard of a throttle, and whether this one could have been spared had it known.
    fn count_throttle(&mut self, going: &Going, now: Moment) {
        let process = self.process(going.replica);
        let heard = *self.pools[process].heard_throttle.get_or_insert(now);
        if going.measured {
            self.tally.throttled += 1;
            let unforeseeable = going.core.attempts() == 1 && going.since < heard;
            self.tally.unforeseeable += u64::from(unforeseeable);
        }
    }

    /// The request is no longer under way; a probe that said nothing is given back.
    fn return_permit(&mut self, going: &mut Going) {
        let process = self.process(going.replica);
        let pool = &mut self.pools[process];
        if std::mem::take(&mut going.probe) {
            pool.probe_unknown(going.since, &mut self.calendar);
        }
        pool.leave_flight(&mut self.calendar);
    }

    /// The call has succeeded, with the attempt that began then.
    fn done(&mut self, going: &Going, began: Moment) -> bool {
        if going.measured {
            self.tally.succeeded(going.core.started().until(began), self.calendar.now());
        }
        self.tell_end(going, CallOutcome::Ok, LimitClass::None, DelaySource::None)
    }

    /// The call has failed, for this reason.
    fn give_up(&mut self, going: &Going, give_up: GiveUp) -> bool {
        let now = self.calendar.now();
        if going.measured {
            self.tally.gave_up(give_up.outcome, now);
        }
        if let Some(timeline) = &mut self.timeline {
            timeline.gave_up(now);
        }
        self.tell_end(going, give_up.outcome, give_up.class, give_up.source)
    }

    /// The call is over: tells how it went.
    fn tell_end(&self, going: &Going, outcome: CallOutcome, class: LimitClass, source: DelaySource) -> bool {
        let (now, policy) = (self.calendar.now(), self.policy(going));
        self.tell(going.replica, || Event::CallEnded {
            policy: policy.name(),
            outcome,
            class,
            delay_source: source,
            early: outcome == CallOutcome::DeadlineExceeded && going.core.ends_early(policy, now),
            attempts: going.core.attempts(),
            duration: going.core.started().until(now),
        });
        false
    }
}

impl<'a> World<'a> {
    /// The policy of a call's kind.
    fn policy(&self, going: &Going) -> &'a Policy {
        &self.plan.callers.classes[going.class].policy
    }
}
