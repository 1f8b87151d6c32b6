//! Where requests are judged: the limits, the words and the counts behind one lock.

use std::sync::{Mutex, MutexGuard, PoisonError};

use super::builder::EmulatorBuilder;
use super::counts::{Arrival, Ledger};
use super::dialect::Dialect;
use super::limits::{Cost, Meter, Spread, Verdict};
use crate::clock::{Clock, SharedDice};
use crate::core::setting::InvalidSetting;
use crate::core::signal::Quotas;

/// All that the connections share.
#[derive(Debug)]
pub(super) struct Desk {
    pub(super) clock: Clock,
    pub(super) dialect: Dialect,
    dice: SharedDice,
    service_time: Spread,
    throttle_time: Spread,
    state: Mutex<State>,
}

/// What changes.
#[derive(Debug)]
pub(super) struct State {
    pub(super) meter: Meter,
    pub(super) ledger: Ledger,
}

/// What was decided about one request, and what is to be done about it.
#[derive(Debug)]
pub(super) struct Judged {
    pub(super) verdict: Verdict,
    /// The quotas as the request left them.
    pub(super) quotas: Quotas,
    /// How long until the answer is sent.
    pub(super) takes: std::time::Duration,
}

impl Desk {
    /// Checks all settings; the clock starts here.
    pub(super) fn of(settings: &EmulatorBuilder) -> Result<Self, InvalidSetting> {
        settings.service_time.check("emulator.service_time")?;
        settings.throttle_time.check("emulator.throttle_time")?;
        settings.dialect.retry_after.check()?;
        Ok(Self {
            clock: Clock::new(),
            dialect: settings.dialect,
            dice: settings.seed.map_or_else(SharedDice::from_system, SharedDice::from_seed),
            service_time: settings.service_time,
            throttle_time: settings.throttle_time,
            state: Mutex::new(State { meter: Meter::new(settings.limits.clone())?, ledger: Ledger::default() }),
        })
    }

    /// Decides about a request that has just come.
    pub(super) fn judge(&self, path: &str, cost: Cost) -> Judged {
        let mut dice = &self.dice;
        let mut state = self.state();
        let now = self.clock.now();
        let verdict = state.meter.admit(now, cost, &mut dice);
        let quotas = state.meter.quotas(now);
        let in_flight = state.meter.in_flight();
        let arrival = Arrival { at: now.elapsed_since_start(), path: path.to_owned(), cost, verdict };
        state.ledger.arrived(arrival, in_flight);
        drop(state);
        let time = if verdict.is_in_flight() { &self.service_time } else { &self.throttle_time };
        Judged { verdict, quotas, takes: time.draw(&mut dice) }
    }

    /// The quotas as they are now.
    pub(super) fn quotas(&self) -> Quotas {
        self.state().meter.quotas(self.clock.now())
    }

    /// What changes; locked for as long as a verdict takes, never while anything is awaited.
    pub(super) fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A request in flight, until it is answered or its caller has gone.
#[derive(Debug)]
pub(super) struct InFlight<'a>(pub(super) &'a Desk);

impl Drop for InFlight<'_> {
    fn drop(&mut self) {
        self.0.state().meter.finished();
    }
}
