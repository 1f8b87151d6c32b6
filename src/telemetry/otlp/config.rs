//! What an OTLP set-up can be told.

use std::time::Duration;

use crate::event::metric::Resolution;

/// How OTLP travels.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Protocol {
    /// HTTP with binary protobuf, by default to port 4318.
    Http,
    /// gRPC, by default to port 4317.
    Grpc,
}

/// The application's own settings. What the environment says beats them, so that an operator needs no new build:
///
/// | variable | default | what |
/// |---|---|---|
/// | `OTEL_SERVICE_NAME` | [`Config::new`] | `service.name` |
/// | `OTEL_RESOURCE_ATTRIBUTES` | [`Config::attribute`] | further attributes; `service.instance.id` is made up unless given |
/// | `OTEL_EXPORTER_OTLP_ENDPOINT`, `…_TRACES_ENDPOINT`, `…_METRICS_ENDPOINT` | [`Config::endpoint`] | the collector |
/// | `OTEL_EXPORTER_OTLP_PROTOCOL`, `…_TRACES_PROTOCOL`, `…_METRICS_PROTOCOL` | [`Config::protocol`] | `http/protobuf` or `grpc` |
/// | `OTEL_EXPORTER_OTLP_TIMEOUT`, `…_TRACES_TIMEOUT`, `…_METRICS_TIMEOUT` | 10 s | milliseconds a push may take |
/// | `OTEL_METRIC_EXPORT_INTERVAL` | [`Config::push_every`] | milliseconds between pushes of metrics |
/// | `OTEL_BSP_MAX_QUEUE_SIZE` | 2,048 | spans kept until they are delivered |
/// | `OTEL_EXPORTER_OTLP_HEADERS`, other `OTEL_BSP_*`, `OTEL_TRACES_SAMPLER`, `OTEL_EXPORTER_OTLP_METRICS_TEMPORALITY_PREFERENCE` | the specification's | as the specification says |
/// | `OTEL_TRACES_EXPORTER`, `OTEL_METRICS_EXPORTER` | `otlp` | `none`: traces or metrics are not pushed |
/// | `OTEL_SDK_DISABLED` | false | `true`: nothing is pushed |
///
/// A variable that cannot be read is refused by [`install`](crate::telemetry::otlp::install), with its name and what is
/// allowed; the specification would have it ignored, and the mistake found when the numbers are needed.
#[derive(Clone, Debug)]
#[must_use = "it is what `install` is given"]
pub struct Config {
    pub(super) service: String,
    pub(super) attributes: Vec<(String, String)>,
    pub(super) endpoint: Option<String>,
    pub(super) protocol: Protocol,
    pub(super) push_every: Duration,
    pub(super) resolution: Resolution,
    pub(super) subscribe: bool,
}

impl Config {
    /// For a service of this name: HTTP to a collector on this machine, metrics each 15 s.
    pub fn new(service: impl Into<String>) -> Self {
        Self {
            service: service.into(),
            attributes: Vec::new(),
            endpoint: None,
            protocol: Protocol::Http,
            push_every: Duration::from_secs(15),
            resolution: Resolution::Lean,
            subscribe: true,
        }
    }

    /// An attribute of the resource, such as `deployment.environment.name`.
    pub fn attribute(mut self, key: impl Into<String>, value: impl Into<String>) -> Self {
        self.attributes.push((key.into(), value.into()));
        self
    }

    /// The collector, as a URL without a path: `http://otel-collector:4318`. For `https` the application has to enable a
    /// TLS feature of `opentelemetry-otlp` (gRPC) or `reqwest` (HTTP).
    pub fn endpoint(mut self, url: impl Into<String>) -> Self {
        self.endpoint = Some(url.into());
        self
    }

    /// How it travels; HTTP unless told.
    pub fn protocol(mut self, protocol: Protocol) -> Self {
        self.protocol = protocol;
        self
    }

    /// How often metrics are pushed: 1 ms to 1 h; 15 s unless told. A rule that looks one minute back needs four of them
    /// in it.
    pub fn push_every(mut self, interval: Duration) -> Self {
        self.push_every = interval;
        self
    }

    /// About twice as many buckets in each histogram; see [`Resolution::Fine`].
    pub fn finer_histograms(mut self) -> Self {
        self.resolution = Resolution::Fine;
        self
    }

    /// Leaves the process's `tracing` subscriber to the application, which adds
    /// [`Otlp::layer`](crate::telemetry::otlp::Otlp::layer) to it.
    pub fn own_subscriber(mut self) -> Self {
        self.subscribe = false;
        self
    }
}
