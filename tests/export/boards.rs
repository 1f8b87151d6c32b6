//! Boards of variants: every query is one, asks for what the variant's rules record, and chooses by what it has.

use std::collections::BTreeMap;
use std::fmt::Write;
use std::fs;

use serde_json::Value;

use crate::server::tool;
use crate::{exported, files};

/// Every query of a board, with Grafana's variables filled in as it does.
fn queries(board: &Value) -> Vec<String> {
    let mut found = Vec::new();
    let mut left = vec![board];
    while let Some(value) = left.pop() {
        match value {
            Value::Array(values) => left.extend(values),
            Value::Object(fields) => {
                found.extend(fields.get("expr").and_then(Value::as_str).map(str::to_owned));
                left.extend(fields.values());
            }
            _ => {}
        }
    }
    found
}

fn variables(board: &Value) -> Vec<&str> {
    let variables = board["templating"]["list"].as_array().expect("variables").iter();
    variables.filter_map(|variable| variable["name"].as_str()).collect()
}

fn boards(name: &str, options: &[&str]) -> BTreeMap<String, Value> {
    let folder = exported(&format!("boards-{name}"), options);
    let boards = files(&folder).into_iter().filter(|(path, _)| path.ends_with(".json"));
    let boards = boards.map(|(path, text)| (path, serde_json::from_str(&text).expect("JSON"))).collect();
    fs::remove_dir_all(&folder).expect("removed");
    boards
}

#[test]
fn queries_of_every_variant_are_queries_and_name_no_variable_that_is_not_there() {
    let variants: [&[&str]; 4] = [
        &[],
        &["--group-by", "provider,pool"],
        &["--group-by", "env,job,provider,pool", "--selector", "team=\"a\",env!~\"dev|test\""],
        &["--scrape-interval", "30s", "--datasource", "mimir"],
    ];
    for (number, options) in variants.into_iter().enumerate() {
        let mut rules = "groups:\n  - name: boards\n    rules:\n".to_owned();
        let boards = boards(&number.to_string(), options);
        assert!(boards.len() > 3, "{:?}", boards.keys());
        for (name, board) in &boards {
            let known = variables(board);
            for (place, query) in queries(board).iter().enumerate() {
                let mut filled =
                    query.replace("$__rate_interval", "1m").replace("$__range", "1h").replace("$__interval", "1m");
                known.iter().for_each(|variable| filled = filled.replace(&format!("\"${variable}\""), "\".*\""));
                // What is left of `$` is a label's part that was matched.
                let unknown = filled
                    .split('$')
                    .skip(1)
                    .find(|rest| rest.starts_with(|c: char| c.is_ascii_alphabetic() || c == '{'));
                assert_eq!(unknown, None, "{options:?}, {name}: {query}");
                let record = name.trim_end_matches(".json");
                writeln!(rules, "      - record: {record}:{place}\n        expr: {}", Value::from(filled))
                    .expect("a string takes everything");
            }
        }
        let file = std::path::Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("boards-{number}.yml"));
        fs::write(&file, rules).expect("written");
        for promtool in ["promtool", "promtool-3"] {
            let output = tool(promtool).args(["check", "rules"]).arg(&file).output().expect("it runs");
            assert!(output.status.success(), "{options:?}: {}", String::from_utf8_lossy(&output.stderr));
        }
        fs::remove_file(&file).expect("removed");
    }
}

#[test]
fn a_variant_that_is_taken_out_again_is_the_kept_board() {
    let kept = boards("kept", &[]);
    let selected = boards("selected", &["--selector", "team=\"a\""]);
    for (name, board) in &kept {
        let text = selected[name].to_string();
        let without = text.replace(r#"{team=\"a\", "#, "{").replace(r#"{team=\"a\"}"#, "");
        assert_eq!(serde_json::from_str::<Value>(&without).expect("JSON"), *board, "{name}");
        // Every metric has it; series of the rules do not.
        for query in queries(&selected[name]) {
            let metrics = query.matches("forbear_").count() - query.matches(":forbear_").count();
            assert_eq!(query.matches("{team=\"a\"").count(), metrics, "{name}: {query}");
        }
    }
    let slower = boards("slower", &["--scrape-interval", "30s"]);
    for (name, board) in &kept {
        let without = slower[name].to_string().replace(r#""interval":"30s","#, "");
        assert_eq!(serde_json::from_str::<Value>(&without).expect("JSON"), *board, "{name}");
    }
}

#[test]
fn boards_choose_by_the_labels_that_pools_are_told_apart_by() {
    for (name, board) in boards("chosen", &["--group-by", "env,zone,provider,pool", "--datasource", "mimir"]) {
        let variables = variables(&board);
        assert!(
            ["env", "zone", "provider", "pool"].iter().all(|label| variables.contains(label)),
            "{name}: {variables:?}"
        );
        let text = board.to_string();
        assert!(!text.contains("$cluster") && !text.contains("namespace") && !text.contains("${cluster"), "{name}");
        for source in board["templating"]["list"].as_array().expect("variables") {
            let chosen = &source["current"]["value"];
            match source["name"].as_str() {
                Some("datasource") => assert_eq!(chosen, "mimir", "{name}"),
                Some("tempo_datasource") => assert_eq!(chosen, &Value::Null, "{name}: traces are elsewhere"),
                _ => {}
            }
        }
    }
}
