//! Which versions are at work, and whether their metrics mean the same.

use forbear::event::SCHEMA;

use super::finding::{Finding, Severity};
use super::visit::Visit;
use crate::diagnose::Failure;

/// Looks at what processes say of themselves.
pub(super) async fn look(visit: &Visit<'_>) -> Result<Vec<Finding>, Failure> {
    let rows = visit.ask("count by (version, schema) (forbear_build_info{$m})").await?;
    let values = |key: &str| {
        let mut values: Vec<_> = rows.iter().map(|row| row.label(key).to_owned()).collect();
        values.sort_unstable();
        values.dedup();
        values
    };
    let (schemas, versions) = (values("schema"), values("version"));
    let mut findings = Vec::new();
    if schemas.len() > 1 {
        findings.push(Finding::new(
            Severity::Error,
            "mixed_schemas",
            format!("processes show metrics of the schemas {}", schemas.join(" and ")),
            "a name, a label or a unit differs between them: what adds both up is wrong",
            "bring all services to one version of forbear; until then judge those of one version alone, by --selector in forbear \
             export and forbear diagnose",
        ));
    } else if let Some(schema) = schemas.first().filter(|schema| *schema != SCHEMA) {
        findings.push(Finding::new(
            Severity::Warning,
            "other_schema",
            format!("processes show metrics of schema {schema}, and this forbear knows schema {SCHEMA}"),
            "rules and boards of one schema may ask for what another does not have",
            "export rules and boards with the forbear of the services' version",
        ));
    }
    if versions.len() > 1 && schemas.len() == 1 {
        findings.push(Finding::new(
            Severity::Note,
            "mixed_versions",
            format!("processes run {}", versions.join(" and ")),
            "replicas that decide differently share the pools; as long as a release rolls out that is as it should be",
            "finish the roll-out, or look which service pins an old version",
        ));
    }
    Ok(findings)
}
