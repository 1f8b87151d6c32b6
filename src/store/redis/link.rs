//! A pool's way to the store.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::time::Duration;

use crate::core::merge::Shut;
use crate::core::moment::Moment;
use crate::store::news::{News, Stamp};
use crate::store::redis::hub::Hub;
use crate::store::redis::outbox::Slip;
use crate::store::{Hears, Link, Report};

/// A pool nobody called for this long is not asked about.
const ASKED_ABOUT_FOR: Duration = Duration::from_secs(300);

/// One pool, between its gate and the store.
pub(super) struct PoolLink {
    /// The pool's short name in keys.
    pub(super) tag: String,
    /// Its name for an operator's eyes.
    pub(super) name: String,
    gate: Weak<dyn Hears>,
    hub: Arc<Hub>,
    known: Mutex<Known>,
}

/// What is known of the store's entry.
#[derive(Clone, Copy, Debug, Default)]
struct Known {
    round: u64,
    stamp: Stamp,
    /// The shut this replica found itself: it is told again should the store lose it.
    own: Option<Shut>,
    activity: u32,
    active_at: Option<Moment>,
}

impl PoolLink {
    pub(super) fn new(tag: String, name: String, gate: Weak<dyn Hears>, hub: Arc<Hub>) -> Self {
        Self { tag, name, gate, hub, known: Mutex::default() }
    }

    fn known(&self) -> MutexGuard<'_, Known> {
        self.known.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Hears what the store holds. `own`: this replica told it, and its gate knows it already.
    pub(super) fn hear(&self, news: &News, own: bool, now: Moment) {
        let mut known = self.known();
        let newer = news.stamp > known.stamp;
        known.stamp = known.stamp.max(news.stamp);
        // After the store lost everything its rounds begin again; ours go on.
        known.round = known.round.max(news.round);
        drop(known);
        if !own && let Some(gate) = self.gate.upgrade() {
            gate.hear(news, newer, now);
        }
    }

    /// Whether the store should be asked about this pool: it is shut, or was called lately.
    pub(super) fn is_in_use(&self, now: Moment) -> bool {
        let Some(gate) = self.gate.upgrade() else { return false };
        let mut known = self.known();
        let activity = gate.activity();
        if activity != known.activity || known.active_at.is_none() {
            known.activity = activity;
            known.active_at = Some(now);
        }
        known.active_at.is_some_and(|at| at.until(now) < ASKED_ABOUT_FOR) || gate.shut(now).is_some()
    }

    /// Whether its gate is shut.
    pub(super) fn is_shut(&self, now: Moment) -> bool {
        self.gate.upgrade().is_some_and(|gate| gate.shut(now).is_some())
    }

    /// The shut this replica found and still holds, if the store's end (`stored`) falls short of it: the store lost it.
    pub(super) fn lost_by_store(&self, stored: Option<Moment>, now: Moment) -> Option<Slip> {
        const SAME_END: Duration = Duration::from_secs(1);
        let known = *self.known();
        let held = self.gate.upgrade()?.shut(now)?;
        let own = known.own.filter(|own| *own == held)?;
        let falls_short = stored.is_none_or(|stored| stored.after(SAME_END) < own.until);
        falls_short.then_some(Slip { shut: own, seen_at: now, admitted: known.round.saturating_sub(1), again: true })
    }
}

impl Link for PoolLink {
    fn report(&self, report: Report) {
        let mut known = self.known();
        known.own = Some(report.shut);
        let admitted = if report.new_round { known.round } else { known.round.saturating_sub(1) };
        drop(known);
        let slip = Slip { shut: report.shut, seen_at: report.seen_at, admitted, again: false };
        self.hub.state().outbox.put(&self.tag, slip, report.seen_at);
        self.hub.work.notify_one();
    }

    fn reopened(&self, by_operator: bool) {
        let mut known = self.known();
        known.own = None;
        let admitted = (!by_operator).then_some(known.round);
        drop(known);
        self.hub.state().reopenings.push((self.tag.clone(), admitted));
        self.hub.work.notify_one();
    }
}
