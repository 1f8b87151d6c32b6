//! Whether the rules are loaded, whole, and evaluated without errors.

use std::collections::BTreeSet;

use forbear::diagnose::RuleBook;
use serde_json::Value;

use super::finding::{Finding, Severity, few};
use super::visit::Visit;
use crate::diagnose::Failure;

/// Looks at the groups it evaluates, or, where it does not tell of any, for the series they record.
pub(super) async fn look(visit: &Visit<'_>) -> Result<Vec<Finding>, Failure> {
    let groups = visit.rule_groups().await?.unwrap_or_default();
    let rules: Vec<_> = groups.iter().flat_map(|group| group["rules"].as_array().into_iter().flatten()).collect();
    let loaded: BTreeSet<String> = rules.iter().filter_map(|rule| Some(rule["name"].as_str()?.to_owned())).collect();
    let expected = names();
    if loaded.is_disjoint(&expected) {
        // A ruler elsewhere writes here.
        let recorded = visit.ask("count(pool:forbear_verdict:1h)").await?;
        return Ok(if recorded.is_empty() { vec![not_loaded()] } else { Vec::new() });
    }
    let mut findings = Vec::new();
    let missing: Vec<_> = expected.difference(&loaded).cloned().collect();
    if !missing.is_empty() {
        findings.push(not_whole(&missing));
    }
    let failing: Vec<_> = rules.iter().filter_map(|rule| failure(rule, &expected)).collect();
    if !failing.is_empty() {
        findings.push(failing_rules(&failing));
    }
    Ok(findings)
}

/// What the rules of this version make.
fn names() -> BTreeSet<String> {
    let book = RuleBook::new();
    let text = [book.evidence(), book.verdict(), book.alerts()].concat();
    let name = |line: &str| {
        let line = line.trim();
        line.strip_prefix("- record: ").or_else(|| line.strip_prefix("- alert: ")).map(str::to_owned)
    };
    text.lines().filter_map(name).collect()
}

/// A rule of ours that cannot be evaluated, and why.
fn failure(rule: &Value, ours: &BTreeSet<String>) -> Option<String> {
    let name = rule["name"].as_str().filter(|name| ours.contains(*name))?;
    let error = rule["lastError"].as_str().filter(|error| !error.is_empty())?;
    Some(format!("{name}: {error}"))
}

fn not_loaded() -> Finding {
    Finding::new(
        Severity::Error,
        "rules_not_loaded",
        "none of the rules is evaluated here, and no verdict is recorded",
        "there are no verdicts on boards, and no alert can fire",
        "forbear export --out DIR, then: Prometheus: rule_files: [DIR/rules/*.yml]; the operator: --format prometheusrule with \
         --metadata-labels its ruleSelector asks for; Mimir: --format mimir and mimirtool rules load; VictoriaMetrics: vmalert \
         -rule='DIR/rules/*.yml' that writes back (-remoteWrite.url)",
    )
}

fn not_whole(missing: &[String]) -> Finding {
    Finding::new(
        Severity::Error,
        "rules_missing",
        format!("rules of this version are not evaluated: {}", few(missing)),
        "the rules rest on each other: where one is missing, verdicts and alerts are silent or wrong",
        "load evidence.yml, verdict.yml and alerts.yml of one version: forbear export --out DIR",
    )
}

fn failing_rules(failing: &[String]) -> Finding {
    Finding::new(
        Severity::Error,
        "rules_failing",
        format!("rules cannot be evaluated: {}", few(failing)),
        "what rests on them is silent",
        "two series of one pool are joined as one: tell pools apart by the label that differs, forbear export --group-by; \
         other errors are this server's limits on queries",
    )
}
