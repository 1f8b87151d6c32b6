//! What calls that pass ask of the store.

use std::time::{Duration, Instant};

use forbear::{Gate, Policy};
use http::Response;

use crate::fleet::server_side::ask;
use crate::fleet::{Finding, engine, met, options, pool, redis};

const CALLS: u64 = 100_000;

/// Commands the server got during so many calls that passed, and during as long a time without any.
pub async fn happy() -> Vec<Finding> {
    let server = redis();
    let forbear = engine(Gate::redis(options(server.addr())));
    let pool = pool(&forbear, "model");
    met().await;
    let policy = Policy::interactive(Duration::from_secs(10)).build().expect("a valid policy");
    let commands = || -> u64 {
        let info = ask(server.addr(), &["INFO", "commandstats"]);
        let calls = info.lines().filter_map(|line| line.split_once("calls=")?.1.split(',').next()?.parse::<u64>().ok());
        calls.sum()
    };
    let (before, began) = (commands(), Instant::now());
    for _ in 0..CALLS {
        assert!(pool.call(&policy).run(|_| async { Response::new(()) }).await.is_ok());
    }
    let (during, took) = (commands() - before, began.elapsed());
    let before = commands();
    tokio::time::sleep(took).await;
    let idle = commands() - before;
    // Signs of life and readings go by the clock; to look is a command.
    let findings =
        [("commands during 100000 calls that pass", during), ("commands in as long a time without calls", idle)];
    let target = "at most 20, by the clock";
    let finding = |(what, number): (&str, u64)| Finding::new(what, number.to_string(), target, number <= 20);
    findings.into_iter().map(finding).collect()
}
