//! Variants over the metrics of simulated fleets: what they say is what the runs say of themselves.

use std::fs;

use forbear::simulate::{Scenario, Scrape, Simulation};

use crate::evaluated::{take_in, verdicts};
use crate::server::{Labels, empty_folder};
use crate::{exported, files, kept};

/// One fleet that needs a larger quota, and one that is well: the same provider and pool in two environments.
const FLEETS: [(&str, &str); 2] = [
    (
        "prod",
        r#"{"warmup_s": 300, "measured_s": 3700, "gate": "none",
        "provider": {"requests_per_minute": 40, "algorithm": "fixed_window"},
        "callers": {"arrivals": {"poisson": {"per_minute": 90}}, "deadline_s": 30, "replicas": 2}}"#,
    ),
    (
        "dev",
        r#"{"warmup_s": 300, "measured_s": 3700, "gate": "local",
        "provider": {"requests_per_minute": 120, "quota_headers": true},
        "callers": {"arrivals": {"poisson": {"per_minute": 40}}, "deadline_s": 60, "replicas": 2}}"#,
    ),
];
/// When it is looked, in seconds after the start of the world.
const AT: u64 = 300 + 3_600;

/// The metrics of a fleet in its environment, and the cause that its run found.
fn fleet(env: &str, scenario: &str) -> (String, &'static str) {
    let scenario: Scenario = scenario.parse().expect("a scenario");
    let run = Simulation::of(&scenario).scraped(Scrape::default()).run().expect("in range");
    let mut metrics = Vec::new();
    run.scraped.expect("asked for").write(&mut metrics).expect("written");
    let metrics = String::from_utf8(metrics).expect("text").replace("{job=", &format!("{{env=\"{env}\",job="));
    (metrics, run.outcome.verdict.expect("a verdict").cause.as_str())
}

/// Labels of a verdict that are of interest.
fn of(labels: &Labels) -> String {
    let kept = labels.iter().filter(|(key, _)| *key != "certainty");
    kept.map(|(key, value)| format!("{key}={value}")).collect::<Vec<_>>().join(" ")
}

/// What a variant says over the metrics of these fleets.
fn said(name: &str, options: &[&str], metrics: &[&str]) -> Vec<String> {
    let (folder, data) = (exported(&format!("said-{name}"), options), format!("data-{name}"));
    let data = empty_folder(env!("CARGO_TARGET_TMPDIR"), &data);
    metrics.iter().for_each(|metrics| take_in(metrics, &data));
    let at = Scrape::default().start.elapsed_since_epoch().as_secs() + AT;
    let mut said: Vec<_> = verdicts(&data, &folder, at).iter().map(of).collect();
    said.sort_unstable();
    [folder, data].iter().for_each(|folder| fs::remove_dir_all(folder).expect("removed"));
    said
}

#[test]
fn every_variant_says_what_the_runs_say_of_themselves() {
    let [(prod, short), (dev, well)] = FLEETS.map(|(env, scenario)| fleet(env, scenario));
    assert_eq!((short, well), ("quota_too_small", "healthy"));
    let pool = "pool=pool provider=simulated";
    assert_eq!(said("default", &[], &[&prod]), [format!("cause={short} {pool}")]);
    let by_env = said("env", &["--group-by", "env,provider,pool"], &[&prod, &dev]);
    assert_eq!(by_env, [format!("cause={well} env=dev {pool}"), format!("cause={short} env=prod {pool}")]);
    let selected = ["--selector", "env!=\"prod\",job=~\"for.+\"", "--scrape-interval", "30s"];
    assert_eq!(said("selector", &selected, &[&prod, &dev]), [format!("cause={well} {pool}")]);
}

/// A variant's rules are the kept ones with other words in places that are known, and in no others.
#[test]
fn what_a_variant_puts_in_can_be_taken_out_again() {
    let matchers = "env=\"prod\",";
    for (options, put_in, taken_out) in [
        (["--selector", "env=\"prod\""], format!("{{{matchers}"), "{"),
        (["--group-by", "zone,provider,pool"], "zone, provider, pool".to_owned(), "cluster, namespace, provider, pool"),
        (["--scrape-interval", "30s"], ":30s]".to_owned(), ":15s]"),
    ] {
        let folder = exported("taken-out", &options);
        let (found, kept) = (files(&folder), files(&kept()));
        for file in ["rules/evidence.yml", "rules/verdict.yml", "rules/alerts.yml"] {
            let mut text = found[file].replace(&put_in, taken_out);
            text = text.replace("(zone, job", "(cluster, namespace, job").replace("interval: 30s", "interval: 15s");
            let chosen =
                |label: &str| format!("{{{{ with $labels.{label} }}}}&var-{label}={{{{ . | urlquery }}}}{{{{ end }}}}");
            text = text
                .replace(&chosen("zone"), &(chosen("cluster") + &chosen("namespace")))
                .replace("zone=%q", "cluster=%q,namespace=%q")
                .replace("$labels.zone", "$labels.cluster $labels.namespace");
            assert!(text == kept[file], "{file} with {options:?}");
            let metrics = kept[file].matches("forbear_").count() - kept[file].matches(":forbear_").count();
            if options[0] == "--selector" && metrics > 0 {
                let selectors = found[file].lines().filter(|line| !line.contains("description:")).collect::<String>();
                assert_eq!(selectors.matches(matchers).count(), metrics, "{file}: a metric without the matchers");
            }
        }
        fs::remove_dir_all(&folder).expect("removed");
    }
}
