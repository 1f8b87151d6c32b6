//! Boards for a variant: the same JSON where nothing has to change, and the same board in other words where something has.

use serde_json::Value;

use super::embedded::RUNBOOK_BASE;
use super::promql::Change;
use super::variant::{KEPT_LABELS, Variant};

/// Labels by which every board can choose anyway.
const EVERYWHERE: [&str; 2] = ["job", "instance"];
/// How often metrics are scraped unless told.
const USUAL_SCRAPE_SECONDS: u64 = 15;
/// The share of calls that has to succeed unless told, and below which boards are red, not orange.
const USUAL_OBJECTIVE: f64 = 0.99;
const USUAL_RED: f64 = 0.95;

/// The board of a variant.
///
/// # Errors
/// It is no JSON, which would be a mistake of ours.
pub(super) fn rewritten(kept: &str, variant: &Variant<'_>) -> Result<String, String> {
    let options = variant.options;
    let group_by = variant.group_by();
    let labels: Vec<_> = group_by.iter().copied().filter(|label| !["provider", "pool"].contains(label)).collect();
    let change = Change { matchers: variant.selector(), labels: &labels };
    let scrape = options.scrape_interval.as_secs();
    let same_queries = change.matchers.is_empty() && group_by == KEPT_LABELS && scrape == USUAL_SCRAPE_SECONDS;
    let same_colours = variant.objective == USUAL_OBJECTIVE;
    if same_queries && same_colours && options.datasource.is_none() && options.runbook_base.is_none() {
        return Ok(kept.to_owned());
    }
    let mut board: Value = serde_json::from_str(kept).map_err(|error| error.to_string())?;
    if labels != KEPT_LABELS[..2] {
        choose_by(&mut board, &labels);
        name_columns(&mut board, &labels);
    }
    walk(&mut board, &change, (scrape != USUAL_SCRAPE_SECONDS).then(|| format!("{scrape}s")).as_deref());
    if !same_colours {
        promise(&mut board, variant.objective);
    }
    if let Some(uid) = &options.datasource {
        choose_source(&mut board, uid);
    }
    let mut text = serde_json::to_string_pretty(&board).map_err(|error| error.to_string())? + "\n";
    if labels != KEPT_LABELS[..2] {
        let link = |label: &&str| format!("${{{label}:queryparam}}");
        let chosen = |labels: &[&str]| labels.iter().map(link).collect::<Vec<_>>().join("&");
        let ours: Vec<_> = labels.iter().copied().filter(|label| !EVERYWHERE.contains(label)).collect();
        text = text.replace(
            &format!("{}&", chosen(&KEPT_LABELS[..2])),
            &ours.iter().map(|label| link(label) + "&").collect::<String>(),
        );
    }
    if let Some(base) = &options.runbook_base {
        text = text.replace(RUNBOOK_BASE, base);
    }
    Ok(text)
}

/// Changes every query: of panels and annotations (`expr`), and of variables (`query`, `definition`). `step` is the least
/// time between two samples of a panel: Grafana's `$__rate_interval` is four of them.
fn walk(value: &mut Value, change: &Change<'_>, step: Option<&str>) {
    match value {
        Value::Array(values) => values.iter_mut().for_each(|value| walk(value, change, step)),
        Value::Object(fields) => {
            for (key, value) in fields.iter_mut() {
                match value {
                    Value::String(query) if ["expr", "query", "definition"].contains(&key.as_str()) => {
                        *query = change.apply(query);
                    }
                    other => walk(other, change, step),
                }
            }
            if let Some(step) = step.filter(|_| fields.contains_key("expr") && fields.contains_key("refId")) {
                fields.insert("interval".to_owned(), step.into());
            }
        }
        _ => {}
    }
}

/// Puts a variable for each of `labels` where those for the kept ones are.
fn choose_by(board: &mut Value, labels: &[&str]) {
    let Some(variables) = board.pointer_mut("/templating/list").and_then(Value::as_array_mut) else { return };
    let Some(place) = variables.iter().position(|variable| variable["name"] == KEPT_LABELS[0]) else { return };
    let pattern = variables[place].to_string();
    variables.retain(|variable| !KEPT_LABELS[..2].iter().any(|kept| variable["name"] == **kept));
    let of = |label: &&str| {
        let mut variable: Value = serde_json::from_str(&pattern.replace(KEPT_LABELS[0], label)).unwrap_or_default();
        variable["label"] = (**label).into();
        variable
    };
    let added: Vec<_> = labels.iter().filter(|label| !EVERYWHERE.contains(label)).map(of).collect();
    variables.splice(place..place, added);
}

/// Where tables name their columns after labels, names those of `labels` in place of the kept ones.
fn name_columns(value: &mut Value, labels: &[&str]) {
    match value {
        Value::Array(values) => values.iter_mut().for_each(|value| name_columns(value, labels)),
        Value::Object(fields) => {
            fields.values_mut().for_each(|value| name_columns(value, labels));
            let [first, second] = [KEPT_LABELS[0], KEPT_LABELS[1]].map(|kept| fields.remove(kept));
            for label in labels.iter().filter(|_| first.is_some() || second.is_some()) {
                let name = first.as_ref().filter(|name| !name.is_string()).cloned();
                fields.insert((*label).to_owned(), name.unwrap_or_else(|| (*label).into()));
            }
        }
        _ => {}
    }
}

/// Moves the colours of success to another objective, and the words that name it. Red begins where five times as much fails
/// as may, as it does unless told.
fn promise(value: &mut Value, objective: f64) {
    let rounded = |share: f64| (share * 1e9).round() / 1e9;
    match value {
        Value::Array(values) => {
            let has = |share: f64| values.iter().any(|step| step["value"] == share);
            if has(USUAL_OBJECTIVE) && has(USUAL_RED) {
                for step in values.iter_mut() {
                    if step["value"] == USUAL_OBJECTIVE {
                        step["value"] = objective.into();
                    } else if step["value"] == USUAL_RED {
                        step["value"] = rounded(1.0 - 5.0 * (1.0 - objective)).into();
                    }
                }
            }
            values.iter_mut().for_each(|value| promise(value, objective));
        }
        Value::Object(fields) => {
            if let Some(Value::String(says)) = fields.get_mut("description") {
                *says = says.replace("Below 99 %", &format!("Below {} %", rounded(objective * 100.0)));
            }
            fields.values_mut().for_each(|value| promise(value, objective));
        }
        _ => {}
    }
}

/// The data source of metrics that a board begins with; that of traces is another.
fn choose_source(board: &mut Value, uid: &str) {
    let variables = board.pointer_mut("/templating/list").and_then(Value::as_array_mut);
    for variable in variables.into_iter().flatten().filter(|variable| variable["name"] == "datasource") {
        variable["current"] = serde_json::json!({"selected": true, "text": uid, "value": uid});
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::export::Export;
    use clap::{Args, Command, FromArgMatches};

    const BOARD: &str = r#"{"templating": {"list": [
        {"type": "datasource", "name": "datasource", "query": "prometheus"},
        {"type": "datasource", "name": "tempo_datasource", "query": "tempo", "current": {}},
        {"type": "query", "query": {"query": "label_values(forbear_build_info, job)", "refId": "A"}},
        {"type": "query", "name": "cluster", "label": "Cluster", "definition": "label_values(forbear_build_info, cluster)"},
        {"type": "query", "name": "namespace", "definition": "label_values(forbear_build_info, namespace)"}]},
    "links": [{"url": "/d/x?${job:queryparam}&${cluster:queryparam}&${namespace:queryparam}&a=b"}],
    "panels": [{"description": "See https://docs.rs/forbear/latest/forbear/guide/runbooks/index.html#forbearunpaced.",
        "targets": [{"refId": "A", "expr": "sum by (cluster, namespace, pool) (rate(forbear_calls_total[$__rate_interval]))"}]}]}
"#;

    fn board(arguments: &[&str]) -> String {
        let all = ["export", "--out", "x"].iter().chain(arguments);
        let matches = Export::augment_args(Command::new("export")).get_matches_from(all);
        let options = Export::from_arg_matches(&matches).expect("options");
        rewritten(BOARD, &Variant::of(&options).expect("in range")).expect("JSON")
    }

    #[test]
    fn a_board_that_need_not_change_is_the_same_text() {
        assert_eq!(board(&["--slo", "99", "--grafana-url", "https://grafana.example"]), BOARD);
    }

    #[test]
    fn a_board_changes_where_it_has_to() {
        let text =
            board(&["--selector", "env=\"prod\"", "--group-by", "env,provider,pool", "--scrape-interval", "30s"]);
        let board: Value = serde_json::from_str(&text).expect("JSON");
        let target = &board["panels"][0]["targets"][0];
        assert_eq!(target["expr"], "sum by (env, pool) (rate(forbear_calls_total{env=\"prod\"}[$__rate_interval]))");
        assert_eq!(target["interval"], "30s");
        let variables = &board["templating"]["list"];
        assert_eq!(variables[0]["query"], "prometheus");
        assert_eq!(variables[2]["query"]["query"], "label_values(forbear_build_info{env=\"prod\"}, job)");
        assert_eq!(variables[2]["query"]["interval"], Value::Null);
        assert_eq!(
            (&variables[3]["name"], &variables[3]["label"], &variables[4]),
            (&"env".into(), &"env".into(), &Value::Null)
        );
        assert_eq!(variables[3]["definition"], "label_values(forbear_build_info{env=\"prod\"}, env)");
        assert_eq!(board["links"][0]["url"], "/d/x?${job:queryparam}&${env:queryparam}&a=b");
    }

    #[test]
    fn a_board_begins_with_the_data_source_and_links_to_the_runbooks_it_is_given() {
        let text = board(&["--datasource", "mimir", "--runbook-base", "https://wiki.example/forbear"]);
        let board: Value = serde_json::from_str(&text).expect("JSON");
        let sources = &board["templating"]["list"];
        assert_eq!(sources[0]["current"]["value"], "mimir");
        assert_eq!(sources[1]["current"], serde_json::json!({}), "traces have a source of their own");
        assert_eq!(board["panels"][0]["description"], "See https://wiki.example/forbear#forbearunpaced.");
    }
}
