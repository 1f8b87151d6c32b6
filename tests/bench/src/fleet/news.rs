//! From a throttle one replica meets to the shut gate of another.

use std::time::{Duration, Instant};

use forbear::core::moment::Moment;
use forbear::event::sink::{Listener, Sink};
use forbear::event::{Event, PoolLabels};
use forbear::{Forbear, Gate, Policy};
use tokio::sync::mpsc;

use crate::fleet::{Finding, engine, met, options, pool, quantile, redis, throttle};
use crate::proxy::{Mode, Proxy};

/// When the pool shut.
#[derive(Clone, Debug)]
struct Shuts(mpsc::UnboundedSender<Instant>);

impl Sink for Shuts {
    fn listen(&self, _: &PoolLabels) -> Box<dyn Listener> {
        Box::new(self.clone())
    }
}

impl Listener for Shuts {
    fn hear(&self, _: Moment, event: &Event<'_>) {
        if matches!(event, Event::GateShut { .. }) {
            // Nobody waits for the last ones.
            let _ = self.0.send(Instant::now());
        }
    }
}

/// Over loopback, over a way that takes 50 ms each, and where nobody may listen.
pub async fn news() -> Vec<Finding> {
    let each_way = Duration::from_millis(50);
    let mut near = times(Mode::Pass, 500).await;
    let mut far = times(Mode::Delay(each_way), 60).await;
    let mut unheard = times(Mode::NoNews, 12).await;
    let finding = |what: &str, times: &mut [Duration], most: Duration| {
        let (p50, p99) = (quantile(times, 0.5), quantile(times, 0.99));
        Finding::new(
            format!("news, {what}, p50 and p99"),
            format!("{p50:.1?}, {p99:.1?}"),
            format!("p99 at most {most:?}"),
            p99 <= most,
        )
    };
    let slack = Duration::from_millis(50);
    vec![
        finding("loopback", &mut near, slack),
        finding("50 ms each way", &mut far, each_way * 2 + slack),
        finding("no channel", &mut unheard, Duration::from_millis(2_500)),
    ]
}

async fn times(mode: Mode, number: usize) -> Vec<Duration> {
    let server = redis();
    let proxy = Proxy::before(server.addr()).await;
    proxy.set(mode);
    let gate = || Gate::redis(options(proxy.addr()));
    let (shuts, mut heard) = mpsc::unbounded_channel();
    let first = engine(gate());
    let second = Forbear::builder().gate(gate()).sink(Shuts(shuts)).build().expect("valid settings");
    met().await;
    let policy = Policy::interactive(Duration::from_secs(1)).attempts(1).build().expect("a valid policy");
    let mut times = Vec::with_capacity(number);
    // Where nothing is heard it matters when in between two readings it is told.
    let read = if mode == Mode::NoNews { Duration::from_millis(650) } else { Duration::ZERO };
    for index in 0..number {
        let (here, there) = (pool(&first, &index.to_string()), pool(&second, &index.to_string()));
        // Both have been read by then.
        tokio::time::sleep(Duration::from_millis(4) + read).await;
        let began = Instant::now();
        assert!(here.call(&policy).run(|_| async { throttle(60) }).await.is_err());
        let shut = heard.recv().await.expect("a listener");
        times.push(shut.saturating_duration_since(began));
        drop(there);
    }
    times
}
