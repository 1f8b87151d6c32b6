//! What a throttle costs its call, whatever state the store is in.

use std::process::Command;
use std::time::{Duration, Instant};

use forbear::{Gate, Policy};

use crate::fleet::{Finding, engine, met, options, pool, quantile, redis, throttle};
use crate::proxy::{Mode, Proxy};

const REPORTS: usize = 2_000;
const ROUNDS: usize = 5;

/// In what state the store is.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Store {
    None,
    Healthy,
    Frozen,
    Killed,
    Slow,
}

/// A call that is throttled, in a pool that was not: answer, classification, gate and report, by the wall's clock. The same
/// with a gate that tells nobody is the floor: who reports pays no more, whatever the store does.
pub async fn reports() -> Vec<Finding> {
    let stores = [Store::None, Store::Healthy, Store::Frozen, Store::Killed, Store::Slow];
    let mut figures = vec![Vec::new(); stores.len()];
    // The first, which warms up, does not count.
    for round in 0..=ROUNDS {
        for (store, figures) in stores.into_iter().zip(&mut figures) {
            let figure = p99(store).await;
            if round > 0 {
                figures.push(figure);
            }
        }
    }
    let medians: Vec<Duration> = figures.iter_mut().map(|figures| quantile(figures, 0.5)).collect();
    let floor = medians[0].as_secs_f64();
    let finding = |(store, p99): (Store, &Duration)| {
        let ratio = p99.as_secs_f64() / floor;
        let (target, met) = match store {
            Store::None => ("the floor".to_owned(), true),
            // The report itself is what it adds.
            _ => ("at most 10 µs more".to_owned(), p99.saturating_sub(medians[0]) <= Duration::from_micros(10)),
        };
        Finding::new(
            format!("a throttled call, p99, store {store:?}"),
            format!("{p99:.1?} ({ratio:.2} x)"),
            target,
            met,
        )
    };
    stores.into_iter().zip(&medians).map(finding).collect()
}

async fn p99(store: Store) -> Duration {
    let server = redis();
    let proxy = Proxy::before(server.addr()).await;
    let gate = if store == Store::None { Gate::local() } else { Gate::redis(options(proxy.addr())) };
    let forbear = engine(gate);
    met().await;
    let signal = |name: &str| {
        let sent = Command::new("kill").args([format!("-{name}"), server.pid().to_string()]).status();
        assert!(sent.expect("kill runs").success());
    };
    match store {
        Store::Frozen => signal("STOP"),
        Store::Slow => proxy.set(Mode::Delay(Duration::from_millis(500))),
        Store::Killed => proxy.set(Mode::Reset),
        Store::None | Store::Healthy => {}
    }
    let policy = Policy::interactive(Duration::from_secs(1)).attempts(1).build().expect("a valid policy");
    let pools: Vec<_> = (0..REPORTS).map(|index| pool(&forbear, &index.to_string())).collect();
    let mut times = Vec::with_capacity(REPORTS);
    for pool in &pools {
        let began = Instant::now();
        let throttled = pool.call(&policy).run(|_| async { throttle(60) }).await;
        times.push(began.elapsed());
        assert!(throttled.is_err());
    }
    if store == Store::Frozen {
        signal("CONT");
    }
    quantile(&mut times, 0.99)
}
