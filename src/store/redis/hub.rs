//! What the tasks of a store and the gates' links share.

use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError, Weak};

use redis::aio::MultiplexedConnection;
use redis::{Client, Script};
use tokio::sync::Notify;

use crate::clock::{Clock, SharedDice};
use crate::core::gate::MOST_REPLICAS;
use crate::core::moment::Moment;
use crate::event::Event;
use crate::event::sink::Listener;
use crate::store::news::{Line, number};
use crate::store::order::Order;
use crate::store::redis::breaker::Breaker;
use crate::store::redis::keys::Keys;
use crate::store::redis::link::PoolLink;
use crate::store::redis::outbox::Outbox;
use crate::store::redis::server_clock::ServerClock;
use crate::store::{Fleet, Log, Note, Want};

/// No order was given later than this from now.
const AHEAD_MS: u64 = 10_000;

/// Everything about one store in one process.
pub(super) struct Hub {
    pub(super) client: Client,
    pub(super) keys: Keys,
    /// This process among its replicas.
    pub(super) replica: String,
    /// Whether all replicas share one pace.
    pub(super) paced: bool,
    pub(super) clock: Clock,
    pub(super) dice: SharedDice,
    listener: Option<Box<dyn Listener>>,
    log: Log,
    pub(super) scripts: Scripts,
    state: Mutex<State>,
    pools: Mutex<HashMap<String, Weak<PoolLink>>>,
    /// Wakes the courier: something is to be told.
    pub(super) work: Notify,
    /// Wakes who reads: something may have been missed.
    pub(super) reading: Notify,
    /// Whether the subscription stands, so that no news is missed.
    pub(super) subscribed: AtomicBool,
    /// How many replicas were alive when last counted; 0 before.
    pub(super) replicas: AtomicU32,
    /// Who wants to know when that number changes.
    pub(super) fleet: OnceLock<Weak<dyn Fleet>>,
}

/// What changes.
#[derive(Default)]
pub(super) struct State {
    pub(super) breaker: Breaker,
    pub(super) server_clock: ServerClock,
    pub(super) outbox: Outbox,
    /// Pools to reopen for everybody, with the round of the probe that found them well.
    pub(super) reopenings: Vec<(String, u64)>,
    /// What gates ask for, by the pool's tag.
    pub(super) wants: HashMap<String, Want>,
    /// Orders the store lost.
    pub(super) orders: Vec<(String, Order)>,
    pub(super) connection: Option<MultiplexedConnection>,
    /// Whether what was missed is to be read now.
    pub(super) reconcile: bool,
}

/// A script that begins with the entry as it is kept.
macro_rules! of_an_entry {
    ($file:literal) => {
        Script::new(concat!(include_str!("entry.lua"), include_str!($file)))
    };
}

/// The scripts; what each promises stands in its file.
pub(super) struct Scripts {
    pub(super) report: Script,
    pub(super) reopen: Script,
    pub(super) order: Script,
    pub(super) permit: Script,
    pub(super) alive: Script,
}

impl Default for Scripts {
    fn default() -> Self {
        Self {
            report: of_an_entry!("report.lua"),
            reopen: of_an_entry!("reopen.lua"),
            order: of_an_entry!("order.lua"),
            permit: of_an_entry!("permit.lua"),
            alive: Script::new(include_str!("alive.lua")),
        }
    }
}

impl Hub {
    pub(super) fn new(
        client: Client,
        keys: Keys,
        replica: String,
        paced: bool,
        clock: Clock,
        dice: SharedDice,
        (listener, log): (Option<Box<dyn Listener>>, Log),
    ) -> Self {
        Self {
            client,
            keys,
            replica,
            paced,
            clock,
            dice,
            listener,
            log,
            scripts: Scripts::default(),
            state: Mutex::default(),
            pools: Mutex::default(),
            work: Notify::new(),
            reading: Notify::new(),
            subscribed: AtomicBool::new(false),
            replicas: AtomicU32::new(0),
            fleet: OnceLock::new(),
        }
    }

    /// Held for moments, never across an await.
    pub(super) fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn pools(&self) -> MutexGuard<'_, HashMap<String, Weak<PoolLink>>> {
        self.pools.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Hands one event to the process's listener.
    pub(super) fn tell(&self, now: Moment, event: &Event<'_>) {
        if let Some(listener) = &self.listener {
            listener.hear(now, event);
        }
    }

    /// Writes into the process's log.
    pub(super) fn note(&self, note: &Note<'_>) {
        (self.log)(note);
    }

    /// Makes a pool known, so that news finds it, and has its state read.
    pub(super) fn enrol(&self, link: &Arc<PoolLink>) {
        let mut pools = self.pools();
        if pools.len() == pools.capacity() {
            pools.retain(|_, link| link.strong_count() > 0);
        }
        pools.insert(link.tag.clone(), Arc::downgrade(link));
        drop(pools);
        self.reconcile_soon();
    }

    /// The pools that still are.
    pub(super) fn links(&self) -> Vec<Arc<PoolLink>> {
        self.pools().values().filter_map(Weak::upgrade).collect()
    }

    /// Has everything read that may have been missed.
    pub(super) fn reconcile_soon(&self) {
        self.state().reconcile = true;
        self.reading.notify_one();
    }

    /// Hears a line of the channel, or an answer. Anything that is none is ignored; so is what this replica told itself.
    pub(super) fn hear(&self, line: &[u8], now: Moment) {
        if let Some(count) = line.strip_prefix(b"alive 1 ") {
            let count = std::str::from_utf8(count).ok().and_then(number).and_then(|count| u32::try_from(count).ok());
            count.into_iter().for_each(|count| self.count_replicas(count));
            return;
        }
        if let Some((tag, order)) = Order::parse(line) {
            let link = self.pools().get(tag).and_then(Weak::upgrade);
            if let Some(link) = link.filter(|_| !self.is_ahead(order.given_at, now)) {
                link.hear_order(order, now);
            }
            return;
        }
        let Some(line) = Line::parse(line) else { return };
        let Some(link) = self.pools().get(line.tag).and_then(Weak::upgrade) else { return };
        let age = self.state().server_clock.server_ms(now).map(|server| server.saturating_sub(line.news.server_ms));
        link.hear(&line.news, line.origin == self.replica, now);
        if line.origin != self.replica {
            let age = std::time::Duration::from_millis(age.unwrap_or_default());
            self.tell(now, &Event::NewsCame { age, clamped: line.news.clamped });
        }
    }

    /// Whether a server's millisecond lies so far ahead, by what is known of its clock, that it is no time of this server's.
    pub(super) fn is_ahead(&self, server_ms: u64, now: Moment) -> bool {
        self.state().server_clock.server_ms(now).is_some_and(|server| server_ms > server.saturating_add(AHEAD_MS))
    }

    /// Notes how many replicas are alive, and tells who divides by it. While some have not found the store again they are
    /// as many as before at least.
    pub(super) fn count_replicas(&self, count: u32) {
        let is_settled = self.state().breaker.is_settled(self.clock.now());
        let least = if is_settled { 1 } else { self.replicas.load(Ordering::Relaxed).max(1) };
        let count = count.clamp(least, MOST_REPLICAS);
        if self.replicas.swap(count, Ordering::Relaxed) != count
            && let Some(fleet) = self.fleet.get().and_then(Weak::upgrade)
        {
            fleet.replicas_changed();
        }
    }

    /// How many replicas are alive, once counted.
    pub(super) fn replicas(&self) -> Option<u32> {
        Some(self.replicas.load(Ordering::Relaxed)).filter(|count| *count > 0)
    }
}
