//! A level of the tree and the other replicas.

use std::sync::{Arc, OnceLock};

use crate::core::gate::Look;
use crate::core::merge::Shut;
use crate::core::moment::Moment;
use crate::gate::Node;
use crate::gate::by_hand::{self, is_by_hand};
use crate::store::news::{News, Phase};
use crate::store::order::Order;
use crate::store::{Grant, Hears, Link, PoolId, Report, Store, Want};

/// A level's way to the store; empty where there is none.
#[derive(Default)]
pub(super) struct FleetLink(OnceLock<Arc<dyn Link>>);

impl FleetLink {
    /// Tells the fleet of a shut that a throttle brought. Never waits.
    pub(super) fn report(&self, shut: Shut, new_round: bool, seen_at: Moment) {
        if let Some(link) = self.0.get() {
            link.report(Report { shut, seen_at, new_round });
        }
    }

    /// Tells the fleet that a probe reopened the pool before its end; an end that came is no news.
    pub(super) fn tell_reopened(&self, early: bool) {
        if let (true, Some(link)) = (early, self.0.get()) {
            link.reopened();
        }
    }

    /// Whether all replicas share one pace.
    pub(super) fn is_paced(&self) -> bool {
        self.0.get().is_some_and(|link| link.is_paced())
    }

    /// Whether the store is relied on.
    pub(super) fn is_up(&self) -> bool {
        self.0.get().is_some_and(|link| link.is_up())
    }

    /// Asks the store for slots. Never waits.
    pub(super) fn want(&self, want: Want) {
        if let Some(link) = self.0.get() {
            link.want(want);
        }
    }

    /// How many replicas share what is ordered for all of them.
    pub(super) fn replicas(&self) -> u32 {
        self.0.get().map_or(1, |link| link.replicas())
    }
}

impl Node {
    /// Connects this level with the other replicas' levels of the same path.
    pub(crate) fn join(self: &Arc<Self>, store: &dyn Store, pool: &PoolId) {
        let gate: std::sync::Weak<Self> = Arc::downgrade(self);
        self.parts.link.0.get_or_init(|| store.link(pool, gate));
    }
}

impl Hears for Node {
    fn hear(&self, news: &News, newer: bool, now: Moment) {
        let dice = &mut &self.trunk().dice;
        let mut core = self.state();
        match news.phase {
            Phase::Shut => {
                let shut = Shut { until: now.after(news.left), class: news.class, end: news.end };
                if let Some(shut) = core.hear(shut, news.strikes, newer, now, dice) {
                    self.shut(core, shut, now);
                }
            }
            Phase::Ramp if newer && matches!(core.look(now, dice), Look::Shut(_)) => {
                core.reopen(now, dice);
                drop(core);
                self.look(now);
                self.asks_again();
                self.wake_heads();
            }
            Phase::Ramp => {
                drop(core);
                self.asks_again();
                self.wake_heads();
            }
        }
    }

    fn obey(&self, order: &Order, now: Moment) {
        let (why, until) = (order.why(), now.after(order.left));
        match order.every {
            _ if order.left.is_zero() => self.let_go(&why, now),
            every if every.is_zero() => self.hold(by_hand::Order::Shut, until, &why, Some(order.given_at), now),
            every => self.hold(by_hand::Order::Pace(every), until, &why, Some(order.given_at), now),
        }
    }

    fn granted(&self, grant: Option<&Grant>, now: Moment) {
        self.takes_in(grant, now);
    }

    fn obeys(&self, given_at: u64, now: Moment) -> bool {
        self.is_held_by(given_at, now)
    }

    fn shut(&self, now: Moment) -> Option<Shut> {
        match self.look(now) {
            // What an operator shut here is this process's.
            Look::Shut(shut) => Some(shut).filter(|shut| !is_by_hand(shut)),
            Look::Flowing | Look::Paced(_) => None,
        }
    }

    fn activity(&self) -> u32 {
        self.calls()
    }
}
