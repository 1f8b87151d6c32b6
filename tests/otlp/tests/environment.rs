//! A service whose code names no collector: the environment does. And every way it can end pushes what is left.

use std::process::{Command, Output};

use forbear_otlp_tests::{Collector, assert_same, assert_traced_call_arrived, lines_of, translate};

/// Runs the service with these variables.
fn service(arguments: &[&str], variables: &[(&str, &str)]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_service"));
    command.args(arguments).envs(variables.iter().copied()).output().expect("the service runs")
}

#[test]
fn each_end_on_each_runtime_over_each_protocol_pushes_what_is_left() {
    for protocol in ["grpc", "http/protobuf"] {
        for runtime in ["current", "multi"] {
            for end in ["drop", "shutdown"] {
                let name = format!("{protocol}, {runtime}, {end}");
                let collector = Collector::start();
                let addr = if protocol == "grpc" { collector.grpc } else { collector.http };
                let endpoint = format!("http://{addr}");
                let variables =
                    [("OTEL_EXPORTER_OTLP_ENDPOINT", &*endpoint), ("OTEL_EXPORTER_OTLP_PROTOCOL", protocol)];
                let output = service(&["push", runtime, end], &variables);
                let said = String::from_utf8_lossy(&output.stdout);
                assert!(output.status.success(), "{name}: {}", String::from_utf8_lossy(&output.stderr));
                let (ended, page) = if end == "drop" { ("", &*said) } else { said.split_once('\n').expect("a line") };
                assert!(end == "drop" || ended.contains("spans: 0, metric_pushes: 0"), "{name}: {ended}");
                // Its gauges went before its last push in the one case, and after it in the other.
                let without_gauges = |lines: Vec<String>| {
                    let kept = lines.into_iter().filter(|line| line.contains("_total{") || line.contains("_seconds_"));
                    kept.collect::<Vec<_>>()
                };
                assert_same(&without_gauges(collector.lines(translate)), &without_gauges(lines_of(page)));
                assert_traced_call_arrived(&collector);
            }
        }
    }
}

#[test]
fn the_operator_names_service_instance_and_headers_and_may_switch_each_kind_off() {
    let collector = Collector::start();
    let endpoint = format!("http://{}", collector.http);
    let variables = [
        ("OTEL_EXPORTER_OTLP_ENDPOINT", &*endpoint),
        ("OTEL_EXPORTER_OTLP_HEADERS", "authorization=Bearer%20operator"),
        ("OTEL_SERVICE_NAME", "named-by-the-operator"),
        ("OTEL_RESOURCE_ATTRIBUTES", "service.instance.id=pod-7,deployment.environment.name=prod"),
        ("OTEL_TRACES_EXPORTER", "none"),
    ];
    let output = service(&["push", "current", "shutdown"], &variables);
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let of_metrics = |key| collector.resource(key)[1].clone().unwrap_or_default();
    assert_eq!(of_metrics("service.name"), "named-by-the-operator");
    assert_eq!(of_metrics("service.instance.id"), "pod-7");
    assert_eq!(of_metrics("deployment.environment.name"), "prod");
    assert_eq!(collector.header("authorization").as_deref(), Some("Bearer operator"));
    assert_eq!(collector.spans().len(), 0, "traces are switched off");
}

#[test]
fn a_variable_that_cannot_be_read_is_refused_by_name() {
    let output = service(&["push", "current", "drop"], &[("OTEL_METRIC_EXPORT_INTERVAL", "15s")]);
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(!output.status.success() && said.contains("OTEL_METRIC_EXPORT_INTERVAL"), "{said}");
}
