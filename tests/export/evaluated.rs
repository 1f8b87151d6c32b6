//! The rules of an export, evaluated by a real Prometheus at the end of an hour that is long past: in the order in which
//! they rest on each other, each taken in for the next.

use std::fmt::Write;
use std::fs;
use std::path::Path;

use serde_json::Value;

use crate::groups;
use crate::server::{Labels, Server, run, tool};

/// Groups whose series others look back at.
const LOOKED_BACK_AT: [&str; 2] = ["forbear-steps", "forbear-burn"];
/// How far they look back, and a minute more.
const HOUR_AND_MINUTE: u64 = 3_660;

/// A recording rule with its group.
type Rule = (String, Value);

/// A series with its samples.
type Series = (Labels, Vec<(f64, f64)>);

/// What the verdict's series has at this second since 1970, by the rules of `exported`, over the data of `folder`.
pub(crate) fn verdicts(folder: &Path, exported: &Path, at: u64) -> Vec<Labels> {
    for layer in layers(rules(exported)) {
        let prometheus = Server::prometheus(folder, "[]");
        let mut recorded: Vec<(&str, Vec<Series>)> = Vec::new();
        for (group, rule) in &layer {
            let name = rule["record"].as_str().expect("a recording rule");
            let found = evaluated(&prometheus, group, rule, at);
            match recorded.iter_mut().find(|(known, _)| *known == name) {
                Some((_, series)) => series.extend(found),
                None => recorded.push((name, found)),
            }
        }
        drop(prometheus);
        take_in(&open_metrics(&recorded), folder);
    }
    let prometheus = Server::prometheus(folder, "[]");
    let found = prometheus.query("pool:forbear_verdict:1h", Some(at));
    let bare = |(mut labels, _): (Labels, f64)| {
        labels.remove("__name__");
        labels
    };
    found.into_iter().map(bare).collect()
}

/// Takes samples in a text of OpenMetrics into the data of a Prometheus in `folder`.
pub(crate) fn take_in(text: &str, folder: &Path) {
    let file = folder.join("samples.om");
    fs::write(&file, text).expect("written");
    run(tool("promtool").args(["tsdb", "create-blocks-from", "openmetrics"]).arg(&file).arg(folder.join("tsdb")));
}

fn rules(exported: &Path) -> Vec<Rule> {
    let mut rules = Vec::new();
    for group in groups(exported) {
        let name = group["name"].as_str().expect("a name");
        let of_group = group["rules"].as_array().expect("rules").iter();
        rules.extend(of_group.filter(|rule| rule.get("record").is_some()).map(|rule| (name.to_owned(), rule.clone())));
    }
    rules
}

/// Rules that rest on those before them alone.
fn layers(mut left: Vec<Rule>) -> Vec<Vec<Rule>> {
    let mut layers = Vec::new();
    while !left.is_empty() {
        let names: Vec<_> = left.iter().map(|(_, rule)| rule["record"].as_str().expect("a name").to_owned()).collect();
        let rests = |(_, rule): &Rule| {
            let expr = rule["expr"].as_str().expect("an expression");
            names.iter().any(|name| crate::reads(expr, name))
        };
        let (later, now): (Vec<_>, Vec<_>) = left.into_iter().partition(rests);
        assert!(!now.is_empty(), "rules rest on each other: {names:?}");
        layers.push(now);
        left = later;
    }
    layers
}

fn evaluated(prometheus: &Server, group: &str, rule: &Value, at: u64) -> Vec<Series> {
    let expr = rule["expr"].as_str().expect("an expression");
    let found: Vec<Series> = if LOOKED_BACK_AT.contains(&group) {
        prometheus.query_range(expr, at - HOUR_AND_MINUTE, at, 15)
    } else {
        let now = prometheus.query(expr, Some(at)).into_iter();
        now.map(|(labels, value)| (labels, vec![(at as f64, value)])).collect()
    };
    let added = rule["labels"].as_object().cloned().unwrap_or_default();
    let labelled = |(mut labels, samples): Series| {
        labels.remove("__name__");
        labels.extend(added.iter().map(|(key, value)| (key.clone(), value.as_str().expect("a word").to_owned())));
        (labels, samples)
    };
    found.into_iter().map(labelled).collect()
}

fn open_metrics(recorded: &[(&str, Vec<Series>)]) -> String {
    let mut text = String::new();
    for (name, series) in recorded {
        writeln!(text, "# TYPE {name} gauge").expect("a string takes everything");
        for (labels, samples) in series {
            let labels: Vec<_> = labels.iter().map(|(key, value)| format!("{key}={value:?}")).collect();
            for (at, value) in samples.iter().filter(|(_, value)| !value.is_nan()) {
                let value = if value.is_infinite() { "+Inf".to_owned() } else { value.to_string() };
                writeln!(text, "{name}{{{}}} {value} {at}", labels.join(",")).expect("a string takes everything");
            }
        }
    }
    text + "# EOF\n"
}
