//! What may happen to a store: frozen, full, read-only, its scripts gone, its rights taken. No call notices.
#![cfg(all(feature = "redis", feature = "emulator"))]

#[path = "support/fleet.rs"]
mod fleet;
#[path = "support/server.rs"]
mod server;

use std::process::Command;
use std::time::Duration;

use fleet::{PATIENCE, eventually, options, policy, replica, told, url};
use forbear::event::recorder::Recorder;
use forbear::{Forbear, GateState, Pool, RedisOptions, provider};
use http::Response;
use server::Server;

/// What a replica has to be allowed.
const RIGHTS: [&str; 11] = [
    "+evalsha",
    "+script|load",
    "+hmget",
    "+hset",
    "+pexpire",
    "+zadd",
    "+zremrangebyscore",
    "+zcard",
    "+publish",
    "+subscribe",
    "+time",
];

struct Replica {
    forbear: Forbear,
    pool: Pool,
    heard: Recorder,
}

impl Replica {
    fn with(options: RedisOptions) -> Self {
        let (forbear, pool, heard) = replica(options);
        Self { forbear, pool, heard }
    }

    fn told(&self, word: &str) -> usize {
        told(&self.heard, word)
    }

    /// A call that the provider throttles for so long: it gives up at once.
    async fn throttled(&self, retry_after_s: u64) {
        let answer =
            || Response::builder().status(429).header("retry-after", retry_after_s).body(()).expect("an answer");
        let throttle = |_| async { answer() };
        self.pool.call(&policy(Duration::from_millis(100))).run(throttle).await.expect_err("no time to wait");
    }

    async fn answered(&self) -> bool {
        let answer = |_| async { Response::new(()) };
        self.pool.call(&policy(Duration::from_millis(100))).run(answer).await.is_ok()
    }
}

/// Two replicas that have met the store, and know of one another.
async fn met(server: &Server) -> [Replica; 2] {
    let replicas = [(); 2].map(|()| Replica::with(options(server)));
    fleet::met(replicas.each_ref().map(|replica| &replica.heard)).await;
    replicas
}

/// A command of an operator.
fn order(server: &Server, words: &str) {
    let client = redis::Client::open(url(server)).expect("a client");
    let mut words = words.split_whitespace();
    let mut command = redis::cmd(words.next().expect("a command"));
    words.for_each(|word| {
        command.arg(word);
    });
    command.exec(&mut client.get_connection().expect("a connection")).expect("it obeys");
}

fn signal(server: &Server, name: &str) {
    let sent = Command::new("kill").args([format!("-{name}"), server.pid().to_string()]).status();
    assert!(sent.expect("kill runs").success());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_frozen_store_stops_nobody_and_hears_what_still_holds_when_it_thaws() {
    let server = Server::redis(&[]);
    let [one, two] = met(&server).await;
    signal(&server, "STOP");
    one.throttled(30).await;
    assert!(!one.answered().await, "its own gate knows");
    for _ in 0..1000 {
        assert!(two.answered().await, "nobody could tell the other");
    }
    eventually("it is given up", || one.told("store_degraded") == 1).await;
    signal(&server, "CONT");
    eventually("the news came", || two.told("gate_shut") == 1).await;
    eventually("it is relied on again", || one.told("store_recovered") == 1).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_store_that_writes_nothing_is_given_up_once_and_no_call_fails() {
    // A replica of a server that is not there; no memory left.
    for (refuse, mend) in
        [("REPLICAOF 127.0.0.1 1", "REPLICAOF NO ONE"), ("CONFIG SET maxmemory 1", "CONFIG SET maxmemory 0")]
    {
        let server = Server::redis(&[]);
        let [one, two] = met(&server).await;
        order(&server, refuse);
        one.throttled(60).await;
        eventually(refuse, || one.told("reason=rejected") == 1).await;
        for _ in 0..1000 {
            assert!(two.answered().await, "{refuse}");
        }
        assert_eq!(one.told("store_degraded"), 1, "{refuse}: once, however often it is asked");
        order(&server, mend);
        if refuse.starts_with("REPLICAOF") {
            // As after a fail-over: nobody waits half a minute for the server that may write.
            eventually("it is relied on again", || one.told("store_recovered") == 1).await;
            assert_eq!(one.told("store_degraded"), 1, "reading alone is no recovery");
        }
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_store_that_forgot_the_scripts_is_told_them_again() {
    let server = Server::redis(&[]);
    let [one, two] = met(&server).await;
    order(&server, "SCRIPT FLUSH");
    one.throttled(30).await;
    eventually("the news came", || two.told("gate_shut") == 1).await;
    assert_eq!(one.told("store_degraded"), 0);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn without_any_one_right_calls_go_on_throttles_hold_at_home_and_it_is_told() {
    let server = Server::redis(&[]);
    let base = "ACL SETUSER forbear on >s3cret resetkeys ~fb:1:* resetchannels &fb:1:* -@all";
    for missing in RIGHTS {
        let rest: Vec<_> = RIGHTS.into_iter().filter(|right| *right != missing).collect();
        order(&server, &format!("{base} {}", rest.join(" ")));
        let alone = Replica::with(RedisOptions::new(format!("redis://forbear:s3cret@{}", server.addr()), "test"));
        assert!(alone.answered().await, "{missing}");
        alone.throttled(30).await;
        assert!(!alone.answered().await, "{missing}: its own gate knows");
        // What may not be subscribed to is read.
        let expected = usize::from(missing != "+subscribe");
        eventually(missing, || alone.told("outcome=ok") > 2 || expected == 1).await;
        eventually(missing, || alone.told("store_degraded reason=rejected") == expected).await;
        assert_eq!(alone.told("store_degraded"), expected, "{missing}: once");
        assert!(!alone.heard.to_string().contains("s3cret"), "{missing}");
        order(&server, "ACL DELUSER forbear");
        order(&server, "FLUSHALL");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_somebody_else_put_under_a_pools_key_costs_no_other_pool_its_news() {
    let server = Server::redis(&[]);
    let replicas = met(&server).await;
    let [one, two] = &replicas;
    one.throttled(1).await;
    eventually("the news came", || two.told("gate_shut") == 1).await;
    let keys: Vec<String> = {
        let client = redis::Client::open(url(&server)).expect("a client");
        let mut connection = client.get_connection().expect("a connection");
        redis::cmd("KEYS").arg("fb:1:*:gate").query(&mut connection).expect("keys")
    };
    let [key] = &keys[..] else { panic!("{keys:?}") };
    order(&server, &format!("SET {key} something"));
    let others = replicas.each_ref().map(|replica| {
        let other = replica.forbear.pool(provider::generic(), ["account", "other"]);
        other.build().expect("a pool")
    });
    let throttle = |_| async { Response::builder().status(429).header("retry-after", 30).body(()).expect("an answer") };
    others[0].call(&policy(Duration::from_millis(100))).run(throttle).await.expect_err("no time to wait");
    eventually("the other pool's news came", || two.told("gate_shut") == 2).await;
    eventually("nobody is held", || one.pool.snapshot().state == GateState::Flowing).await;
    one.throttled(30).await;
    eventually("it cannot be told", || one.told("operation=report outcome=rejected") == 1).await;
    assert!(!one.answered().await, "its own gate knows");
    assert_ne!(two.pool.snapshot().state, GateState::Shut, "nobody could tell it");
    assert_eq!([one, two].map(|replica| replica.told("store_degraded")), [0, 0]);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn nonsense_on_the_channel_reopens_nothing_holds_nobody_and_ends_no_listening() {
    let server = Server::redis(&[]);
    let replicas = met(&server).await;
    let [one, two] = &replicas;
    one.throttled(60).await;
    eventually("the news came", || two.told("gate_shut") == 1).await;
    let mut connection = redis::Client::open(url(&server)).expect("a client").get_connection().expect("a connection");
    let channels: Vec<String> =
        redis::cmd("PUBSUB").arg("CHANNELS").arg("fb:1:*").query(&mut connection).expect("channels");
    let keys: Vec<String> = redis::cmd("KEYS").arg("fb:1:*:gate").query(&mut connection).expect("keys");
    let tag = keys[0].trim_start_matches("fb:1:{").trim_end_matches("}:gate");
    // What would reopen the pool, and what an operator would order, were each field as it should be.
    let reopening = format!("1 {tag} 99999999999999 9 9 0 ramp stated request_rate 0 1 r-9");
    let order = format!("held 1 {tag} 99999999999999 60000 0 mallory nothing");
    let mut lines: Vec<Vec<u8>> = vec![Vec::new(), vec![0xff; 40], vec![b'x'; 1 << 20], b"alive 1 -1".into()];
    lines.extend([b"alive 1 99999999999999999999".into(), b"alive 1 ".into(), order.into_bytes()]);
    let fields: Vec<&str> = reopening.split(' ').collect();
    for at in 0..fields.len() {
        lines.push([&fields[..at], &fields[at + 1..]].concat().join(" ").into_bytes());
        for wrong in ["", "-1", "nan", "\u{e9}", "99999999999999999999"].into_iter().filter(|_| at + 1 < fields.len()) {
            let mut spoiled = fields.clone();
            spoiled[at] = wrong;
            lines.push(spoiled.join(" ").into_bytes());
        }
    }
    lines.push(format!("{reopening} more").into_bytes());
    lines.push(format!("{reopening}{}", "r".repeat(300)).into_bytes());
    for line in lines {
        redis::cmd("PUBLISH").arg(&channels[0]).arg(line).exec(&mut connection).expect("told");
    }
    // Whoever comes last has heard all before it.
    let other = [one, two].map(|replica| {
        let other = replica.forbear.pool(provider::generic(), ["account", "other"]);
        other.build().expect("a pool")
    });
    let throttle = |_| async { Response::builder().status(429).header("retry-after", 30).body(()).expect("an answer") };
    other[0].call(&policy(Duration::from_millis(100))).run(throttle).await.expect_err("no time to wait");
    eventually("the other pool's news came", || two.told("gate_shut") == 2).await;
    for replica in &replicas {
        let shut = replica.pool.snapshot().shut.expect("it is shut");
        assert!(shut.reopens_in > Duration::from_secs(45) && shut.by_hand.is_none(), "{shut:?}");
        assert_eq!(["store_degraded", "gate_operated", "gate_reopened"].map(|word| replica.told(word)), [0, 0, 0]);
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_hundred_thousand_calls_that_pass_are_no_command() {
    let server = Server::redis(&[]);
    let [one, _two] = met(&server).await;
    let commands = || -> u64 {
        let client = redis::Client::open(url(&server)).expect("a client");
        let mut connection = client.get_connection().expect("a connection");
        let info: String = redis::cmd("INFO").arg("commandstats").query(&mut connection).expect("statistics");
        let calls = info.lines().filter_map(|line| line.split_once("calls=")?.1.split(',').next()?.parse::<u64>().ok());
        calls.sum()
    };
    let before = commands();
    let policy = policy(PATIENCE);
    for _ in 0..100_000 {
        one.pool.call(&policy).run(|_| async { Response::new(()) }).await.expect("an answer");
    }
    // Signs of life, readings and heartbeats go on by the clock, whatever the calls; looking is a command as well.
    let during = commands() - before;
    assert!(during < 100, "{during} commands for 100000 calls");
}
