//! How far apart the ends are that two replicas know of one shut, whatever the server's clock shows.

use std::time::{Duration, Instant};

use forbear::core::moment::Moment;
use forbear::event::sink::{Listener, Sink};
use forbear::event::words::StoreOperation;
use forbear::event::{Event, PoolLabels};
use forbear::{Forbear, Gate, Policy, Pool};
use tokio::sync::mpsc;

use crate::fleet::{Finding, met, options, pool, quantile, throttle};
use crate::proxy::{Mode, Proxy};
use crate::server::Server;

const SHUTS: usize = 200;
/// What a busy machine may take to see to what has come.
const SLACK: Duration = Duration::from_millis(5);

/// How long each report's trip took, or that a pool shut.
#[derive(Clone, Debug)]
struct Heard(mpsc::UnboundedSender<Option<Duration>>);

impl Sink for Heard {
    fn listen(&self, _: &PoolLabels) -> Box<dyn Listener> {
        Box::new(self.clone())
    }

    fn listen_to_process(&self) -> Box<dyn Listener> {
        Box::new(self.clone())
    }
}

impl Listener for Heard {
    fn hear(&self, _: Moment, event: &Event<'_>) {
        // Nobody waits for the last ones.
        match event {
            Event::GateShut { .. } => drop(self.0.send(None)),
            Event::StoreAsked { operation: StoreOperation::Report, took, .. } => drop(self.0.send(Some(*took))),
            _ => {}
        }
    }
}

/// A server whose clock is right, an hour ahead, an hour behind; and an hour ahead at the end of a way of 50 ms.
pub async fn clocks() -> Vec<Finding> {
    let mut findings = Vec::new();
    for (shift, each_way) in [(0, 0), (3_600, 0), (-3_600, 0), (3_600, 50)] {
        let each_way = Duration::from_millis(each_way);
        let (mut late, beyond, early) = errors(shift, each_way).await;
        let (p50, p99) = (quantile(&mut late, 0.5), quantile(&mut late, 0.99));
        findings.push(Finding::new(
            format!("later end elsewhere, clock {shift:+} s, {each_way:?} each way"),
            format!("{p50:.1?}, {p99:.1?}"),
            format!("all but 1 in 100 within the trip and {SLACK:?} ({beyond} of {SHUTS} not)"),
            beyond * 100 <= SHUTS,
        ));
        findings.push(Finding::new("ends that are earlier elsewhere", early.to_string(), "0", early == 0));
    }
    findings
}

/// By how much the end is later in the replica that only heard of it; how often by more than the report's own trip took and
/// the slack; and how often it is earlier.
async fn errors(shift: i64, each_way: Duration) -> (Vec<Duration>, usize, usize) {
    let server = Server::redis_with_clock(shift);
    let proxy = Proxy::before(server.addr()).await;
    if !each_way.is_zero() {
        proxy.set(Mode::Delay(each_way));
    }
    let engine = || {
        let (sender, heard) = mpsc::unbounded_channel();
        let gate = Gate::redis(options(proxy.addr()));
        (Forbear::builder().gate(gate).sink(Heard(sender)).build().expect("valid settings"), heard)
    };
    let ((first, mut told), (second, mut heard)) = (engine(), engine());
    met().await;
    tokio::time::sleep(each_way * 10).await;
    let policy = Policy::interactive(Duration::from_secs(1)).attempts(1).build().expect("a valid policy");
    let (mut late, mut beyond, mut early) = (Vec::with_capacity(SHUTS), 0, 0);
    for index in 0..SHUTS {
        let (here, there) = (pool(&first, &index.to_string()), pool(&second, &index.to_string()));
        tokio::time::sleep(Duration::from_millis(4)).await;
        assert!(here.call(&policy).run(|_| async { throttle(60) }).await.is_err());
        while heard.recv().await.expect("a listener").is_some() {}
        let trip = loop {
            if let Some(trip) = told.recv().await.expect("a listener") {
                break trip;
            }
        };
        let began = Instant::now();
        let (theirs, ours) = (ends(&there, began), ends(&here, began));
        late.push(theirs.saturating_sub(ours));
        beyond += usize::from(theirs > ours + trip + SLACK);
        early += usize::from(theirs < ours);
    }
    (late, beyond, early)
}

/// When the pool reopens, from `began` on.
fn ends(pool: &Pool, began: Instant) -> Duration {
    pool.snapshot().shut.expect("shut").reopens_in + began.elapsed()
}
