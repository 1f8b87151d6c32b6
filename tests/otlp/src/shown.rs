//! What a server shows of the catalogue.

use std::collections::{BTreeMap, BTreeSet};
use std::thread::sleep;
use std::time::{Duration, Instant};

use forbear::event::catalogue::Metric;
use forbear::event::totals::Totals;

use crate::lines_of;
use crate::server::Server;

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

/// Fails unless `server` shows what is `expected`, and nothing else of ours, within half a minute.
///
/// # Panics
/// If it does not; then it names what the two do not have in common.
pub fn assert_shows(server: &Server, expected: &BTreeMap<String, f64>, name: &str) {
    let started = Instant::now();
    let shown = loop {
        let shown = shown_by(server);
        if shown == *expected {
            return;
        }
        if started.elapsed() > SHOWN_WITHIN {
            break shown;
        }
        sleep(Duration::from_millis(200));
    };
    let differing = |a: &BTreeMap<String, f64>, b: &BTreeMap<String, f64>| {
        let lines = a.iter().filter(|(series, value)| b.get(*series) != Some(value));
        lines.map(|(series, value)| format!("{series} {value}")).collect::<Vec<_>>()
    };
    panic!("{name}: more {:#?}\nmissing {:#?}", differing(&shown, expected), differing(expected, &shown));
}

/// What was added up, by series.
///
/// # Panics
/// If a metric of the catalogue has no series: then it would prove nothing of it.
#[must_use]
pub fn everything_in(totals: &Totals) -> BTreeMap<String, f64> {
    let lines = lines_of(&totals.to_prometheus());
    let pairs = lines.iter().map(|line| line.rsplit_once(' ').expect("a value"));
    let series: BTreeMap<_, f64> =
        pairs.map(|(series, value)| (series.to_owned(), value.parse().expect("a number"))).collect();
    assert_eq!(metrics_in(&series), Metric::ALL.iter().copied().collect(), "series of every metric");
    series
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
