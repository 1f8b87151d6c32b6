//! The metrics of a fleet that is well, with one thing spoilt.

use std::time::Duration;

use crate::healthy::{ALL_RULES, Metrics, THROTTLED, WELL, found, rule_files, scraped};

const EVERY: Duration = Duration::from_secs(15);

/// The same samples under other names or labels; those of series that become one are merged in the order of time.
fn renamed(metrics: &Metrics, rename: impl Fn(&str) -> String) -> Metrics {
    let mut found = Metrics::new();
    for (series, samples) in metrics {
        found.entry(rename(series)).or_default().extend(samples.iter().cloned());
    }
    for samples in found.values_mut() {
        let time = |sample: &String| sample.split_once(' ').and_then(|(_, at)| at.parse::<f64>().ok()).expect("a time");
        samples.sort_by(|a, b| time(a).total_cmp(&time(b)));
        samples.dedup_by_key(|sample| time(sample).to_bits());
    }
    found
}

/// Without units and `_total`.
fn bare(series: &str) -> String {
    let mut series = series.to_owned();
    for (from, to) in [
        ("_total{", "{"),
        ("_seconds_bucket{", "_bucket{"),
        ("_seconds_count{", "_count{"),
        ("_seconds_sum{", "_sum{"),
        ("_seconds{", "{"),
    ] {
        series = series.replace(from, to);
    }
    series
}

#[test]
fn each_fault_is_found_and_no_other() {
    let well = scraped(WELL, EVERY);
    let job = "{job=\"forbear\",";
    let second = |series: &str| series.contains("replica-2");
    let rename = |rename: &dyn Fn(&str) -> String| renamed(&well, rename);
    let mut twice = rename(&|series| series.replace(job, "{job=\"forbear\",otel_scope_name=\"forbear\","));
    twice.extend(well.clone());
    let mut interleaved = well.clone();
    for (series, samples) in interleaved.iter_mut().filter(|(series, _)| second(series)) {
        // Its own scrapes come seven seconds later.
        let later = |sample: &String| {
            let (value, at) = sample.split_once(' ').expect("a sample");
            let value = value.parse::<f64>().expect("a number") + if series.contains("_total") { 50.0 } else { 0.0 };
            format!("{value} {}", at.parse::<f64>().expect("a time") + 7.0)
        };
        *samples = samples.iter().map(later).collect();
    }
    let interleaved = renamed(&interleaved, |series| series.replace("replica-2", "replica-1"));
    let mut overflown = well.clone();
    let sample = well.values().next().and_then(|samples| samples.last()).expect("a sample");
    let at = sample.split_once(' ').expect("a time").1;
    let early = at.parse::<f64>().expect("a time") - 600.0;
    overflown.insert(
        "forbear_label_overflows_total{job=\"forbear\",instance=\"replica-1\",label=\"pool\"}".to_owned(),
        vec![format!("3 {early}")],
    );
    let unlimited = |metrics: &Metrics| {
        let kept = metrics.iter().filter(|(series, _)| !series.starts_with("forbear_quota_limit"));
        kept.map(|(series, samples)| (series.clone(), samples.clone())).collect::<Metrics>()
    };
    let mut wrong = Vec::new();
    for (metrics, fault) in [
        (rename(&|series| series.replace("forbear_", "other_")), "error no_metrics"),
        (rename(&bare), "error names_without_suffixes"),
        (rename(&|series| series.replace("forbear_", "shop_forbear_")), "error prefixed_names"),
        (rename(&|series| series.replace("_seconds_bucket{", "_seconds{")), "error summaries"),
        (rename(&|series| series.replace("forbear_call_deadline_", "forbear_call_patience_")), "note unknown_names"),
        (rename(&|series| series.replace(job, "{job=\"collector\",exported_job=\"forbear\",")), "error exported_job"),
        (rename(&|series| series.replace(job, "{service_name=\"forbear\",")), "error no_job"),
        (
            rename(&|series| {
                if second(series) {
                    series.replace("forbear_", "other_")
                } else {
                    series.replace("instance=\"replica-1\",", "")
                }
            }),
            "error no_instance",
        ),
        (interleaved, "error falling_counters"),
        (twice, "error counted_twice"),
        (
            rename(&|series| {
                if second(series) { series.replace("schema=\"1\"", "schema=\"0\"") } else { series.to_owned() }
            }),
            "error mixed_schemas",
        ),
        (rename(&|series| series.replace("schema=\"1\"", "schema=\"0\"")), "warning other_schema"),
        (
            rename(&|series| {
                if second(series) { series.replace("version=\"", "version=\"9.") } else { series.to_owned() }
            }),
            "note mixed_versions",
        ),
        (scraped(WELL, Duration::from_secs(30)), "warning scraped_slowly"),
        (scraped(WELL, Duration::from_secs(120)), "error scraped_too_seldom"),
        (unlimited(&well), "note limit_unknown"),
        (unlimited(&scraped(THROTTLED, EVERY)), "warning limit_unknown"),
        (
            rename(&|series| {
                series.replace("dimension=\"requests\"", "dimension=\"tokens\"").replace("forbear_offered", "offered")
            }),
            "warning no_estimates",
        ),
        (overflown, "warning label_overflow"),
    ] {
        let name = fault.replace(' ', "-");
        let status = i32::from(!fault.starts_with("note"));
        let said = found(&name, &metrics, &rule_files(&ALL_RULES));
        if said != (status, vec![fault.to_owned()]) {
            wrong.push((fault, said));
        }
    }
    assert_eq!(wrong, vec![], "each should be the one fault");
}

#[test]
fn rules_that_are_not_there_or_not_all_are_found() {
    let well = scraped(WELL, EVERY);
    assert_eq!(found("no-rules", &well, "[]"), (1, vec!["error rules_not_loaded".to_owned()]));
    assert_eq!(found("some-rules", &well, &rule_files(&["evidence.yml"])), (1, vec!["error rules_missing".to_owned()]));
}
