//! A pool as one process has it: the engine's gate, queue, budget and quotas, driven as the engine's shell drives them.
//!
//! The state machines are the engine's own. What stands here is the part of `gate::{node, turn, queue}` that has wakers and
//! timers there: a woken waiter is a [`Happening::Turn`] that happens now, a timer is a [`Happening::Timer`] that happens
//! then. All who wait share one timer, which wakes the head when it may ask and everybody at their deadline.

mod turn;

use std::time::Duration;

use crate::core::budget::{Budget, BudgetSettings};
use crate::core::dice::SeededDice;
use crate::core::estimate::Estimate;
use crate::core::gate::{Gate, Look, Pass};
use crate::core::limit::Limit;
use crate::core::merge::Shut;
use crate::core::moment::Moment;
use crate::core::quota_board::QuotaBoard;
use crate::core::signal::{Quotas, Signal, TokenKind};
use crate::event::GateState;
use crate::simulate::calendar::Calendar;
use crate::simulate::world::Happening;
use crate::simulate::world::queue::Queue;

use turn::Timer;
pub(super) use turn::{Asking, Turn};

/// The least time a throttle shuts a gate: that of most providers' tables.
const SHUT_FLOOR: Duration = Duration::from_secs(1);

/// One process's pool.
#[derive(Debug)]
pub(super) struct Pool {
    /// Its place among the pools of the world.
    number: usize,
    /// Whether a gate holds calls back at all.
    pub(super) gated: bool,
    /// The engine's own gate.
    pub(super) gate: Gate,
    /// Whether calls must ask; false while the gate flows.
    barred: bool,
    /// The state that was told last.
    told: GateState,
    /// A state that lets calls in again and is still to be told.
    pub(super) reopened: Option<GateState>,
    /// Who waits for it.
    pub(super) queue: Queue,
    /// When the head may ask again.
    head_at: Moment,
    /// The timer its queue has set, if one is set.
    timer: Option<Timer>,
    /// How many timers there have been.
    timers: u64,
    /// How many retries after other failures than throttles are left.
    budget: Budget,
    /// Calls so far.
    calls: u32,
    /// Requests under way.
    pub(super) in_flight: u32,
    /// Calls that wait between two attempts.
    pub(super) sleeping: u32,
    /// What is known of the quotas.
    pub(super) board: QuotaBoard,
    /// How many share the limits, as far as this one knows.
    replicas: u32,
    /// The dice of this process's engine: gate and calls roll the same.
    pub(super) dice: SeededDice,
    /// When this process first heard of a throttle.
    pub(super) heard_throttle: Option<Moment>,
    /// Whether the gate has ever shut.
    pub(super) has_shut: bool,
}

impl Pool {
    /// A flowing pool, told the limits that the application knows.
    pub(super) fn new(number: usize, gated: bool, configured: &[Limit], replicas: u32, dice: SeededDice) -> Self {
        let mut pool = Self {
            number,
            gated,
            gate: Gate::new(SHUT_FLOOR),
            barred: false,
            told: GateState::Flowing,
            reopened: None,
            queue: Queue::default(),
            head_at: Moment::NEVER,
            timer: None,
            timers: 0,
            budget: Budget::new(BudgetSettings::default(), Moment::START),
            calls: 0,
            in_flight: 0,
            sleeping: 0,
            board: QuotaBoard::default(),
            replicas,
            dice,
            heard_throttle: None,
            has_shut: false,
        };
        pool.board.configured = configured.to_vec();
        pool.tell_gate_the_limit();
        pool
    }

    /// Whether a call passes without asking.
    pub(super) fn flows(&self) -> bool {
        !self.gated || !self.barred
    }

    /// Counts a request that leaves; `first` of its call.
    pub(super) fn enter(&mut self, first: bool) {
        self.calls = self.calls.wrapping_add(u32::from(first));
        self.in_flight += 1;
    }

    /// Takes a retry from the budget, if there is one.
    pub(super) fn withdraw(&mut self, now: Moment) -> bool {
        self.budget.withdraw(self.calls, now)
    }

    /// Notes what an answer says of quotas.
    pub(super) fn note(&mut self, quotas: &Quotas, signal: &Signal, calendar: &mut Calendar<Happening>) {
        let now = calendar.now();
        self.board.note(quotas, now);
        self.tell_gate_the_limit();
        if self.gate.read(quotas, signal, now, &mut self.dice) {
            self.wake_head(calendar);
        }
    }

    fn tell_gate_the_limit(&mut self) {
        for (dimension, amount, window) in self.board.limits() {
            self.gate.know_limit(dimension, amount, window, self.replicas);
        }
    }

    /// Paces calls by the limits it knows, from now on.
    pub(super) fn start_cold(&mut self, now: Moment) {
        self.gate.start_cold(now);
        self.barred = true;
        self.told = GateState::Paced;
    }

    /// Settles what a request that was let in with this estimate used of a side.
    pub(super) fn settle(&mut self, estimate: Option<Estimate>, kind: TokenKind, used: u64, now: Moment) {
        if self.barred {
            self.gate.settle(estimate, kind, used, now);
        }
    }

    /// A request is no longer under way.
    pub(super) fn leave_flight(&mut self, calendar: &mut Calendar<Happening>) {
        self.in_flight -= 1;
        if self.gate.in_flight_limit().is_some() {
            self.wake_head(calendar);
        }
    }

    /// Hears that a request sent under `pass` was throttled. Returns the shut if it is new or moved.
    pub(super) fn throttled(
        &mut self,
        pass: Pass,
        signal: &Signal,
        calendar: &mut Calendar<Happening>,
    ) -> Option<Shut> {
        let now = calendar.now();
        let shut = self.gate.throttled_among(self.in_flight, pass, signal, now, &mut self.dice);
        if shut.is_none() && self.gate.in_flight_limit().is_some() {
            self.barred = true;
            self.told = GateState::of(&self.gate.look(now, &mut self.dice));
            self.wake_head(calendar);
        }
        let shut = shut?;
        self.told = GateState::Shut;
        self.has_shut = true;
        self.barred = true;
        self.wake_head(calendar);
        self.wake_who_cannot_wait(if shut.is_hard() { Moment::NEVER } else { shut.until }, calendar);
        Some(shut)
    }

    /// Hears how long a request took that was let in and went well.
    pub(super) fn went_well(&mut self, took: Duration) {
        self.gate.went_well(took);
    }

    /// Hears that a probe succeeded.
    pub(super) fn probe_succeeded(&mut self, sent_at: Moment, calendar: &mut Calendar<Happening>) {
        let pass = Pass { at: sent_at, probe: true };
        let reopened = self.gate.succeeded(pass, calendar.now(), &mut self.dice);
        if reopened {
            self.notices(calendar.now());
            self.wake_head(calendar);
        }
    }

    /// Hears that a probe said nothing.
    pub(super) fn probe_unknown(&mut self, sent_at: Moment, calendar: &mut Calendar<Happening>) {
        self.gate.unknown(Pass { at: sent_at, probe: true }, calendar.now());
        self.wake_head(calendar);
    }

    /// Notes the gate's state; one that lets calls in and did not before is to be told.
    fn notices(&mut self, now: Moment) -> Look {
        let look = self.gate.look(now, &mut self.dice);
        let told = std::mem::replace(&mut self.told, GateState::of(&look));
        if self.told != GateState::Shut && self.told != told {
            self.reopened = Some(self.told);
        }
        look
    }

    /// Makes the head ask again, now.
    fn wake_head(&self, calendar: &mut Calendar<Happening>) {
        if let Some((place, slot)) = self.queue.head() {
            calendar.note_now(Happening::Turn { slot, place });
        }
    }

    /// Makes those ask again who cannot wait beyond `moment`: they are to be refused.
    fn wake_who_cannot_wait(&self, moment: Moment, calendar: &mut Calendar<Happening>) {
        for (place, slot) in self.queue.due_by(moment) {
            calendar.note_now(Happening::Turn { slot, place });
        }
    }
}
