//! Traces and metrics pushed over OTLP, in one call.

mod config;
mod export;

use std::error::Error;
use std::fmt;
use std::io;
use std::sync::Arc;
use std::sync::atomic::Ordering::Relaxed;

use opentelemetry::global;
use opentelemetry::trace::TracerProvider;
use opentelemetry_sdk::metrics::{Instrument, PeriodicReader, SdkMeterProvider, Stream};
use opentelemetry_sdk::trace::SdkTracerProvider;
use tracing::Subscriber;
use tracing_subscriber::filter::{EnvFilter, LevelFilter, Targets};
use tracing_subscriber::layer::{Layer, SubscriberExt};
use tracing_subscriber::registry::{LookupSpan, Registry};

use crate::telemetry::otel::{Instruments, instruments};
pub use crate::telemetry::otlp::config::{Config, Protocol};
use crate::telemetry::otlp::export::{Counted, Tally, Wire};

/// Crates below the exporters. Traced, an export would cause the next one for ever.
const BELOW: [&str; 8] = ["h2", "hyper", "hyper_util", "opentelemetry", "reqwest", "rustls", "tonic", "tower"];

/// The most series of one instrument: more than 64 pools use, and still a bound.
const MOST_SERIES: usize = 20_000;

/// Sets OpenTelemetry's SDK up for the whole process: traces and metrics are pushed over OTLP, and `tracing`'s subscriber
/// turns spans into traces.
///
/// Give [`Otlp::instruments`] to the engine as its sink. A collector that is slow, dead or absent never slows a call:
/// pushes happen on threads of their own, spans wait in a queue of fixed length, and what is lost is counted
/// ([`Otlp::lost`]). Works on every runtime and without one.
///
/// ```no_run
/// # async fn f() -> Result<(), Box<dyn std::error::Error>> {
/// use forbear::otlp::{self, Config};
/// let otlp = otlp::install(Config::new("checkout"))?; // to localhost:4318, or where OTEL_EXPORTER_OTLP_ENDPOINT says
/// let sink = otlp.instruments();
/// // … the service runs …
/// otlp.shutdown().await?;
/// # Ok(()) }
/// ```
///
/// # Errors
/// A variable of the environment cannot be read, an exporter cannot be made, or the process has a `tracing` subscriber
/// already (see [`Config::own_subscriber`]). No subscriber and no provider is installed then.
pub fn install(config: Config) -> Result<Otlp, InstallError> {
    let tally = Arc::new(Tally::default());
    let wire = Wire::start().map_err(InstallError::Start)?;
    let resource = config.resource();
    let mut traces = SdkTracerProvider::builder().with_resource(resource.clone());
    let mut metrics = SdkMeterProvider::builder().with_resource(resource).with_view(bounded);
    if !config::is_disabled() {
        let exporter = export::spans(&config, &wire, Arc::clone(&tally))?;
        traces = traces.with_span_processor(Counted::queue(exporter));
        let reader = PeriodicReader::builder(export::metrics(&config, &wire, Arc::clone(&tally))?);
        metrics = metrics.with_reader(match config.interval() {
            Some(interval) => reader.with_interval(interval).build(),
            None => reader.build(),
        });
    }
    let otlp = Otlp {
        traces: traces.build(),
        metrics: metrics.build(),
        tally,
        instruments: instruments(),
        ended: false,
        _wire: wire,
    };
    if config.subscribe {
        let filter = EnvFilter::try_from_default_env().unwrap_or_else(|_| EnvFilter::new("info"));
        let subscriber = Registry::default().with(filter).with(otlp.layer());
        tracing::subscriber::set_global_default(subscriber).map_err(|_| InstallError::SubscriberTaken)?;
    }
    global::set_meter_provider(otlp.metrics.clone());
    global::set_tracer_provider(otlp.traces.clone());
    Ok(otlp)
}

/// Room for the series of all pools; the SDK's own bound is lower.
fn bounded(instrument: &Instrument) -> Option<Stream> {
    if !instrument.name().starts_with("forbear.") {
        return None;
    }
    Stream::builder().with_cardinality_limit(MOST_SERIES).build().ok()
}

/// The installed set-up. Dropping it pushes what is left and blocks for it, at most some seconds; better is
/// [`Otlp::shutdown`], which does not block the runtime's thread.
#[must_use = "dropping it ends all pushes"]
pub struct Otlp {
    traces: SdkTracerProvider,
    metrics: SdkMeterProvider,
    tally: Arc<Tally>,
    instruments: Instruments,
    ended: bool,
    // Last, so that connections outlive what pushes over them.
    _wire: Wire,
}

impl Otlp {
    /// The sink for the engine. Its gauges are sampled at every push.
    #[must_use]
    pub fn instruments(&self) -> Instruments {
        self.instruments.clone()
    }

    /// The layer that turns `tracing`'s spans into traces, for a subscriber of your own
    /// ([`Config::own_subscriber`]).
    #[must_use]
    pub fn layer<S>(&self) -> Box<dyn Layer<S> + Send + Sync>
    where
        S: Subscriber + for<'a> LookupSpan<'a> + Send + Sync,
    {
        let below = BELOW.iter().map(|target| (*target, LevelFilter::OFF));
        let filter = Targets::new().with_default(LevelFilter::TRACE).with_targets(below);
        // What is switched off here would be added to every span: where it stands in the code, its thread, its busy time.
        let layer = tracing_opentelemetry::layer()
            .with_tracer(self.traces.tracer("forbear"))
            .with_location(false)
            .with_threads(false)
            .with_target(false)
            .with_tracked_inactivity(false);
        Box::new(layer.with_filter(filter))
    }

    /// How many spans and pushes of metrics are known to be lost so far. Spans the queue had no room for are counted at
    /// the end ([`ShutdownError::lost`]). A push of metrics that is lost costs resolution only: the next one carries the
    /// totals.
    #[must_use]
    pub fn lost(&self) -> LostTelemetry {
        let tally = &self.tally;
        LostTelemetry { spans: tally.spans_failed.load(Relaxed), metric_pushes: tally.pushes_failed.load(Relaxed) }
    }

    /// Pushes what is left and ends all pushes. Does not block the runtime it is awaited on.
    ///
    /// # Errors
    /// Something could not be delivered in time. Nothing is pushed afterwards all the same.
    ///
    /// # Cancel safety
    /// Dropped before its end it goes on in the background.
    pub async fn shutdown(mut self) -> Result<(), ShutdownError> {
        self.ended = true;
        let lost = self.lost();
        let (ended, wait) = tokio::sync::oneshot::channel();
        let spawned = std::thread::Builder::new().name("forbear-otlp-end".to_owned()).spawn(move || {
            // Nobody may be waiting any more.
            let _ = ended.send(self.end());
        });
        match spawned {
            Ok(_) => wait.await.unwrap_or_else(|error| Err(ShutdownError { lost, source: Box::new(error) })),
            Err(error) => Err(ShutdownError { lost, source: Box::new(error) }),
        }
    }

    fn end(&self) -> Result<(), ShutdownError> {
        let (traces, metrics) = (self.traces.shutdown(), self.metrics.shutdown());
        let result = traces.and(metrics);
        let spans = self.tally.spans_ended.load(Relaxed).saturating_sub(self.tally.spans_delivered.load(Relaxed));
        let lost = LostTelemetry { spans, ..self.lost() };
        result.map_err(|error| ShutdownError { lost, source: Box::new(error) })
    }
}

impl Drop for Otlp {
    fn drop(&mut self) {
        if !self.ended {
            // There is nobody to tell; `lost` told as long as there was.
            let _ = self.end();
        }
    }
}

impl fmt::Debug for Otlp {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Otlp").field("lost", &self.lost()).finish_non_exhaustive()
    }
}

/// What could not be delivered.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct LostTelemetry {
    /// Spans.
    pub spans: u64,
    /// Pushes of metrics that failed.
    pub metric_pushes: u64,
}

/// Why [`install`] did nothing.
#[derive(Debug)]
#[non_exhaustive]
pub enum InstallError {
    /// A variable of the environment cannot be used.
    Environment {
        /// The variable.
        variable: String,
        /// Its value.
        value: String,
        /// What is allowed, in words.
        allowed: &'static str,
    },
    /// An exporter could not be made: mostly an endpoint that is no URL.
    Exporter(Box<dyn Error + Send + Sync>),
    /// The process has a `tracing` subscriber already.
    SubscriberTaken,
    /// The system gave no thread.
    Start(io::Error),
}

impl fmt::Display for InstallError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Environment { variable, value, allowed } => {
                write!(f, "{variable} is {value:?}; allowed: {allowed}; nothing was installed")
            }
            Self::Exporter(_) => {
                f.write_str("an OTLP exporter could not be made; nothing was installed; check the endpoint")
            }
            Self::SubscriberTaken => f.write_str(
                "a tracing subscriber is installed already; nothing was installed; keep yours, use \
                 Config::own_subscriber and add Otlp::layer to it",
            ),
            Self::Start(_) => {
                f.write_str("no thread for OTLP could be started; nothing was installed; look at the limits on threads")
            }
        }
    }
}

impl Error for InstallError {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        match self {
            Self::Exporter(source) => Some(&**source),
            Self::Start(source) => Some(source),
            Self::Environment { .. } | Self::SubscriberTaken => None,
        }
    }
}

/// Something could not be delivered before the end.
#[derive(Debug)]
pub struct ShutdownError {
    lost: LostTelemetry,
    source: Box<dyn Error + Send + Sync>,
}

impl ShutdownError {
    /// What was lost from the start to the end: every span that did not reach the collector.
    #[must_use]
    pub const fn lost(&self) -> LostTelemetry {
        self.lost
    }
}

impl fmt::Display for ShutdownError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let LostTelemetry { spans, .. } = self.lost;
        write!(f, "the last telemetry could not be delivered in time; {spans} spans are lost; check the collector")
    }
}

impl Error for ShutdownError {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        Some(&*self.source)
    }
}
