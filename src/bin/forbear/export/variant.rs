//! What all files of one export have in common.

use forbear::diagnose::RuleBook;

use super::{Export, Format, patterns};
use crate::known::by_option;
use crate::slo;

/// The labels pools are told apart by in the files as they are kept.
pub(super) const KEPT_LABELS: [&str; 4] = ["cluster", "namespace", "provider", "pool"];

/// The options, looked at.
pub(super) struct Variant<'o> {
    pub(super) book: RuleBook,
    pub(super) options: &'o Export,
    /// The share of calls that has to succeed.
    pub(super) objective: f64,
}

impl<'o> Variant<'o> {
    /// Refuses what cannot be written, by the name of its option.
    pub(super) fn of(options: &'o Export) -> Result<Self, String> {
        let by: Vec<_> = options.group_by.iter().map(|label| label.trim()).collect();
        let objective = slo::parse(&options.slo)?;
        let mut book = RuleBook::new()
            .grouped_by(&by)
            .and_then(|book| book.matching(&options.selector))
            .and_then(|book| book.scraped_every(options.scrape_interval))
            .and_then(|book| book.objective(objective))
            .map_err(|refused| by_option(&refused))?;
        patterns::check(&options.selector)?;
        for (key, value) in &options.labels {
            if by.contains(&key.as_str()) {
                return Err(format!("--labels is {key:?}; allowed: labels that --group-by does not have"));
            }
            book = book.labelled(key, value).map_err(|refused| by_option(&refused))?;
        }
        for (severity, word) in &options.severity {
            book = book.calling(severity, word).map_err(|refused| by_option(&refused))?;
        }
        if let Some(url) = &options.runbook_base {
            book = book.runbooks_at(url).map_err(|refused| by_option(&refused))?;
        }
        if let Some(url) = &options.grafana_url {
            book = book.boards_at(url).map_err(|refused| by_option(&refused))?;
        }
        let plain = |c: char| c.is_ascii_alphanumeric() || "-_.".contains(c);
        if let Some(uid) = options.datasource.as_ref().filter(|uid| uid.is_empty() || !uid.chars().all(plain)) {
            return Err(format!("--datasource is {uid:?}; allowed: letters, digits, - _ and ."));
        }
        let label = |c: char| plain(c) || c == '/';
        for (key, value) in &options.metadata_labels {
            if !key.chars().all(label) || !value.chars().all(plain) || key.len() > 317 || value.len() > 63 {
                return Err(format!(
                    "--metadata-labels is {key:?}={value:?}; allowed: names and values of Kubernetes labels"
                ));
            }
        }
        if !options.metadata_labels.is_empty() && !matches!(options.format, Format::Prometheusrule | Format::Configmap)
        {
            return Err("--metadata-labels is for --format prometheusrule and configmap".to_owned());
        }
        Ok(Self { book, options, objective })
    }

    /// The labels pools are told apart by.
    pub(super) fn group_by(&self) -> Vec<&str> {
        self.options.group_by.iter().map(|label| label.trim()).collect()
    }

    /// The matchers of every metric, without a comma at their end.
    pub(super) fn selector(&self) -> &str {
        self.options.selector.trim().trim_end_matches(',').trim_end()
    }
}
