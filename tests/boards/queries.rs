//! Every query of every panel has an answer on a day on which everything happens, and every state has the verdict it is
//! named after. What is drawn for pictures stays in `target/tmp/boards/`.

use std::path::{Path, PathBuf};

use serde_json::Value;

use crate::by_hand;
use crate::kept;
use crate::recorded::record;
use crate::server::{Server, empty_folder};
use crate::states::{EVERYTHING, FROM, STATES, State, TO, take_in};

fn folder(state: &State) -> PathBuf {
    empty_folder(env!("CARGO_TARGET_TMPDIR"), &format!("boards/{}", state.name))
}

/// A query of a board as Grafana would send it: all of everything, scraped every 15 s, three hours shown.
pub(crate) fn sent(query: &str) -> String {
    let mut query = query.replace("$__rate_interval", "1m").replace("$__range", "10800s");
    for variable in ["job", "instance", "cluster", "namespace", "provider", "pool"] {
        query = query.replace(&format!("=~\"${variable}\""), "=~\".*\"");
    }
    query
}

/// The queries of a panel, and whether each is about the end of the time shown alone.
pub(crate) fn queries(panel: &Value) -> impl Iterator<Item = (&str, bool)> {
    let targets = panel["targets"].as_array().into_iter().flatten();
    targets.map(|target| (target["expr"].as_str().expect("a query"), target["instant"] == true))
}

/// Whether a query has an answer: a number at some time of the day.
fn has_answer(prometheus: &Server, query: &str, instant: bool) -> bool {
    let query = sent(query);
    if instant {
        // A pool is shut at some time and not at others.
        let mut times = (FROM + 3_600..=TO).rev().step_by(300);
        return times.any(|at| prometheus.query(&query, Some(at)).iter().any(|(_, value)| value.is_finite()));
    }
    let series = prometheus.query_range(&query, FROM + 1_800, TO, 60);
    series.iter().any(|(_, samples)| samples.iter().any(|(_, value)| value.is_finite()))
}

#[test]
fn every_query_has_an_answer_on_a_day_on_which_everything_happens() {
    let folder = folder(&EVERYTHING);
    EVERYTHING.take_in(&folder);
    take_in(&by_hand::service("checkout"), &folder);
    record(&folder, FROM + 1_800, TO);
    let prometheus = Server::prometheus(&folder, "[]");
    let mut unanswered = Vec::new();
    let mut asked = 0;
    for (name, board) in kept::read() {
        for panel in board["panels"].as_array().expect("panels") {
            for (query, instant) in queries(panel) {
                asked += 1;
                if !has_answer(&prometheus, query, instant) {
                    unanswered.push(format!("{name}, {}: {query}", panel["title"]));
                }
            }
        }
        for annotation in board["annotations"]["list"].as_array().expect("annotations") {
            let Some(query) = annotation["expr"].as_str() else { continue };
            asked += 1;
            if !has_answer(&prometheus, query, false) {
                unanswered.push(format!("{name}, annotation {}: {query}", annotation["name"]));
            }
        }
    }
    assert!(asked > 100, "{asked} queries");
    assert!(unanswered.is_empty(), "no answer:\n  {}\n", unanswered.join("\n  "));
    verdicts_are_right(&prometheus, &EVERYTHING);
}

#[test]
fn every_state_has_the_verdict_it_is_named_after() {
    for state in &STATES {
        let folder = folder(state);
        state.take_in(&folder);
        record(&folder, FROM + 1_800, TO);
        verdicts_are_right(&Server::prometheus(&folder, "[]"), state);
        assert!(Path::new(&folder).join("tsdb").exists(), "pictures are made of it");
    }
}

fn verdicts_are_right(prometheus: &Server, state: &State) {
    let mut found: Vec<_> = prometheus
        .query("pool:forbear_verdict:1h", Some(TO))
        .into_iter()
        .map(|(labels, _)| [labels["provider"].clone(), labels["pool"].clone(), labels["cause"].clone()])
        .filter(|[_, pool, _]| pool != "by-hand")
        .collect();
    found.sort();
    let mut expected: Vec<_> = state.pools.iter().map(|pool| [pool.provider, pool.pool, pool.cause]).collect();
    expected.sort_unstable();
    assert_eq!(found, expected, "{}", state.name);
}
