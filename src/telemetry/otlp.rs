//! Traces and metrics pushed over OTLP, in one call.

mod config;
mod environment;
mod export;
mod failure;
mod settings;

use std::fmt;
use std::sync::Arc;

use opentelemetry::global;
use opentelemetry::trace::TracerProvider;
use opentelemetry_sdk::error::OTelSdkError;
use opentelemetry_sdk::metrics::{Instrument, PeriodicReader, SdkMeterProvider, Stream};
use opentelemetry_sdk::trace::SdkTracerProvider;
use tracing::Subscriber;
use tracing_subscriber::filter::{EnvFilter, LevelFilter, Targets};
use tracing_subscriber::layer::{Layer, SubscriberExt};
use tracing_subscriber::registry::{LookupSpan, Registry};

use crate::event::catalogue::Metric;
use crate::telemetry::otel::Instruments;
pub use crate::telemetry::otlp::config::{Config, Protocol};
use crate::telemetry::otlp::environment::Environment;
use crate::telemetry::otlp::export::{Queue, Tally, Wire};
pub use crate::telemetry::otlp::failure::{InstallError, ShutdownError};
use crate::telemetry::otlp::settings::Settings;

/// Crates below the exporters. Traced, an export would cause the next one for ever.
const BELOW: [&str; 8] = ["h2", "hyper", "hyper_util", "opentelemetry", "reqwest", "rustls", "tonic", "tower"];

/// The most series of one instrument, whatever its labels could make of the most pools: more than 64 of them use.
const MOST_SERIES: usize = 20_000;
/// The most pools whose series are told apart, and the one for the rest.
const MOST_POOLS: usize = 65;

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
/// let lost = otlp.shutdown().await?;
/// # Ok(()) }
/// ```
///
/// # Errors
/// A setting is out of its range, a variable of the environment cannot be read, an exporter cannot be made, or the process has a `tracing` subscriber
/// already (see [`Config::own_subscriber`]). No subscriber and no provider is installed then.
pub fn install(config: Config) -> Result<Otlp, InstallError> {
    let settings = Settings::of(&config, Environment(&|name| std::env::var(name).ok()))?;
    let tally = Arc::new(Tally::default());
    let wire = Wire::start().map_err(InstallError::Start)?;
    let mut traces = SdkTracerProvider::builder().with_resource(settings.resource.clone());
    if let Some(way) = &settings.traces {
        let exporter = export::spans(way, &wire, Arc::clone(&tally))?;
        traces = traces.with_span_processor(Queue::of(settings.spans_kept, exporter));
    }
    let mut metrics = SdkMeterProvider::builder().with_resource(settings.resource).with_view(bounded);
    if let Some(way) = &settings.metrics {
        let exporter = export::metrics(way, &wire, Arc::clone(&tally))?;
        metrics = metrics.with_reader(PeriodicReader::builder(exporter).with_interval(settings.push_every).build());
    }
    let otlp = Otlp {
        traces: traces.build(),
        metrics: metrics.build(),
        tally,
        instruments: Instruments::with(config.resolution),
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

/// As much room as the series of all pools can need: the SDK's own bound is lower for some instruments, and it takes the
/// memory for its bound at once.
fn bounded(instrument: &Instrument) -> Option<Stream> {
    let metric = Metric::ALL.iter().find(|metric| metric.row().otel == instrument.name())?;
    let most = (metric.row().series_per_pool() * MOST_POOLS).min(MOST_SERIES);
    Stream::builder().with_cardinality_limit(most).build().ok()
}

/// The installed set-up. Dropping it pushes what is left and blocks for it, at most about 5 s; better is
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

    /// How many spans and pushes of metrics are lost so far: there was no room left for them, or the collector did not take
    /// them in time. A push of metrics that is lost costs resolution only: the next one carries the totals.
    #[must_use]
    pub fn lost(&self) -> LostTelemetry {
        self.tally.lost()
    }

    /// Pushes what is left and ends all pushes, within about 5 s. Does not block the runtime it is awaited on. Gives back
    /// what was lost from the start to the end.
    ///
    /// # Errors
    /// What was left could not be delivered in time. Nothing is pushed afterwards all the same.
    ///
    /// # Cancel safety
    /// Dropped before its end it goes on in the background.
    pub async fn shutdown(mut self) -> Result<LostTelemetry, ShutdownError> {
        self.ended = true;
        let tally = Arc::clone(&self.tally);
        let (ended, wait) = tokio::sync::oneshot::channel();
        let spawned = std::thread::Builder::new().name("forbear-otlp-end".to_owned()).spawn(move || {
            // Nobody may be waiting any more.
            let _ = ended.send(self.end());
        });
        let failed = |source| ShutdownError { lost: tally.lost_at_the_end(), source };
        match spawned {
            Ok(_) => wait.await.unwrap_or_else(|error| Err(failed(error.into()))),
            Err(error) => Err(failed(error.into())),
        }
    }

    fn end(&self) -> Result<LostTelemetry, ShutdownError> {
        // Side by side: each waits some seconds for a collector that does not answer.
        let (traces, metrics) = std::thread::scope(|scope| {
            let traces = scope.spawn(|| self.traces.shutdown());
            let metrics = self.metrics.shutdown();
            let gone = |_| Err(OTelSdkError::InternalFailure("the thread that ended the traces panicked".to_owned()));
            (traces.join().unwrap_or_else(gone), metrics)
        });
        let lost = self.tally.lost_at_the_end();
        match traces.and(metrics) {
            Ok(()) => Ok(lost),
            Err(error) => Err(ShutdownError { lost, source: Box::new(error) }),
        }
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
///
/// ```
/// let lost = forbear::otlp::LostTelemetry::default();
/// assert_eq!((lost.spans, lost.metric_pushes), (0, 0));
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct LostTelemetry {
    /// Spans.
    pub spans: u64,
    /// Pushes of metrics that failed.
    pub metric_pushes: u64,
}
