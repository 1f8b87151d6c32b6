//! A fleet that is well, taken in by a Prometheus that has the rules: its metrics, to be spoilt.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use forbear::simulate::{Scenario, Scrape, Simulation};

use crate::examined;
use crate::server::{Server, empty_folder, run, tool};

/// When it is looked, in seconds after the start of the world.
const AT: u64 = 3_600;

/// A fleet whose answers state their limit.
pub(crate) const WELL: &str = r#"{"measured_s": 3700, "provider": {"requests_per_minute": 120, "quota_headers": true},
    "callers": {"arrivals": {"poisson": {"per_minute": 40}}, "deadline_s": 60, "replicas": 2}}"#;
/// One that is throttled, by answers that state nothing.
pub(crate) const THROTTLED: &str = r#"{"measured_s": 3700, "provider": {"requests_per_minute": 30}, "gate": "none",
    "callers": {"arrivals": {"poisson": {"per_minute": 40}}, "deadline_s": 60, "replicas": 2}}"#;

/// Series with their samples as they are written, `value time`.
pub(crate) type Metrics = BTreeMap<String, Vec<String>>;

/// What scrapes that are `every` so far apart find of a fleet.
pub(crate) fn scraped(scenario: &str, every: Duration) -> Metrics {
    let scenario: Scenario = scenario.parse().expect("a scenario");
    let mut scrape = Scrape::default();
    scrape.every = every;
    let run = Simulation::of(&scenario).scraped(scrape).run().expect("in range");
    let mut text = Vec::new();
    run.scraped.expect("asked for").write(&mut text).expect("written");
    let mut metrics = Metrics::new();
    for line in String::from_utf8(text).expect("text").lines().filter(|line| !line.starts_with('#')) {
        let (series, sample) = line.split_once("} ").expect("labels");
        metrics.entry(format!("{series}}}")).or_default().push(sample.to_owned());
    }
    metrics
}

/// The rule files of the project, as a list.
pub(crate) fn rule_files(names: &[&str]) -> String {
    let rules = Path::new(env!("CARGO_MANIFEST_DIR")).join("dashboards/rules");
    let files = names.iter().map(|name| format!("'{}'", rules.join(name).display()));
    format!("[{}]", files.collect::<Vec<_>>().join(", "))
}

/// All of them.
pub(crate) const ALL_RULES: [&str; 3] = ["evidence.yml", "verdict.yml", "alerts.yml"];

/// A Prometheus that holds these metrics, and evaluates these rules.
pub(crate) fn prometheus(name: &str, metrics: &Metrics, rules: &str) -> (PathBuf, Server) {
    let folder = empty_folder(env!("CARGO_TARGET_TMPDIR"), &format!("doctor-{name}"));
    let mut text = String::new();
    for (series, samples) in metrics {
        samples.iter().for_each(|sample| text += &format!("{series} {sample}\n"));
    }
    let file = folder.join("metrics.om");
    fs::write(&file, text + "# EOF\n").expect("written");
    run(tool("promtool").args(["tsdb", "create-blocks-from", "openmetrics"]).arg(&file).arg(folder.join("tsdb")));
    let server = Server::prometheus(&folder, &format!("[]\nrule_files: {rules}"));
    (folder, server)
}

/// The time that is looked at.
pub(crate) fn at() -> String {
    (Scrape::default().start.elapsed_since_epoch().as_secs() + AT).to_string()
}

/// What is found of these metrics.
pub(crate) fn found(name: &str, metrics: &Metrics, rules: &str) -> (i32, Vec<String>) {
    let (folder, server) = prometheus(name, metrics, rules);
    let found = examined(server.addr(), &["--at", &at()]);
    drop(server);
    fs::remove_dir_all(&folder).expect("removed");
    found
}

#[test]
fn nothing_is_found_where_nothing_is_amiss() {
    let metrics = scraped(WELL, Duration::from_secs(15));
    assert_eq!(found("well", &metrics, &rule_files(&ALL_RULES)), (0, vec![]));
}
