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
//! | order of an operator | what was ordered before gives way to it |
//! | order that is told again | nothing, where another was ever given |
//! | reopening by an operator | on the way back, a new round, no strikes; what was ordered before ends |
//! | slots asked for while it is shut | nothing: none are granted |
//! | slots asked for after its end, the first time | one, which tests the pool for all |
//! | slots asked for until that one went well, or for 1.5 s | none |
//! | slots asked for later | on the way back; each lies as far from the one before as its asker says, the first at most one \
//!   such time and the horizon away |
//! | a probe asked for while it is shut | granted once in five minutes |
//! | reopening by a probe of the current round | on the way back, a new round |
//! | reopening by a probe of an earlier round | nothing |

use std::time::Duration;

use crate::core::gate::{PROBE_EVERY, PROBE_GOOD_AFTER, STRIKES_FADE_AFTER};
use crate::core::merge::{End, Shut, merge};
use crate::core::moment::Moment;
use crate::core::signal::LimitClass;
use crate::store::news::{OLDEST_REPORT, Phase, Stamp, clamp};
use crate::store::{Grant, Want};

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
    pub(crate) held: Option<Held>,
    /// When the next slot of the pace all share is.
    pub(crate) slot_at: Moment,
    /// When a probe was granted last, and in which round.
    pub(crate) probed: Option<(Moment, u64)>,
    /// One slot per so long, as somebody knows.
    pub(crate) slot_every: Option<Duration>,
}

/// What an operator ordered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Held {
    pub(crate) given_at: Moment,
    pub(crate) until: Moment,
    /// One call per so long; zero: none passes.
    pub(crate) every: Duration,
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
            held: None,
            slot_at: Moment::START,
            probed: None,
            slot_every: None,
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

    /// The entry after a probe reopened the pool before its end; `None` if nothing changes. `admitted` is the round the
    /// good probe was let in under.
    pub(crate) fn after_probe(before: Option<Self>, admitted: u64, now: Moment) -> Option<Self> {
        let entry = before.filter(|entry| admitted >= entry.round && entry.phase == Phase::Shut)?;
        Some(entry.on_its_way_back(now))
    }

    /// The entry after an operator's order, for so long and at one call per so long; `None` if nothing changes. `given_at`
    /// is the moment of an order that is only told again.
    pub(crate) fn after_order(
        before: Option<Self>,
        (left, every): (Duration, Duration),
        given_at: Option<Moment>,
        now: Moment,
    ) -> Option<Self> {
        let mut entry = before.unwrap_or_else(|| Self::new(now));
        let given_at = match (given_at, entry.held) {
            (Some(_), Some(_)) => return None,
            (Some(again), None) => again,
            (None, Some(held)) => now.max(held.given_at.after(Duration::from_millis(1))),
            (None, None) => now,
        };
        entry.held = Some(Held { given_at, until: now.after(left), every });
        Some(entry)
    }

    /// The entry after an operator reopened the pool.
    pub(crate) fn after_reopening(before: Option<Self>, now: Moment) -> Option<Self> {
        let entry = Self::after_order(before, (Duration::ZERO, Duration::ZERO), None, now)?;
        Some(Self { strikes: 0, ..entry.on_its_way_back(now) })
    }

    /// The entry after somebody asked for slots or a probe, and what they are granted.
    pub(crate) fn after_permit(before: Option<Self>, want: Want, horizon: Duration, now: Moment) -> (Self, Grant) {
        let mut entry = before.unwrap_or_else(|| Self::new(now));
        if let Want::Slots { every, known: true, .. } = want {
            entry.slot_every = Some(every);
        }
        let mut grant = Grant::default();
        let is_shut = entry.phase == Phase::Shut && entry.until > now;
        let probed_at = entry.probed.filter(|(_, round)| *round == entry.round).map(|(at, _)| at);
        let good_at = probed_at.filter(|at| *at >= entry.until).map(|at| at.after(PROBE_GOOD_AFTER));
        match want {
            Want::Probe => match probed_at.map(|at| at.after(PROBE_EVERY)).filter(|next| is_shut && *next > now) {
                Some(next) => grant.again_in = now.until(next),
                None => (grant.probes, entry.probed) = (true, Some((now, entry.round))),
            },
            Want::Slots { .. } if is_shut => grant.again_in = now.until(entry.until),
            Want::Slots { slots, every, .. } => match good_at.filter(|_| entry.phase == Phase::Shut) {
                None if entry.phase == Phase::Shut => {
                    entry.probed = Some((now, entry.round));
                    entry.slot_at = now;
                    (grant.slots, grant.probes, grant.again_in) = (vec![Duration::ZERO], true, PROBE_GOOD_AFTER);
                }
                Some(good_at) if good_at > now => grant.again_in = now.until(good_at),
                _ => {
                    entry.phase = Phase::Ramp;
                    let every = entry.slot_every.unwrap_or(every);
                    entry.slot_at = entry.slot_at.max(now).min(now.after(horizon).after(every));
                    while grant.slots.len() < slots as usize && now.until(entry.slot_at) <= horizon {
                        grant.slots.push(now.until(entry.slot_at));
                        entry.slot_at = entry.slot_at.after(every);
                    }
                    if grant.slots.is_empty() {
                        grant.again_in = now.until(entry.slot_at).saturating_sub(horizon);
                    }
                }
            },
        }
        (entry, Grant { every: entry.slot_every, ..grant })
    }

    fn on_its_way_back(mut self, now: Moment) -> Self {
        self.round += 1;
        self.phase = Phase::Ramp;
        self.until = now;
        self.stamp.version += 1;
        self
    }
}
