//! A Prometheus endpoint in one call.

use std::fmt;
use std::io;
use std::net::{IpAddr, Ipv4Addr, SocketAddr, TcpListener};

use metrics_exporter_prometheus::{Matcher, PrometheusBuilder, PrometheusHandle};

use crate::event::catalogue::Metric;
use crate::event::metric::{Kind, Resolution};
use crate::telemetry::meters::Meters;
use crate::telemetry::scrape::Scraper;

/// Where the endpoint listens, and how fine its histograms are. A port alone means loopback: nobody outside the machine
/// reaches it unless you say so.
///
/// ```
/// use forbear::prometheus::Config;
/// assert_eq!(Config::from(9464).addr().to_string(), "127.0.0.1:9464");
/// // Every interface: what a pod needs.
/// assert_eq!(Config::from(([0, 0, 0, 0], 9464)).addr().to_string(), "0.0.0.0:9464");
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[must_use = "it is what `install` is given"]
pub struct Config {
    addr: SocketAddr,
    resolution: Resolution,
}

impl Config {
    /// Where the endpoint is to listen.
    #[must_use]
    pub const fn addr(&self) -> SocketAddr {
        self.addr
    }

    /// About twice as many buckets in each histogram; see [`Resolution::Fine`].
    pub const fn finer_histograms(self) -> Self {
        Self { resolution: Resolution::Fine, ..self }
    }
}

impl From<SocketAddr> for Config {
    fn from(addr: SocketAddr) -> Self {
        Self { addr, resolution: Resolution::Lean }
    }
}

impl From<u16> for Config {
    fn from(port: u16) -> Self {
        SocketAddr::from((Ipv4Addr::LOCALHOST, port)).into()
    }
}

impl<I: Into<IpAddr>> From<(I, u16)> for Config {
    fn from(addr: (I, u16)) -> Self {
        SocketAddr::from(addr).into()
    }
}

/// Installs a Prometheus recorder for the whole process, with the right buckets, and serves `GET /metrics`.
///
/// The endpoint runs on a thread of its own: it answers while the application's runtime is too busy to, and needs no
/// runtime to be installed. Give [`Prometheus::meters`] to the engine as its sink; gauges are then sampled on every
/// scrape. Port 0 lets the system choose one, which [`Prometheus::addr`] tells. The endpoint has no encryption and asks
/// for no password, which is why it listens on loopback unless told.
///
/// ```
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let prometheus = forbear::prometheus::install(0)?; // 9464 in a service; ([0, 0, 0, 0], 9464) in a pod
/// let sink = prometheus.meters();
/// println!("metrics at http://{}/metrics", prometheus.addr());
/// # Ok(())
/// # }
/// ```
///
/// # Errors
/// The address cannot be bound, another recorder is installed already, or the system gives no thread. Nothing is
/// installed then.
pub fn install(config: impl Into<Config>) -> Result<Prometheus, InstallError> {
    let Config { addr, resolution } = config.into();
    let bind = |addr| {
        let listener = TcpListener::bind(addr)?;
        listener.set_nonblocking(true)?;
        Ok((listener.local_addr()?, listener))
    };
    let (addr, listener) = bind(addr).map_err(|source| InstallError::Bind { addr, source })?;
    let recorder = buckets_at(resolution, PrometheusBuilder::new()).build_recorder();
    let page = Page { recorded: recorder.handle(), meters: Meters::with_served_gauges() };
    let scraper = Scraper::prepare(listener).map_err(InstallError::Start)?;
    metrics::set_global_recorder(recorder).map_err(|_| InstallError::RecorderTaken)?;
    let scraper = scraper.start(page.clone()).map_err(InstallError::Start)?;
    Ok(Prometheus { addr, page, _scraper: scraper })
}

/// Gives a builder of your own the buckets of every histogram of the catalogue; without them they become summaries, which
/// dashboards and rules cannot read.
///
/// ```
/// use forbear::{prometheus, telemetry};
/// use metrics_exporter_prometheus::PrometheusBuilder;
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let builder = PrometheusBuilder::new().add_global_label("zone", "a");
/// let handle = prometheus::buckets(builder).install_recorder()?;
/// let meters = telemetry::meters(); // the engine's sink
///
/// // In the application's own handler of `/metrics`:
/// meters.sample();
/// let page = handle.render();
///
/// // Every few seconds, scraped or not, so that values do not pile up:
/// handle.run_upkeep();
/// # assert!(page.is_empty());
/// # Ok(()) }
/// ```
#[must_use]
pub fn buckets(builder: PrometheusBuilder) -> PrometheusBuilder {
    buckets_at(Resolution::Lean, builder)
}

/// The same with about twice as many of them; see [`Resolution::Fine`].
#[must_use]
pub fn finer_buckets(builder: PrometheusBuilder) -> PrometheusBuilder {
    buckets_at(Resolution::Fine, builder)
}

fn buckets_at(resolution: Resolution, builder: PrometheusBuilder) -> PrometheusBuilder {
    let rows = Metric::ALL.iter().map(|metric| metric.row()).filter(|row| row.kind == Kind::Histogram);
    rows.fold(builder, |builder, row| {
        builder
            .set_buckets_for_metric(Matcher::Full(row.prometheus.to_owned()), row.bounds(resolution))
            .expect("a histogram of the catalogue has buckets")
    })
}

/// The installed endpoint. Dropping it closes the endpoint; the recorder stays, as the facade knows no way back.
#[must_use = "dropping it closes the endpoint"]
pub struct Prometheus {
    addr: SocketAddr,
    page: Page,
    _scraper: Scraper,
}

impl Prometheus {
    /// Where it listens.
    #[must_use]
    pub const fn addr(&self) -> SocketAddr {
        self.addr
    }

    /// The sink for the engine. Its gauges are sampled on every scrape.
    #[must_use]
    pub fn meters(&self) -> Meters {
        self.page.meters.clone()
    }

    /// What a scrape reads now, without the way over the network.
    #[must_use]
    pub fn render(&self) -> String {
        self.page.render()
    }
}

/// What a scrape reads: what the application's recorder holds, then the engine's gauges as they are at that moment.
#[derive(Clone)]
pub(crate) struct Page {
    recorded: PrometheusHandle,
    meters: Meters,
}

impl Page {
    pub(crate) fn render(&self) -> String {
        let mut text = self.recorded.render();
        self.meters.write_gauges(&mut text);
        text
    }

    /// Moves values of histograms into their buckets, so that they do not pile up between scrapes.
    pub(crate) fn keep_up(&self) {
        self.recorded.run_upkeep();
    }
}

impl fmt::Debug for Prometheus {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Prometheus").field("addr", &self.addr).finish_non_exhaustive()
    }
}

/// Why [`install`] did nothing.
#[derive(Debug)]
#[non_exhaustive]
pub enum InstallError {
    /// The address could not be bound.
    Bind {
        /// The address.
        addr: SocketAddr,
        /// What the system said.
        source: io::Error,
    },
    /// The process has a recorder already.
    RecorderTaken,
    /// The system gave no thread or no I/O for the endpoint.
    Start(io::Error),
}

impl fmt::Display for InstallError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Bind { addr, .. } => write!(
                f,
                "the Prometheus endpoint could not be bound to {addr}; nothing was installed; choose another address, \
                 or port 0 for any free one"
            ),
            Self::RecorderTaken => f.write_str(
                "a metrics recorder is installed already; nothing was changed; keep yours, give its builder the buckets \
                 of forbear::prometheus::buckets, use forbear::telemetry::meters() as the sink and call its sample() \
                 before each scrape",
            ),
            Self::Start(_) => f.write_str(
                "the Prometheus endpoint could not be started; no endpoint runs; look at the limits on threads and open \
                 files",
            ),
        }
    }
}

impl std::error::Error for InstallError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Self::Bind { source, .. } | Self::Start(source) => Some(source),
            Self::RecorderTaken => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;
    use std::time::Duration;

    use super::*;
    use crate::core::moment::Moment;
    use crate::core::signal::LimitClass;
    use crate::event::sink::{GaugeSource, Sample, Sink};
    use crate::event::totals::Totals;
    use crate::event::{Event, GateResult, PoolLabels};
    use crate::telemetry::meters::meters;

    struct Shut(PoolLabels);

    impl GaugeSource for Shut {
        fn sample(&self, visit: &mut dyn FnMut(Sample<'_>)) {
            visit(Sample::new(Metric::GateState, Some(&self.0), &[("state", "shut")], 1.0));
        }
    }

    fn lines(page: &str) -> Vec<&str> {
        let mut lines: Vec<_> = page.lines().filter(|line| !line.is_empty()).collect();
        lines.sort_unstable();
        lines
    }

    #[test]
    fn a_builder_of_ones_own_gives_the_same_page_whatever_naming_it_is_set_to() {
        let pool = PoolLabels::new("openai", "prod/gpt");
        for recommended in [true, false] {
            let builder = PrometheusBuilder::new().with_recommended_naming(recommended);
            let recorder = buckets(builder).build_recorder();
            let (totals, meters) = (Totals::new(), meters());
            let both = (totals.clone(), meters.clone());
            let gauges: Arc<dyn GaugeSource> = Arc::new(Shut(pool.clone()));
            both.watch(Arc::downgrade(&gauges));
            let listener = both.listen(&pool);
            let waited = Event::GateWaited {
                waited: Duration::from_millis(1_500),
                result: GateResult::Admitted,
                class: LimitClass::RequestRate,
            };
            metrics::with_local_recorder(&recorder, || {
                listener.hear(Moment::START, &waited);
                listener.hear(Moment::START, &Event::RequestSent);
                meters.sample();
            });
            let page = recorder.handle().render();
            assert_eq!(lines(&page), lines(&totals.to_prometheus()), "recommended naming: {recommended}");
        }
    }

    #[test]
    fn finer_buckets_are_those_of_the_catalogue() {
        let recorder = finer_buckets(PrometheusBuilder::new()).build_recorder();
        let listener = meters().listen(&PoolLabels::new("openai", "prod/gpt"));
        let (waited, result, class) = (Duration::from_millis(3), GateResult::Admitted, LimitClass::RequestRate);
        let waited = Event::GateWaited { waited, result, class };
        metrics::with_local_recorder(&recorder, || listener.hear(Moment::START, &waited));
        let page = recorder.handle().render();
        let bounds = page.lines().filter(|line| line.starts_with("forbear_gate_wait_seconds_bucket"));
        assert_eq!(bounds.count(), Metric::GateWait.row().finer_buckets.len() + 1);
    }
}
