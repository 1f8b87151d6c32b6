//! Names: everything a board asks for exists, and everything that exists is on a board.

use std::collections::BTreeSet;

use forbear::event::catalogue::Metric;
use serde_json::Value;

use crate::asked::queries;
use crate::kept::{dashboards, read};
use crate::promql::{metric_of, selectors};
use crate::rule_file;

/// Metrics that no board shows, each with the reason.
const LEFT_OUT: &[(Metric, &str)] = &[];

/// The names of all series that boards ask for, annotations among them.
fn asked_for() -> BTreeSet<String> {
    let mut names = BTreeSet::new();
    let mut add = |query: &str| {
        let selected = selectors(query).unwrap_or_else(|error| panic!("{error}: {query}"));
        names.extend(selected.into_iter().map(|selected| selected.name));
    };
    for (_, board) in read() {
        for panel in board["panels"].as_array().expect("panels") {
            queries(panel).for_each(|(query, _)| add(query));
        }
        let annotations = board["annotations"]["list"].as_array().expect("annotations");
        annotations.iter().filter_map(|annotation| annotation["expr"].as_str()).for_each(&mut add);
    }
    names
}

#[test]
fn every_metric_of_a_query_is_in_the_catalogue_or_recorded() {
    let rules = ["evidence.yml", "verdict.yml"].map(|name| dashboards().join("rules").join(name));
    let recorded: BTreeSet<_> = rule_file::read(&[&rules[0], &rules[1]]).into_iter().map(|rule| rule.name).collect();
    let is_known = |name: &String| {
        name == "ALERTS" || recorded.contains(name) || Metric::find(name).or(Metric::find(metric_of(name))).is_some()
    };
    let unknown: Vec<_> = asked_for().into_iter().filter(|name| !is_known(name)).collect();
    assert!(unknown.is_empty(), "{unknown:?}");
}

#[test]
fn every_metric_of_the_catalogue_is_on_a_board_or_left_out_on_purpose() {
    let asked = asked_for();
    for metric in Metric::ALL {
        let name = metric.row().prometheus;
        let is_shown = asked.iter().any(|asked| asked == name || metric_of(asked) == name);
        let left_out = LEFT_OUT.iter().any(|(left_out, reason)| left_out == metric && !reason.is_empty());
        assert!(is_shown != left_out, "{name}: shown {is_shown}, left out {left_out}");
    }
}

/// A label that the metric does not have makes a query that is always empty.
#[test]
fn every_matcher_of_a_metric_is_a_label_of_it_and_its_word_is_known() {
    for query in all_queries() {
        for series in selectors(&query).expect("PromQL") {
            let Some(metric) = Metric::find(&series.name).or(Metric::find(metric_of(&series.name))) else { continue };
            let of_place = ["job", "instance", "cluster", "namespace", "provider", "pool"];
            for matcher in series.matchers.iter().filter(|matcher| !of_place.contains(&matcher.name.as_str())) {
                let label = metric.row().labels.iter().find(|label| label.key == matcher.name);
                let label = label.unwrap_or_else(|| panic!("{} has no {}", series.name, matcher.name));
                if let forbear::event::metric::Words::Closed(words) = label.words {
                    let known = matcher.value.split('|').all(|word| words.contains(&word));
                    assert!(known, "{}: {}", series.name, matcher.value);
                }
            }
        }
    }
}

fn all_queries() -> Vec<String> {
    let boards = read();
    let panels = boards.iter().flat_map(|(_, board)| board["panels"].as_array().expect("panels"));
    panels.flat_map(|panel: &Value| queries(panel).map(|(query, _)| query.to_owned()).collect::<Vec<_>>()).collect()
}

#[test]
fn every_panel_that_a_runbook_names_is_there() {
    let runbooks = std::fs::read_to_string(dashboards().join("runbooks.md")).expect("runbooks");
    let boards = read();
    let mut named = 0;
    for line in runbooks.lines().filter_map(|line| line.strip_prefix("**Confirm.** Board *")) {
        let mut words = line.split('*').step_by(2);
        let title = words.next().expect("a board");
        let board = boards.iter().find(|(_, board)| board["title"] == title);
        let (_, board) = board.unwrap_or_else(|| panic!("no board {title}"));
        for panel in line.split('*').skip(2).step_by(2) {
            named += 1;
            let is_there = board["panels"].as_array().expect("panels").iter().any(|found| found["title"] == panel);
            assert!(is_there, "{title} has no {panel}");
        }
    }
    assert!(named >= 22, "{named} panels are named");
}
