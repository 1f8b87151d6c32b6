//! What the store keeps of one pool, and how it changes: the rules that the scripts carry out, in Rust.
//!
//! The ends are merged by [`core::merge`](crate::core::merge); the rest is counted here. The scripts in `redis/*.lua` do
//! the same on the server; tests run both on the same sequences.
//!
//! | step | changes |
//! |---|---|
//! | report, admitted under the current round or a later | a new round, one more strike |
//! | report, admitted under an earlier round | neither: its burst was counted |
//! | report older than [`OLDEST_REPORT`] | nothing |
//! | reopen by an operator | on the way back, a new round, no strikes |
//! | reopen by a probe of the current round | on the way back, a new round |
//! | reopen by a probe of an earlier round | nothing |

use std::time::Duration;

use crate::core::merge::{End, Shut, merge};
use crate::core::moment::Moment;
use crate::core::signal::LimitClass;
use crate::store::news::{OLDEST_REPORT, Phase, STRIKES_FADE_AFTER, Stamp, clamp};

/// One pool's entry. Times are the server's, as time since its epoch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Entry {
    pub(crate) stamp: Stamp,
    pub(crate) round: u64,
    pub(crate) strikes: u32,
    pub(crate) phase: Phase,
    pub(crate) until: Moment,
    pub(crate) end: End,
    pub(crate) class: LimitClass,
    pub(crate) last_throttle: Moment,
}

/// A throttle as it reaches the store.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Told {
    /// The round the throttled request was let in under.
    pub(crate) admitted: u64,
    /// How long the pool is shut from when it was seen.
    pub(crate) wait: Duration,
    /// When it was seen, if the sender knows it in server time.
    pub(crate) seen_at: Option<Moment>,
    pub(crate) end: End,
    pub(crate) class: LimitClass,
}

impl Entry {
    fn new(now: Moment) -> Self {
        Self {
            stamp: Stamp { born_ms: now.elapsed_since_start().as_millis() as u64, version: 0 },
            round: 0,
            strikes: 0,
            phase: Phase::Ramp,
            until: Moment::START,
            end: End::Guessed,
            class: LimitClass::Unknown,
            last_throttle: Moment::START,
        }
    }

    /// The entry after a report, and whether its end moved: then everybody is told. `None`: too old to say anything.
    pub(crate) fn after_report(before: Option<Self>, told: &Told, now: Moment) -> Option<(Self, bool)> {
        let seen_at = told.seen_at.filter(|seen| *seen <= now).unwrap_or(now);
        if seen_at.until(now) > OLDEST_REPORT {
            return None;
        }
        let mut entry = before.unwrap_or_else(|| Self::new(now));
        if entry.last_throttle.until(now) >= STRIKES_FADE_AFTER {
            entry.strikes = 0;
        }
        entry.last_throttle = now;
        if told.admitted >= entry.round {
            entry.round = told.admitted + 1;
            entry.strikes = entry.strikes.saturating_add(1);
        }
        let running =
            (entry.phase == Phase::Shut).then_some(Shut { until: entry.until, class: entry.class, end: entry.end });
        let (wait, _) = clamp(told.class, told.wait);
        let incoming = Shut { until: seen_at.after(wait), class: told.class, end: told.end };
        let merged = merge(running, incoming, now);
        let moved = merged.is_some() && merged != running;
        if let Some(merged) = merged.filter(|_| moved) {
            entry.phase = Phase::Shut;
            (entry.until, entry.class, entry.end) = (merged.until, merged.class, merged.end);
            entry.stamp.version += 1;
        }
        Some((entry, moved))
    }

    /// The entry after a pool was reopened before its end; `None` if nothing changes. `admitted` is the round the good
    /// probe was let in under, or `None` for an operator.
    pub(crate) fn after_reopening(before: Option<Self>, admitted: Option<u64>, now: Moment) -> Option<Self> {
        let mut entry = before.unwrap_or_else(|| Self::new(now));
        match admitted {
            Some(admitted) if admitted < entry.round || entry.phase == Phase::Ramp => return None,
            Some(_) => {}
            None => entry.strikes = 0,
        }
        entry.round += 1;
        entry.phase = Phase::Ramp;
        entry.until = now;
        entry.stamp.version += 1;
        Some(entry)
    }
}
