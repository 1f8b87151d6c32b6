//! Which files an export is made of.

use super::variant::Variant;
use super::{Format, boards, embedded, kubernetes, routes};

/// One file: its path below the folder, and what is in it.
pub(super) struct File {
    pub(super) path: String,
    pub(super) text: String,
}

impl File {
    fn new(path: impl Into<String>, text: impl Into<String>) -> Self {
        Self { path: path.into(), text: text.into() }
    }
}

/// All files, in the order of their paths as people read them: rules first.
///
/// # Errors
/// A board cannot be rewritten, and why.
pub(super) fn all(variant: &Variant<'_>) -> Result<Vec<File>, String> {
    let book = &variant.book;
    let rules = [("evidence", book.evidence()), ("verdict", book.verdict()), ("alerts", book.alerts())];
    let labels = &variant.options.metadata_labels;
    let format = variant.options.format;
    let mut files: Vec<File> = match format {
        Format::Prometheus => {
            rules.into_iter().map(|(name, text)| File::new(format!("rules/{name}.yml"), text)).collect()
        }
        Format::Mimir => rules
            .into_iter()
            .map(|(name, text)| File::new(format!("rules/{name}.yml"), format!("namespace: forbear-{name}\n{text}")))
            .collect(),
        Format::Prometheusrule => rules
            .into_iter()
            .map(|(name, text)| {
                let object = kubernetes::prometheus_rule(&format!("forbear-{name}"), labels, &text);
                File::new(format!("rules/{name}.yaml"), object)
            })
            .collect(),
        Format::Configmap => {
            let data: Vec<_> = rules.into_iter().map(|(name, text)| (format!("{name}.yml"), text)).collect();
            vec![File::new("rules/forbear-rules.yaml", kubernetes::config_map("forbear-rules", labels, &data))]
        }
    };
    for (name, source) in embedded::BOARDS {
        let text = boards::rewritten(source, variant).map_err(|error| format!("{name}: {error}"))?;
        files.push(match format {
            Format::Prometheus | Format::Mimir => File::new(name, text),
            Format::Prometheusrule | Format::Configmap => {
                let stem = name.trim_end_matches(".json");
                let sidecar = ("grafana_dashboard".to_owned(), "1".to_owned());
                let labels: Vec<_> = std::iter::once(sidecar).chain(labels.iter().cloned()).collect();
                let object_name = format!("forbear-{}", stem.trim_start_matches("forbear-"));
                let data = [(format!("{object_name}.json"), text)];
                File::new(format!("boards/{stem}.yaml"), kubernetes::config_map(&object_name, &labels, &data))
            }
        });
    }
    if format == Format::Prometheus {
        files.push(File::new("mixin.libsonnet", embedded::MIXIN));
        files.extend(embedded::PROVISIONING.map(|(path, text)| File::new(path, provisioned(text, variant))));
    }
    files.push(File::new("alertmanager.yml", routes::rewritten(embedded::ALERTMANAGER, variant)));
    files.push(File::new("runbooks.md", embedded::RUNBOOKS));
    Ok(files)
}

/// Provisioning with the scrape interval of a variant: the boards' rates rest on it.
fn provisioned(kept: &str, variant: &Variant<'_>) -> String {
    let seconds = variant.options.scrape_interval.as_secs();
    kept.replace("timeInterval: 15s", &format!("timeInterval: {seconds}s"))
}
