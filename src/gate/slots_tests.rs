//! Replicas that share a pace, in virtual time, over a store that is what its rules in Rust say.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, Weak};

use super::*;
use crate::clock::{Clock, SharedDice};
use crate::core::gate::Pass;
use crate::core::signal::{Dimension, LimitClass, Part, QuotaWindow, Quotas, Signal, StatedDelay};
use crate::event::PoolLabels;
use crate::gate::{Trunk, Turn};
use crate::store::entry::{Entry, Told};
use crate::store::{Hears, Link, PoolId, Report, Store};

const REPLICAS: u32 = 8;
/// Of the whole pool, a second.
const RATE: u64 = 20;
const HORIZON: Duration = Duration::from_secs(1);
const S: Duration = Duration::from_secs(1);

/// What the replicas share, and when requests came.
#[derive(Clone)]
struct World {
    clock: Clock,
    is_up: Arc<AtomicBool>,
    entry: Arc<Mutex<Option<Entry>>>,
    arrivals: Arc<Mutex<Vec<Duration>>>,
}

/// One replica's way to the store: a millisecond long.
struct Way {
    world: World,
    gate: Weak<dyn Hears>,
}

impl Link for Way {
    fn report(&self, report: Report) {
        let now = self.world.clock.now();
        let wait = now.until(report.shut.until);
        let told = Told { admitted: 0, wait, seen_at: Some(now), end: report.shut.end, class: report.shut.class };
        let mut entry = self.world.entry.lock().expect("whole");
        *entry = Entry::after_report(*entry, &told, now).map(|(entry, _)| entry).or(*entry);
    }

    fn reopened(&self) {
        let mut entry = self.world.entry.lock().expect("whole");
        let round = entry.map_or(0, |entry| entry.round);
        *entry = Entry::after_probe(*entry, round, self.world.clock.now()).or(*entry);
    }

    fn is_paced(&self) -> bool {
        true
    }

    fn is_up(&self) -> bool {
        self.world.is_up.load(Ordering::Relaxed)
    }

    fn want(&self, want: Want) {
        let (world, gate) = (self.world.clone(), Weak::clone(&self.gate));
        tokio::spawn(async move {
            world.clock.sleep_until(world.clock.now().after(S / 1_000)).await;
            let now = world.clock.now();
            let grant = world.is_up.load(Ordering::Relaxed).then(|| {
                let mut entry = world.entry.lock().expect("whole");
                let (after, grant) = Entry::after_permit(*entry, want, HORIZON, now);
                *entry = Some(after);
                grant
            });
            if let Some(gate) = gate.upgrade() {
                gate.granted(grant.as_ref(), now);
            }
        });
    }

    fn replicas(&self) -> u32 {
        REPLICAS
    }
}

impl Store for World {
    fn link(&self, _: &PoolId, gate: Weak<dyn Hears>) -> Arc<dyn Link> {
        Arc::new(Way { world: self.clone(), gate })
    }

    fn replicas(&self) -> Option<u32> {
        Some(REPLICAS)
    }

    fn is_up(&self) -> bool {
        self.is_up.load(Ordering::Relaxed)
    }
}

impl World {
    fn new() -> Self {
        Self {
            clock: Clock::new(),
            is_up: Arc::new(AtomicBool::new(true)),
            entry: Arc::default(),
            arrivals: Arc::default(),
        }
    }

    /// A replica whose pool a throttle has just shut for a second: of a bucket of [`RATE`], or of nothing anybody knows.
    fn replica(&self, seed: u64, limit_known: bool) -> Arc<Node> {
        let trunk = Trunk::new(self.clock, SharedDice::from_seed(seed), true, |_, _| {});
        let core = LazyCore::new(S);
        let node = Node::attach(Arc::new(trunk), PoolLabels::new("openai", "pool"), None, core, None, 10_000);
        node.join(self, &PoolId { provider: "openai", path: vec!["pool".to_owned()] });
        let now = self.clock.now();
        let mut signal = Signal::throttle(LimitClass::RequestRate);
        if limit_known {
            signal = signal.stating(StatedDelay::new(S, Part::Header, "retry-after"));
            node.with_level(0, |core| core.know_limit(Dimension::Requests, RATE * 60, S * 60, REPLICAS));
            let mut quotas = Quotas::default();
            let reading = quotas.entry(Dimension::Requests, QuotaWindow::Minute).expect("there is room");
            (reading.limit, reading.remaining, reading.reset) = (Some(RATE * 60), Some(0), Some(S * 60));
            node.read(0, &quotas, &signal, now);
        }
        node.report(0, Pass { at: now, probe: false }, &signal, now);
        node
    }

    /// One who always calls, and is answered after 150 ms.
    fn caller(&self, node: &Arc<Node>) {
        let (world, node) = (self.clone(), Arc::clone(node));
        tokio::spawn(async move {
            loop {
                let now = world.clock.now();
                let deadline = now.after(S * 3_600);
                let permit = Turn::new(&node, now, deadline, true, true).await.expect("there is time");
                let sent_at = world.clock.now();
                world.arrivals.lock().expect("whole").push(sent_at.elapsed_since_start());
                world.clock.sleep_until(sent_at.after(S * 3 / 20)).await;
                permit.succeeded(sent_at, world.clock.now());
            }
        });
    }

    async fn until(&self, seconds: u64) {
        self.clock.sleep_until(Moment::since_start(S * seconds as u32)).await;
    }

    fn set_up(&self, is: bool) {
        self.is_up.store(is, Ordering::Relaxed);
    }

    /// How many came between these seconds.
    fn between(&self, from: u64, to: u64) -> usize {
        let seconds = S * from as u32..S * to as u32;
        self.arrivals.lock().expect("whole").iter().filter(|at| seconds.contains(*at)).count()
    }

    /// The most that came in any second.
    fn most(&self) -> usize {
        let arrivals = self.arrivals.lock().expect("whole");
        let within =
            |(at, first): (usize, &Duration)| arrivals[at..].iter().take_while(|later| **later - *first < S).count();
        arrivals.iter().enumerate().map(within).max().unwrap_or(0)
    }
}

#[tokio::test(start_paused = true)]
async fn no_second_has_more_than_the_pace_and_a_batch_when_the_store_goes_nor_when_it_comes_back() {
    for seed in 0..4 {
        let world = World::new();
        for replica in 0..u64::from(REPLICAS) {
            let node = world.replica(seed * 100 + replica, true);
            (0..10).for_each(|_| world.caller(&node));
        }
        world.until(8).await;
        world.set_up(false);
        world.until(20).await;
        world.set_up(true);
        world.until(30).await;
        let (with, without) = (world.between(3, 8), world.between(8, 20));
        assert!((95..=105).contains(&with), "seed {seed}: {with} in 5 s");
        assert!((210..=250).contains(&without), "seed {seed}: {without} in 12 s without the store");
        let most = world.most();
        assert!(most <= RATE as usize + MOST_AT_ONCE, "seed {seed}: {most} in a second");
    }
}

#[tokio::test(start_paused = true)]
async fn what_nobody_knows_each_finds_out_as_many_times_as_seldom_while_nobody_can_tell_the_others() {
    let world = World::new();
    world.set_up(false);
    for replica in 0..u64::from(REPLICAS) {
        let node = world.replica(replica, false);
        (0..10).for_each(|_| world.caller(&node));
    }
    world.until(26).await;
    // Together they begin as one would, with four a second, and are twice as fast each eight seconds.
    for (from, to, a_second) in [(2, 9, 4), (10, 17, 8), (18, 25, 16)] {
        let (came, expected) = (world.between(from, to), (to - from) as usize * a_second);
        assert!((expected * 7 / 10..=expected * 13 / 10).contains(&came), "{came} from {from} s to {to} s");
    }
}
