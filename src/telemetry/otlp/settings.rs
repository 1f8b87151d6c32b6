//! What application and environment say together.

use std::time::Duration;

use opentelemetry::KeyValue;
use opentelemetry_sdk::Resource;

use crate::clock::SharedDice;
use crate::core::dice::Dice;
use crate::core::setting::within;
use crate::telemetry::otlp::InstallError;
use crate::telemetry::otlp::config::{Config, Protocol};
use crate::telemetry::otlp::environment::Environment;

/// How often metrics may be pushed.
const PUSH_EVERY: std::ops::RangeInclusive<Duration> = Duration::from_millis(1)..=Duration::from_secs(3_600);
/// How long a push may take unless told: the specification's default.
const PUSH_WITHIN: Duration = Duration::from_secs(10);
/// How many spans are kept unless told: the specification's default.
const SPANS_KEPT: usize = 2_048;

/// What an installation does.
pub(super) struct Settings {
    /// Who pushes.
    pub(super) resource: Resource,
    /// How spans travel; `None` where they are switched off.
    pub(super) traces: Option<Way>,
    /// How metrics travel; `None` where they are switched off.
    pub(super) metrics: Option<Way>,
    /// How often metrics are pushed.
    pub(super) push_every: Duration,
    /// The most spans that are kept until they are delivered.
    pub(super) spans_kept: usize,
}

/// How one kind of telemetry travels.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Way {
    pub(super) protocol: Protocol,
    /// Where to; `None` where the exporter reads the environment by itself, or takes its default.
    pub(super) endpoint: Option<String>,
    /// How long a push may take, with all its retries.
    pub(super) within: Duration,
}

/// What is pushed; each has variables of its own.
#[derive(Clone, Copy, Debug)]
enum Pushed {
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

    /// Its own variable and the one for both.
    fn variables(self, what: &str) -> [String; 2] {
        [format!("OTEL_EXPORTER_OTLP_{}_{what}", self.word()), format!("OTEL_EXPORTER_OTLP_{what}")]
    }
}

impl Settings {
    /// What `config` says, unless the environment says otherwise.
    ///
    /// # Errors
    /// A variable that cannot be read, or a setting out of its range.
    pub(super) fn of(config: &Config, environment: Environment<'_>) -> Result<Self, InstallError> {
        within("otlp.push_every", config.push_every, PUSH_EVERY, "1ms to 1h").map_err(InstallError::Setting)?;
        let every = environment.millis(&["OTEL_METRIC_EXPORT_INTERVAL"])?;
        let kept = |value: &str| value.trim().parse().ok().filter(|spans| *spans > 0);
        let kept = environment.first(&["OTEL_BSP_MAX_QUEUE_SIZE"], "spans, a whole number above 0", kept)?;
        Ok(Self {
            resource: resource(config),
            traces: Way::of(config, environment, Pushed::Traces)?,
            metrics: Way::of(config, environment, Pushed::Metrics)?,
            push_every: every.unwrap_or(config.push_every),
            spans_kept: kept.unwrap_or(SPANS_KEPT),
        })
    }
}

impl Way {
    fn of(config: &Config, environment: Environment<'_>, pushed: Pushed) -> Result<Option<Self>, InstallError> {
        let exporter = format!("OTEL_{}_EXPORTER", pushed.word());
        let pushes = |value: &str| match value.trim() {
            "otlp" => Some(true),
            "none" => Some(false),
            _ => None,
        };
        let is_pushed = environment.first(&[&exporter], "otlp or none", pushes)?.unwrap_or(true);
        if environment.says_yes("OTEL_SDK_DISABLED") || !is_pushed {
            return Ok(None);
        }
        let first = |what, allowed, read| {
            let [own, both] = pushed.variables(what);
            environment.first(&[&own, &both], allowed, read)
        };
        let protocol = first("PROTOCOL", "grpc or http/protobuf", |value: &str| match value.trim() {
            "grpc" => Some(Protocol::Grpc),
            "http/protobuf" => Some(Protocol::Http),
            _ => None,
        })?;
        let protocol = protocol.unwrap_or(config.protocol);
        let [own, both] = pushed.variables("TIMEOUT");
        let within = environment.millis(&[&own, &both])?.unwrap_or(PUSH_WITHIN);
        let told = pushed.variables("ENDPOINT").iter().any(|variable| environment.text(variable).is_some());
        let endpoint = config.endpoint.as_deref().filter(|_| !told).map(|url| match protocol {
            Protocol::Grpc => url.to_owned(),
            Protocol::Http => format!("{}/{}", url.trim_end_matches('/'), pushed.path()),
        });
        Ok(Some(Self { protocol, endpoint, within }))
    }
}

/// Who pushes. Without an instance of its own each replica's counters would be taken for one another's.
fn resource(config: &Config) -> Resource {
    let detected = Resource::builder().build();
    let from_environment = detected
        .iter()
        .filter(|(key, value)| key.as_str() != "service.name" || !value.as_str().starts_with("unknown_service"));
    let from_environment = from_environment.map(|(key, value)| KeyValue::new(key.clone(), value.clone()));
    Resource::builder_empty()
        .with_attribute(KeyValue::new("service.instance.id", instance_id()))
        .with_attributes(config.attributes.iter().map(|(key, value)| KeyValue::new(key.clone(), value.clone())))
        .with_service_name(config.service.clone())
        .with_attributes(from_environment)
        .build()
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

    fn settings(config: &Config, variables: &[(&str, &str)]) -> Result<Settings, String> {
        let read =
            |name: &str| variables.iter().find(|(variable, _)| *variable == name).map(|(_, value)| (*value).to_owned());
        Settings::of(config, Environment(&read)).map_err(|error| error.to_string())
    }

    fn told(config: &Config, variables: &[(&str, &str)]) -> Settings {
        settings(config, variables).expect("all of it can be read")
    }

    #[test]
    fn an_instance_id_is_a_random_uuid() {
        let id = instance_id();
        let parts: Vec<_> = id.split('-').map(str::len).collect();
        assert_eq!(parts, [8, 4, 4, 4, 12], "{id}");
        assert!(id[14..15] == *"4" && "89ab".contains(&id[19..20]), "{id}");
        assert_ne!(id, instance_id());
    }

    #[test]
    fn metrics_are_pushed_each_15_s_unless_the_application_or_the_environment_says_otherwise() {
        let config = Config::new("checkout");
        assert_eq!(told(&config, &[]).push_every, Duration::from_secs(15));
        let config = config.push_every(Duration::from_secs(30));
        assert_eq!(told(&config, &[]).push_every, Duration::from_secs(30));
        let variables = [("OTEL_METRIC_EXPORT_INTERVAL", "5000")];
        assert_eq!(told(&config, &variables).push_every, Duration::from_secs(5));
        let error = settings(&config.push_every(Duration::ZERO), &variables).err().expect("refused");
        assert_eq!(error, "otlp.push_every is 0ns; allowed: 1ms to 1h; nothing was installed");
    }

    #[test]
    fn a_path_is_added_to_the_endpoint_over_http_only() {
        let ways = |config: &Config| {
            let settings = told(config, &[]);
            [settings.traces, settings.metrics].map(|way| way.expect("pushed").endpoint.expect("told"))
        };
        let config = Config::new("checkout").endpoint("http://collector:4318/");
        assert_eq!(ways(&config), ["http://collector:4318/v1/traces", "http://collector:4318/v1/metrics"]);
        let config = config.protocol(Protocol::Grpc);
        assert_eq!(ways(&config), ["http://collector:4318/", "http://collector:4318/"]);
    }

    #[test]
    fn a_variable_of_one_kind_beats_the_one_for_both_which_beats_the_application() {
        let config = Config::new("checkout").endpoint("http://application:4318");
        let variables = [
            ("OTEL_EXPORTER_OTLP_PROTOCOL", "grpc"),
            ("OTEL_EXPORTER_OTLP_TRACES_PROTOCOL", "http/protobuf"),
            ("OTEL_EXPORTER_OTLP_METRICS_ENDPOINT", "http://operator:4317"),
            ("OTEL_EXPORTER_OTLP_TIMEOUT", "2000"),
            ("OTEL_EXPORTER_OTLP_METRICS_TIMEOUT", "500"),
            ("OTEL_BSP_MAX_QUEUE_SIZE", "64"),
        ];
        let settings = told(&config, &variables);
        let endpoint = Some("http://application:4318/v1/traces".to_owned());
        let traces = Way { protocol: Protocol::Http, endpoint, within: Duration::from_secs(2) };
        assert_eq!(settings.traces, Some(traces));
        // The exporter finds the operator's by itself.
        let metrics = Way { protocol: Protocol::Grpc, endpoint: None, within: Duration::from_millis(500) };
        assert_eq!(settings.metrics, Some(metrics));
        assert_eq!(settings.spans_kept, 64);
    }

    #[test]
    fn each_kind_can_be_switched_off_and_both_together() {
        let config = Config::new("checkout");
        let on = |variables: &[(&str, &str)]| {
            let settings = told(&config, variables);
            (settings.traces.is_some(), settings.metrics.is_some())
        };
        assert_eq!(on(&[]), (true, true));
        assert_eq!(on(&[("OTEL_TRACES_EXPORTER", "none")]), (false, true));
        assert_eq!(on(&[("OTEL_METRICS_EXPORTER", "none"), ("OTEL_TRACES_EXPORTER", "otlp")]), (true, false));
        assert_eq!(on(&[("OTEL_SDK_DISABLED", "true")]), (false, false));
    }

    #[test]
    fn what_cannot_be_read_is_named_with_what_is_allowed() {
        let config = Config::new("checkout");
        for (variable, value, allowed) in [
            ("OTEL_EXPORTER_OTLP_PROTOCOL", "http/json", "grpc or http/protobuf"),
            ("OTEL_TRACES_EXPORTER", "zipkin", "otlp or none"),
            ("OTEL_METRIC_EXPORT_INTERVAL", "15s", "milliseconds, a whole number above 0"),
            ("OTEL_BSP_MAX_QUEUE_SIZE", "many", "spans, a whole number above 0"),
        ] {
            let error = settings(&config, &[(variable, value)]).err().expect("refused");
            assert_eq!(error, format!("{variable} is {value:?}; allowed: {allowed}; nothing was installed"));
        }
    }

    #[test]
    fn the_resource_names_service_and_instance() {
        let resource = told(&Config::new("checkout").attribute("deployment.environment.name", "prod"), &[]).resource;
        let value = |key: &'static str| resource.get(&key.into()).map(|value| value.to_string());
        assert_eq!(value("service.name").as_deref(), Some("checkout"));
        assert_eq!(value("deployment.environment.name").as_deref(), Some("prod"));
        assert_eq!(value("service.instance.id").map(|id| id.len()), Some(36));
    }
}
