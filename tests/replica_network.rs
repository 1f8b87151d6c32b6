//! Replicas and their store over a network that is slow, cut, or leads to another server; clocks that are wrong.
#![cfg(all(feature = "redis", feature = "emulator"))]
#![allow(clippy::disallowed_methods, clippy::disallowed_types, reason = "networks are slow in real time")]

#[path = "support/fleet.rs"]
mod fleet;
#[path = "support/proxy.rs"]
mod proxy;
#[path = "support/server.rs"]
mod server;

use std::time::{Duration, Instant};

use fleet::{eventually, met, options, policy, replica, told};
use forbear::{Forbear, Gate, Limit, Pool, RedisOptions, provider};
use http::Response;
use proxy::{Mode, Proxy};
use server::Server;

const SECOND: Duration = Duration::from_secs(1);

fn behind(proxy: &Proxy) -> RedisOptions {
    RedisOptions::new(format!("redis://{}", proxy.addr()), "test")
}

/// A call that the provider throttles for so long: it gives up at once.
async fn throttled(pool: &Pool, retry_after_s: u64) {
    let answer = || Response::builder().status(429).header("retry-after", retry_after_s).body(()).expect("an answer");
    pool.call(&policy(SECOND / 10)).run(|_| async { answer() }).await.expect_err("no time to wait");
}

async fn answered(pool: &Pool) -> bool {
    pool.call(&policy(SECOND / 10)).run(|_| async { Response::new(()) }).await.is_ok()
}

fn reopens_in(pool: &Pool) -> Duration {
    pool.snapshot().shut.expect("shut").reopens_in
}

/// To connect and to ask takes two trips there and back, of the 250 ms after which a store is slow: what is left is for a
/// busy machine.
const WAY: Duration = Duration::from_millis(40);

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_slow_way_delays_news_and_nothing_else() {
    let server = Server::redis(&[]);
    let proxy = Proxy::before(server.addr()).await;
    proxy.set(Mode::Delay(WAY));
    let (_one, first, heard_first) = replica(behind(&proxy));
    let (_two, second, heard_second) = replica(behind(&proxy));
    met([&heard_first, &heard_second]).await;
    throttled(&first, 30).await;
    let (seen, ends_in) = (Instant::now(), reopens_in(&first));
    eventually("the news came", || told(&heard_second, "gate_shut") == 1).await;
    // To the store and from there; what is left is told as of when it was told, so the way makes it longer.
    let (took, late) = (seen.elapsed(), reopens_in(&second) + seen.elapsed());
    assert!(took >= 2 * WAY, "{took:?}");
    assert!(late >= ends_in && late <= ends_in + took, "{late:?} instead of {ends_in:?}, after {took:?}");
    assert_eq!((told(&heard_first, "store_degraded"), told(&heard_second, "store_degraded")), (0, 0));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn two_sides_that_cannot_meet_live_by_what_each_sees_and_the_later_end_holds_when_they_can() {
    let server = Server::redis(&[]);
    let proxy = Proxy::before(server.addr()).await;
    let (_one, here, heard_here) = replica(options(&server));
    let (_two, there, heard_there) = replica(behind(&proxy));
    met([&heard_here, &heard_there]).await;
    proxy.set(Mode::Drop);
    throttled(&here, 60).await;
    for _ in 0..1_000 {
        assert!(answered(&there).await, "nobody could tell it");
    }
    throttled(&there, 30).await;
    assert!(!answered(&there).await, "its own gate knows");
    eventually("the store is given up", || told(&heard_there, "reason=slow") == 1).await;
    proxy.set(Mode::Pass);
    eventually("the later end is heard", || reopens_in(&there) > 40 * SECOND).await;
    assert!(reopens_in(&here) > 40 * SECOND, "the shorter shortens nothing");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn news_that_no_channel_brings_is_read_within_two_and_a_half_seconds() {
    let server = Server::redis(&[]);
    let proxy = Proxy::before(server.addr()).await;
    let (_one, first, heard_first) = replica(options(&server));
    let (_two, _second, heard_second) = replica(behind(&proxy));
    met([&heard_first, &heard_second]).await;
    proxy.set(Mode::NoNews);
    let read = told(&heard_second, "operation=reconcile");
    eventually("it reads instead", || told(&heard_second, "operation=reconcile") > read).await;
    throttled(&first, 60).await;
    let seen = Instant::now();
    eventually("the news was read", || told(&heard_second, "gate_shut") == 1).await;
    let took = seen.elapsed();
    assert!(took <= SECOND * 5 / 2, "{took:?}");
    assert_eq!(told(&heard_second, "store_degraded"), 0);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_servers_clock_an_hour_off_changes_no_end() {
    for shift in [3_600, -3_600] {
        let server = Server::redis_with_clock(shift);
        let (_one, first, heard_first) = replica(options(&server));
        let (_two, second, heard_second) = replica(options(&server));
        met([&heard_first, &heard_second]).await;
        throttled(&first, 30).await;
        eventually("the news came", || told(&heard_second, "gate_shut") == 1).await;
        let (ours, theirs) = (reopens_in(&first), reopens_in(&second));
        let apart = ours.abs_diff(theirs);
        assert!(apart < SECOND / 4, "{shift} s: {ours:?} here, {theirs:?} there");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_server_that_takes_over_with_another_clock_and_without_the_last_writes_changes_no_end() {
    let (primary, standby) = (Server::redis(&[]), Server::redis_with_clock(3_600));
    let proxy = Proxy::before(primary.addr()).await;
    let (_one, first, heard_first) = replica(behind(&proxy));
    let (_two, second, heard_second) = replica(behind(&proxy));
    met([&heard_first, &heard_second]).await;
    throttled(&first, 60).await;
    eventually("the news came", || told(&heard_second, "gate_shut") == 1).await;
    let (shut, ends_in) = (Instant::now(), reopens_in(&first));
    proxy.lead_to(standby.addr());
    drop(primary);
    eventually("it is told again", || told(&heard_first, "shut_reasserted") >= 1).await;
    let (_three, late, heard_late) = replica(behind(&proxy));
    eventually("the late one knows", || told(&heard_late, "gate_shut") == 1).await;
    for pool in [&first, &second, &late] {
        let ends = reopens_in(pool) + shut.elapsed();
        assert!(ends.abs_diff(ends_in) < SECOND / 4, "{ends:?} instead of {ends_in:?}");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn all_keys_of_a_pool_lie_in_one_slot_of_a_cluster() {
    let folder = server::empty_folder(env!("CARGO_TARGET_TMPDIR"), "cluster");
    let (folder, bus) = (folder.to_str().expect("a plain path"), server::free_addr().port().to_string());
    let server = Server::redis(&["--cluster-enabled", "yes", "--cluster-port", &bus, "--dir", folder]);
    let client = redis::Client::open(fleet::url(&server)).expect("a client");
    let mut connection = client.get_connection().expect("a connection");
    redis::cmd("CLUSTER").arg("ADDSLOTSRANGE").arg(0).arg(16_383).exec(&mut connection).expect("one has all slots");
    let slots =
        || redis::cmd("CLUSTER").arg("INFO").query::<String>(&mut client.get_connection().expect("a connection"));
    eventually("the cluster is up", || slots().is_ok_and(|info| info.contains("cluster_state:ok"))).await;
    let heard = [(); 2].map(|()| forbear::event::recorder::Recorder::default());
    let fleet = heard.each_ref().map(|heard| {
        let gate = Gate::redis(options(&server).paced());
        let forbear = Forbear::builder().gate(gate).sink(heard.clone()).build().expect("an engine");
        let limit = Limit::requests_per_minute(600);
        // A name that would choose a slot of its own, were it not hashed.
        let pool = forbear.pool(provider::generic(), ["}{other", "model"]).limit(limit).build().expect("a pool");
        (forbear, pool)
    });
    met(heard.each_ref()).await;
    throttled(&fleet[0].1, 1).await;
    eventually("the news came", || told(&heard[1], "gate_shut") == 1).await;
    let operator = forbear::Operator::new(&options(&server), "alice").expect("in range");
    let patient = policy(10 * SECOND);
    let calls = fleet.each_ref().map(|(_, pool)| pool.call(&patient).run(|_| async { Response::new(()) }));
    for call in calls {
        assert!(call.await.is_ok());
    }
    let pool = forbear::PoolName::new("generic", ["}{other", "model"]);
    assert_eq!(operator.shut(&pool, SECOND, "x").await.expect("told"), 2);
    operator.reopen(&pool, "x").await.expect("told");
    for heard in &heard {
        assert!(!heard.to_string().contains("rejected"), "CROSSSLOT, or MOVED: {heard}");
        assert!(told(heard, "operation=permit outcome=ok") >= 1, "{heard}");
    }
}
