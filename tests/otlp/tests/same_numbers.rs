//! Both roads to their ends: what a real Prometheus scrapes from a service is what a real VictoriaMetrics holds after the
//! service pushed over OTLP, metric for metric.

#[path = "../../support/server.rs"]
mod server;

use std::collections::{BTreeMap, BTreeSet};
use std::thread::sleep;
use std::time::{Duration, Instant};

use forbear::event::catalogue::Metric;
use forbear::otlp::{self, Config};
use forbear_otlp_tests::{lines_of, workload};
use server::{Server, empty_folder};

/// What says who was scraped, or who pushed: labels of the resource and of the instrumentation scope.
const OF_RESOURCE: [&str; 9] = [
    "job",
    "instance",
    "service_name",
    "service_instance_id",
    "telemetry_sdk_language",
    "telemetry_sdk_name",
    "telemetry_sdk_version",
    "otel_scope_name",
    "otel_scope_version",
];

/// How long a server may take to show what it was given.
const SHOWN_WITHIN: Duration = Duration::from_secs(30);

/// Everything of ours a server shows, by series without the labels of the resource.
fn shown_by(server: &Server) -> BTreeMap<String, f64> {
    let series = server.query(r#"{__name__=~"forbear_.+"}"#, None);
    let series = series.into_iter().map(|(mut labels, value)| {
        let name = labels.remove("__name__").expect("a name");
        OF_RESOURCE.iter().for_each(|label| drop(labels.remove(*label)));
        // Prometheus 3 spells `1.0` what others spell `1`.
        if let Some(le) = labels.get_mut("le").filter(|le| *le != "+Inf") {
            *le = le.parse::<f64>().expect("a bound").to_string();
        }
        let labels: Vec<_> = labels.iter().map(|(key, value)| format!("{key}=\"{value}\"")).collect();
        (format!("{name}{{{}}}", labels.join(",")), value)
    });
    series.collect()
}

/// What a server shows as soon as it is `expected`; what it shows at last where it never is.
fn shown_in_the_end(server: &Server, expected: &BTreeMap<String, f64>) -> BTreeMap<String, f64> {
    let started = Instant::now();
    loop {
        let shown = shown_by(server);
        if shown == *expected || started.elapsed() > SHOWN_WITHIN {
            return shown;
        }
        sleep(Duration::from_millis(200));
    }
}

/// Names what the two do not have in common.
fn assert_same(found: &BTreeMap<String, f64>, expected: &BTreeMap<String, f64>, where_found: &str) {
    let differing = |a: &BTreeMap<String, f64>, b: &BTreeMap<String, f64>| {
        let lines = a.iter().filter(|(series, value)| b.get(*series) != Some(value));
        lines.map(|(series, value)| format!("{series} {value}")).collect::<Vec<_>>()
    };
    let (more, missing) = (differing(found, expected), differing(expected, found));
    assert!(more.is_empty() && missing.is_empty(), "{where_found}: more {more:#?}\nmissing {missing:#?}");
}

/// The metrics that have series.
fn metrics_in(series: &BTreeMap<String, f64>) -> BTreeSet<Metric> {
    let name = |series: &str| {
        let name = series.split('{').next().unwrap_or_default();
        let bare = ["_bucket", "_sum", "_count"].iter().find_map(|suffix| name.strip_suffix(suffix)).unwrap_or(name);
        Metric::find(bare).unwrap_or_else(|| panic!("{series} is not in the catalogue"))
    };
    series.keys().map(|series| name(series)).collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn prometheus_and_victoria_metrics_show_every_metric_with_the_same_name_labels_and_value() {
    let folder = empty_folder(env!("CARGO_TARGET_TMPDIR"), "same_numbers");
    let prometheus = forbear::prometheus::install(0).expect("a free port");
    let target = format!(
        "[{{job_name: checkout, scrape_interval: 200ms, static_configs: [{{targets: ['{}']}}]}}]",
        prometheus.addr()
    );
    let scraping = Server::prometheus(&folder, &target);
    let receiving = Server::victoria_metrics(&folder);
    let endpoint = format!("http://{}/opentelemetry", receiving.addr);
    let otlp = otlp::install(Config::new("checkout").endpoint(endpoint).own_subscriber()).expect("a free process");

    let (totals, gauges) = workload((otlp.instruments(), prometheus.meters()));
    let expected: BTreeMap<String, f64> = lines_of(&totals.to_prometheus())
        .iter()
        .map(|line| line.rsplit_once(' ').expect("a value"))
        .map(|(series, value)| (series.to_owned(), value.parse().expect("a number")))
        .collect();
    let all: BTreeSet<_> = Metric::ALL.iter().copied().collect();
    assert_eq!(metrics_in(&expected), all, "the workload has series of every metric");
    // The last push is the one at the end.
    otlp.shutdown().await.expect("VictoriaMetrics answers");

    assert_same(&shown_in_the_end(&scraping, &expected), &expected, "Prometheus");
    assert_same(&shown_in_the_end(&receiving, &expected), &expected, "VictoriaMetrics");
    drop((gauges, scraping, receiving));
    std::fs::remove_dir_all(&folder).expect("removed");
}
