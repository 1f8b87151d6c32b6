//! Everything that runs: providers, services, `/metrics`, and whoever looks at it.

use std::error::Error;
use std::future::{Future, poll_fn};
use std::io;
use std::net::IpAddr;
use std::pin::Pin;
use std::sync::Arc;
use std::task::Poll;
use std::time::Duration;

use forbear::Pool;
use forbear::clock::Clock;
use forbear::diagnose::Scrapes;
use forbear::event::catalogue::Metric;
use forbear::prometheus::{self, InstallError, Prometheus};
use tokio::sync::watch;
use tokio::task::JoinSet;

use super::Demo;
use super::arrivals::Arrivals;
use super::progress::Progress;
use super::report::{Row, table};
use super::scrape::Scrape;
use super::service::{Service, services};
use super::traffic::{Caller, keep_calling};

/// How often the metrics are looked at.
const LOOK_EVERY: Duration = Duration::from_millis(250);

/// The usual port of a Prometheus exporter of this kind.
const USUAL_PORT: u16 = 9464;

/// The services at work.
pub(crate) struct Stage {
    /// The endpoint, and the text it serves.
    prometheus: Prometheus,
    /// The services.
    cast: Vec<Service>,
    /// How long a minute of their providers lasts.
    minute: Duration,
    /// What their metrics said so far.
    scrapes: Scrapes,
    /// Kept until the last report: a pool that nobody has any more shows no gauges.
    _pools: Vec<Pool>,
    /// Starts with the services.
    clock: Clock,
    /// How long the services have been called.
    called_for: Duration,
    /// Tells the services that no more calls come.
    stop: watch::Sender<bool>,
    /// The services, until their last call has ended.
    work: JoinSet<()>,
    progress: Progress,
    ctrl_c: CtrlC,
}

/// Ends when ctrl-c is pressed, once.
type CtrlC = Pin<Box<dyn Future<Output = io::Result<()>>>>;

impl Stage {
    /// Starts everything. The same seed brings the same calls.
    pub(crate) async fn build(options: &Demo) -> Result<Self, Box<dyn Error>> {
        let (seed, minute) = (options.seed, options.minute);
        let ctrl_c = hear_ctrl_c().await?;
        let prometheus = listen(options.host, options.port)?;
        let (stop, stopped) = watch::channel(false);
        let (mut cast, mut pools, mut work) = (Vec::new(), Vec::new(), JoinSet::new());
        for (service, seed) in services(minute).into_iter().zip(seed..) {
            let provider = service.emulate(seed).await?;
            let pool = service.pool(prometheus.meters(), seed)?;
            pools.push(pool.clone());
            let caller = Caller {
                pool,
                policy: service.policy()?,
                // A proxy in the environment has no way to 127.0.0.1.
                client: reqwest::Client::builder().no_proxy().build()?,
                url: format!("{}{}", provider.url(), service.path),
                _provider: provider,
            };
            work.spawn(keep_calling(Arc::new(caller), Arrivals::of(service.demand, minute, seed), stopped.clone()));
            cast.push(service);
        }
        let (clock, progress) = (Clock::new(), Progress::new());
        let scrapes = Scrapes::in_minutes_of(minute, LOOK_EVERY);
        Ok(Self {
            prometheus,
            cast,
            minute,
            scrapes,
            _pools: pools,
            clock,
            called_for: Duration::ZERO,
            stop,
            work,
            progress,
            ctrl_c,
        })
    }

    /// Says what runs, and where to look.
    pub(crate) fn announce(&self) {
        println!("Three services call providers that throttle; here a minute lasts {:?}.", self.minute);
        for service in &self.cast {
            let gate = if service.gate.is_on() { "on" } else { "off" };
            println!(
                "  {:9}  {} dialect, {} requests a minute, deadline {:?}, gate {gate}",
                service.name, service.provider.id, service.requests_per_minute, service.deadline
            );
        }
        println!("metrics: http://{}/metrics\n", self.prometheus.addr());
    }

    /// Looks at the metrics for so many seconds. Says whether it came to its end; ctrl-c ends it before.
    pub(crate) async fn play(&mut self, seconds: u64) -> bool {
        self.watch(Some(Duration::from_secs(seconds))).await
    }

    /// Looks at the metrics until ctrl-c.
    pub(crate) async fn serve(&mut self) {
        println!("\nserving until ctrl-c\n");
        self.watch(None).await;
    }

    /// Lets every call end.
    pub(crate) async fn drain(&mut self) {
        // An error means that nobody is left to be told.
        let _ = self.stop.send(true);
        while self.work.join_next().await.is_some() {}
    }

    /// What the metrics say now.
    pub(crate) fn report(&self) -> String {
        let scrape = Scrape::read(&self.prometheus.render());
        let found = self.scrapes.diagnose();
        let of = |service: &Service| found.iter().find(|diagnosis| diagnosis.pool == service.name);
        let rows = self.cast.iter().filter_map(|service| Some(Row::of(&of(service)?.verdict, service.name, &scrape)));
        table(&rows.collect::<Vec<_>>())
    }

    /// Looks until then, or until ctrl-c. Says whether it came to its end.
    async fn watch(&mut self, until: Option<Duration>) -> bool {
        let mut next = self.clock.now();
        let broken_off = loop {
            self.look(until);
            if until.is_some_and(|until| self.called_for >= until) {
                break false;
            }
            // After a stall, on from now.
            next = next.max(self.clock.now()).after(LOOK_EVERY);
            tokio::select! {
                () = self.clock.sleep_until(next) => {}
                _ = &mut self.ctrl_c => break true,
            }
        };
        self.progress.clear();
        !broken_off
    }

    /// Remembers and shows what the metrics say now.
    fn look(&mut self, until: Option<Duration>) {
        let text = self.prometheus.render();
        let at = self.clock.now().elapsed_since_start();
        self.called_for = at;
        self.scrapes.note(at, &text);
        let scrape = Scrape::read(&text);
        let lines: Vec<_> = self.cast.iter().map(|service| line(service.name, &scrape)).collect();
        self.progress.show(at, until, &lines);
    }
}

/// One service at a glance.
fn line(name: &str, scrape: &Scrape) -> String {
    let pool = ("pool", name);
    let calls = scrape.sum(Metric::Calls, &[pool]);
    let ok = scrape.count(Metric::CallDuration, &[pool, ("outcome", "ok")]);
    let ended = scrape.count(Metric::CallDuration, &[pool]);
    let throttled = scrape.sum(Metric::Attempts, &[pool, ("outcome", "throttled")]);
    let failed = ended - ok;
    let of_pool = [pool];
    let state = scrape.word(Metric::GateState, &of_pool, "state").unwrap_or("flowing");
    format!("{name}: {calls:.0} calls, {ok:.0} ok, {failed:.0} failed, {throttled:.0} throttled, {state}")
}

/// Ctrl-c from now on, also where it is pressed while nobody waits for it: the first poll is what listens.
async fn hear_ctrl_c() -> io::Result<CtrlC> {
    let mut ctrl_c: CtrlC = Box::pin(tokio::signal::ctrl_c());
    match poll_fn(|context| Poll::Ready(ctrl_c.as_mut().poll(context))).await {
        Poll::Ready(Err(cause)) => Err(cause),
        Poll::Ready(Ok(())) | Poll::Pending => Ok(ctrl_c),
    }
}

/// The endpoint at the port asked for; at any when none was and the usual one is taken.
fn listen(host: IpAddr, port: Option<u16>) -> Result<Prometheus, InstallError> {
    match port {
        Some(port) => prometheus::install((host, port)),
        None => prometheus::install((host, USUAL_PORT)).or_else(|error| match error {
            InstallError::Bind { .. } => prometheus::install((host, 0)),
            other => Err(other),
        }),
    }
}
