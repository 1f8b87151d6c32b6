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
//! let rules = forbear::diagnose::RuleBook::new().matching(r#"env="prod""#);
//! assert!(rules.evidence().contains(r#"increase(forbear_calls_total{env="prod",}[1h])"#));
//! assert!(rules.verdict().contains("record: pool:forbear_verdict:1h"));
//! assert!(rules.alerts().contains("alert: ForbearQuotaTooSmall"));
//! ```

mod alerts;
mod burn;
mod causes;
mod demand;
mod notes;
mod pages;
mod ratios;
mod steps;
mod supply;
mod tickets;
mod totals;
mod yaml;

use yaml::Group;

/// The rules of a diagnosis, written for one Prometheus.
///
/// They are the same whatever the scrape interval: stretches of time shorter than four scrapes are left out while they run.
#[derive(Clone, Debug)]
pub struct RuleBook {
    by: String,
    matchers: String,
    runbooks: String,
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
            by: "cluster, namespace, provider, pool".to_owned(),
            matchers: String::new(),
            runbooks: "https://docs.rs/forbear/latest/forbear/guide/runbooks/index.html".to_owned(),
        }
    }

    /// Tells pools apart by these labels; `provider` and `pool` should be among them, or pools are judged together.
    #[must_use]
    pub fn grouped_by(mut self, labels: &[&str]) -> Self {
        self.by = labels.join(", ");
        self
    }

    /// Adds these matchers to every selector of a metric, as in `job="api",env="prod"`.
    #[must_use]
    pub fn matching(mut self, matchers: &str) -> Self {
        let matchers = matchers.trim().trim_end_matches(',');
        self.matchers = if matchers.is_empty() { String::new() } else { format!("{matchers},") };
        self
    }

    /// Where the runbooks are: the heading of an alert is added behind a `#`.
    #[must_use]
    pub fn runbooks_at(mut self, url: &str) -> Self {
        self.runbooks = url.to_owned();
        self
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
        groups.iter().for_each(|group| group.write(&mut text, &|template| self.fill(template)));
        text
    }

    /// A template with its `$words` filled in: `$by` and `$m` are the labels and the matchers of this book, `$runbooks` its
    /// address, and the name of a number stands for the series that holds its total.
    fn fill(&self, template: &str) -> String {
        let mut text = String::new();
        let mut rest = template;
        while let Some((before, after)) = rest.split_once('$') {
            text.push_str(before);
            let end = after.find(|c: char| !c.is_ascii_lowercase() && c != '_').unwrap_or(after.len());
            let (word, behind) = after.split_at(end);
            match word {
                "by" => text.push_str(&self.by),
                "m" => text.push_str(&self.matchers),
                "runbooks" => text.push_str(&self.runbooks),
                number if totals::is_kept(number) => text.push_str(&totals::name(number)),
                // A template's own variable.
                other => text.extend(["$", other]),
            }
            rest = behind;
        }
        text.push_str(rest);
        text
    }
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
        let book = RuleBook::new().grouped_by(&["pool"]).matching(r#" job="a", "#);
        let filled = book.fill("sum by ($by) (x{$m y=\"z\"}) + $calls {{ $value }} $labels.pool");
        let calls = totals::name("calls");
        assert_eq!(filled, format!("sum by (pool) (x{{job=\"a\", y=\"z\"}}) + {calls} {{{{ $value }}}} $labels.pool"));
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
