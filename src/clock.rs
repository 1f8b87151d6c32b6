//! The only file that reads time, sleeps or rolls dice for real.
#![allow(clippy::disallowed_methods, clippy::disallowed_types, reason = "this is the place the rest is kept from")]

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, SystemTime};

use rand::TryRng;
use rand::rngs::SysRng;
use tokio::time::{Instant, Sleep};

use crate::core::dice::{Dice, SeededDice};
use crate::core::moment::{Moment, WallTime};

/// An engine's clock: the runtime's monotonic time counted from the clock's start, so that paused time reaches
/// everything, wall time included.
#[derive(Clone, Copy, Debug)]
pub struct Clock {
    start: Instant,
    real_start: std::time::Instant,
}

/// A look at the clock that becomes a [`Moment`] when one is asked for: to look costs enough.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Glance(Instant);

impl Default for Clock {
    fn default() -> Self {
        Self::new()
    }
}

impl Clock {
    /// A clock that starts now.
    pub fn new() -> Self {
        Self { start: Instant::now(), real_start: std::time::Instant::now() }
    }

    /// The time now.
    pub fn now(&self) -> Moment {
        self.moment(self.glance())
    }

    /// Looks at the clock.
    #[inline]
    pub(crate) fn glance(&self) -> Glance {
        Glance(Instant::now())
    }

    /// The moment at which `glance` looked at this clock.
    pub(crate) fn moment(&self, glance: Glance) -> Moment {
        Moment::since_start(glance.0.saturating_duration_since(self.start))
    }

    /// `instant` on this clock; one before its start is its start.
    pub(crate) fn moment_of(&self, instant: Instant) -> Moment {
        self.moment(Glance(instant))
    }

    /// A sleep until `moment`; not registered with the timer before its first poll. Never early; the runtime's timer
    /// rounds up to whole milliseconds.
    pub fn sleep_until(&self, moment: Moment) -> Sleep {
        tokio::time::sleep_until(self.instant(moment))
    }

    /// `moment` as the runtime knows it; a moment too far away for the runtime is a century off.
    pub(crate) fn instant(&self, moment: Moment) -> Instant {
        const CENTURY: Duration = Duration::from_secs(100 * 365 * 86_400);
        self.start + moment.elapsed_since_start().min(CENTURY)
    }

    /// The wall time now: the system's, moved by as much as paused time has run ahead of real time.
    pub fn wall(&self) -> WallTime {
        let system = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
        let real = self.real_start.elapsed();
        let ours = self.now().elapsed_since_start();
        WallTime::since_epoch((system + ours).saturating_sub(real))
    }
}

/// The system's wall time, for reading a table outside of a call.
#[must_use]
pub fn wall_now() -> WallTime {
    WallTime::since_epoch(SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default())
}

/// Dice seeded by the operating system, shared by the calls of one engine: [`SeededDice`] whose state is one word, so that
/// a roll is one locked addition and nobody waits.
#[derive(Debug)]
pub(crate) struct SharedDice(AtomicU64);

impl SharedDice {
    /// Dice seeded with what nobody can foresee. Where the operating system has no randomness to give, the clock is.
    pub(crate) fn from_system() -> Self {
        let seed = SysRng.try_next_u64().unwrap_or_else(|_| {
            let now = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
            now.as_nanos() as u64
        });
        Self::from_seed(seed)
    }

    /// Dice that repeat.
    pub(crate) fn from_seed(seed: u64) -> Self {
        Self(AtomicU64::new(seed))
    }
}

impl Dice for &SharedDice {
    fn roll(&mut self) -> u64 {
        // Relaxed: each addition hands out a state of its own, and that is all that matters.
        SeededDice::new(self.0.fetch_add(SeededDice::STEP, Ordering::Relaxed)).roll()
    }
}

/// What `future` comes to, if it does so within `limit`. Dropped otherwise.
#[cfg(feature = "redis")]
pub(crate) async fn within<F: Future>(limit: Duration, future: F) -> Option<F::Output> {
    tokio::time::timeout(limit, future).await.ok()
}

/// The runtime's instant `delay` from now.
pub(crate) fn from_now(delay: Duration) -> Instant {
    let now = Instant::now();
    now.checked_add(delay).unwrap_or(now)
}
