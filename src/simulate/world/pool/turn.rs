//! Waiting for one's turn at a pool: what `gate::{turn, queue, timer}` do with wakers and timers, done with a calendar.

use crate::core::estimate::Estimate;
use crate::core::gate::{Admission, Ask, Hold, Look};
use crate::core::moment::Moment;
use crate::core::signal::LimitClass;
use crate::simulate::calendar::Calendar;
use crate::simulate::world::Happening;
use crate::simulate::world::pool::Pool;
use crate::simulate::world::queue::Place;

/// The timer of a queue. One that turns out to ring early is set again then.
#[derive(Clone, Copy, Debug)]
pub(super) struct Timer {
    /// Which one it is.
    number: u64,
    /// When it rings.
    at: Moment,
}

/// A call that asks for its turn.
#[derive(Clone, Copy, Debug)]
pub(in crate::simulate::world) struct Asking {
    /// Its place in the queue.
    pub(in crate::simulate::world) place: Place,
    /// Its slot among the calls.
    pub(in crate::simulate::world) slot: usize,
    /// The last moment at which it is worth an attempt.
    pub(in crate::simulate::world) deadline: Moment,
    /// What it is expected to use.
    pub(in crate::simulate::world) estimate: Option<Estimate>,
    /// Whether it has had no attempt yet.
    pub(in crate::simulate::world) first: bool,
    /// Whether it waits already.
    pub(in crate::simulate::world) queued: bool,
}

/// What a call is told that asks for its turn.
#[derive(Clone, Copy, Debug)]
pub(in crate::simulate::world) enum Turn {
    /// Go; whether as a probe.
    Passed { probe: bool },
    /// Never, because of this.
    Refused { class: LimitClass, retry_at: Option<Moment> },
    /// Not yet: it will be asked again.
    Waits,
}

impl Pool {
    /// A call asks for its turn.
    pub(in crate::simulate::world) fn poll(&mut self, asking: &Asking, calendar: &mut Calendar<Happening>) -> Turn {
        let Asking { place, slot, deadline, estimate, first, queued } = *asking;
        let now = calendar.now();
        if first
            && !queued
            && let Some(late) = self.gate.comes_too_late_by(self.queue.len(), deadline, now)
        {
            return Turn::Refused { class: self.gate.held_for(), retry_at: Some(now.after(late)) };
        }
        loop {
            let is_head = self.queue.head_is(place);
            let in_time = now < deadline;
            let hold = match self.ask(now, is_head && in_time, estimate) {
                Admission::Pass(pass) if is_head && in_time => {
                    if self.leave(place) {
                        self.see_to_head(calendar);
                    }
                    return Turn::Passed { probe: pass.probe };
                }
                Admission::Pass(_) => Hold { ask_again: now, class: self.gate.held_for(), shut: None },
                Admission::Hold(hold) => hold,
            };
            let spent = hold.shut.is_some_and(|shut| shut.is_hard());
            let hopeless = spent || hold.is_hopeless(is_head, deadline);
            if hopeless || !in_time {
                if self.leave(place) {
                    // The next asks, and hears what is in the way.
                    self.wake_head(calendar);
                }
                return Turn::Refused { class: hold.class, retry_at: hold.shut.map(|shut| shut.until) };
            }
            self.queue.enter(place, slot, deadline);
            if self.queue.head_is(place) {
                self.head_at = hold.ask_again;
            }
            if self.set_timer(calendar) {
                return Turn::Waits;
            }
            self.take_due(calendar);
        }
    }

    /// The `number`th timer rings: everybody is seen to whose time has come, and it is set anew. Returns who is to ask now,
    /// in this order: they are woken where the timer rings, before what is to happen at the same moment after it.
    pub(in crate::simulate::world) fn timer_due(
        &mut self,
        number: u64,
        calendar: &mut Calendar<Happening>,
    ) -> Vec<(Place, usize)> {
        let mut woken = Vec::new();
        if self.timer.take_if(|timer| timer.number == number).is_none() {
            return woken;
        }
        let head = self.queue.head().map(|(place, _)| place);
        loop {
            woken.extend(std::iter::from_fn(|| self.queue.take_due(calendar.now())));
            self.tidy();
            let head_gone = self.queue.head().map(|(place, _)| place) != head;
            if self.head_at <= calendar.now() || (head_gone && self.head_at == Moment::NEVER) {
                // It asks, and says when it is to be woken next.
                self.head_at = Moment::NEVER;
                woken.extend(self.queue.head());
            }
            if self.queue.len() == 0 || self.set_timer(calendar) {
                return woken;
            }
        }
    }

    /// Lets the timer ring when the head may ask, or the first deadline comes, unless it rings before. Returns false if
    /// that is now.
    fn set_timer(&mut self, calendar: &mut Calendar<Happening>) -> bool {
        let at = self.queue.due(self.head_at);
        if self.timer.is_some_and(|timer| timer.at <= at) {
            return true;
        }
        self.timer = None;
        if calendar.rounded(at) <= calendar.now() {
            return false;
        }
        self.timers += 1;
        self.timer = Some(Timer { number: self.timers, at });
        calendar.note(at, Happening::Timer { pool: self.number, timer: self.timers });
        true
    }

    /// Takes everybody out whose deadline has come; they ask once more, and are refused.
    fn take_due(&mut self, calendar: &mut Calendar<Happening>) {
        while let Some((place, slot)) = self.queue.take_due(calendar.now()) {
            calendar.note_now(Happening::Turn { slot, place });
        }
        self.tidy();
    }

    /// A queue that nobody waits in has no timer.
    fn tidy(&mut self) {
        if self.queue.len() == 0 {
            (self.head_at, self.timer) = (Moment::NEVER, None);
        }
    }

    /// Asks the gate, and takes a slot if one is free and `take` is set. A gate that flows bars nobody any more.
    fn ask(&mut self, now: Moment, take: bool, estimate: Option<Estimate>) -> Admission {
        let ask = Ask::at(now).with_in_flight(self.in_flight).with_estimate(estimate);
        let mut admission = self.gate.peek_for(ask, &mut self.dice);
        if matches!(admission, Admission::Hold(_)) {
            return admission;
        }
        if take {
            admission = self.gate.take_for(ask, &mut self.dice);
        }
        if self.notices(now) == Look::Flowing {
            self.barred = false;
        }
        admission
    }

    /// Leaves the queue; whether it was the head's place, and somebody waits for being told.
    fn leave(&mut self, place: Place) -> bool {
        let was_head = self.queue.leave(place);
        self.tidy();
        was_head && self.queue.len() > 0
    }

    /// Wakes the head when it may ask, which may be now.
    fn see_to_head(&mut self, calendar: &mut Calendar<Happening>) {
        let waits = match self.ask(calendar.now(), false, None) {
            Admission::Hold(hold) => {
                self.head_at = hold.ask_again;
                self.set_timer(calendar)
            }
            _ => false,
        };
        if !waits {
            self.wake_head(calendar);
        }
    }
}
