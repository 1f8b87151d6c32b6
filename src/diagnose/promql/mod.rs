//! The diagnosis as rules of a Prometheus: the same numbers, the same lines, the same order, and alerts on what they say.
//!
//! A Prometheus that loads them keeps a series `pool:forbear_verdict:1h` for each pool, whose labels `cause` and `certainty`
//! say what the diagnosis of the last hour would say. Nothing in it is written twice: what a number is made of comes from the
//! table the process itself reads, and every line from the constant the process itself compares with.
//!
//! | file | what | rests on |
//! |---|---|---|
//! | evidence | what a pool's series come to: totals of an hour, shares, loads | the metrics of the [catalogue](crate::event::catalogue) |
//! | verdict | the cause, and how sure it is | evidence |
//! | alerts | pages, tickets, and what is worth knowing | verdict, evidence, a few metrics |
//!
//! ```
//! let rules = forbear::diagnose::RuleBook::new().matching(r#"env="prod""#)?;
//! assert!(rules.evidence().contains(r#"increase(forbear_calls_total{env="prod",}[1h])"#));
//! assert!(rules.verdict().contains("record: pool:forbear_verdict:1h"));
//! assert!(rules.alerts().contains("alert: ForbearQuotaTooSmall"));
//! # Ok::<_, forbear::InvalidSetting>(())
//! ```

mod alerts;
mod burn;
mod causes;
mod checks;
mod demand;
mod notes;
mod pages;
mod ratios;
mod steps;
mod supply;
mod tickets;
mod totals;
mod yaml;

use std::time::Duration;

use yaml::Group;

use crate::core::setting::{InvalidSetting, within};
use crate::diagnose::objective::LEAST_SUCCESS;

/// The words of severities, as the rules write them unless told.
const SEVERITIES: [&str; 3] = ["critical", "warning", "info"];
/// How fast a month's budget of failures is spent when a page is due, in times the rate that lasts for the month.
const BURNS: [f64; 2] = [14.4, 6.0];

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
    by: Vec<String>,
    matchers: String,
    runbooks: String,
    boards: Option<String>,
    least_success: f64,
    scraped_every: Duration,
    labels: Vec<(String, String)>,
    severities: [String; 3],
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
            boards: None,
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

    /// Where Grafana is: every alert links to its board, with its pool chosen. Without it, none does.
    ///
    /// # Errors
    /// It is no address.
    pub fn boards_at(mut self, url: &str) -> Result<Self, InvalidSetting> {
        checks::address("rules.grafana_url", url)?;
        self.boards = Some(url.trim_end_matches('/').to_owned());
        Ok(self)
    }

    /// The share of calls that has to succeed, 0.94 to 0.9999; 0.99 unless told. Alerts on the rate of failures follow it:
    /// below 0.94 the faster of them could never fire.
    ///
    /// # Errors
    /// It is outside of that range.
    pub fn objective(mut self, least_success: f64) -> Result<Self, InvalidSetting> {
        within("rules.slo", least_success, 0.94..=0.9999, "0.94 to 0.9999")?;
        self.least_success = least_success;
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

    /// A template with its `$words` filled in: those of this book, and the name of a number for the series that holds its
    /// total.
    fn fill(&self, template: &str) -> String {
        let mut text = String::new();
        let mut rest = template;
        while let Some((before, after)) = rest.split_once('$') {
            text.push_str(before);
            let end = after.find(|c: char| !c.is_ascii_lowercase() && c != '_').unwrap_or(after.len());
            let (word, behind) = after.split_at(end);
            match self.word(word) {
                Some(filled) => text.push_str(&filled),
                None if totals::is_kept(word) => text.push_str(&totals::name(word)),
                // A template's own variable.
                None => text.extend(["$", word]),
            }
            rest = behind;
        }
        text.push_str(rest);
        text
    }

    /// What a word of templates stands for in this book.
    fn word(&self, word: &str) -> Option<String> {
        let each =
            |of: &dyn Fn(&String) -> String, between: &str| self.by.iter().map(of).collect::<Vec<_>>().join(between);
        Some(match word {
            "by" => self.by.join(", "),
            // Of a process: what it is not told apart by are its pools.
            "process" => {
                let kept =
                    self.by.iter().map(String::as_str).filter(|label| !["provider", "pool", "job"].contains(label));
                kept.chain(["job"]).collect::<Vec<_>>().join(", ")
            }
            // The matchers of one pool in an alert's text, and the values for them.
            "same" => each(&|label| format!("{label}=%q"), ","),
            "its_labels" => each(&|label| format!("$labels.{label}"), " "),
            "m" => self.matchers.clone(),
            "runbooks" => self.runbooks.clone(),
            "board_of_pool" => self.board("var-provider={{ $labels.provider }}&var-pool={{ $labels.pool }}"),
            "board_of_job" => self.board("var-job={{ $labels.job }}"),
            "step" => format!("{}s", self.scraped_every.as_secs()),
            "least_success" => self.least_success.to_string(),
            "most_failing" => rounded(1.0 - self.least_success),
            "burns_fast" => rounded(BURNS[0] * (1.0 - self.least_success)),
            "burns_slow" => rounded(BURNS[1] * (1.0 - self.least_success)),
            _ => {
                let place = SEVERITIES.iter().position(|known| *known == word)?;
                self.severities[place].clone()
            }
        })
    }

    /// The link to a board, if it is known where they are.
    fn board(&self, chosen: &str) -> String {
        self.boards.as_ref().map_or_else(String::new, |url| format!("{url}/d/forbear-overview?{chosen}"))
    }
}

/// Without the dust of binary fractions.
fn rounded(number: f64) -> String {
    ((number * 1e9).round() / 1e9).to_string()
}

/// `part` of `whole`, and 0 where there is no whole.
fn share(part: &str, whole: &str) -> String {
    format!("({part}) / (({whole}) > 0) or ({whole}) * 0")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_filled_in_and_templates_of_alerts_left_alone() {
        let book = RuleBook::new().grouped_by(&["provider", "pool"]).and_then(|book| book.matching(r#" job="a", "#));
        let book = book.expect("in range");
        let filled = book.fill("sum by ($by) (x{$m y=\"z\"}) + $calls {{ $value }} $labels.pool");
        let calls = totals::name("calls");
        assert_eq!(
            filled,
            format!("sum by (provider, pool) (x{{job=\"a\", y=\"z\"}}) + {calls} {{{{ $value }}}} $labels.pool")
        );
    }

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
