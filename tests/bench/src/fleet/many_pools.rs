//! Ten thousand pools: what they take in the server, and what they cost a replica that does nothing.

use std::time::Duration;

use forbear::{Gate, Policy};
use http::Response;
use nix::time::{ClockId, clock_gettime};
use tokio::time::sleep;

use crate::fleet::server_side::{ask, number};
use crate::fleet::{Finding, engine, met, options, pool, redis, throttle};

const POOLS: usize = 10_000;
/// A reading of all pools, and a sign of life, fall into it.
const IDLE: Duration = Duration::from_secs(20);
const WITHOUT_END: &str = "local n = 0 for _, key in ipairs(redis.call('KEYS', '*')) do \
                           if redis.call('PTTL', key) < 0 then n = n + 1 end end return n";

/// Memory and times to live of pools that were all throttled; CPU of a replica that has used as many and is idle.
pub async fn many_pools() -> Vec<Finding> {
    let server = redis();
    let addr = server.addr();
    let policy = Policy::interactive(Duration::from_secs(1)).attempts(1).build().expect("a valid policy");

    let idle = {
        let forbear = engine(Gate::redis(options(addr)));
        let pools: Vec<_> = (0..POOLS).map(|index| pool(&forbear, &index.to_string())).collect();
        for pool in &pools {
            assert!(pool.call(&policy).run(|_| async { Response::new(()) }).await.is_ok());
        }
        sleep(Duration::from_secs(2)).await;
        let before = process_cpu();
        sleep(IDLE).await;
        (process_cpu() - before).as_secs_f64() / IDLE.as_secs_f64()
    };

    let forbear = engine(Gate::redis(options(addr)));
    met().await;
    let before = number(addr, "memory", "used_memory");
    let pools: Vec<_> = (0..POOLS).map(|index| pool(&forbear, &index.to_string())).collect();
    for pool in &pools {
        assert!(pool.call(&policy).run(|_| async { throttle(300) }).await.is_err());
    }
    while count(addr) < POOLS as u64 {
        sleep(Duration::from_millis(100)).await;
    }
    let used = (number(addr, "memory", "used_memory") - before) as f64 / 1_000_000.0;
    let endless = ask(addr, &["EVAL", WITHOUT_END, "0"]);
    vec![
        Finding::new(
            "one replica with 10000 pools in use, idle, of one core",
            format!("{:.2} %", idle * 100.0),
            "at most 1 %",
            idle <= 0.01,
        ),
        Finding::new("10000 pools that are shut, in the server", format!("{used:.1} MB"), "at most 4 MB", used <= 4.0),
        Finding::new("keys that never expire", endless.clone(), "0", endless == "0"),
    ]
}

fn count(addr: std::net::SocketAddr) -> u64 {
    ask(addr, &["DBSIZE"]).parse().expect("a number")
}

fn process_cpu() -> Duration {
    let time = clock_gettime(ClockId::CLOCK_PROCESS_CPUTIME_ID).expect("a clock every Linux has");
    Duration::new(time.tv_sec().unsigned_abs(), u32::try_from(time.tv_nsec()).unwrap_or(0))
}
