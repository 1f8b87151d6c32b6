//! Whether a Prometheus that evaluates the rules says what the process itself would say.
//!
//! Scenarios run in virtual time and are scraped; a real Prometheus takes the samples in, every rule for that scrape interval
//! is evaluated there at the end of the hour, in the order in which they rest on each other, and what comes out is taken in for
//! the next. The verdict on the same hour, by looks as far apart as the scrapes, is what it must be.
#![allow(clippy::exhaustive_structs, reason = "the benchmark's own binary and test are all that use them")]

mod evaluate;
mod line;
#[path = "../../../support/open_metrics.rs"]
mod open_metrics;
#[path = "../../../support/rule_file.rs"]
mod rule_file;
mod samples;

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use forbear::diagnose::{RuleBook, Verdict};
use forbear::simulate::{Judging, Scenario, Scrape, Simulation};
use serde_json::{Value, json};

use crate::confusion::draw;
use crate::server::{empty_folder, run, tool};
use samples::Families;

/// When the hour ends that is judged, in seconds from the start of the world.
pub const JUDGED_AT: u64 = 300 + 3_600;

/// A scenario, and what the process itself says of it.
#[derive(Clone, Debug)]
pub struct Case {
    /// The number it was drawn by.
    pub number: u64,
    /// The scenario.
    pub scenario: Value,
    /// The verdict.
    pub verdict: Verdict,
}

/// What both said of one case.
#[derive(Clone, Debug)]
pub struct Compared {
    /// The case.
    pub case: Case,
    /// How far apart scrapes were.
    pub every: Duration,
    /// What the rules said: cause and certainty; `None` if nothing.
    pub said: Option<(String, String)>,
}

impl Compared {
    /// Whether the cause is the same.
    #[must_use]
    pub fn agrees(&self) -> bool {
        self.said.as_ref().is_some_and(|(cause, _)| cause == self.case.verdict.cause.as_str())
    }

    /// Whether the certainty is the same too.
    #[must_use]
    pub fn agrees_in_certainty(&self) -> bool {
        self.said.as_ref().is_some_and(|(_, certainty)| certainty == self.case.verdict.certainty.as_str())
    }
}

/// The scenario of this number, as long as it takes to look back at a whole hour while calls still come, with few replicas.
fn scenario(seed: u64, number: u64) -> Value {
    let (_, mut scenario) = draw::scenario(seed, number);
    scenario["measured_s"] = json!(3_700);
    scenario["callers"]["replicas"] = json!(scenario["callers"]["replicas"].as_u64().unwrap_or(1).min(2));
    scenario
}

/// Runs so many scenarios that are not within 3 % of a line, scrapes them `every` so often, and compares.
///
/// # Panics
/// When a tool cannot be had, or a rule is refused.
pub fn compare(seed: u64, scenarios: usize, every: Duration, folder: &Path) -> Vec<Compared> {
    let name = format!("parity-{seed}-{}", every.as_secs());
    let folder = empty_folder(&folder.to_string_lossy(), &name);
    let scrape = {
        let mut scrape = Scrape::default();
        scrape.every = every;
        scrape
    };
    let mut families = Families::default();
    let mut cases = Vec::new();
    for number in 0.. {
        if cases.len() == scenarios {
            break;
        }
        let scenario = scenario(seed, number);
        let parsed: Scenario = scenario.to_string().parse().expect("a drawn scenario is one");
        let judging = Judging::at([Duration::from_secs(JUDGED_AT)], every);
        let run = Simulation::of(&parsed).scraped(scrape).judged(judging).run().expect("in range");
        let verdict = run.judged.into_iter().next().expect("judged once");
        if line::is_near(&verdict) {
            continue;
        }
        let mut text = Vec::new();
        run.scraped.expect("asked for").write(&mut text).expect("memory takes it");
        families.add(&String::from_utf8(text).expect("text"), &pool(number));
        cases.push(Case { number, scenario, verdict });
    }
    families.load(&folder);
    let ends = scrape.start.elapsed_since_epoch().as_secs() + JUDGED_AT;
    let verdicts = evaluate::verdicts(&folder, &rules_for(every, &folder), ends);
    fs::remove_dir_all(&folder).expect("removed");
    let said: BTreeMap<_, _> = verdicts.into_iter().collect();
    cases.into_iter().map(|case| Compared { said: said.get(&pool(case.number)).cloned(), case, every }).collect()
}

/// The rules for this scrape interval, as files in `folder`; for 15 s they are those of `dashboards/rules`.
fn rules_for(every: Duration, folder: &Path) -> [PathBuf; 2] {
    let book = RuleBook::new().scraped_every(every).expect("an interval that rules take");
    [("evidence.yml", book.evidence()), ("verdict.yml", book.verdict())].map(|(name, text)| {
        let path = folder.join(name);
        fs::write(&path, text).expect("written");
        path
    })
}

/// The pool that a scenario is taken in as.
fn pool(number: u64) -> String {
    format!("scenario-{number}")
}

/// Takes samples in a text of OpenMetrics into the data of a Prometheus in `folder`.
fn take_in(text: &str, folder: &Path) {
    let file = folder.join("samples.om");
    fs::write(&file, text).expect("written");
    run(tool("promtool").args(["tsdb", "create-blocks-from", "openmetrics"]).arg(&file).arg(folder.join("tsdb")));
}

#[cfg(test)]
mod tests {
    use super::*;

    /// More of them: `cargo run --release -p forbear-bench --bin parity`.
    fn the_rules_say_what_the_process_says(every_s: u64) {
        let found = compare(1_001, 12, Duration::from_secs(every_s), &std::env::temp_dir());
        let causes: std::collections::BTreeSet<_> =
            found.iter().map(|compared| compared.case.verdict.cause.as_str()).collect();
        assert!(causes.len() > 3, "{causes:?}");
        for compared in found {
            let Case { number, verdict, .. } = &compared.case;
            assert!(compared.agrees(), "{number}: {:?}, {:?}", verdict.cause, compared.said);
        }
    }

    #[test]
    fn the_rules_say_what_the_process_says_every_15_s() {
        the_rules_say_what_the_process_says(15);
    }

    #[test]
    fn the_rules_say_what_the_process_says_every_30_s() {
        the_rules_say_what_the_process_says(30);
    }

    #[test]
    fn the_rules_say_what_the_process_says_every_60_s() {
        the_rules_say_what_the_process_says(60);
    }
}
