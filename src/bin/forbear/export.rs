//! `forbear export`: boards, rules, alerts and runbooks out of this binary, for the stack they are imported into.

mod boards;
mod embedded;
mod files;
mod kubernetes;
mod patterns;
mod promql;
mod routes;
mod variant;

use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Duration;

use clap::{Args, ValueEnum};

use crate::duration;
use files::File;
use variant::Variant;

/// Write the boards, rules, alerts and runbooks of this version into a folder, for the stack they are imported into.
///
/// Without options that say otherwise the files are those of dashboards/ in the project, byte for byte. The expressions
/// of all of them are made for the same labels, matchers and objective, so whatever is changed is changed in each.
#[derive(Args)]
#[command(after_help = "\
Examples:
  forbear export --out forbear                                              plain files
  forbear export --out forbear --format prometheusrule --metadata-labels release=prometheus
  forbear export --out forbear --format mimir --group-by env,provider,pool --scrape-interval 30s
  forbear export --out forbear --slo 99.9 --labels team=search --severity critical=page

What is written, by --format:
  prometheus      rules/*.yml, *.json, mixin.libsonnet, alertmanager.yml, provisioning/, runbooks.md
  prometheusrule  rules/*.yaml of kind PrometheusRule, boards as ConfigMaps for Grafana's sidecar
  mimir           rules/*.yml as `mimirtool rules load` reads them, *.json
  configmap       rules and boards as ConfigMaps

Exit status: 0 when all was written, 1 when a file could not be, 2 when the arguments are refused.")]
pub(crate) struct Export {
    /// The folder to write into; it is made where it is missing, and files of these names are replaced.
    #[arg(long, value_name = "DIR")]
    out: PathBuf,
    /// What the files are made for.
    #[arg(long, value_enum, default_value = "prometheus")]
    format: Format,
    /// The labels by which pools are told apart, parted by commas; provider and pool are among them.
    #[arg(long, value_name = "LABELS", value_delimiter = ',', default_value = "cluster,namespace,provider,pool")]
    group_by: Vec<String>,
    /// More matchers for every metric, as in job="api".
    #[arg(long, value_name = "MATCHERS", default_value = "")]
    selector: String,
    /// How often metrics are scraped, or pushed: 5s to 60s, whole seconds.
    #[arg(long, value_name = "TIME", default_value = "15s", value_parser = duration::parse)]
    scrape_interval: Duration,
    /// The share of calls that has to succeed: 94 to 99.99 percent, as in 99.9, or 0.94 to 0.9999, as in 0.999.
    #[arg(long, value_name = "PERCENT", default_value = "99", allow_negative_numbers = true)]
    slo: String,
    /// More labels for every alert, as in team=search,tier=1.
    #[arg(long, value_name = "LABELS", value_delimiter = ',', value_parser = pair)]
    labels: Vec<(String, String)>,
    /// Other words for severities, as in critical=page,warning=ticket,info=none.
    #[arg(long, value_name = "WORDS", value_delimiter = ',', value_parser = pair)]
    severity: Vec<(String, String)>,
    /// Where the runbooks are read; the name of an alert is added behind a #. [default: docs.rs]
    #[arg(long, value_name = "URL")]
    runbook_base: Option<String>,
    /// Where Grafana is: alerts then link to their board.
    #[arg(long, value_name = "URL")]
    grafana_url: Option<String>,
    /// The uid of the data source that boards show first. [default: Grafana's own default]
    #[arg(long, value_name = "UID")]
    datasource: Option<String>,
    /// Labels of Kubernetes objects, as in release=kube-prometheus-stack: by them an operator finds its rules.
    #[arg(long, value_name = "LABELS", value_delimiter = ',', value_parser = pair)]
    metadata_labels: Vec<(String, String)>,
}

/// What the files are made for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Format {
    /// A Prometheus and a Grafana that read files.
    Prometheus,
    /// The Prometheus operator.
    Prometheusrule,
    /// Mimir's ruler.
    Mimir,
    /// Kubernetes without an operator.
    Configmap,
}

/// `key=value`.
fn pair(text: &str) -> Result<(String, String), String> {
    let pair = text.split_once('=').filter(|(key, value)| !key.is_empty() && !value.is_empty());
    pair.map(|(key, value)| (key.trim().to_owned(), value.trim().to_owned())).ok_or_else(|| "key=value".to_owned())
}

/// Carries the verb out.
pub(crate) fn run(options: &Export) -> ExitCode {
    let files = match Variant::of(options).and_then(|variant| files::all(&variant)) {
        Ok(files) => files,
        Err(refused) => {
            eprintln!("forbear export: {refused}");
            return ExitCode::from(2);
        }
    };
    match write(options, &files) {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => {
            eprintln!("forbear export: {failure}");
            ExitCode::FAILURE
        }
    }
}

/// Writes each, and says so.
fn write(options: &Export, files: &[File]) -> Result<(), String> {
    let mut told = String::new();
    for (written, File { path, text }) in files.iter().enumerate() {
        let path = options.out.join(path);
        let failed = |path: &Path, error: io::Error| {
            format!("{} cannot be written: {error}; {written} of {} files were", path.display(), files.len())
        };
        let folder = path.parent().unwrap_or(&options.out);
        fs::create_dir_all(folder).map_err(|error| failed(folder, error))?;
        fs::write(&path, text).map_err(|error| failed(&path, error))?;
        told += &format!("{}\n", path.display());
    }
    told += &format!("\nNext: {}\n", options.format.next_step().replace("DIR", &options.out.display().to_string()));
    // Whoever reads our output may stop reading it.
    let _ = io::stdout().lock().write_all(told.as_bytes());
    Ok(())
}

impl Format {
    /// How the files are taken in; `DIR` is where they are.
    const fn next_step(self) -> &'static str {
        match self {
            Self::Prometheus => {
                "name DIR/rules/*.yml under rule_files, reload, and let Grafana's provisioning read the boards."
            }
            Self::Prometheusrule => {
                "kubectl apply -n NAMESPACE -f DIR/rules -f DIR/boards; labels the operator selects by: --metadata-labels."
            }
            Self::Mimir => "mimirtool rules load --address URL --id TENANT DIR/rules/*.yml",
            Self::Configmap => {
                "kubectl apply -n NAMESPACE -f DIR/rules -f DIR/boards, and mount forbear-rules where rule_files looks."
            }
        }
    }
}
