//! What an OTLP set-up can be told, by the application and by its environment.

use std::env;
use std::time::Duration;

use opentelemetry::KeyValue;
use opentelemetry_sdk::Resource;

use crate::clock::SharedDice;
use crate::core::dice::Dice;
use crate::telemetry::otlp::InstallError;

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
/// | `OTEL_METRIC_EXPORT_INTERVAL` | [`Config::push_every`] | milliseconds between pushes of metrics |
/// | `OTEL_EXPORTER_OTLP_TIMEOUT` | 10 s | milliseconds a push may take |
/// | `OTEL_EXPORTER_OTLP_HEADERS`, `OTEL_BSP_*`, `OTEL_TRACES_SAMPLER` | the specification's | as the specification says |
/// | `OTEL_SDK_DISABLED` | false | `true`: nothing is pushed |
#[derive(Clone, Debug)]
#[must_use = "it is what `install` is given"]
pub struct Config {
    service: String,
    attributes: Vec<(String, String)>,
    endpoint: Option<String>,
    protocol: Protocol,
    push_every: Duration,
    pub(super) subscribe: bool,
}

/// What is pushed; each has variables of its own.
#[derive(Clone, Copy, Debug)]
pub(super) enum Pushed {
    Traces,
    Metrics,
}

impl Pushed {
    const fn word(self) -> &'static str {
        match self {
            Self::Traces => "TRACES",
            Self::Metrics => "METRICS",
        }
    }

    const fn path(self) -> &'static str {
        match self {
            Self::Traces => "v1/traces",
            Self::Metrics => "v1/metrics",
        }
    }
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

    /// How often metrics are pushed; 15 s unless told. A rule that looks one minute back needs four of them in it.
    pub fn push_every(mut self, interval: Duration) -> Self {
        self.push_every = interval;
        self
    }

    /// Leaves the process's `tracing` subscriber to the application, which adds
    /// [`Otlp::layer`](crate::telemetry::otlp::Otlp::layer) to it.
    pub fn own_subscriber(mut self) -> Self {
        self.subscribe = false;
        self
    }

    /// The endpoint to give the exporter; `None` where the exporter reads the environment by itself.
    pub(super) fn endpoint_of(&self, pushed: Pushed, protocol: Protocol) -> Option<String> {
        let own = format!("OTEL_EXPORTER_OTLP_{}_ENDPOINT", pushed.word());
        if variable("OTEL_EXPORTER_OTLP_ENDPOINT").or_else(|| variable(&own)).is_some() {
            return None;
        }
        let url = self.endpoint.as_deref()?;
        Some(match protocol {
            Protocol::Grpc => url.to_owned(),
            Protocol::Http => format!("{}/{}", url.trim_end_matches('/'), pushed.path()),
        })
    }

    /// How this travels.
    pub(super) fn protocol_of(&self, pushed: Pushed) -> Result<Protocol, InstallError> {
        let own = format!("OTEL_EXPORTER_OTLP_{}_PROTOCOL", pushed.word());
        for name in [own.as_str(), "OTEL_EXPORTER_OTLP_PROTOCOL"] {
            match variable(name).as_deref() {
                None => {}
                Some("grpc") => return Ok(Protocol::Grpc),
                Some("http/protobuf") => return Ok(Protocol::Http),
                Some(value) => {
                    let (variable, value) = (name.to_owned(), value.to_owned());
                    return Err(InstallError::Environment { variable, value, allowed: "grpc or http/protobuf" });
                }
            }
        }
        Ok(self.protocol)
    }

    /// How often metrics are pushed; `None` where the SDK reads the environment by itself.
    pub(super) fn interval(&self) -> Option<Duration> {
        variable("OTEL_METRIC_EXPORT_INTERVAL").is_none().then_some(self.push_every)
    }

    /// Who pushes. Without an instance of its own each replica's counters would be taken for one another's.
    pub(super) fn resource(&self) -> Resource {
        let detected = Resource::builder().build();
        let from_environment = detected
            .iter()
            .filter(|(key, value)| key.as_str() != "service.name" || !value.as_str().starts_with("unknown_service"));
        let from_environment = from_environment.map(|(key, value)| KeyValue::new(key.clone(), value.clone()));
        Resource::builder_empty()
            .with_attribute(KeyValue::new("service.instance.id", instance_id()))
            .with_attributes(self.attributes.iter().map(|(key, value)| KeyValue::new(key.clone(), value.clone())))
            .with_service_name(self.service.clone())
            .with_attributes(from_environment)
            .build()
    }
}

/// Whether the environment switches everything off.
pub(super) fn is_disabled() -> bool {
    variable("OTEL_SDK_DISABLED").is_some_and(|value| value.eq_ignore_ascii_case("true"))
}

/// How long a push may take.
pub(super) fn timeout() -> Duration {
    let millis = variable("OTEL_EXPORTER_OTLP_TIMEOUT").and_then(|value| value.parse().ok());
    Duration::from_millis(millis.unwrap_or(10_000))
}

/// A variable that is set to something.
fn variable(name: &str) -> Option<String> {
    env::var(name).ok().filter(|value| !value.is_empty())
}

/// A random UUID (RFC 9562, version 4), as the conventions recommend for `service.instance.id`.
fn instance_id() -> String {
    let dice = SharedDice::from_system();
    let (high, low) = ((&dice).roll(), (&dice).roll());
    let (high, low) = (high & !0xF000 | 0x4000, low & !(0b11 << 62) | 0b10 << 62);
    format!(
        "{:08x}-{:04x}-{:04x}-{:04x}-{:012x}",
        high >> 32,
        high >> 16 & 0xFFFF,
        high & 0xFFFF,
        low >> 48,
        low << 16 >> 16
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_instance_id_is_a_random_uuid() {
        let id = instance_id();
        let parts: Vec<_> = id.split('-').map(str::len).collect();
        assert_eq!(parts, [8, 4, 4, 4, 12], "{id}");
        assert!(id[14..15] == *"4" && "89ab".contains(&id[19..20]), "{id}");
        assert_ne!(id, instance_id());
    }

    #[test]
    fn a_path_is_added_to_the_endpoint_over_http_only() {
        let config = Config::new("service").endpoint("http://collector:4318/");
        let endpoint = |pushed, protocol| config.endpoint_of(pushed, protocol).expect("no variable is set");
        assert_eq!(endpoint(Pushed::Traces, Protocol::Http), "http://collector:4318/v1/traces");
        assert_eq!(endpoint(Pushed::Metrics, Protocol::Http), "http://collector:4318/v1/metrics");
        assert_eq!(endpoint(Pushed::Metrics, Protocol::Grpc), "http://collector:4318/");
    }

    #[test]
    fn the_resource_names_service_and_instance() {
        let resource = Config::new("checkout").attribute("deployment.environment.name", "prod").resource();
        let value = |key: &'static str| resource.get(&key.into()).map(|value| value.to_string());
        assert_eq!(value("service.name").as_deref(), Some("checkout"));
        assert_eq!(value("deployment.environment.name").as_deref(), Some("prod"));
        assert_eq!(value("service.instance.id").map(|id| id.len()), Some(36));
    }
}
