//! The queries of boards, asked of a server.

use serde_json::Value;

use crate::server::Server;
use crate::states::{FROM, State, TO};

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
pub(crate) fn has_answer(prometheus: &Server, query: &str, instant: bool) -> bool {
    let query = sent(query);
    if instant {
        // A pool is shut at some time and not at others.
        let mut times = (FROM + 3_600..=TO).rev().step_by(300);
        return times.any(|at| prometheus.query(&query, Some(at)).iter().any(|(_, value)| value.is_finite()));
    }
    let series = prometheus.query_range(&query, FROM + 1_800, TO, 60);
    series.iter().any(|(_, samples)| samples.iter().any(|(_, value)| value.is_finite()))
}

/// How many queries a board has, annotations among them, and those that have no answer.
pub(crate) fn unanswered_of(server: &Server, board: &Value) -> (usize, Vec<String>) {
    let panels = board["panels"].as_array().expect("panels").iter();
    let of_panels =
        panels.flat_map(|panel| queries(panel).map(move |(query, instant)| (&panel["title"], query, instant)));
    let annotations = board["annotations"]["list"].as_array().expect("annotations").iter();
    let of_annotations = annotations.filter_map(|one| Some((&one["name"], one["expr"].as_str()?, false)));
    let all: Vec<_> = of_panels.chain(of_annotations).collect();
    let without = all.iter().filter(|(_, query, instant)| !has_answer(server, query, *instant));
    (all.len(), without.map(|(title, query, _)| format!("{title}: {query}")).collect())
}

/// Every pool of a state has the verdict that it is made for, and no other pool has one.
pub(crate) fn verdicts_are_right(server: &Server, state: &State) {
    let mut found: Vec<_> = server
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
