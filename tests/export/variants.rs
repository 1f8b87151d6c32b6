//! Files for other labels, matchers, intervals and objectives, by the tools that read them.

use std::fs;
use std::path::Path;

use serde_json::Value;

use crate::server::tool;
use crate::{exported, files, groups, kept, yaml};

const VARIANTS: [&[&str]; 8] = [
    &["--group-by", "provider,pool"],
    &["--group-by", "env,region,job,provider,pool"],
    &["--selector", "job=~\"api|worker\", env!='dev'"],
    &["--scrape-interval", "60s"],
    &["--slo", "99.99"],
    &["--slo", "0.94"],
    &["--labels", "team=search,note=it's: \"odd\" # {x}", "--severity", "critical=warning,warning=critical,info=P5"],
    &["--runbook-base", "https://wiki.example/a", "--grafana-url", "https://grafana.example/", "--datasource", "mimir"],
];

/// Has both major releases look at the rules of a folder.
fn checked(folder: &Path, variant: &[&str]) {
    let rules = ["evidence.yml", "verdict.yml", "alerts.yml"].map(|file| folder.join("rules").join(file));
    for promtool in ["promtool", "promtool-3"] {
        let mut check = tool(promtool);
        let output =
            check.args(["check", "rules", "--lint=all", "--lint-fatal"]).args(&rules).output().expect("it runs");
        assert!(output.status.success(), "{promtool}, {variant:?}: {}", String::from_utf8_lossy(&output.stderr));
    }
    let mut routes = tool("amtool");
    let output = routes.arg("check-config").arg(folder.join("alertmanager.yml")).output().expect("it runs");
    assert!(output.status.success(), "{variant:?}: {}", String::from_utf8_lossy(&output.stderr));
}

#[test]
fn every_variant_is_taken_by_both_promtools_and_has_the_rules_of_the_default() {
    let names = |groups: &[Value]| -> Vec<Vec<Value>> {
        let rules = groups.iter().map(|group| group["rules"].as_array().expect("rules"));
        rules
            .map(|rules| {
                rules.iter().map(|rule| rule.get("record").or(rule.get("alert")).cloned().unwrap_or_default()).collect()
            })
            .collect()
    };
    let expected = names(&groups(&kept()));
    for (number, variant) in VARIANTS.into_iter().enumerate() {
        let folder = exported(&format!("variant-{number}"), variant);
        checked(&folder, variant);
        assert_eq!(names(&groups(&folder)), expected, "{variant:?}");
        fs::remove_dir_all(&folder).expect("removed");
    }
}

/// Every alert of a variant.
fn alerts(name: &str, options: &[&str]) -> Vec<Value> {
    let folder = exported(name, options);
    let rules = groups(&folder).into_iter().flat_map(|group| group["rules"].as_array().expect("rules").clone());
    let alerts = rules.filter(|rule| rule.get("alert").is_some()).collect();
    fs::remove_dir_all(&folder).expect("removed");
    alerts
}

#[test]
fn alerts_have_the_labels_severities_and_links_they_are_given() {
    let all = alerts(
        "alerts",
        &[
            "--group-by",
            "env,provider,pool",
            "--labels",
            "team=search,note=it's: \"odd\"",
            "--severity",
            "critical=page",
            "--grafana-url",
            "https://grafana.example/",
            "--runbook-base",
            "https://wiki.example/a",
        ],
    );
    assert!(all.len() > 15);
    for alert in &all {
        let (labels, annotations) = (&alert["labels"], &alert["annotations"]);
        assert_eq!((&labels["team"], &labels["note"]), (&Value::from("search"), &Value::from("it's: \"odd\"")));
        let name = alert["alert"].as_str().expect("a name").to_lowercase();
        assert_eq!(annotations["runbook_url"], format!("https://wiki.example/a#{name}"));
        let board = annotations["dashboard_url"].as_str().expect("a link");
        let of_process = alert["expr"].as_str().expect("an expression").contains("env, job");
        let chosen = if of_process { &["env", "job"][..] } else { &["env", "provider", "pool"] };
        let variable =
            |label| format!("{{{{ with $labels.{label} }}}}&var-{label}={{{{ . | urlquery }}}}{{{{ end }}}}");
        let chosen: String = chosen.iter().map(variable).collect();
        let (uid, rest) = board
            .strip_prefix("https://grafana.example/d/forbear-")
            .and_then(|rest| rest.split_once('?'))
            .unwrap_or_else(|| panic!("{board}"));
        assert!(["overview", "diagnosis", "gate", "replicas"].contains(&uid), "{board}");
        assert_eq!(rest, format!("from=now-3h&to=now{chosen}"));
    }
    let severities: Vec<_> = all.iter().map(|alert| alert["labels"]["severity"].as_str().expect("a word")).collect();
    assert!(severities.contains(&"page") && severities.contains(&"warning") && !severities.contains(&"critical"));
}

#[test]
fn the_objective_moves_what_counts_as_missed_and_what_wakes_somebody() {
    let folder = exported("slo", &["--slo", "99.9"]);
    let text = files(&folder)["rules/alerts.yml"].clone() + &files(&folder)["rules/evidence.yml"];
    for line in [
        "pool:forbear_failed:ratio1h > 0.0144\n",
        "pool:forbear_failed:ratio6h > 0.006\n",
        "pool:forbear_success:ratio1h < bool 0.999)",
        "pool:forbear_failed:ratio5m > bool 0.001 ",
        "pool:forbear_calls_failed:increase1h > bool 0.001 *",
    ] {
        assert!(text.contains(line), "{line}");
    }
    for (number, spelled) in ["0.999", "99.9%"].into_iter().enumerate() {
        let other = exported(&format!("slo-{number}"), &["--slo", spelled]);
        assert_eq!(files(&other), files(&folder), "{spelled}");
        fs::remove_dir_all(&other).expect("removed");
    }
    let success = |board: &str| {
        let board: Value = serde_json::from_str(&files(&folder)[board]).expect("JSON");
        let panels = board["panels"].as_array().expect("panels").clone();
        panels
            .into_iter()
            .find(|panel| panel["title"].as_str().is_some_and(|title| title.starts_with("Success")))
            .expect("a panel")
    };
    for board in ["overview.json", "diagnosis.json"] {
        let steps = &success(board)["fieldConfig"]["defaults"]["thresholds"]["steps"];
        assert_eq!((&steps[1]["value"], &steps[2]["value"]), (&0.995.into(), &0.999.into()), "{board}");
    }
    let says = success("overview.json")["description"].as_str().expect("text").to_owned();
    assert!(says.contains("Below 99.9 % the objective is missed"), "{says}");
    fs::remove_dir_all(&folder).expect("removed");
}

#[test]
fn routes_group_and_match_as_the_alerts_do() {
    let folder =
        exported("routes", &["--group-by", "env,provider,pool", "--severity", "critical=warning,warning=critical"]);
    let routes = yaml(&files(&folder)["alertmanager.yml"]);
    assert_eq!(routes["route"]["group_by"], serde_json::json!(["alertname", "env", "provider", "pool"]));
    for (severity, receiver) in [("warning", "page"), ("critical", "tickets"), ("info", "nobody")] {
        let mut amtool = tool("amtool");
        let route = amtool.args(["config", "routes", "test", "--config.file"]).arg(folder.join("alertmanager.yml"));
        let output = route.args(["alertname=ForbearAny", &format!("severity={severity}")]).output().expect("it runs");
        assert_eq!(String::from_utf8_lossy(&output.stdout).trim(), receiver, "{severity}");
    }
    fs::remove_dir_all(&folder).expect("removed");
}
