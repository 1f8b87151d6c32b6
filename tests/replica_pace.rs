//! Replicas that share one pace over a real Redis: one probe, then the whole pool's slots, and each one's part without it.
#![cfg(all(feature = "redis", feature = "emulator"))]
#![allow(clippy::disallowed_methods, clippy::disallowed_types, reason = "slots are handed out in real time")]

#[path = "support/fleet.rs"]
mod fleet;
#[path = "support/server.rs"]
mod server;

use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use fleet::{eventually, options, policy, told};
use forbear::event::recorder::Recorder;
use forbear::{Forbear, Gate, GateState, Limit, Pool, provider};
use http::Response;
use server::Server;
use tokio::task::JoinSet;

const REPLICAS: usize = 4;
/// Of the whole pool, a second.
const RATE: usize = 20;
const SECOND: Duration = Duration::from_secs(1);

/// A provider with a bucket that refills evenly, which notes when requests came.
#[derive(Clone, Default)]
struct Provider(Arc<Mutex<Vec<Instant>>>);

impl Provider {
    fn arrivals(&self) -> Vec<Instant> {
        self.0.lock().expect("whole").clone()
    }

    async fn answer(&self) -> Response<()> {
        self.0.lock().expect("whole").push(Instant::now());
        tokio::time::sleep(Duration::from_millis(150)).await;
        Response::new(())
    }

    /// Used up; the next request in a second, whole again in a minute.
    fn throttle() -> Response<()> {
        let answer =
            Response::builder().status(429).header("retry-after", 1).header("x-ratelimit-limit-requests", RATE * 60);
        let answer = answer.header("x-ratelimit-remaining-requests", 0).header("x-ratelimit-reset-requests", "60s");
        answer.body(()).expect("an answer")
    }
}

struct Replica {
    _forbear: Forbear,
    pool: Pool,
    heard: Recorder,
}

impl Replica {
    fn new(server: &Server) -> Self {
        let heard = Recorder::default();
        let gate = Gate::redis(options(server).paced());
        let forbear = Forbear::builder().gate(gate).sink(heard.clone()).build().expect("an engine");
        let limit = Limit::requests_per_minute(RATE as u64 * 60);
        let pool = forbear.pool(provider::openai(), ["account", "model"]).limit(limit).build().expect("a pool");
        Self { _forbear: forbear, pool, heard }
    }
}

/// Replicas that know of each other, and whose pool the provider has just shut.
async fn shut_fleet(server: &Server) -> Vec<Replica> {
    let replicas: Vec<Replica> = (0..REPLICAS).map(|_| Replica::new(server)).collect();
    let met = |replica: &Replica| told(&replica.heard, "operation=reconcile") > 1;
    eventually("the store is up", || replicas.iter().all(met)).await;
    let hurried = policy(Duration::from_millis(100));
    let throttled = replicas[0].pool.call(&hurried).run(|_| async { Provider::throttle() });
    throttled.await.expect_err("no time to wait");
    let shut = |replica: &Replica| replica.pool.snapshot().state == GateState::Shut;
    eventually("all know", || replicas.iter().all(shut)).await;
    replicas
}

/// Callers who wait in each replica; each makes so many calls, one after the other.
fn callers(replicas: &[Replica], of_each: usize, calls: usize, provider: &Provider) -> JoinSet<usize> {
    let mut callers = JoinSet::new();
    for replica in replicas {
        for _ in 0..of_each {
            let (pool, provider) = (replica.pool.clone(), provider.clone());
            callers.spawn(async move {
                let policy = policy(Duration::from_secs(60));
                let mut failed = 0;
                for _ in 0..calls {
                    failed += usize::from(pool.call(&policy).run(|_| provider.answer()).await.is_err());
                }
                failed
            });
        }
    }
    callers
}

/// The most arrivals in any stretch of this length.
fn most_within(arrivals: &[Instant], stretch: Duration) -> usize {
    let within =
        |(at, first): (usize, &Instant)| arrivals[at..].iter().take_while(|later| **later - *first < stretch).count();
    arrivals.iter().enumerate().map(within).max().unwrap_or(0)
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn one_request_tests_the_pool_and_all_replicas_together_come_back_at_its_pace() {
    let server = Server::redis(&[]);
    let replicas = shut_fleet(&server).await;
    let provider = Provider::default();
    // Eighty calls, four seconds of them.
    let failed: usize = callers(&replicas, 20, 1, &provider).join_all().await.into_iter().sum();
    let arrivals = provider.arrivals();
    assert_eq!((failed, arrivals.len()), (0, 80));
    let (probe, rest) = (arrivals[0], &arrivals[1..]);
    assert!(rest[0] - probe >= Duration::from_millis(150), "one alone until it is answered: {:?}", rest[0] - probe);
    // A busy machine takes its slots late, never early; how close to the pace they are is measured by the benchmark.
    let took = rest[rest.len() - 1] - rest[0];
    let rate = (rest.len() - 1) as f64 / took.as_secs_f64() / RATE as f64;
    assert!(rate <= 1.1, "{rate} of the pace");
    assert!(most_within(rest, SECOND) <= RATE * 2, "{} in a second", most_within(rest, SECOND));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn without_the_store_each_replica_keeps_its_part_of_the_pace_and_with_it_again_there_is_no_step() {
    let server = Server::redis(&[]);
    let addr = server.addr();
    let replicas = shut_fleet(&server).await;
    let provider = Provider::default();
    // Always ten calls wait in each, as long as they take.
    let callers = callers(&replicas, 10, 5, &provider);
    eventually("they come back", || provider.arrivals().len() > 20).await;
    drop(server);
    let killed = Instant::now();
    tokio::time::sleep(4 * SECOND).await;
    let server = Server::redis_at(addr, &[]);
    let back = Instant::now();
    let recovered = || replicas.iter().all(|replica| told(&replica.heard, "store_recovered") == 1);
    eventually("it is relied on", recovered).await;
    let failed: usize = callers.join_all().await.into_iter().sum();
    let arrivals = provider.arrivals();
    let without = arrivals.iter().filter(|at| (killed..back).contains(*at)).count();
    assert_eq!((failed, arrivals.len()), (0, REPLICAS * 10 * 5), "nobody fails for the store's sake");
    let rate = without as f64 / (back - killed).as_secs_f64() / RATE as f64;
    assert!(rate <= 1.25, "{rate} of the pace without the store");
    let most = most_within(&arrivals[1..], SECOND);
    assert!(most <= RATE * 2, "{most} in a second");
    for replica in &replicas {
        let events = ["store_degraded", "store_recovered"].map(|word| told(&replica.heard, word));
        assert_eq!(events, [1, 1], "{}", replica.heard);
    }
    drop(server);
}
