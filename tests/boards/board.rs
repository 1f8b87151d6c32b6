//! A board around its panels: variables, annotations and links, the same on each.

use serde_json::{Value, json};

use crate::panel::{Panel, datasource, filled};

/// A line across the board, and the panels below it.
pub(crate) struct Row {
    /// Without one the panels stand at the top.
    pub(crate) title: Option<&'static str>,
    pub(crate) panels: Vec<Panel>,
}

/// A board in the making.
pub(crate) struct Board {
    pub(crate) name: &'static str,
    pub(crate) title: &'static str,
    pub(crate) description: &'static str,
    pub(crate) rows: Vec<Row>,
}

impl Board {
    /// The board as Grafana reads it.
    pub(crate) fn json(&self) -> Value {
        json!({
            "uid": format!("forbear-{}", self.name),
            "title": format!("Forbear / {}", self.title),
            "description": self.description,
            "tags": ["forbear"],
            "schemaVersion": 39,
            "editable": false,
            "graphTooltip": 1,
            "refresh": "30s",
            "timezone": "browser",
            "time": {"from": "now-3h", "to": "now"},
            "links": [{
                "type": "dashboards", "title": "Forbear", "tags": ["forbear"], "asDropdown": false, "icon": "dashboard",
                "includeVars": true, "keepTime": true, "targetBlank": false, "tooltip": "", "url": "",
            }],
            "templating": {"list": variables()},
            "annotations": {"list": annotations()},
            "panels": self.panels(),
        })
    }

    fn panels(&self) -> Vec<Value> {
        let (mut panels, mut id, mut top) = (Vec::new(), 0, 0);
        for row in &self.rows {
            if let Some(title) = row.title {
                id += 1;
                let place = json!({"x": 0, "y": top, "w": 24, "h": 1});
                panels.push(json!({"id": id, "type": "row", "title": title, "collapsed": false, "gridPos": place, "panels": []}));
                top += 1;
            }
            let (mut left, mut height) = (0, 0);
            for panel in &row.panels {
                if left + panel.width > 24 {
                    (left, top, height) = (0, top + height, 0);
                }
                id += 1;
                panels.push(panel.json(id, left, top));
                left += panel.width;
                height = height.max(panel.height);
            }
            top += height;
        }
        panels
    }
}

fn variables() -> Vec<Value> {
    let source = |name: &str, label: &str, kind: &str| {
        json!({
            "name": name, "label": label, "type": "datasource", "query": kind, "regex": "", "refresh": 1, "hide": 0,
            "multi": false, "includeAll": false, "current": {}, "options": [],
        })
    };
    // Everything is `.*` and not `.+`: a label that nobody sets, such as `cluster`, and the `job` that a store of OTLP does
    // not make, are empty, and must not hide what has none of them.
    let of = |name: &str, label: &str, series: &str| {
        let query = format!("label_values({series}, {name})");
        json!({
            "name": name, "label": label, "type": "query", "datasource": datasource(),
            "query": {"query": query, "refId": "variable"},
            "multi": true, "includeAll": true, "allValue": ".*", "refresh": 2, "sort": 1, "regex": "", "hide": 0,
            "current": {"selected": true, "text": ["All"], "value": ["$__all"]}, "options": [],
        })
    };
    let build = "forbear_build_info";
    vec![
        source("datasource", "Data source", "prometheus"),
        of("job", "Job", build),
        of("instance", "Instance", r#"forbear_build_info{job=~"$job"}"#),
        of("cluster", "Cluster", build),
        of("namespace", "Namespace", build),
        of("provider", "Provider", r#"forbear_calls_total{job=~"$job"}"#),
        of("pool", "Pool", r#"forbear_calls_total{job=~"$job", provider=~"$provider"}"#),
        source("tempo_datasource", "Traces", "tempo"),
    ]
}

/// What is drawn across all panels: queries that give a series where something happened.
const ANNOTATIONS: [(&str, &str, &str, &str, &str); 3] = [
    (
        "Alerts",
        "red",
        r#"ALERTS{alertname=~"Forbear.+", alertstate="firing"}"#,
        "{{alertname}}",
        "{{provider}} {{pool}} {{severity}}",
    ),
    (
        "Deploys",
        "blue",
        "count by (job, version) (forbear_build_info{<process>} unless forbear_build_info{<process>} offset 2m)
         and on () count(forbear_build_info{<process>} offset 2m)",
        "Started",
        "{{job}} with forbear {{version}}",
    ),
    (
        "Policy changes",
        "purple",
        "max by (<by>, policy, parameter) (forbear_policy_parameter{<raw>})
         != max by (<by>, policy, parameter) (forbear_policy_parameter{<raw>} offset 2m)",
        "Policy changed",
        "{{pool}} {{policy}}: {{parameter}}",
    ),
];

fn annotations() -> Vec<Value> {
    let one = |(name, colour, query, title, text): (&str, &str, &str, &str, &str)| {
        json!({
            "name": name, "iconColor": colour, "datasource": datasource(), "expr": filled(query), "enable": true,
            "hide": false, "step": "60s", "titleFormat": title, "textFormat": text, "useValueForTime": false,
        })
    };
    let mut list = vec![json!({
        "builtIn": 1, "name": "Annotations & Alerts", "type": "dashboard", "enable": true, "hide": true,
        "iconColor": "rgba(0, 211, 255, 1)", "datasource": {"type": "grafana", "uid": "-- Grafana --"},
    })];
    list.extend(ANNOTATIONS.map(one));
    list
}

/// The traces of these pools' calls that did not succeed, in the time shown.
pub(crate) fn traces() -> String {
    let query = r#"{ span.forbear.pool =~ "${pool}" && span.forbear.call.outcome != "ok" }"#;
    let panes = json!({"traces": {
        "datasource": "${tempo_datasource}",
        "queries": [{"refId": "A", "queryType": "traceql", "query": query}],
        "range": {"from": "${__from}", "to": "${__to}"},
    }});
    format!("/explore?schemaVersion=1&panes={}", encoded(&panes.to_string()))
}

/// Percent-encoded but for Grafana's own `${words}`.
fn encoded(text: &str) -> String {
    let mut encoded = String::new();
    let mut rest = text;
    while !rest.is_empty() {
        let word = rest.strip_prefix("${").and_then(|word| word.find('}').map(|end| end + 3));
        if let Some(end) = word {
            encoded.push_str(&rest[..end]);
            rest = &rest[end..];
            continue;
        }
        let first = rest.chars().next().expect("not empty");
        match first {
            'a'..='z' | 'A'..='Z' | '0'..='9' | '-' | '_' | '.' => encoded.push(first),
            other => other.to_string().bytes().for_each(|byte| encoded.push_str(&format!("%{byte:02X}"))),
        }
        rest = &rest[first.len_utf8()..];
    }
    encoded
}
