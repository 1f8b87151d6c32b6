//! Whether each process is told apart from the others, and counted once.

use super::finding::{Finding, Severity, few};
use super::visit::{Row, Visit};
use crate::diagnose::Failure;

/// A counter that falls more often within an hour is no process that restarts.
const MOST_RESTARTS: &str = "6";

/// Looks at the labels of what was scraped.
pub(super) async fn look(visit: &Visit<'_>) -> Result<Vec<Finding>, Failure> {
    let mut findings = Vec::new();
    let exported = r#"count by (job, exported_job, exported_instance)
        ({__name__=~"forbear_build_info|forbear_gate_info", exported_job!="",$m})"#;
    let renamed =
        named(&visit.ask(exported).await?, |row| format!("{} is {}", row.label("exported_job"), row.label("job")));
    if !renamed.is_empty() {
        findings.push(exported_job(&renamed));
    }
    let unlabelled = visit.ask(r#"count by (service_name) (forbear_build_info{job="",$m})"#).await?;
    if !unlabelled.is_empty() {
        findings.push(no_job(&named(&unlabelled, |row| row.label("service_name").to_owned())));
    }
    let same = visit.ask(r#"count by (job) (forbear_build_info{instance="",service_instance_id="",$m})"#).await?;
    if !same.is_empty() {
        findings.push(no_instance(&named(&same, |row| row.label("job").to_owned())));
    }
    let falls = format!("max by (job, instance) (resets(forbear_calls_total{{$m}}[1h])) > {MOST_RESTARTS}");
    let falling = visit.ask(&falls).await?;
    if !falling.is_empty() {
        findings.push(falling_counters(&named(&falling, |row| {
            format!("{} {} ({} times)", row.label("job"), row.label("instance"), row.value)
        })));
    }
    let twice = r#"count by (provider, pool) (forbear_gate_info{otel_scope_name!="",$m})
        and count by (provider, pool) (forbear_gate_info{otel_scope_name="",$m})"#;
    let twice = visit.ask(twice).await?;
    if !twice.is_empty() {
        findings.push(counted_twice(&named(&twice, Row::pool)));
    }
    Ok(findings)
}

/// The rows in words, each once.
fn named(rows: &[Row], words: impl Fn(&Row) -> String) -> Vec<String> {
    let mut named: Vec<_> = rows.iter().map(words).collect();
    named.sort_unstable();
    named.dedup();
    named
}

fn exported_job(renamed: &[String]) -> Finding {
    Finding::new(
        Severity::Error,
        "exported_job",
        format!("the scrape put its own job over that of the service: {}", few(renamed)),
        "all services behind one collector have one job and instance: boards cannot choose between them, and their alerts \
         name the collector",
        "honor_labels: true in the scrape of the collector's Prometheus exporter; honorLabels: true in a PodMonitor or \
         ServiceMonitor",
    )
}

fn no_job(services: &[String]) -> Finding {
    Finding::new(
        Severity::Error,
        "no_job",
        format!("there is no label `job`; the services are {}", few(services)),
        "boards choose by `job`, and alerts about processes are grouped by it",
        "VictoriaMetrics: relabel service_name to job and service_instance_id to instance (-relabelConfig); the collector's \
         Prometheus exporter: resource_to_telemetry_conversion with service.name set",
    )
}

fn no_instance(jobs: &[String]) -> Finding {
    Finding::new(
        Severity::Error,
        "no_instance",
        format!("processes have no `instance`: job {}", few(jobs)),
        "counters of two replicas are taken for one another's, and every total is wrong",
        "give each process a service.instance.id: forbear::otlp::install does, and OTEL_RESOURCE_ATTRIBUTES can; the \
         collector's Prometheus exporter: resource_to_telemetry_conversion: {enabled: true}",
    )
}

fn falling_counters(series: &[String]) -> Finding {
    Finding::new(
        Severity::Error,
        "falling_counters",
        format!("counters fall again and again within the hour: {}", few(series)),
        "each fall counts as a restart, so totals are too large by far: two processes answer as one instance, or each push \
         tells only what is new",
        "scrape pods, no Service that balances between them; give each process a service.instance.id of its own; leave \
         OTEL_EXPORTER_OTLP_METRICS_TEMPORALITY_PREFERENCE at cumulative; else find out why it restarts",
    )
}

fn counted_twice(pools: &[String]) -> Finding {
    Finding::new(
        Severity::Error,
        "counted_twice",
        format!("metrics arrive by scrape and by OTLP: {}", few(pools)),
        "calls, attempts and demand are counted twice, and so is the load: quotas look too small",
        "take one road: leave one of the sinks away, or export rules and boards with --selector 'otel_scope_name=\"\"'",
    )
}
