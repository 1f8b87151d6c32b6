//! What Grafana's dashboard-linter looks at, as rules of our own; where they differ it is said.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

use crate::kept::read;
use crate::promql::selectors;

fn items(value: &Value) -> impl Iterator<Item = &Value> {
    value.as_array().into_iter().flatten()
}

fn text<'a>(value: &'a Value, key: &str) -> &'a str {
    value[key].as_str().unwrap_or_default()
}

/// Every finding in every panel that has queries.
fn findings(look: impl Fn(&Value) -> Vec<String>) -> Vec<String> {
    let mut found = Vec::new();
    for (name, board) in read() {
        for panel in items(&board["panels"]).filter(|panel| !["row", "text"].contains(&text(panel, "type"))) {
            let of_panel = look(panel).into_iter();
            found.extend(of_panel.map(|finding| format!("{name}, {}: {finding}", panel["title"])));
        }
    }
    found
}

fn assert_none(found: &[String]) {
    assert!(found.is_empty(), "\n  {}\n", found.join("\n  "));
}

/// Rules template-datasource, template-job, template-instance, template-label-promql, template-on-time-change-reload. Ours
/// differ in this: everything is `.*`, because `.+` hides what a store of OTLP holds without a `job`; and there is a second
/// data source, for traces.
#[test]
fn variables_are_those_of_every_other_board() {
    for (name, board) in read() {
        let variables: BTreeMap<_, _> = items(&board["templating"]["list"]).map(|v| (text(v, "name"), v)).collect();
        let source = variables["datasource"];
        assert_eq!((text(source, "label"), text(source, "query")), ("Data source", "prometheus"), "{name}");
        assert_eq!(text(&board["templating"]["list"][0], "name"), "datasource", "{name}: the others rest on it");
        for (key, label) in [
            ("job", "Job"),
            ("instance", "Instance"),
            ("cluster", "Cluster"),
            ("namespace", "Namespace"),
            ("provider", "Provider"),
            ("pool", "Pool"),
        ] {
            let variable = variables[key];
            assert_eq!((text(variable, "label"), text(variable, "type")), (label, "query"), "{name}, {key}");
            assert_eq!(
                (&variable["multi"], &variable["includeAll"]),
                (&Value::Bool(true), &Value::Bool(true)),
                "{key}"
            );
            assert_eq!((text(variable, "allValue"), &variable["refresh"]), (".*", &Value::from(2)), "{name}, {key}");
            assert_eq!(text(&variable["datasource"], "uid"), "${datasource}", "{name}, {key}");
            let query = text(&variable["query"], "query");
            let series =
                query.strip_prefix("label_values(").and_then(|rest| rest.rsplit_once(", ")).expect("a series").0;
            assert!(selectors(series).is_ok(), "{name}: {query}");
        }
    }
}

/// Rules panel-datasource, panel-title-description, panel-units, panel-no-targets. Ours are harder: every panel says what
/// stands there when there is nothing to show, and its description is long enough to say what bad looks like.
#[test]
fn every_panel_says_what_it_is() {
    assert_none(&findings(|panel| {
        let defaults = &panel["fieldConfig"]["defaults"];
        let mut missing = Vec::new();
        let mut need = |is_there: bool, what: &str| {
            if !is_there {
                missing.push(format!("no {what}"));
            }
        };
        need(text(&panel["datasource"], "uid") == "${datasource}", "data source that a variable names");
        need(!text(panel, "title").is_empty(), "title");
        need(text(panel, "description").len() >= 80, "description of what bad looks like and what to do");
        // Of a table each column has its own.
        let of_columns = items(&panel["fieldConfig"]["overrides"])
            .any(|field| items(&field["properties"]).any(|property| text(property, "id") == "unit"));
        need(!text(defaults, "unit").is_empty() || of_columns || text(panel, "title") == "Policies", "unit");
        need(!text(defaults, "noValue").is_empty(), "word for nothing to show");
        need(items(&panel["targets"]).next().is_some(), "query");
        missing
    }));
}

/// Rules target-promql, target-rate-interval, target-job, target-instance, target-counter-agg. Ours look at the labels of
/// pools as well, and know that recorded series have no process left.
#[test]
fn every_query_asks_as_it_should() {
    assert_none(&findings(|panel| {
        let mut wrong = Vec::new();
        for target in items(&panel["targets"]) {
            let query = text(target, "expr");
            let selected = match selectors(query) {
                Ok(selected) => selected,
                Err(error) => {
                    wrong.push(format!("{error}: {query}"));
                    continue;
                }
            };
            for series in selected {
                let recorded = series.name.starts_with("pool:");
                let process = forbear::event::catalogue::Metric::find(crate::promql::metric_of(&series.name))
                    .is_some_and(|metric| !metric.row().per_pool);
                let mut keys = vec!["cluster", "namespace"];
                keys.extend(if recorded { &[][..] } else { &["job", "instance"][..] });
                keys.extend(if process { &[][..] } else { &["provider", "pool"][..] });
                let unselected = keys.into_iter().filter(|key| !series.selects_by(key));
                wrong.extend(unselected.map(|key| format!("{} is not selected by {key}", series.name)));
                let rises = ["_total", "_bucket", "_sum", "_count"].iter().any(|end| series.name.ends_with(end));
                let risen =
                    series.within.first().is_some_and(|function| ["rate", "increase"].contains(&function.as_str()));
                // What is new has risen by all it shows.
                let new = query.contains(&format!("unless {}{{", series.name));
                if rises != risen && !new {
                    wrong.push(format!("{}: {:?} around it", series.name, series.within));
                }
            }
            // A quantile of nothing is no number, and no number is drawn as one.
            if query.contains("histogram_quantile") && !query.ends_with(">= 0") {
                wrong.push(format!("a quantile of nothing: {query}"));
            }
            if target["instant"] != true && query.contains("$__range") {
                wrong.push(format!("the range of the board in a query over time: {query}"));
            }
            if text(target, "format") == "time_series" && text(target, "legendFormat").is_empty() {
                wrong.push("a series without a name".to_owned());
            }
            if text(&target["datasource"], "uid") != "${datasource}" {
                wrong.push("a data source of its own".to_owned());
            }
        }
        wrong
    }));
}

/// Rule uneditable-dashboard, and what links, reloads and imports rest on.
#[test]
fn boards_are_alike_around_their_panels() {
    let boards = read();
    let (_, first) = &boards[0];
    let mut titles = BTreeSet::new();
    for (name, board) in &boards {
        assert_eq!(text(board, "uid"), format!("forbear-{name}"));
        assert_eq!((&board["editable"], &board["graphTooltip"]), (&Value::Bool(false), &Value::from(1)), "{name}");
        for same in ["templating", "annotations", "links", "schemaVersion", "refresh", "timezone", "tags", "time"] {
            assert_eq!(board[same], first[same], "{name}: {same}");
        }
        assert!(board.get("__inputs").is_none() && board.get("id").is_none(), "{name}: provisioning does not know it");
        let link = &board["links"][0];
        assert_eq!((&link["keepTime"], &link["includeVars"]), (&Value::Bool(true), &Value::Bool(true)), "{name}");
        assert!(titles.insert(text(board, "title")), "{name}");
        let mut within = BTreeSet::new();
        for panel in items(&board["panels"]) {
            assert!(within.insert(text(panel, "title")), "{name}: {} twice", panel["title"]);
        }
    }
}

#[test]
fn a_word_has_one_colour_on_every_board() {
    let mut colours: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    for (_, board) in read() {
        for panel in items(&board["panels"]) {
            for field in items(&panel["fieldConfig"]["overrides"]) {
                for property in items(&field["properties"]).filter(|property| text(property, "id") == "color") {
                    let word = text(&field["matcher"], "options").to_owned();
                    colours.entry(word).or_default().insert(text(&property["value"], "fixedColor").to_owned());
                }
            }
            let of_fields = items(&panel["fieldConfig"]["overrides"]).flat_map(|field| items(&field["properties"]));
            let of_fields = of_fields.filter(|property| text(property, "id") == "mappings");
            let mappings =
                of_fields.map(|property| &property["value"]).chain([&panel["fieldConfig"]["defaults"]["mappings"]]);
            for mapping in mappings.flat_map(items) {
                for (value, shown) in mapping["options"].as_object().into_iter().flatten() {
                    let Some(colour) = shown["color"].as_str() else { continue };
                    let is_number = value.parse::<f64>().is_ok();
                    let word = if is_number { text(shown, "text") } else { value };
                    colours.entry(word.to_owned()).or_default().insert(colour.to_owned());
                }
            }
        }
    }
    assert!(colours.len() > 30, "{colours:?}");
    let two: Vec<_> = colours.iter().filter(|(_, colours)| colours.len() > 1).collect();
    assert!(two.is_empty(), "{two:?}");
    for (word, colour) in colours.iter().filter_map(|(word, colours)| {
        Some((word, crate::words::colour(word)?, colours)).map(|(w, c, set)| (w, (c, set)))
    }) {
        assert!(colour.1.contains(colour.0), "{word}: {colour:?}");
    }
}

#[test]
fn panels_lie_beside_each_other() {
    for (name, board) in read() {
        let mut taken = BTreeSet::new();
        for panel in items(&board["panels"]) {
            let of = |key: &str| panel["gridPos"][key].as_u64().expect("a place");
            assert!(of("x") + of("w") <= 24, "{name}, {}", panel["title"]);
            for x in of("x")..of("x") + of("w") {
                for y in of("y")..of("y") + of("h") {
                    assert!(taken.insert((x, y)), "{name}: {} lies on another", panel["title"]);
                }
            }
        }
    }
}
