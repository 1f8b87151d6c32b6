//! Whether what a verdict rests on is known: limits, estimates, and pools by their names.

use super::finding::{Finding, Severity, few};
use super::visit::{Row, Visit};
use crate::diagnose::Failure;

/// Pools that were called within the hour.
const CALLED: &str = "sum by (provider, pool) (increase(forbear_calls_total{$m}[1h])) > 0";
const THROTTLED: &str = "sum by (provider, pool) (increase(forbear_attempts_total{outcome=\"throttled\",$m}[1h])) > 0";
const LIMITED: &str = "max by (provider, pool) (last_over_time(forbear_quota_limit{window!=\"day\",$m}[1h]))";
const LIMITED_BY_TOKENS: &str =
    "max by (provider, pool) (last_over_time(forbear_quota_limit{dimension=~\".*tokens\",window!=\"day\",$m}[1h]))";
const ESTIMATED: &str = "sum by (provider, pool) (increase(forbear_offered_tokens_total{$m}[1h])) > 0";
const OVERFLOWN: &str = "sum by (label) (last_over_time(forbear_label_overflows_total{$m}[1h])) > 0";

/// Looks pool by pool.
pub(super) async fn look(visit: &Visit<'_>) -> Result<Vec<Finding>, Failure> {
    let mut findings = Vec::new();
    let pools = |rows: Vec<Row>| rows.iter().map(Row::pool).collect::<Vec<_>>();
    let unknown = pools(visit.ask(&format!("({CALLED}) and ({THROTTLED}) unless {LIMITED}")).await?);
    if !unknown.is_empty() {
        findings.push(limit_unknown(Severity::Warning, &unknown));
    }
    let quiet = pools(visit.ask(&format!("({CALLED}) unless ({THROTTLED}) unless {LIMITED}")).await?);
    if !quiet.is_empty() {
        findings.push(limit_unknown(Severity::Note, &quiet));
    }
    let unestimated = pools(visit.ask(&format!("({CALLED}) and {LIMITED_BY_TOKENS} unless ({ESTIMATED})")).await?);
    if !unestimated.is_empty() {
        findings.push(no_estimates(&unestimated));
    }
    let overflown = visit.ask(OVERFLOWN).await?;
    if !overflown.is_empty() {
        let labels: Vec<_> = overflown.iter().map(|row| row.label("label").to_owned()).collect();
        findings.push(label_overflow(&labels));
    }
    Ok(findings)
}

fn limit_unknown(severity: Severity, pools: &[String]) -> Finding {
    Finding::new(
        severity,
        "limit_unknown",
        format!("no limit is known of {}", few(pools)),
        "demand is compared with what was served while something was refused: a verdict is likely at best, and headroom is \
         not shown",
        "where the provider's answers state none: .limit(Limit::requests_per_minute(n)) where the pool is built",
    )
}

fn no_estimates(pools: &[String]) -> Finding {
    Finding::new(
        Severity::Warning,
        "no_estimates",
        format!("tokens are limited and no call says how many it needs: {}", few(pools)),
        "demand in tokens is what successful calls used; what refused calls would have needed is not in it, and the gate \
         cannot pace by tokens",
        ".tokens(Estimate::input(n).output(m)) at each call",
    )
}

fn label_overflow(labels: &[String]) -> Finding {
    Finding::new(
        Severity::Warning,
        "label_overflow",
        format!("more names than are told apart; the rest is under _OTHER: {}", few(labels)),
        "pools that share a name are judged as one",
        "name pools and policies after what shares a quota, and never after users, requests or keys",
    )
}
