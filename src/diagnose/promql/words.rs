//! What the words of templates stand for.

use crate::diagnose::promql::book::{RuleBook, SEVERITIES};
use crate::diagnose::promql::totals;

/// How fast a month's budget of failures is spent when a page is due, in times the rate that lasts for the month.
const BURNS: [f64; 2] = [14.4, 6.0];

impl RuleBook {
    /// A template with its `$words` filled in: those of this book, and the name of a number for the series that holds its
    /// total.
    pub(super) fn fill(&self, template: &str) -> String {
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
            "process" => self.of_process().collect::<Vec<_>>().join(", "),
            // The matchers of one pool in an alert's text, and the values for them.
            "same" => each(&|label| format!("{label}=%q"), ","),
            "its_labels" => each(&|label| format!("$labels.{label}"), " "),
            "m" => self.matchers.clone(),
            "runbooks" => self.runbooks.clone(),
            "grafana" => self.grafana.clone(),
            "chosen_pool" => chosen(self.by.iter().map(String::as_str)),
            "chosen_process" => chosen(self.of_process()),
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

    /// The labels by which processes are told apart.
    fn of_process(&self) -> impl Iterator<Item = &str> {
        let kept = self.by.iter().map(String::as_str).filter(|label| !["provider", "pool", "job"].contains(label));
        kept.chain(["job"])
    }
}

/// What a link chooses on a board by the labels of its alert: those that nobody sets are left away, for nothing chosen would
/// hide everything.
fn chosen<'l>(labels: impl Iterator<Item = &'l str>) -> String {
    let one = |label| format!("{{{{ with $labels.{label} }}}}&var-{label}={{{{ . | urlquery }}}}{{{{ end }}}}");
    labels.map(one).collect()
}

/// Without the dust of binary fractions.
fn rounded(number: f64) -> String {
    ((number * 1e9).round() / 1e9).to_string()
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
}
