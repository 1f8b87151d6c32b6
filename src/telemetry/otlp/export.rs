//! The exporters: which client they use, on which thread, and what they lost.
//!
//! | thread | what it does |
//! |---|---|
//! | the caller's | ends a span: puts it into the queue, or counts it as lost; never waits |
//! | the SDK's for traces | takes spans out of the queue, in batches, and pushes them |
//! | the SDK's for metrics | collects all totals and gauges each interval, and pushes them |
//! | `forbear-otlp` | carries gRPC's connections |
//! | `forbear-otlp-end` | waits for the last push while `shutdown` is awaited |
//!
//! HTTP is pushed by a blocking client on the SDK's own threads. An asynchronous one, which other crates may switch on in the
//! exporter's place, finds no runtime there and panics; that is why the client is made here and handed over.
//!
//! A push is tried again by the exporter where the collector says it may be (gRPC's `RetryInfo`, HTTP's `Retry-After`),
//! within the time of one push. What was not taken by then is lost: spans for good, metrics until the next push.

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
use opentelemetry_sdk::trace::{BatchConfigBuilder, BatchSpanProcessor, Span, SpanData, SpanProcessor};
use tokio::runtime::Handle;
use tokio::sync::oneshot;

use crate::telemetry::otlp::config::Protocol;
use crate::telemetry::otlp::settings::Way;
use crate::telemetry::otlp::{InstallError, LostTelemetry};

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
fn http_client(within: Duration) -> Result<reqwest::blocking::Client, InstallError> {
    // Made on a thread of its own, since it must not be made inside a runtime.
    let client = std::thread::spawn(move || reqwest::blocking::Client::builder().timeout(within).build());
    match client.join() {
        Ok(Ok(client)) => Ok(client),
        Ok(Err(error)) => Err(InstallError::Exporter(Box::new(error))),
        Err(_) => Err(InstallError::Exporter("the HTTP client could not be made".into())),
    }
}

fn refused(error: impl Error + Send + Sync + 'static) -> InstallError {
    InstallError::Exporter(Box::new(error))
}

/// Gives a builder its endpoint, unless the exporter reads it from the environment, and its time.
fn along<B: WithExportConfig>(builder: B, way: &Way) -> B {
    let builder = builder.with_timeout(way.within);
    match &way.endpoint {
        Some(endpoint) => builder.with_endpoint(endpoint),
        None => builder,
    }
}

/// What pushes spans. Must be made before anything is installed, since it may fail.
pub(super) fn spans(way: &Way, wire: &Wire, tally: Arc<Tally>) -> Result<Counted<SpanExporter>, InstallError> {
    let exporter = match way.protocol {
        Protocol::Http => {
            let builder = SpanExporter::builder().with_http().with_http_client(http_client(way.within)?);
            along(builder, way).build().map_err(refused)?
        }
        Protocol::Grpc => {
            let _inside = wire.handle.enter();
            along(SpanExporter::builder().with_tonic(), way).build().map_err(refused)?
        }
    };
    Ok(Counted { inner: exporter, tally })
}

/// What pushes metrics. Must be made before anything is installed, since it may fail.
pub(super) fn metrics(way: &Way, wire: &Wire, tally: Arc<Tally>) -> Result<Counted<MetricExporter>, InstallError> {
    let exporter = match way.protocol {
        Protocol::Http => {
            let builder = MetricExporter::builder().with_http().with_http_client(http_client(way.within)?);
            along(builder, way).build().map_err(refused)?
        }
        Protocol::Grpc => {
            let _inside = wire.handle.enter();
            along(MetricExporter::builder().with_tonic(), way).build().map_err(refused)?
        }
    };
    Ok(Counted { inner: exporter, tally })
}

/// What waits to be delivered, and what never will be.
#[derive(Debug, Default)]
pub(super) struct Tally {
    /// Spans that were taken and neither delivered nor lost so far.
    spans_waiting: AtomicU64,
    spans_lost: AtomicU64,
    pushes_lost: AtomicU64,
}

impl Tally {
    /// What is known to be lost so far.
    pub(super) fn lost(&self) -> LostTelemetry {
        LostTelemetry { spans: self.spans_lost.load(Relaxed), metric_pushes: self.pushes_lost.load(Relaxed) }
    }

    /// What is lost once nothing is pushed any more: what still waits, too.
    pub(super) fn lost_at_the_end(&self) -> LostTelemetry {
        let lost = self.lost();
        LostTelemetry { spans: lost.spans + self.spans_waiting.load(Relaxed), ..lost }
    }
}

/// An exporter whose work is counted.
#[derive(Debug)]
pub(super) struct Counted<T> {
    inner: T,
    tally: Arc<Tally>,
}

/// A queue of fixed length with a thread that empties it. It counts what it has no room for: the SDK's own processor does
/// so too, but tells the number to its log alone.
#[derive(Debug)]
pub(super) struct Queue {
    inner: BatchSpanProcessor,
    tally: Arc<Tally>,
    most: u64,
}

impl Queue {
    /// A queue of at most `most` spans, those being pushed included.
    pub(super) fn of(most: usize, exporter: Counted<SpanExporter>) -> Self {
        let tally = Arc::clone(&exporter.tally);
        // Its own queue is as long, so that it never has to drop one itself.
        let config = BatchConfigBuilder::default().with_max_queue_size(most).build();
        Self { inner: BatchSpanProcessor::new(exporter, config), tally, most: most as u64 }
    }
}

impl SpanProcessor for Queue {
    fn on_start(&self, span: &mut Span, context: &Context) {
        self.inner.on_start(span, context);
    }

    fn on_end(&self, span: SpanData) {
        if !span.span_context.is_sampled() {
            return;
        }
        if self.tally.spans_waiting.fetch_add(1, Relaxed) < self.most {
            self.inner.on_end(span);
        } else {
            self.tally.spans_waiting.fetch_sub(1, Relaxed);
            self.tally.spans_lost.fetch_add(1, Relaxed);
        }
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
        self.tally.spans_waiting.fetch_sub(spans, Relaxed);
        if result.is_err() {
            self.tally.spans_lost.fetch_add(spans, Relaxed);
        }
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
            self.tally.pushes_lost.fetch_add(1, Relaxed);
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
