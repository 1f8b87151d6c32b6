//! Whether metrics have the names that boards and rules ask for.

use forbear::event::catalogue::Metric;
use forbear::event::metric::{Kind, Row};

use super::finding::{Finding, Severity, few};
use super::visit::Visit;
use crate::diagnose::Failure;

/// Without metrics there is nothing else to look for.
pub(super) const NO_METRICS: &str = "no_metrics";

/// Makes a finding of some names.
type Tell = fn(String) -> Finding;

/// What each name of ours is in this Prometheus.
#[derive(Default)]
struct Names {
    dotted: Vec<String>,
    bare: Vec<String>,
    summaries: Vec<String>,
    unknown: Vec<String>,
    right: usize,
}

impl Names {
    fn is_empty(&self) -> bool {
        [&self.dotted, &self.bare, &self.summaries, &self.unknown].iter().all(|names| names.is_empty())
            && self.right == 0
    }

    fn note(&mut self, name: String) {
        let family = family(&name);
        let rows = || Metric::ALL.iter().map(|metric| metric.row());
        let histogram = |row: &&Row| row.kind == Kind::Histogram && row.prometheus == name;
        let kind = if name.contains('.') {
            &mut self.dotted
        } else if rows().any(|row| histogram(&row)) {
            &mut self.summaries
        } else if Metric::find(&name).or_else(|| Metric::find(family)).is_some() {
            self.right += 1;
            return;
        } else if rows().any(|row| row.otel.replace('.', "_") == family) {
            &mut self.bare
        } else {
            &mut self.unknown
        };
        kind.push(name);
    }
}

/// The metric that a series belongs to.
fn family(name: &str) -> &str {
    ["_bucket", "_sum", "_count", "_created"].iter().find_map(|suffix| name.strip_suffix(suffix)).unwrap_or(name)
}

/// Whether a name of ours follows something else in it.
fn is_prefixed(name: &str) -> bool {
    let ours = name.find("forbear_").map_or("", |place| &name[place..]);
    Metric::find(ours).or_else(|| Metric::find(family(ours))).is_some()
}

/// Looks at every name that has ours in it.
pub(super) async fn look(visit: &Visit<'_>) -> Result<Vec<Finding>, Failure> {
    let rows = visit.ask(r#"count by (__name__) ({__name__=~".*forbear[._].+", __name__!~".*:.*",$m})"#).await?;
    let (mut names, mut prefixed) = (Names::default(), Vec::new());
    for name in rows.iter().map(|row| row.label("__name__").to_owned()) {
        if name.starts_with("forbear") {
            names.note(name);
        } else if is_prefixed(&name) {
            prefixed.push(name);
        }
    }
    if names.is_empty() && prefixed.is_empty() {
        return Ok(vec![no_metrics()]);
    }
    let kinds: [(&Vec<String>, Tell); 5] = [
        (&names.dotted, dotted),
        (&names.bare, bare),
        (&prefixed, prefixed_by_exporter),
        (&names.summaries, summaries),
        (&names.unknown, unknown),
    ];
    Ok(kinds.into_iter().filter(|(found, _)| !found.is_empty()).map(|(found, finding)| finding(few(found))).collect())
}

fn no_metrics() -> Finding {
    Finding::new(
        Severity::Error,
        NO_METRICS,
        "there is no metric of forbear at that time",
        "boards are empty, and no alert can fire",
        "scrape the service's /metrics, or push to a collector that this Prometheus reads (`forbear::prometheus::install`, \
         `forbear::otlp::install`); behind Mimir set FORBEAR_PROMETHEUS_TENANT; look whether --selector or --at leaves all out",
    )
}

fn dotted(names: String) -> Finding {
    Finding::new(
        Severity::Error,
        "dotted_names",
        format!("OpenTelemetry's names were not translated: {names}"),
        "boards and rules ask for forbear_attempts_total where there is forbear.attempts",
        "VictoriaMetrics: -opentelemetry.usePrometheusNaming; Prometheus 3: otlp.translation_strategy: \
         UnderscoreEscapingWithSuffixes; the collector: translation_strategy of its exporter",
    )
}

fn bare(names: String) -> Finding {
    Finding::new(
        Severity::Error,
        "names_without_suffixes",
        format!("units and _total are missing behind names: {names}"),
        "boards and rules ask for forbear_attempts_total where there is forbear_attempts",
        "Mimir's own OTLP endpoint: otel_metric_suffixes_enabled: true in the tenant's limits; Prometheus 3: \
         otlp.translation_strategy: UnderscoreEscapingWithSuffixes; the collector's exporters: the same \
         translation_strategy, or add_metric_suffixes: true where they are older",
    )
}

fn prefixed_by_exporter(names: String) -> Finding {
    Finding::new(
        Severity::Error,
        "prefixed_names",
        format!("something stands before the names: {names}"),
        "boards and rules ask for forbear_attempts_total",
        "the collector's Prometheus exporters: leave `namespace` empty; a recorder's own prefix: leave it away",
    )
}

fn summaries(names: String) -> Finding {
    Finding::new(
        Severity::Error,
        "summaries",
        format!("histograms arrive as summaries: {names}"),
        "quantiles of processes cannot be added up: boards that show latency stay empty",
        "a recorder of your own needs the buckets: forbear::telemetry::prometheus::buckets(builder)",
    )
}

fn unknown(names: String) -> Finding {
    Finding::new(
        Severity::Note,
        "unknown_names",
        format!("metrics that this version does not have: {names}"),
        "a service of another version shows them, or something renames them",
        "use the forbear doctor, rules and boards of the services' version; look at metric_relabel_configs",
    )
}
