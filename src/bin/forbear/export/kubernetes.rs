//! Rules and boards as objects of Kubernetes.

use std::fmt::Write;

/// A rule file as the Prometheus operator takes it: its `spec` is the file.
pub(super) fn prometheus_rule(name: &str, labels: &[(String, String)], rules: &str) -> String {
    let mut text = "apiVersion: monitoring.coreos.com/v1\nkind: PrometheusRule\n".to_owned();
    metadata(&mut text, name, labels);
    text += "spec:\n";
    indented(&mut text, rules, 2);
    text
}

/// Files in a ConfigMap. Each ends with a line's end.
pub(super) fn config_map(name: &str, labels: &[(String, String)], data: &[(String, String)]) -> String {
    let mut text = "apiVersion: v1\nkind: ConfigMap\n".to_owned();
    metadata(&mut text, name, labels);
    text += "data:\n";
    for (file, content) in data {
        let _ = writeln!(text, "  {file}: |");
        indented(&mut text, content, 4);
    }
    text
}

fn metadata(text: &mut String, name: &str, labels: &[(String, String)]) {
    // A string takes everything.
    let _ = write!(text, "metadata:\n  name: {name}\n  labels:\n    app.kubernetes.io/name: forbear\n");
    for (key, value) in labels {
        let _ = writeln!(text, "    {key}: '{value}'");
    }
}

/// Every line further to the right; empty ones stay empty.
fn indented(text: &mut String, lines: &str, by: usize) {
    for line in lines.lines() {
        if !line.is_empty() {
            let _ = write!(text, "{:by$}{line}", "");
        }
        text.push('\n');
    }
}
