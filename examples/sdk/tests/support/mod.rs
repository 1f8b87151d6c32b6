//! A provider, a pool and what is counted.
#![allow(dead_code, reason = "each test file uses what it needs of it")]

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use forbear::core::rule::Table;
use forbear::emulator::{Emulator, EmulatorBuilder};
use forbear::event::catalogue::Metric;
use forbear::event::totals::Totals;
use forbear::{Forbear, Policy};
use forbear_sdk_examples::Through;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpListener;

pub(crate) const S: Duration = Duration::from_secs(1);

/// A provider that throttles, and one pool whose calls are counted.
pub(crate) struct World {
    pub(crate) emulator: Emulator,
    pub(crate) totals: Totals,
    pub(crate) through: Through,
}

impl World {
    /// Whoever calls makes at most `attempts`.
    pub(crate) async fn new(table: Table, attempts: u32) -> Self {
        Self::of(Emulator::builder().speaks(table), table, attempts).await
    }

    /// The same with an emulator that was told more.
    pub(crate) async fn of(emulator: EmulatorBuilder, table: Table, attempts: u32) -> Self {
        let emulator = emulator.start().await.expect("started");
        let totals = Totals::new();
        let forbear = Forbear::builder().no_budget().sink(totals.clone()).build().expect("valid settings");
        let pool = forbear.pool(table, ["ours", "model"]).build().expect("a valid pool");
        let policy = Policy::interactive(30 * S).attempts(attempts).build().expect("a valid policy");
        Self { emulator, totals, through: Through::new(pool, policy) }
    }

    /// Requests at the provider, those a tap saw leave, attempts, calls.
    pub(crate) fn counted(&self) -> [u64; 4] {
        let count = |metric| self.totals.count(metric, "ours/model", &[]);
        let requests = self.emulator.counts().requests;
        [requests, count(Metric::WireRequests), count(Metric::Attempts), count(Metric::Calls)]
    }

    pub(crate) fn in_flight(&self) -> u32 {
        self.through.pool.snapshot().in_flight
    }
}

/// A client whose own retries are off.
pub(crate) fn http() -> reqwest::Client {
    reqwest::Client::builder().no_proxy().retry(reqwest::retry::never()).build().expect("a client")
}

/// A server that gives these answers one after another, the last one ever after, and leaves connections open.
pub(crate) struct Script {
    pub(crate) url: String,
    answered: Arc<AtomicUsize>,
}

impl Script {
    pub(crate) async fn start(answers: &[String]) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a free port");
        let url = format!("http://{}", listener.local_addr().expect("it listens"));
        let answered = Arc::new(AtomicUsize::new(0));
        let (answers, count) = (answers.to_vec(), Arc::clone(&answered));
        tokio::spawn(async move {
            while let Ok((mut socket, _)) = listener.accept().await {
                let (answers, count) = (answers.clone(), Arc::clone(&count));
                tokio::spawn(async move {
                    let mut request = [0; 16_384];
                    while socket.read(&mut request).await.is_ok_and(|read| read > 0) {
                        let answer = &answers[count.fetch_add(1, Ordering::Relaxed).min(answers.len() - 1)];
                        if socket.write_all(answer.as_bytes()).await.is_err() {
                            return;
                        }
                    }
                });
            }
        });
        Self { url, answered }
    }

    /// How many requests it answered.
    pub(crate) fn answered(&self) -> usize {
        self.answered.load(Ordering::Relaxed)
    }
}

/// A throttle that states a second.
pub(crate) fn throttle() -> String {
    let body = r#"{"error":{"message":"Rate limit reached on requests per min (RPM)","type":"requests","code":"rate_limit_exceeded"}}"#;
    format!(
        "HTTP/1.1 429 Too Many Requests\r\nretry-after: 1\r\ncontent-type: application/json\r\ncontent-length: {}\r\n\r\n{body}",
        body.len()
    )
}

/// A stream that stays open after these events.
pub(crate) fn stream(events: &str) -> String {
    format!("HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\n\r\n{events}")
}
