//! A simulated run, taken in by a real Prometheus and asked for there.

use std::collections::BTreeMap;
use std::fs;

use crate::server::{Server, empty_folder, run, tool};
use forbear::simulate::{Scenario, Scrape, Simulation};

/// The values of an instant query, by the one label that is left.
fn ask(prometheus: &Server, query: &str, unix_seconds: u64) -> BTreeMap<String, f64> {
    let series = prometheus.query(query, Some(unix_seconds));
    series.into_iter().map(|(labels, value)| (labels.into_values().next().unwrap_or_default(), value)).collect()
}

#[test]
fn prometheus_answers_with_the_values_of_the_result() {
    let scenario: Scenario = r#"{
        "measured_s": 9000, "gate": "none", "limit_configured": {"times": 1},
        "provider": {"requests_per_minute": 30, "quota_headers": true, "failures": [{"kind": "auth", "share": 0.02}]},
        "callers": {"arrivals": {"poisson": {"per_minute": 32}}, "replicas": 2, "deadline_s": 20}
    }"#
    .parse()
    .expect("a scenario");
    let run_of = Simulation::of(&scenario).scraped(Scrape::default()).run().expect("in range");
    let (outcome, scraped) = (run_of.outcome, run_of.scraped.expect("asked for"));

    let folder = empty_folder(env!("CARGO_TARGET_TMPDIR"), "backfill");
    let metrics = folder.join("run.om");
    scraped.write(&mut fs::File::create(&metrics).expect("created")).expect("written");
    run(tool("promtool").args(["tsdb", "create-blocks-from", "openmetrics"]).arg(&metrics).arg(folder.join("tsdb")));
    let prometheus = Server::prometheus(&folder, "[]");

    let over = Scrape::default().start.elapsed_since_epoch().as_secs() + 9_000 + 60;
    let one = |query: &str| ask(&prometheus, query, over)[""];
    assert!(outcome.throttled > 100 && outcome.gave_up.len() > 1, "{outcome:?}");
    assert_eq!(one("sum(forbear_calls_total)"), outcome.calls as f64);
    assert_eq!(one(r#"sum(forbear_attempts_total{outcome="throttled"})"#), outcome.throttled as f64);
    let per_call = one("sum(forbear_attempts_total) / sum(forbear_calls_total)");
    assert!((per_call - outcome.attempts_per_call.expect("calls came")).abs() < 1e-12, "{per_call}");
    let gave_up: BTreeMap<_, _> = outcome.gave_up.iter().map(|(word, n)| ((*word).to_owned(), *n as f64)).collect();
    assert_eq!(ask(&prometheus, "sum by (outcome) (forbear_giveups_total)", over), gave_up);

    let middle = over - 4_500;
    let at = |query: &str| ask(&prometheus, query, middle);
    assert_eq!(at(r#"max by (origin) (forbear_quota_limit{window="minute"})"#)["header"], 30.0);
    let rate = at("sum(rate(forbear_calls_total[1h]))")[""] * 60.0;
    assert!((30.0..34.0).contains(&rate), "{rate} calls a minute");
    assert_eq!(at("count by (mode) (forbear_gate_info)")["off"], 2.0, "two replicas without a gate");
    drop(prometheus);
    fs::remove_dir_all(&folder).expect("removed");
}
