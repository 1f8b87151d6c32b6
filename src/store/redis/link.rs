//! A pool's way to the store.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::time::Duration;

use crate::core::merge::Shut;
use crate::core::moment::Moment;
use crate::store::news::{News, Stamp};
use crate::store::order::Order;
use crate::store::redis::hub::Hub;
use crate::store::redis::outbox::Slip;
use crate::store::{Grant, Hears, Link, Report, Want};

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
#[derive(Clone, Debug, Default)]
struct Known {
    round: u64,
    stamp: Stamp,
    /// The shut this replica found itself: it is told again should the store lose it.
    own: Option<Shut>,
    /// When the store took that in.
    told_at: Option<Moment>,
    /// The order heard last, and its end.
    order: Option<(Order, Moment)>,
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

    /// Hears what the store holds. `own`: this replica's name stands in it.
    ///
    /// The same state comes over the channel and with each reading, every time with an end that the way here made later by
    /// another millisecond. Only the first time it is news.
    pub(super) fn hear(&self, news: &News, own: bool, now: Moment) {
        let mut known = self.known();
        let (newer, same) = (news.stamp > known.stamp, news.stamp == known.stamp);
        known.stamp = known.stamp.max(news.stamp);
        // After the store lost everything its rounds begin again; ours go on.
        known.round = known.round.max(news.round);
        // A process that was started again under its name knows nothing of what it told before.
        let is_known = same || (own && known.own.is_some());
        drop(known);
        if !is_known && let Some(gate) = self.gate.upgrade() {
            gate.hear(news, newer, now);
        }
    }

    /// Hears what an operator ordered; only the latest order counts. One that a server gave whose clock was ahead of this
    /// one's is no later for that.
    pub(super) fn hear_order(&self, order: Order, now: Moment) {
        let mut known = self.known();
        let before = known.order.as_ref().map(|(known, _)| known.given_at);
        if before.is_some_and(|before| {
            before == order.given_at || (before > order.given_at && !self.hub.is_ahead(before, now))
        }) {
            return;
        }
        let ends = now.after(order.left);
        known.order = Some((order.clone(), ends));
        drop(known);
        if let Some(gate) = self.gate.upgrade() {
            gate.obey(&order, now);
        }
    }

    /// Hears what was read of an order. One that is over, and nobody here obeyed, is history.
    pub(super) fn read_order(&self, order: Order, now: Moment) {
        let obeys = || {
            let before = self.known().order.as_ref().map(|(order, _)| order.given_at);
            before.is_some_and(|before| self.gate.upgrade().is_some_and(|gate| gate.obeys(before, now)))
        };
        if !order.left.is_zero() || obeys() {
            self.hear_order(order, now);
        }
    }

    /// Gives its gate what the store granted, or nothing.
    pub(super) fn grant(&self, grant: Option<&Grant>, now: Moment) {
        if let Some(gate) = self.gate.upgrade() {
            gate.granted(grant, now);
        }
    }

    /// The order this replica obeys, with what is left of it, if the store knows of none: it lost it.
    pub(super) fn order_lost(&self, stored: Option<&Order>, now: Moment) -> Option<Order> {
        let (order, ends) = self.known().order.clone().filter(|_| stored.is_none())?;
        self.gate.upgrade().filter(|gate| gate.obeys(order.given_at, now))?;
        Some(Order { left: now.until(ends), ..order })
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
        let is_ordered = known.order.as_ref().is_some_and(|(_, ends)| *ends > now);
        is_ordered || known.active_at.is_some_and(|at| at.until(now) < ASKED_ABOUT_FOR) || gate.shut(now).is_some()
    }

    /// Whether its gate is shut.
    pub(super) fn is_shut(&self, now: Moment) -> bool {
        self.gate.upgrade().is_some_and(|gate| gate.shut(now).is_some())
    }

    /// The store took in what this replica told.
    pub(super) fn was_told(&self, now: Moment) {
        self.known().told_at = Some(now);
    }

    /// The shut this replica found and still holds, if the store was told, was asked after that, and yet its end (`stored`)
    /// falls short of it: the store lost it.
    pub(super) fn lost_by_store(&self, stored: Option<Moment>, asked_at: Moment, now: Moment) -> Option<Slip> {
        const SAME_END: Duration = Duration::from_secs(1);
        let (own, round) = {
            let known = self.known();
            known.told_at.filter(|told_at| *told_at <= asked_at)?;
            (known.own?, known.round)
        };
        self.gate.upgrade()?.shut(now).filter(|held| *held == own)?;
        let falls_short = stored.is_none_or(|stored| stored.after(SAME_END) < own.until);
        falls_short.then_some(Slip { shut: own, seen_at: now, admitted: round.saturating_sub(1), again: true })
    }
}

impl Link for PoolLink {
    fn report(&self, report: Report) {
        let mut known = self.known();
        (known.own, known.told_at) = (Some(report.shut), None);
        let admitted = if report.new_round { known.round } else { known.round.saturating_sub(1) };
        drop(known);
        let slip = Slip { shut: report.shut, seen_at: report.seen_at, admitted, again: false };
        self.hub.state().outbox.put(&self.tag, slip, report.seen_at);
        self.hub.work.notify_one();
    }

    fn reopened(&self) {
        let mut known = self.known();
        known.own = None;
        let admitted = known.round;
        drop(known);
        self.hub.state().reopenings.push((self.tag.clone(), admitted));
        self.hub.work.notify_one();
    }

    fn is_paced(&self) -> bool {
        self.hub.paced
    }

    fn is_up(&self) -> bool {
        self.hub.state().breaker.is_settled(self.hub.clock.now())
    }

    fn want(&self, want: Want) {
        self.hub.state().wants.insert(self.tag.clone(), want);
        self.hub.work.notify_one();
    }

    fn replicas(&self) -> u32 {
        self.hub.replicas().unwrap_or(1)
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicUsize, Ordering};

    use super::*;
    use crate::clock::{Clock, SharedDice};
    use crate::core::merge::End;
    use crate::core::signal::LimitClass;
    use crate::store::news::Phase;
    use crate::store::redis::keys::Keys;

    #[derive(Default)]
    struct Gate(AtomicUsize);

    impl Hears for Gate {
        fn hear(&self, _: &News, _: bool, _: Moment) {
            self.0.fetch_add(1, Ordering::Relaxed);
        }

        fn obey(&self, _: &Order, _: Moment) {}

        fn granted(&self, _: Option<&Grant>, _: Moment) {}

        fn obeys(&self, _: u64, _: Moment) -> bool {
            false
        }

        fn shut(&self, _: Moment) -> Option<Shut> {
            None
        }

        fn activity(&self) -> u32 {
            0
        }
    }

    fn news(version: u64, left_ms: u64) -> News {
        News {
            stamp: Stamp { born_ms: 1, version },
            round: 1,
            strikes: 1,
            phase: Phase::Shut,
            end: End::Stated,
            class: LimitClass::RequestRate,
            left: Duration::from_millis(left_ms),
            clamped: false,
            server_ms: 1,
        }
    }

    #[test]
    fn a_state_is_news_once_and_what_the_own_name_told_before_a_restart_is_news_too() {
        let client = redis::Client::open("redis://127.0.0.1").expect("a client");
        let (clock, dice) = (Clock::new(), SharedDice::from_seed(1));
        let hub = Hub::new(client, Keys::new("test"), "r-1".to_owned(), false, clock, dice, (None, |_| {}));
        let hub = Arc::new(hub);
        let gate = Arc::new(Gate::default());
        let heard: std::sync::Weak<Gate> = Arc::downgrade(&gate);
        let link = PoolLink::new("tag".to_owned(), "name".to_owned(), heard, hub);
        let times = |news, own| {
            link.hear(&news, own, Moment::START);
            gate.0.load(Ordering::Relaxed)
        };
        assert_eq!(times(news(1, 9_000), false), 1);
        assert_eq!(times(news(1, 9_001), false), 1, "one on the channel, one read");
        assert_eq!(times(news(2, 9_001), true), 2, "its namesake of before told that");
        link.report(Report {
            shut: Shut { until: Moment::START, class: LimitClass::RequestRate, end: End::Stated },
            seen_at: Moment::START,
            new_round: true,
        });
        assert_eq!(times(news(3, 9_001), true), 2, "it told that itself");
    }
}
