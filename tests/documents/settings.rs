//! Settings on pages, and files that commands of others are pointed at, given to the tools that read them.

use std::fs;
use std::path::Path;

use serde_json::Value;

use crate::pages::{Block, blocks};
use crate::root;
use crate::server::{empty_folder, run, tool};
use crate::typed::{forbear, text};

pub(crate) fn yaml(text: &str) -> Value {
    serde_yaml_ng::from_str(text).unwrap_or_else(|error| panic!("{error}: {text}"))
}

#[test]
fn every_setting_is_taken_by_what_it_is_for() {
    let folder = empty_folder(env!("CARGO_TARGET_TMPDIR"), "documents-settings");
    let exported = forbear(&["export", "--out", folder.join("forbear").to_str().expect("a plain path")], "");
    assert!(exported.status.success(), "{}", text(&exported.stderr));
    fs::create_dir(folder.join("rules")).expect("a folder");
    for file in ["evidence.yml", "verdict.yml", "alerts.yml"] {
        fs::copy(root().join("dashboards/rules").join(file), folder.join("rules").join(file)).expect("copied");
    }
    for block in blocks().iter().filter(|block| block.kind == "yaml") {
        let setting = yaml(&block.text);
        let has = |key: &str| setting.get(key).is_some();
        if has("scrape_configs") || has("rule_files") {
            prometheus(block, &setting, &folder);
        } else if setting.get(0).is_some_and(|first| first.get("target_label").is_some()) {
            victoria_metrics(block, &folder);
        } else if has("receivers") {
            // The collector's own binary is 100 MB.
            assert_eq!(
                block.text.trim(),
                kept("examples/stack/collector.yml").trim(),
                "tests/export/stack.rs checks it"
            );
        } else if has("kind") {
            object(&setting, &block.place());
            assert_eq!(setting["kind"], "PodMonitor", "{}: nobody checks objects of this kind", block.place());
            assert_eq!(setting["spec"]["podMetricsEndpoints"][0]["interval"], "15s");
        } else {
            // Mimir's own check needs the whole of its configuration.
            let tenant = setting["overrides"]["TENANT"].as_object();
            assert_eq!(tenant.map(serde_json::Map::len), Some(2), "{}: nobody checks such settings", block.place());
        }
    }
    fs::remove_dir_all(&folder).expect("removed");
}

fn kept(file: &str) -> String {
    fs::read_to_string(root().join(file)).expect("a file of the project")
}

#[test]
fn every_object_is_a_scenario() {
    for block in blocks().iter().filter(|block| block.kind == "json") {
        let scenario = block.text.parse::<forbear::simulate::Scenario>();
        assert!(scenario.is_ok(), "{}: {scenario:?}; nobody checks other objects", block.place());
    }
}

/// Its own tool takes it, and finds as many rule files as it names.
fn prometheus(block: &Block, setting: &Value, folder: &Path) {
    let file = folder.join("prometheus.yml");
    fs::write(&file, &block.text).expect("written");
    for promtool in ["promtool", "promtool-3"] {
        let output = tool(promtool).args(["check", "config"]).arg(&file).output().expect("it runs");
        let said = text(&output.stdout);
        assert!(output.status.success(), "{}: {said}{}", block.place(), text(&output.stderr));
        let named = setting["rule_files"].as_array().map_or(0, Vec::len);
        assert_eq!(said.matches("rules found").count(), named, "{}: {said}", block.place());
    }
}

/// It takes the rules of relabelling, and so does a Prometheus.
fn victoria_metrics(block: &Block, folder: &Path) {
    let file = folder.join("relabel.yml");
    fs::write(&file, &block.text).expect("written");
    let checked = tool("victoria-metrics").arg("-dryRun").arg(format!("-relabelConfig={}", file.display())).output();
    let checked = checked.expect("it runs");
    assert!(checked.status.success(), "{}: {}", block.place(), text(&checked.stderr));
}

/// What every object of Kubernetes has.
fn object(object: &Value, place: &str) {
    for field in ["/apiVersion", "/kind", "/metadata/name"] {
        assert!(object.pointer(field).is_some_and(Value::is_string), "{place}: no {field} in {object}");
    }
}

/// What `kubectl apply` is given: each file below the folders is an object.
pub(crate) fn objects(words: &[String], from: &Path) {
    let folders =
        words.iter().zip(&words[1..]).filter(|(option, _)| *option == "-f").map(|(_, folder)| from.join(folder));
    let mut found = 0;
    for folder in folders {
        for entry in fs::read_dir(&folder).unwrap_or_else(|error| panic!("{}: {error}", folder.display())) {
            let file = entry.expect("an entry").path();
            object(&yaml(&fs::read_to_string(&file).expect("text")), &file.display().to_string());
            found += 1;
        }
    }
    assert!(found > 5, "{words:?} applies {found} objects");
}

/// What `mimirtool rules load` is given: files of a namespace with groups of rules.
pub(crate) fn namespaces(words: &[String], from: &Path) {
    let pattern = words.last().and_then(|word| word.strip_suffix("/*.yml")).expect("a folder's files");
    let mut found = 0;
    for entry in fs::read_dir(from.join(pattern)).expect("a folder") {
        let file = entry.expect("an entry").path();
        let mut rules = yaml(&fs::read_to_string(&file).expect("text"));
        assert!(rules["namespace"].is_string(), "{}", file.display());
        rules.as_object_mut().expect("a mapping").remove("namespace");
        fs::write(&file, rules.to_string()).expect("written");
        run(tool("promtool").args(["check", "rules"]).arg(&file));
        found += 1;
    }
    assert_eq!(found, 3, "{words:?}");
}
