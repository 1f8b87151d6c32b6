//! Replicas that share a pool over a Redis, and what they hear.
#![allow(dead_code, reason = "each test file uses what it needs of it")]

use std::time::{Duration, Instant};

use forbear::event::recorder::Recorder;
use forbear::{Forbear, Gate, Policy, Pool, RedisOptions, provider};

use crate::server::Server;

pub(crate) const PATIENCE: Duration = Duration::from_secs(10);

pub(crate) fn url(server: &Server) -> String {
    format!("redis://{}", server.addr())
}

pub(crate) fn options(server: &Server) -> RedisOptions {
    RedisOptions::new(url(server), "test")
}

pub(crate) fn replica(options: RedisOptions) -> (Forbear, Pool, Recorder) {
    let recorder = Recorder::default();
    let forbear = Forbear::builder().gate(Gate::redis(options)).sink(recorder.clone()).build().expect("an engine");
    let pool = forbear.pool(provider::generic(), ["account", "model"]).build().expect("a pool");
    (forbear, pool, recorder)
}

pub(crate) fn policy(deadline: Duration) -> Policy {
    Policy::interactive(deadline).build().expect("a policy")
}

/// Waits for real: news travels in real time.
#[allow(clippy::disallowed_methods, reason = "the servers of these tests live in real time")]
pub(crate) async fn eventually(what: &str, holds: impl Fn() -> bool) {
    let began = Instant::now();
    while !holds() {
        assert!(began.elapsed() < PATIENCE, "{what}: not after {PATIENCE:?}");
        tokio::time::sleep(Duration::from_millis(2)).await;
    }
}

/// How many events are told with this word.
pub(crate) fn told(recorder: &Recorder, word: &str) -> usize {
    recorder.to_string().lines().filter(|line| line.contains(word)).count()
}

/// Both replicas count two of them: they have met the store, and it knows them.
pub(crate) async fn met(replicas: [&Recorder; 2]) {
    eventually("the store is up", || replicas.iter().all(|recorder| told(recorder, "operation=reconcile") > 1)).await;
}
