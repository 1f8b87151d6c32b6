//! The rules, evaluated by a Prometheus at a time that is long past.

use std::path::{Path, PathBuf};

use crate::server::{Labels, Server};

use super::open_metrics::{Recorded, open_metrics};
use super::rule_file::{layers, read};
use super::take_in;

/// How far back the rules look that are evaluated more than once, and a step more.
const HOUR_AND_STEP: u64 = 3_600 + 60;

/// Groups whose series others look back at, over an hour.
const LOOKED_BACK_AT: [&str; 2] = ["forbear-steps", "forbear-burn"];

/// What the verdict's series says of every pool at this second since 1970.
pub(super) fn verdicts(folder: &Path, files: &[PathBuf], at: u64) -> Vec<(String, (String, String))> {
    let rules = read(&files.iter().map(PathBuf::as_path).collect::<Vec<_>>());
    for layer in layers(rules) {
        let prometheus = Server::prometheus(folder, "[]");
        let mut series = Recorded::new();
        for rule in &layer {
            let found = if LOOKED_BACK_AT.contains(&rule.group.as_str()) {
                prometheus.query_range(&rule.expr, at - HOUR_AND_STEP, at, rule.every)
            } else {
                let found = prometheus.query(&rule.expr, Some(at)).into_iter();
                found.map(|(labels, value)| (labels, vec![(at as f64, value)])).collect()
            };
            let labelled = found.into_iter().map(|(mut labels, samples)| {
                labels.remove("__name__");
                labels.extend(rule.labels.iter().cloned());
                (labels, samples)
            });
            series.entry(rule.name.clone()).or_default().extend(labelled);
        }
        drop(prometheus);
        take_in(&open_metrics(&series), folder);
    }
    let prometheus = Server::prometheus(folder, "[]");
    let found = prometheus.query("pool:forbear_verdict:1h", Some(at)).into_iter();
    let of = |labels: &Labels, key: &str| labels.get(key).cloned().unwrap_or_default();
    found.map(|(labels, _)| (of(&labels, "pool"), (of(&labels, "cause"), of(&labels, "certainty")))).collect()
}
