//! What is printed at the end: one line per service, and the numbers behind its conclusion.

use forbear::core::decide::DelaySource;
use forbear::core::signal::LimitClass;
use forbear::core::tune::HumanPercent;
use forbear::event::catalogue::Metric;

use forbear::diagnose::{Cause, Verdict};

use super::scrape::Scrape;
use crate::text::hanging;

const HEADINGS: [&str; 8] =
    ["service", "calls", "success", "attempts/call", "throttled", "delays", "quota used (peak)", "conclusion"];

/// The metrics that table and reasons are made of, for whoever wants the same on a dashboard.
const READ: [Metric; 9] = [
    Metric::Calls,
    Metric::CallDuration,
    Metric::Attempts,
    Metric::Delay,
    Metric::Giveups,
    Metric::CallDeadline,
    Metric::QuotaLimit,
    Metric::PolicyParameter,
    Metric::GateInfo,
];

/// One service's line, and why.
pub(crate) struct Row {
    /// One for each of [`HEADINGS`].
    cells: [String; 8],
    /// The numbers behind the conclusion, as one sentence without its end.
    why: String,
}

impl Row {
    /// The line of a service.
    pub(crate) fn of(verdict: &Verdict, name: &str, scrape: &Scrape) -> Self {
        let seen = &verdict.evidence;
        let used =
            seen.loads.first().map(|load| format!("{} ({})", HumanPercent(load.used), HumanPercent(load.used_at_most)));
        let healthy = verdict.cause == Cause::Healthy;
        let cells = [
            name.to_owned(),
            format!("{:.0}", seen.calls),
            HumanPercent(seen.objective.success()).to_string(),
            format!("{:.2}", seen.objective.attempts_per_call),
            throttled(name, scrape),
            delays(name, scrape),
            used.unwrap_or_default(),
            if healthy { verdict.cause.to_string() } else { verdict.change.clone() },
        ];
        Self { cells, why: why(verdict) }
    }
}

/// The sentence, and the numbers and the neighbours that were ruled out.
fn why(verdict: &Verdict) -> String {
    let not = verdict.not.first().map(|not| format!(" It is not {}: {}.", not.cause, not.why)).unwrap_or_default();
    format!("{}{not}", verdict.sentence)
}

/// The shares of all attempts that each class of limit refused.
fn throttled(pool: &str, scrape: &Scrape) -> String {
    let all = scrape.sum(Metric::Attempts, &[("pool", pool)]);
    let by_class = LimitClass::ALL.iter().filter_map(|class| {
        let labels = [("pool", pool), ("outcome", "throttled"), ("limit_class", class.as_str())];
        let attempts = scrape.sum(Metric::Attempts, &labels);
        (attempts > 0.0).then(|| format!("{} {class}", HumanPercent(attempts / all)))
    });
    some_or_none(by_class.collect())
}

/// How often, and how long on average, each source made calls wait.
fn delays(pool: &str, scrape: &Scrape) -> String {
    let by_source = DelaySource::ALL.iter().filter_map(|source| {
        let labels = [("pool", pool), ("delay_source", source.as_str())];
        let (count, mean) = (scrape.count(Metric::Delay, &labels), scrape.mean(Metric::Delay, &labels));
        (count > 0.0).then(|| format!("{source} {count:.0}x{mean:.2}s"))
    });
    some_or_none(by_source.collect())
}

/// The words in a row; a cell that is empty looks like a mistake.
fn some_or_none(words: Vec<String>) -> String {
    if words.is_empty() { "none".to_owned() } else { words.join(", ") }
}

/// The lines under their headings, in columns; what is behind each; and where all of it was read.
pub(crate) fn table(rows: &[Row]) -> String {
    let mut widths = HEADINGS.map(str::len);
    for row in rows {
        for (width, cell) in widths.iter_mut().zip(&row.cells) {
            *width = (*width).max(cell.len());
        }
    }
    let line = |cells: [&str; 8]| {
        let padded = cells.iter().zip(widths).map(|(cell, width)| format!("{cell:width$}"));
        padded.collect::<Vec<_>>().join("  ").trim_end().to_owned() + "\n"
    };
    let mut text = line(HEADINGS);
    rows.iter().for_each(|row| text += &line(row.cells.each_ref().map(String::as_str)));
    text += "\nwhy\n";
    rows.iter().for_each(|row| text += &hanging(&format!("  {}: ", row.cells[0]), &row.why));
    text += "\n";
    let names = READ.map(|metric| metric.row().prometheus).join(", ");
    text + &hanging("  ", &format!("Read from /metrics alone: {names}."))
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use forbear::diagnose::Scrapes;

    use super::*;

    const TEXT: &str = r#"
forbear_attempts_total{provider="generic",pool="nightly",attempt="1",delay_source="none",outcome="ok",limit_class="none"} 900
forbear_attempts_total{provider="generic",pool="nightly",attempt="1",delay_source="none",outcome="throttled",limit_class="request_rate"} 120
forbear_attempts_total{provider="generic",pool="nightly",attempt="2",delay_source="curve",outcome="throttled",limit_class="unknown"} 330
forbear_attempts_total{provider="generic",pool="nightly",attempt="2",delay_source="curve",outcome="transient",limit_class="none"} 5
forbear_delay_seconds_sum{provider="generic",pool="nightly",delay_source="curve"} 35
forbear_delay_seconds_count{provider="generic",pool="nightly",delay_source="curve"} 350
forbear_calls_total{provider="generic",pool="nightly",policy="nightly"} 1000
forbear_quota_limit{provider="generic",pool="nightly",dimension="requests",window="other",origin="config"} 60
"#;

    #[test]
    fn a_service_is_one_line_of_columns_and_one_of_reasons() {
        let mut scrapes = Scrapes::in_minutes_of(Duration::from_secs(3), Duration::from_millis(250));
        scrapes.note(Duration::ZERO, "");
        scrapes.note(Duration::from_secs(1), &TEXT.replace(" 1000", " 0"));
        scrapes.note(Duration::from_secs(60), TEXT);
        let verdict = &scrapes.diagnose()[0].verdict;
        let text = table(&[Row::of(verdict, "nightly", &Scrape::read(TEXT))]);
        let lines: Vec<_> = text.lines().collect();
        assert_eq!((lines[2], lines[3]), ("", "why"));
        assert_eq!(lines[0].find("conclusion"), lines[1].find("healthy"));
        let cells: Vec<_> = lines[1].split("  ").map(str::trim).filter(|cell| !cell.is_empty()).collect();
        assert_eq!((cells[0], cells[4]), ("nightly", "9 % request_rate, 24 % unknown"));
        assert_eq!(cells[5], "curve 350x0.10s");
        assert!(lines[4].starts_with("  nightly: "), "{text}");
    }

    #[test]
    fn what_did_not_happen_is_called_none() {
        let scrape = Scrape::default();
        assert_eq!(throttled("chat", &scrape), "none");
        assert_eq!(delays("chat", &scrape), "none");
    }
}
