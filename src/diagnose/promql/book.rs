//! The rules as a whole, and what may be asked of them.

use std::time::Duration;

use crate::core::setting::{InvalidSetting, within};
use crate::diagnose::objective::{LEAST_SUCCESS, objective};
use crate::diagnose::promql::yaml::Group;
use crate::diagnose::promql::{burn, causes, checks, demand, notes, pages, ratios, steps, supply, tickets, totals};

/// The words of severities, as the rules write them unless told.
pub(super) const SEVERITIES: [&str; 3] = ["critical", "warning", "info"];
/// The rules of a diagnosis, written for one Prometheus.
///
/// They work at every scrape interval up to a minute: stretches of time shorter than four scrapes are left out while they
/// run.
///
/// ```
/// use std::time::Duration;
/// use forbear::diagnose::RuleBook;
/// let rules = RuleBook::new()
///     .grouped_by(&["env", "provider", "pool"])?
///     .objective(0.995)?
///     .scraped_every(Duration::from_secs(30))?
///     .labelled("team", "search")?
///     .calling("critical", "page")?;
/// assert!(rules.alerts().contains("severity: 'page'"));
/// let refused = RuleBook::new().objective(1.0).unwrap_err();
/// assert_eq!(refused.to_string(), "rules.slo is 1.0; allowed: 0.94 to 0.9999");
/// # Ok::<_, forbear::InvalidSetting>(())
/// ```
#[derive(Clone, Debug)]
pub struct RuleBook {
    pub(super) by: Vec<String>,
    pub(super) matchers: String,
    pub(super) runbooks: String,
    pub(super) grafana: String,
    pub(super) least_success: f64,
    pub(super) scraped_every: Duration,
    pub(super) labels: Vec<(String, String)>,
    pub(super) severities: [String; 3],
}

impl Default for RuleBook {
    fn default() -> Self {
        Self::new()
    }
}

impl RuleBook {
    /// Pools told apart by cluster, namespace, provider and name; labels that nobody sets do no harm.
    #[must_use]
    pub fn new() -> Self {
        Self {
            by: ["cluster", "namespace", "provider", "pool"].map(str::to_owned).to_vec(),
            matchers: String::new(),
            runbooks: "https://docs.rs/forbear/latest/forbear/guide/runbooks/index.html".to_owned(),
            grafana: String::new(),
            least_success: LEAST_SUCCESS,
            scraped_every: Duration::from_secs(15),
            labels: Vec::new(),
            severities: SEVERITIES.map(str::to_owned),
        }
    }

    /// Tells pools apart by these labels.
    ///
    /// # Errors
    /// `provider` or `pool` is not among them, one is there twice, is no name of a label, or is one that metrics or rules
    /// use already, as `outcome` and `cause`.
    pub fn grouped_by(mut self, labels: &[&str]) -> Result<Self, InvalidSetting> {
        checks::group_labels(labels)?;
        self.by = labels.iter().map(|label| (*label).to_owned()).collect();
        Ok(self)
    }

    /// Adds these matchers to every selector of a metric, as in `job="api",env="prod"`.
    ///
    /// # Errors
    /// They are no matchers. Whether a regular expression is one is not looked at.
    pub fn matching(mut self, matchers: &str) -> Result<Self, InvalidSetting> {
        checks::matchers(matchers)?;
        let matchers = matchers.trim().trim_end_matches(',');
        self.matchers = if matchers.is_empty() { String::new() } else { format!("{matchers},") };
        Ok(self)
    }

    /// Where the runbooks are: the heading of an alert is added behind a `#`.
    ///
    /// # Errors
    /// It is no address.
    pub fn runbooks_at(mut self, url: &str) -> Result<Self, InvalidSetting> {
        checks::address("rules.runbook_base", url)?;
        self.runbooks = url.to_owned();
        Ok(self)
    }

    /// Where Grafana is: every alert links to its board (annotation `dashboard_url`), with its pool chosen. Without it links
    /// begin with `/d/`, which is enough within Grafana and for whoever puts its address before them.
    ///
    /// # Errors
    /// It is no address.
    pub fn boards_at(mut self, url: &str) -> Result<Self, InvalidSetting> {
        checks::address("rules.grafana_url", url)?;
        url.trim_end_matches('/').clone_into(&mut self.grafana);
        Ok(self)
    }

    /// The share of calls that has to succeed, 0.94 to 0.9999; 0.99 unless told. Alerts on the rate of failures follow it:
    /// below 0.94 the faster of them could never fire.
    ///
    /// # Errors
    /// It is outside of that range.
    pub fn objective(mut self, least_success: f64) -> Result<Self, InvalidSetting> {
        self.least_success = objective("rules.slo", least_success)?;
        Ok(self)
    }

    /// How often metrics are scraped, or pushed, 5 s to 60 s; 15 s unless told. Stretches are looked at as often.
    ///
    /// # Errors
    /// It is outside of that range, or no whole number of seconds.
    pub fn scraped_every(mut self, interval: Duration) -> Result<Self, InvalidSetting> {
        const ALLOWED: &str = "5s to 60s, whole seconds";
        within("rules.scrape_interval", interval, Duration::from_secs(5)..=Duration::from_secs(60), ALLOWED)?;
        if interval.subsec_nanos() != 0 {
            return Err(InvalidSetting::new("rules.scrape_interval", interval, ALLOWED));
        }
        self.scraped_every = interval;
        Ok(self)
    }

    /// Gives every alert one more label, as in `team`, `search`.
    ///
    /// # Errors
    /// It is no name of a label, or one that metrics or rules set; or the value would be a template.
    pub fn labelled(mut self, key: &str, value: &str) -> Result<Self, InvalidSetting> {
        checks::alert_label(key, value)?;
        self.labels.push((key.to_owned(), value.to_owned()));
        Ok(self)
    }

    /// Calls a severity otherwise: `critical` wakes somebody, `warning` becomes a ticket, `info` is to be found.
    ///
    /// # Errors
    /// It is none of the three, or what stands for it is no plain word.
    pub fn calling(mut self, severity: &str, word: &str) -> Result<Self, InvalidSetting> {
        let place = SEVERITIES.iter().position(|known| *known == severity);
        let place = place.ok_or_else(|| InvalidSetting::new("rules.severity", severity, "critical, warning, info"))?;
        checks::severity(word)?;
        self.severities[place] = word.to_owned();
        Ok(self)
    }

    /// The evidence, as YAML of recording rules.
    #[must_use]
    pub fn evidence(&self) -> String {
        let groups = [
            totals::groups(),
            vec![
                steps::group(),
                ratios::group(),
                supply::group(),
                supply::learned_group(),
                demand::group(),
                burn::group(),
            ],
        ]
        .concat();
        self.write("What the series of each pool come to: the numbers that a verdict rests on.", &groups)
    }

    /// The verdict, as YAML of recording rules.
    #[must_use]
    pub fn verdict(&self) -> String {
        self.write("What is wrong with each pool, by the evidence of the last hour.", &[causes::group()])
    }

    /// The alerts, as YAML of alerting rules.
    #[must_use]
    pub fn alerts(&self) -> String {
        self.write("Who is to be told what.", &[pages::group(), tickets::group(), notes::group()])
    }

    fn write(&self, title: &str, groups: &[Group]) -> String {
        let mut text =
            format!("# {title}\n# Made of the table and the lines of forbear::diagnose: change them there.\ngroups:\n");
        groups.iter().for_each(|group| group.write(&mut text, &|template| self.fill(template), &self.labels));
        text
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_file_names_numbers_that_are_kept_and_fits_the_limits_of_hosted_rulers() {
        let book = RuleBook::new();
        for text in [book.evidence(), book.verdict(), book.alerts()] {
            // `$1` is a label's part that was matched.
            let has_word =
                |line: &&str| line.split('$').skip(1).any(|word| word.starts_with(|c: char| c.is_ascii_lowercase()));
            let unfilled = text.lines().find(|line| has_word(line) && !line.contains("{{"));
            assert_eq!(unfilled, None);
            for group in text.split("- name: ").skip(1) {
                let rules = group.matches("- record: ").count() + group.matches("- alert: ").count();
                assert!((1..=20).contains(&rules), "{rules} rules: {}", &group[..30]);
            }
        }
    }
}
