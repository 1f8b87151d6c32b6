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
use forbear::{Forbear, Pool, RedisOptions};
use http::Response;
use server::Server;

/// What a replica may do and has to.
const RIGHTS: [&str; 13] = [
    "+evalsha",
    "+eval",
    "+script|load",
    "+hmget",
    "+hset",
    "+pexpire",
    "+zadd",
    "+zremrangebyscore",
    "+zcard",
    "+publish",
    "+subscribe",
    "+ping",
    "+time",
];

struct Replica {
    _forbear: Forbear,
    pool: Pool,
    heard: Recorder,
}

impl Replica {
    fn with(options: RedisOptions) -> Self {
        let (forbear, pool, heard) = replica(options);
        Self { _forbear: forbear, pool, heard }
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
async fn without_any_one_right_calls_go_on_and_throttles_hold_at_home() {
    let server = Server::redis(&[]);
    let base = "ACL SETUSER forbear on >s3cret resetkeys ~fb:1:* resetchannels &fb:1:* -@all +hello";
    for missing in RIGHTS {
        let rest: Vec<_> = RIGHTS.into_iter().filter(|right| *right != missing).collect();
        order(&server, &format!("{base} {}", rest.join(" ")));
        let alone = Replica::with(RedisOptions::new(format!("redis://forbear:s3cret@{}", server.addr()), "test"));
        assert!(alone.answered().await, "{missing}");
        alone.throttled(30).await;
        assert!(!alone.answered().await, "{missing}: its own gate knows");
        assert!(!alone.heard.to_string().contains("s3cret"), "{missing}");
        order(&server, "ACL DELUSER forbear");
        order(&server, "FLUSHALL");
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
