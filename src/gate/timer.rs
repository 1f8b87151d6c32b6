//! The timers of a queue: one per runtime its waiters live in, so nearly always one.
//!
//! A timer wakes no task but the queue itself, which sees to everybody whose time has come and sets the timer anew. So
//! nobody's wait hangs on a neighbour being polled, and a waiter need not have a timer of its own.

use std::future::Future;
use std::pin::{Pin, pin};
use std::task::{Context, Waker};

use tokio::runtime::{Handle, Id};
use tokio::time::Sleep;

use crate::clock::Clock;
use crate::core::moment::Moment;

/// What became of setting a timer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Set {
    /// It will ring.
    Pending,
    /// The time has come.
    Due,
    /// Nothing rings here: there is no runtime, or it is about to go.
    NoRuntime,
}

#[derive(Debug, Default)]
pub(super) struct Timers(Vec<Timer>);

#[derive(Debug)]
struct Timer {
    sleep: Pin<Box<Sleep>>,
    /// When it rings.
    at: Moment,
    runtime: Id,
    /// Rings the queue.
    alarm: Waker,
}

impl Timers {
    /// Lets the timer of the runtime this is called in ring at `at` or earlier. `alarm` makes its waker.
    pub(super) fn set(&mut self, at: Moment, clock: &Clock, alarm: impl FnOnce(Id) -> Waker) -> Set {
        let Ok(runtime) = Handle::try_current().map(|handle| handle.id()) else { return Set::NoRuntime };
        if let Some(timer) = self.0.iter_mut().find(|timer| timer.runtime == runtime) {
            if timer.is_set() && timer.at <= at {
                return Set::Pending;
            }
            // A timer that is set to what is past by now wakes its waker at once, and that one locks what is locked here.
            let _ = timer.poll(Waker::noop());
            return timer.set(at, clock);
        }
        let mut timer = Timer { sleep: Box::pin(clock.sleep_until(at)), at, runtime, alarm: alarm(runtime) };
        let alarm = timer.alarm.clone();
        let set = if timer.poll(&alarm) { Set::Due } else { Set::Pending };
        self.0.push(timer);
        set
    }

    /// Sets the timer of `runtime`, which has just rung, for `at`.
    pub(super) fn set_again(&mut self, runtime: Id, at: Moment, clock: &Clock) -> Set {
        let Some(place) = self.0.iter().position(|timer| timer.runtime == runtime) else { return Set::Pending };
        let timer = &mut self.0[place];
        if timer.is_set() {
            return Set::Pending;
        }
        let set = timer.set(at, clock);
        if set == Set::NoRuntime {
            self.0.swap_remove(place);
        }
        set
    }

    /// Whether the timer of the runtime this is called in rings by `at`, should there be one.
    pub(super) fn rings_here_by(&self, at: Moment) -> bool {
        let Ok(runtime) = Handle::try_current().map(|handle| handle.id()) else { return true };
        self.0.iter().any(|timer| timer.runtime == runtime && timer.at <= at && timer.is_set())
    }
}

impl Timer {
    /// Whether it is going to ring.
    fn is_set(&self) -> bool {
        !self.sleep.is_elapsed()
    }

    fn set(&mut self, at: Moment, clock: &Clock) -> Set {
        self.at = at;
        self.sleep.as_mut().reset(clock.instant(at));
        if !self.is_set() {
            // A runtime that is shutting down lets its timers ring before their time. To poll one would panic.
            return if clock.now() < at { Set::NoRuntime } else { Set::Due };
        }
        let alarm = self.alarm.clone();
        if self.poll(&alarm) { Set::Due } else { Set::Pending }
    }

    /// Whether the time has come; if not, `waker` will be woken. Not counted against the task that happens to do this.
    fn poll(&mut self, waker: &Waker) -> bool {
        let unconstrained = pin!(tokio::task::unconstrained(self.sleep.as_mut()));
        unconstrained.poll(&mut Context::from_waker(waker)).is_ready()
    }
}
