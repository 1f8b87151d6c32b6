//! Several replicas and one pool, over a real Redis: what one meets, all know, and nobody needs the store to live.
#![cfg(all(feature = "redis", feature = "emulator"))]

#[path = "support/fleet.rs"]
mod fleet;
#[path = "support/server.rs"]
mod server;

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use fleet::{PATIENCE, eventually, met, options, policy, replica, told};
use forbear::{RedisOptions, provider};
use http::Response;
use server::Server;

/// A provider in the test's own hands: throttles its first requests, counts all.
#[derive(Clone, Default)]
struct Provider {
    requests: Arc<AtomicU64>,
    throttles: Arc<AtomicU64>,
}

impl Provider {
    fn throttling(times: u64) -> Self {
        Self { throttles: Arc::new(AtomicU64::new(times)), ..Self::default() }
    }

    fn requests(&self) -> u64 {
        self.requests.load(Ordering::SeqCst)
    }

    fn answer(&self, retry_after_s: u64) -> Response<()> {
        self.requests.fetch_add(1, Ordering::SeqCst);
        let throttle = |left: u64| left.checked_sub(1);
        match self.throttles.fetch_update(Ordering::SeqCst, Ordering::SeqCst, throttle) {
            Ok(_) => Response::builder().status(429).header("retry-after", retry_after_s).body(()).expect("an answer"),
            Err(_) => Response::new(()),
        }
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_throttle_one_replica_meets_holds_back_the_others() {
    let server = Server::redis(&[]);
    let (_one, first, heard_first) = replica(options(&server));
    let (_two, second, heard_second) = replica(options(&server));
    met([&heard_first, &heard_second]).await;
    let provider = Provider::throttling(1);
    let refused = first.call(&policy(Duration::from_millis(200))).run(|_| async { provider.answer(3) }).await;
    assert!(refused.is_err(), "three seconds do not fit in a fifth of one");
    eventually("the news came", || told(&heard_second, "gate_shut") == 1).await;
    let refused = second.call(&policy(Duration::from_millis(200))).run(|_| async { provider.answer(3) }).await;
    assert!(refused.expect_err("shut").is_refused_by_gate());
    assert_eq!(provider.requests(), 1, "the other replica sent nothing");
    // It comes back when the provider said, by itself.
    let answer = second.call(&policy(PATIENCE)).run(|_| async { provider.answer(3) }).await;
    assert!(answer.is_ok(), "{answer:?}");
    assert_eq!(provider.requests(), 2);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_pool_of_another_name_or_namespace_hears_nothing() {
    let server = Server::redis(&[]);
    let (_one, first, heard_first) = replica(options(&server));
    let (two, _second, heard_second) = replica(options(&server));
    let other = two.pool(provider::generic(), ["account", "other"]).build().expect("a pool");
    let staging = RedisOptions::new(format!("redis://{}", server.addr()), "staging");
    let (_three, elsewhere, _) = replica(staging);
    met([&heard_first, &heard_second]).await;
    let provider = Provider::throttling(1);
    let _ = first.call(&policy(Duration::from_millis(200))).run(|_| async { provider.answer(30) }).await;
    eventually("the news came", || told(&heard_second, "gate_shut") == 1).await;
    for pool in [other, elsewhere] {
        let answer = pool.call(&policy(Duration::from_millis(200))).run(|_| async { provider.answer(30) }).await;
        assert!(answer.is_ok(), "{answer:?}");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_service_starts_without_its_store_and_the_store_may_come_later() {
    let addr = server::free_addr();
    let absent = || RedisOptions::new(format!("redis://{addr}"), "test");
    let (_one, first, heard_first) = replica(absent());
    let (_two, second, heard_second) = replica(absent());
    eventually("its absence is told", || told(&heard_first, "reason=absent") == 1).await;
    let provider = Provider::throttling(1);
    let _ = first.call(&policy(Duration::from_millis(200))).run(|_| async { provider.answer(20) }).await;
    let answer = second.call(&policy(Duration::from_millis(200))).run(|_| async { provider.answer(20) }).await;
    assert!(answer.is_ok(), "nobody could tell it: {answer:?}");
    let _server = Server::redis_at(addr, &[]);
    // What the first found while nobody could be told is told now.
    eventually("the news came", || told(&heard_second, "gate_shut") == 1).await;
    assert_eq!((told(&heard_first, "store_degraded"), told(&heard_first, "store_recovered")), (1, 1));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_shut_the_store_lost_is_told_again() {
    let server = Server::redis(&[]);
    let addr = server.addr();
    let (_one, first, heard_first) = replica(options(&server));
    let (_two, _second, heard_second) = replica(options(&server));
    met([&heard_first, &heard_second]).await;
    let provider = Provider::throttling(1);
    let _ = first.call(&policy(Duration::from_millis(200))).run(|_| async { provider.answer(60) }).await;
    eventually("the news came", || told(&heard_second, "gate_shut") == 1).await;
    drop(server);
    let server = Server::redis_at(addr, &[]);
    eventually("it is told again", || told(&heard_first, "shut_reasserted") >= 1).await;
    // One who comes now knows it too.
    let (_three, late, heard_late) = replica(options(&server));
    eventually("the late one knows", || told(&heard_late, "gate_shut") == 1).await;
    let refused = late.call(&policy(Duration::from_millis(200))).run(|_| async { provider.answer(60) }).await;
    assert!(refused.expect_err("shut").is_refused_by_gate());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_least_rights_suffice_and_no_password_is_told() {
    let rights = "forbear on >s3cret resetkeys ~fb:1:* resetchannels &fb:1:* -@all +evalsha +script|load \
                  +hmget +hset +pexpire +zadd +zremrangebyscore +zcard +publish +subscribe +time";
    let server = Server::redis(&[]);
    let mut admin = redis::Client::open(format!("redis://{}", server.addr())).expect("a client").get_connection();
    let admin = admin.as_mut().expect("a connection");
    redis::cmd("ACL").arg("SETUSER").arg(rights.split_whitespace().collect::<Vec<_>>()).exec(admin).expect("a user");
    let url = format!("redis://forbear:s3cret@{}", server.addr());
    let (_one, first, heard_first) = replica(RedisOptions::new(url.clone(), "test"));
    let (_two, _second, heard_second) = replica(RedisOptions::new(url, "test"));
    met([&heard_first, &heard_second]).await;
    let provider = Provider::throttling(1);
    let _ = first.call(&policy(Duration::from_millis(200))).run(|_| async { provider.answer(60) }).await;
    eventually("the news came", || told(&heard_second, "gate_shut") == 1).await;
    let lines = format!("{heard_first}{heard_second}");
    assert!(!lines.contains("rejected") && !lines.contains("s3cret"), "{lines}");
}
