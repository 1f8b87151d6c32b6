//! Whether metrics are scraped, or pushed, often enough for the stretches that rules look at.

use std::collections::BTreeMap;
use std::time::Duration;

use forbear::core::tune::HumanDuration;

use super::finding::{Finding, Severity, few};
use super::visit::Visit;
use crate::diagnose::Failure;

/// At this interval the shortest stretch that rules look at holds four scrapes.
const GOOD_S: f64 = 15.0;
/// Beyond this one, only the longest stretches do.
const LONGEST_S: f64 = 60.0;
/// Scrapes are late now and then.
const SLACK: f64 = 1.1;

/// Looks how far apart the samples of ten minutes are, job by job.
pub(super) async fn look(visit: &Visit<'_>) -> Result<Vec<Finding>, Failure> {
    let mut gaps: BTreeMap<String, Vec<f64>> = BTreeMap::new();
    for row in visit.ask("forbear_build_info{$m}[10m]").await? {
        let job = Some(row.label("job")).filter(|job| !job.is_empty()).unwrap_or_else(|| row.label("service_name"));
        gaps.entry(job.to_owned()).or_default().extend(row.times.windows(2).map(|pair| pair[1] - pair[0]));
    }
    let intervals: Vec<_> = gaps.into_iter().filter_map(|(job, gaps)| Some((job, median(gaps)?))).collect();
    let slower = |least: f64, most: f64| {
        let within = intervals.iter().filter(|(_, interval)| *interval > least * SLACK && *interval <= most * SLACK);
        within.map(|(job, interval)| format!("{job} every {}", human(*interval))).collect::<Vec<_>>()
    };
    let (seldom, slow) = (slower(LONGEST_S, f64::INFINITY), slower(GOOD_S, LONGEST_S));
    let mut findings = Vec::new();
    if !seldom.is_empty() {
        findings.push(too_seldom(&seldom));
    }
    if !slow.is_empty() {
        findings.push(slowly(&slow));
    }
    Ok(findings)
}

fn median(mut gaps: Vec<f64>) -> Option<f64> {
    gaps.sort_unstable_by(f64::total_cmp);
    gaps.get(gaps.len() / 2).copied()
}

fn human(seconds: f64) -> String {
    HumanDuration(Duration::try_from_secs_f64(seconds.round()).unwrap_or_default()).to_string()
}

fn too_seldom(jobs: &[String]) -> Finding {
    Finding::new(
        Severity::Error,
        "scraped_too_seldom",
        format!("metrics come less than once a minute: {}", few(jobs)),
        "nearly every stretch that rules look at holds fewer than four scrapes, so there is no load and no firm verdict",
        "scrape_interval: 15s for these jobs (interval in a PodMonitor); for OTLP OTEL_METRIC_EXPORT_INTERVAL=15000",
    )
}

fn slowly(jobs: &[String]) -> Finding {
    Finding::new(
        Severity::Warning,
        "scraped_slowly",
        format!("metrics come less than every 15 s: {}", few(jobs)),
        "stretches that hold fewer than four scrapes are left out: bursts shorter than that are not seen, and what they cost \
         looks like bad retries",
        "scrape_interval: 15s for these jobs; for OTLP OTEL_METRIC_EXPORT_INTERVAL=15000; where it has to stay, forbear export \
         --scrape-interval with what it is",
    )
}
