//! The same rules and boards in the wrappings of other stacks.

use std::collections::BTreeMap;
use std::fs;

use serde_json::Value;

use crate::server::tool;
use crate::{exported, files, groups, kept, yaml};

#[test]
fn the_spec_of_a_prometheus_rule_is_the_source() {
    let folder =
        exported("operator", &["--format", "prometheusrule", "--metadata-labels", "release=kube-prometheus-stack"]);
    for name in ["evidence", "verdict", "alerts"] {
        let object = yaml(&files(&folder)[&format!("rules/{name}.yaml")]);
        assert_eq!(object["apiVersion"], "monitoring.coreos.com/v1");
        assert_eq!(
            (&object["kind"], &object["metadata"]["name"]),
            (&"PrometheusRule".into(), &format!("forbear-{name}").into())
        );
        assert_eq!(object["metadata"]["labels"]["release"], "kube-prometheus-stack");
        assert_eq!(object["spec"], yaml(&fs::read_to_string(kept().join(format!("rules/{name}.yml"))).expect("kept")));
    }
    fs::remove_dir_all(&folder).expect("removed");
}

#[test]
fn config_maps_hold_the_files_and_fit_their_limit() {
    let folder = exported("configmap", &["--format", "configmap"]);
    let kept = files(&kept());
    let mut held = BTreeMap::new();
    for (path, text) in files(&folder).iter().filter(|(path, _)| path.ends_with(".yaml")) {
        assert!(text.len() < 1_000_000, "{path}: {} bytes", text.len());
        let object = yaml(text);
        assert_eq!((&object["kind"], &object["apiVersion"]), (&"ConfigMap".into(), &"v1".into()));
        let is_board = path.starts_with("boards/");
        assert_eq!(object["metadata"]["labels"].get("grafana_dashboard"), is_board.then_some(&Value::from("1")));
        held.extend(object["data"].as_object().expect("files").clone());
    }
    let names = |suffix: &str| kept.keys().filter(|path| path.ends_with(suffix)).count();
    let rules = names(".yml")
        - kept
            .keys()
            .filter(|path| !path.starts_with("rules/") || path.ends_with(".test.yml"))
            .filter(|path| path.ends_with(".yml"))
            .count();
    assert_eq!((rules, held.len()), (3, 3 + names(".json")));
    for (name, text) in held {
        let kept_name = name.trim_start_matches("forbear-");
        let source =
            kept.iter().find(|(path, _)| path.ends_with(kept_name)).unwrap_or_else(|| panic!("{name} is kept")).1;
        assert_eq!(text, *source, "{name}");
    }
    fs::remove_dir_all(&folder).expect("removed");
}

#[test]
fn mimir_gets_a_namespace_for_each_file() {
    let folder = exported("mimir", &["--format", "mimir"]);
    for name in ["evidence", "verdict", "alerts"] {
        let mut file = yaml(&files(&folder)[&format!("rules/{name}.yml")]);
        let namespace = file.as_object_mut().expect("a mapping").remove("namespace");
        assert_eq!(namespace, Some(format!("forbear-{name}").into()));
        assert_eq!(file, yaml(&fs::read_to_string(kept().join(format!("rules/{name}.yml"))).expect("kept")));
    }
    fs::remove_dir_all(&folder).expect("removed");
}

#[test]
fn the_mixin_holds_every_board_rule_and_alert() {
    let folder = exported("mixin", &["--group-by", "env,provider,pool"]);
    let mut jsonnet = tool("jsonnet");
    let fields = "local it = import 'mixin.libsonnet'; {boards: it.grafanaDashboards, rules: it.prometheusRules, alerts: it.prometheusAlerts}";
    let output = jsonnet.current_dir(&folder).args(["-e", fields]).output().expect("it runs");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let mixin: Value = serde_json::from_slice(&output.stdout).expect("JSON");
    let list = |of: &str| mixin[of]["groups"].as_array().expect("groups").clone();
    assert_eq!([list("rules"), list("alerts")].concat(), groups(&folder));
    let boards = files(&folder).into_iter().filter(|(path, _)| path.ends_with(".json"));
    let expected: Vec<Value> = boards.map(|(_, text)| as_floats(&serde_json::from_str(&text).expect("JSON"))).collect();
    let found: Vec<Value> = mixin["boards"].as_object().expect("boards").values().map(as_floats).collect();
    assert!(found.len() > 3);
    assert_eq!(found, expected);
    fs::remove_dir_all(&folder).expect("removed");
}

/// The same with all numbers as jsonnet has them, which writes more digits than there are.
fn as_floats(value: &Value) -> Value {
    match value {
        Value::Number(number) => number.as_f64().map(|number| (number * 1e6).round() / 1e6).into(),
        Value::Array(values) => values.iter().map(as_floats).collect(),
        Value::Object(fields) => fields.iter().map(|(key, value)| (key.clone(), as_floats(value))).collect(),
        other => other.clone(),
    }
}
