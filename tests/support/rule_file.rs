//! The rules of a file that this project wrote: a reader of that shape of YAML and no other.
#![allow(dead_code, reason = "not everybody asks for alerts")]

use std::fs;
use std::path::Path;

/// A rule: one that records, or an alert.
#[derive(Clone, Debug, Default)]
pub(super) struct Rule {
    /// The group it belongs to.
    pub(super) group: String,
    /// How often it is evaluated, in seconds.
    pub(super) every: u64,
    pub(super) name: String,
    pub(super) expr: String,
    /// Its labels; of an alert its annotations as well.
    pub(super) labels: Vec<(String, String)>,
    /// In minutes, for how long an alert has to hold before it fires.
    pub(super) pending: u64,
}

/// The rules of these files, in their order.
pub(super) fn read(files: &[&Path]) -> Vec<Rule> {
    let mut rules: Vec<Rule> = Vec::new();
    for file in files {
        let text = fs::read_to_string(file).unwrap_or_else(|error| panic!("{}: {error}", file.display()));
        let (mut every, mut group) = (60, "");
        for line in text.lines() {
            if let Some(name) = line.strip_prefix("  - name: ") {
                group = name;
            } else if let Some(interval) = line.strip_prefix("    interval: ") {
                let seconds = interval.strip_suffix('s').map_or(Ok(60), str::parse);
                every = seconds.expect("seconds, or a minute");
            } else if let Some(name) =
                line.strip_prefix("      - record: ").or_else(|| line.strip_prefix("      - alert: "))
            {
                rules.push(Rule { group: group.to_owned(), every, name: name.to_owned(), ..Rule::default() });
            } else if let (Some(minutes), Some(rule)) = (line.strip_prefix("        for: "), rules.last_mut()) {
                rule.pending = minutes.trim_end_matches('m').parse().expect("minutes");
            } else if let Some(label) = line.strip_prefix("          ").filter(|label| label.contains(": '"))
                && let (Some((key, value)), Some(rule)) = (label.split_once(": "), rules.last_mut())
            {
                rule.labels.push((key.to_owned(), value.trim_matches('\'').to_owned()));
            } else if let (Some(part), Some(rule)) = (line.strip_prefix("          "), rules.last_mut()) {
                rule.expr.push_str(part);
                rule.expr.push('\n');
            }
        }
    }
    assert!(!rules.is_empty(), "{files:?} hold no rule");
    rules
}

/// The rules in layers: each rests on those before it alone.
pub(super) fn layers(rules: Vec<Rule>) -> Vec<Vec<Rule>> {
    let mut layers: Vec<Vec<Rule>> = Vec::new();
    let mut left = rules;
    while !left.is_empty() {
        let names: Vec<_> = left.iter().map(|rule| rule.name.clone()).collect();
        let rests = |rule: &Rule| names.iter().any(|name| mentions(&rule.expr, name));
        let (later, now): (Vec<_>, Vec<_>) = left.into_iter().partition(rests);
        assert!(!now.is_empty(), "rules rest on each other: {names:?}");
        layers.push(now);
        left = later;
    }
    layers
}

/// Whether an expression reads this series.
fn mentions(expr: &str, name: &str) -> bool {
    let goes_on = |rest: &str| rest.starts_with(|c: char| c.is_ascii_alphanumeric() || c == '_' || c == ':');
    expr.match_indices(name).any(|(place, _)| !goes_on(&expr[place + name.len()..]))
}
