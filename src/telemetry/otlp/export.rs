//! The exporters: which client they use, on which thread, and what they lost.

use std::error::Error;
use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::thread::JoinHandle;
use std::time::Duration;

use opentelemetry::Context;
use opentelemetry_otlp::{MetricExporter, SpanExporter, WithExportConfig, WithHttpConfig};
use opentelemetry_sdk::Resource;
use opentelemetry_sdk::error::OTelSdkResult;
use opentelemetry_sdk::metrics::Temporality;
use opentelemetry_sdk::metrics::data::ResourceMetrics;
use opentelemetry_sdk::metrics::exporter::PushMetricExporter;
use opentelemetry_sdk::trace::{BatchSpanProcessor, Span, SpanData, SpanProcessor};
use tokio::runtime::Handle;
use tokio::sync::oneshot;

use crate::telemetry::otlp::InstallError;
use crate::telemetry::otlp::config::{Config, Protocol, Pushed, timeout};

/// A thread that carries gRPC's connections, so that a push needs no help from the application's runtime: one that is
/// busy, or blocked in a flush of its only thread, would never answer.
pub(super) struct Wire {
    handle: Handle,
    stop: Option<oneshot::Sender<()>>,
    thread: Option<JoinHandle<()>>,
}

impl Wire {
    /// Starts the thread. It sleeps while nothing is pushed.
    pub(super) fn start() -> io::Result<Self> {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_io().enable_time().build()?;
        let handle = runtime.handle().clone();
        let (stop, stopped) = oneshot::channel();
        let thread = std::thread::Builder::new().name("forbear-otlp".to_owned()).spawn(move || {
            // An error means the sender is gone, which is a stop as well.
            let _ = runtime.block_on(stopped);
        })?;
        Ok(Self { handle, stop: Some(stop), thread: Some(thread) })
    }
}

impl Drop for Wire {
    fn drop(&mut self) {
        if let (Some(stop), Some(thread)) = (self.stop.take(), self.thread.take()) {
            // Both fail only if the thread has ended by itself.
            let _ = stop.send(());
            let _ = thread.join();
        }
    }
}

/// A client that may be used on the SDK's own threads, whatever clients other crates of the application switch on: an
/// asynchronous one would find no reactor there.
fn http_client() -> Result<reqwest::blocking::Client, InstallError> {
    // Made on a thread of its own, since it must not be made inside a runtime.
    let client = std::thread::spawn(|| reqwest::blocking::Client::builder().timeout(timeout()).build());
    match client.join() {
        Ok(Ok(client)) => Ok(client),
        Ok(Err(error)) => Err(InstallError::Exporter(Box::new(error))),
        Err(_) => Err(InstallError::Exporter("the HTTP client could not be made".into())),
    }
}

fn refused(error: impl Error + Send + Sync + 'static) -> InstallError {
    InstallError::Exporter(Box::new(error))
}

/// Gives a builder the endpoint, unless the exporter reads it from the environment.
fn at<B: WithExportConfig>(builder: B, endpoint: Option<String>) -> B {
    match endpoint {
        Some(endpoint) => builder.with_endpoint(endpoint),
        None => builder,
    }
}

/// What pushes spans. Must be made before anything is installed, since it may fail.
pub(super) fn spans(config: &Config, wire: &Wire, tally: Arc<Tally>) -> Result<Counted<SpanExporter>, InstallError> {
    let protocol = config.protocol_of(Pushed::Traces)?;
    let endpoint = config.endpoint_of(Pushed::Traces, protocol);
    let exporter = match protocol {
        Protocol::Http => at(SpanExporter::builder().with_http().with_http_client(http_client()?), endpoint)
            .build()
            .map_err(refused)?,
        Protocol::Grpc => {
            let _inside = wire.handle.enter();
            at(SpanExporter::builder().with_tonic(), endpoint).build().map_err(refused)?
        }
    };
    Ok(Counted { inner: exporter, tally })
}

/// What pushes metrics. Must be made before anything is installed, since it may fail.
pub(super) fn metrics(
    config: &Config,
    wire: &Wire,
    tally: Arc<Tally>,
) -> Result<Counted<MetricExporter>, InstallError> {
    let protocol = config.protocol_of(Pushed::Metrics)?;
    let endpoint = config.endpoint_of(Pushed::Metrics, protocol);
    let exporter = match protocol {
        Protocol::Http => at(MetricExporter::builder().with_http().with_http_client(http_client()?), endpoint)
            .build()
            .map_err(refused)?,
        Protocol::Grpc => {
            let _inside = wire.handle.enter();
            at(MetricExporter::builder().with_tonic(), endpoint).build().map_err(refused)?
        }
    };
    Ok(Counted { inner: exporter, tally })
}

/// What was to be delivered and what became of it.
#[derive(Debug, Default)]
pub(super) struct Tally {
    pub(super) spans_ended: AtomicU64,
    pub(super) spans_delivered: AtomicU64,
    pub(super) spans_failed: AtomicU64,
    pub(super) pushes_failed: AtomicU64,
}

/// An exporter or a processor whose work is counted.
#[derive(Debug)]
pub(super) struct Counted<T> {
    inner: T,
    tally: Arc<Tally>,
}

impl Counted<BatchSpanProcessor> {
    /// A queue of fixed length with a thread that empties it.
    pub(super) fn queue(exporter: Counted<SpanExporter>) -> Self {
        let tally = Arc::clone(&exporter.tally);
        Self { inner: BatchSpanProcessor::builder(exporter).build(), tally }
    }
}

impl SpanProcessor for Counted<BatchSpanProcessor> {
    fn on_start(&self, span: &mut Span, context: &Context) {
        self.inner.on_start(span, context);
    }

    fn on_end(&self, span: SpanData) {
        self.tally.spans_ended.fetch_add(u64::from(span.span_context.is_sampled()), Relaxed);
        self.inner.on_end(span);
    }

    fn force_flush(&self) -> OTelSdkResult {
        self.inner.force_flush()
    }

    fn shutdown_with_timeout(&self, timeout: Duration) -> OTelSdkResult {
        self.inner.shutdown_with_timeout(timeout)
    }

    fn set_resource(&mut self, resource: &Resource) {
        self.inner.set_resource(resource);
    }
}

impl opentelemetry_sdk::trace::SpanExporter for Counted<SpanExporter> {
    async fn export(&self, batch: Vec<SpanData>) -> OTelSdkResult {
        let spans = batch.len() as u64;
        let result = opentelemetry_sdk::trace::SpanExporter::export(&self.inner, batch).await;
        let became = if result.is_ok() { &self.tally.spans_delivered } else { &self.tally.spans_failed };
        became.fetch_add(spans, Relaxed);
        result
    }

    fn shutdown_with_timeout(&self, timeout: Duration) -> OTelSdkResult {
        opentelemetry_sdk::trace::SpanExporter::shutdown_with_timeout(&self.inner, timeout)
    }

    fn force_flush(&self) -> OTelSdkResult {
        opentelemetry_sdk::trace::SpanExporter::force_flush(&self.inner)
    }

    fn set_resource(&mut self, resource: &Resource) {
        opentelemetry_sdk::trace::SpanExporter::set_resource(&mut self.inner, resource);
    }
}

impl PushMetricExporter for Counted<MetricExporter> {
    async fn export(&self, metrics: &ResourceMetrics) -> OTelSdkResult {
        let result = self.inner.export(metrics).await;
        if result.is_err() {
            self.tally.pushes_failed.fetch_add(1, Relaxed);
        }
        result
    }

    fn force_flush(&self) -> OTelSdkResult {
        self.inner.force_flush()
    }

    fn shutdown_with_timeout(&self, timeout: Duration) -> OTelSdkResult {
        self.inner.shutdown_with_timeout(timeout)
    }

    fn temporality(&self) -> Temporality {
        self.inner.temporality()
    }
}
