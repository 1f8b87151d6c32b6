//! Eight replicas that share one pace, and half a minute without their store.

use std::time::{Duration, Instant};

use forbear::event::recorder::Recorder;
use forbear::{Forbear, Gate, Policy, Pool};
use http::Response;
use tokio::task::JoinSet;
use tokio::time::sleep;

use crate::fleet::arrivals::{ANSWERS_AFTER, Provider, most_in_a_second};
use crate::fleet::{Finding, limited_pool, met, options, pool, quantile, redis};
use crate::server::Server;

const REPLICAS: usize = 8;
const CALLERS: usize = 10;
/// Of the whole pool, a second.
const RATE: usize = 20;
const AWAY: Duration = Duration::from_secs(30);
/// Before it goes, and after it came back.
const WITH: Duration = Duration::from_secs(8);

/// One probe and the pace after a shut; the pace, other calls and failures while the store is killed; recovery.
pub async fn outage() -> Vec<Finding> {
    let server = redis();
    let addr = server.addr();
    let heard: Vec<Recorder> = (0..REPLICAS).map(|_| Recorder::new()).collect();
    let engine = |heard: &Recorder| {
        let gate = Gate::redis(options(addr).paced());
        Forbear::builder().gate(gate).sink(heard.clone()).build().expect("valid settings")
    };
    let fleet: Vec<Forbear> = heard.iter().map(engine).collect();
    let pools: Vec<Pool> = fleet.iter().map(|forbear| limited_pool(forbear, RATE as u64 * 60)).collect();
    met().await;
    let hurried = Policy::interactive(Duration::from_millis(100)).build().expect("a valid policy");
    assert!(pools[0].call(&hurried).run(|_| async { used_up() }).await.is_err());
    // All know: what is on its way when a pool shuts is nobody's fault.
    sleep(Duration::from_millis(200)).await;

    let (provider, until) = (Provider::default(), Instant::now() + WITH + AWAY + WITH);
    let mut callers = JoinSet::new();
    for pool in &pools {
        for _ in 0..CALLERS {
            callers.spawn(keeps_asking(pool.clone(), provider.clone(), until));
        }
    }
    let others = tokio::spawn(asks_a_healthy_pool(pool(&fleet[1], "healthy"), until));
    sleep(WITH).await;
    drop(server);
    let killed = Instant::now();
    sleep(AWAY).await;
    let server = Server::redis_at(addr, &[]);
    let back = Instant::now();
    let recovered = |heard: &Recorder| heard.to_string().contains("store_recovered");
    while !heard.iter().all(recovered) {
        sleep(Duration::from_millis(20)).await;
    }
    let recovered_after = back.elapsed();
    let failed: usize = callers.join_all().await.into_iter().sum();
    let others = others.await.expect("it ended well");

    let arrivals = provider.arrivals();
    let between = |from: Instant, to: Instant| arrivals.iter().filter(|at| (from..to).contains(*at)).count();
    let alone = arrivals[1..].iter().take_while(|at| **at < arrivals[0] + ANSWERS_AFTER).count();
    // From the probe's answer on.
    let began = arrivals[1];
    let rate = between(began, killed) as f64 / (killed - began).as_secs_f64() / RATE as f64;
    let without = between(killed, back) as f64 / AWAY.as_secs_f64() / RATE as f64;
    let most = most_in_a_second(&arrivals[1..]);
    let mut split = [Vec::new(), Vec::new()];
    others.into_iter().for_each(|(at, took)| split[usize::from(at >= killed && at < back)].push(took));
    let [with, during] = split.map(|mut times| quantile(&mut times, 0.99));
    let events = |heard: &Recorder| {
        heard
            .to_string()
            .lines()
            .filter(|line| line.contains("store_degraded") || line.contains("store_recovered"))
            .count()
    };
    let events: Vec<usize> = heard.iter().map(events).collect();
    drop(server);
    vec![
        Finding::new("requests beside the probe, until it is answered", alone.to_string(), "0", alone == 0),
        Finding::new(
            "arrivals at the shared pace, of the rate",
            format!("{rate:.3}"),
            "0.9 to 1.1",
            (0.9..=1.1).contains(&rate),
        ),
        Finding::new(
            "most arrivals in a second, all the time",
            most.to_string(),
            format!("at most {} + a batch", RATE),
            most <= RATE + 4,
        ),
        Finding::new("calls that failed", failed.to_string(), "0", failed == 0),
        Finding::new(
            "arrivals while it is killed, of the rate",
            format!("{without:.3}"),
            "at most 1.25",
            without <= 1.25,
        ),
        Finding::new(
            "p99 of a healthy pool's calls, with and without it",
            format!("{with:.1?}, {during:.1?}"),
            "within 1 ms",
            during <= with + Duration::from_millis(1),
        ),
        Finding::new(
            "relied on again after",
            format!("{recovered_after:.1?}"),
            "at most 3 s",
            recovered_after <= Duration::from_secs(3),
        ),
        Finding::new(
            "store events of each replica",
            format!("{events:?}"),
            "2 each",
            events.iter().all(|events| *events == 2),
        ),
    ]
}

/// Used up; the next request in a second, whole again in a minute: a bucket.
fn used_up() -> Response<()> {
    let answer =
        Response::builder().status(429).header("retry-after", 1).header("x-ratelimit-limit-requests", RATE * 60);
    let answer = answer.header("x-ratelimit-remaining-requests", 0).header("x-ratelimit-reset-requests", "60s");
    answer.body(()).expect("a well-formed answer")
}

async fn keeps_asking(pool: Pool, provider: Provider, until: Instant) -> usize {
    let policy = Policy::interactive(Duration::from_secs(60)).build().expect("a valid policy");
    let mut failed = 0;
    while Instant::now() < until {
        failed += usize::from(pool.call(&policy).run(|_| provider.answer()).await.is_err());
    }
    failed
}

/// When each call began and how long it took.
async fn asks_a_healthy_pool(pool: Pool, until: Instant) -> Vec<(Instant, Duration)> {
    let policy = Policy::interactive(Duration::from_secs(60)).build().expect("a valid policy");
    let mut times = Vec::new();
    while Instant::now() < until {
        let began = Instant::now();
        assert!(pool.call(&policy).run(|_| async { Response::new(()) }).await.is_ok());
        times.push((began, began.elapsed()));
        sleep(Duration::from_millis(2)).await;
    }
    times
}
