//! What is printed at the end: one line per service, and the numbers behind its conclusion.

use forbear::core::decide::DelaySource;
use forbear::core::signal::LimitClass;
use forbear::event::catalogue::Metric;

use super::advice::{Conclusion, percent};
use super::evidence::Evidence;
use super::scrape::Scrape;

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

/// Where lines of prose end.
const WIDEST: usize = 110;

/// One service's line, and why.
pub(crate) struct Row {
    /// One for each of [`HEADINGS`].
    cells: [String; 8],
    /// The numbers behind the conclusion, as one sentence without its end.
    why: String,
}

impl Row {
    /// The line of a service. `quota_used` is the share of its limit that was used on average, and in the busiest minute.
    pub(crate) fn of(
        name: &str,
        seen: &Evidence,
        scrape: &Scrape,
        quota_used: [f64; 2],
        concluded: Conclusion,
    ) -> Self {
        let [mean, peak] = quota_used.map(|share| percent(share, 1.0));
        let cells = [
            name.to_owned(),
            format!("{:.0}", seen.calls),
            percent(seen.succeeded, seen.succeeded + seen.failed),
            format!("{:.2}", seen.attempts_per_call()),
            throttled(name, seen, scrape),
            delays(name, scrape),
            format!("{mean} ({peak})"),
            concluded.change,
        ];
        Self { cells, why: concluded.why }
    }
}

/// The shares of all attempts that each class of limit refused.
fn throttled(pool: &str, seen: &Evidence, scrape: &Scrape) -> String {
    let by_class = LimitClass::ALL.iter().filter_map(|class| {
        let labels = [("pool", pool), ("outcome", "throttled"), ("limit_class", class.as_str())];
        let attempts = scrape.sum(Metric::Attempts, &labels);
        (attempts > 0.0).then(|| format!("{} {class}", percent(attempts, seen.attempts)))
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
    rows.iter().for_each(|row| text += &wrapped(&format!("{}: {}.", row.cells[0], row.why)));
    text += "\n";
    text + &wrapped(&format!("Read from /metrics alone: {}.", READ.map(|metric| metric.row().prometheus).join(", ")))
}

/// The text in lines of at most [`WIDEST`] characters, the second and later ones indented.
fn wrapped(text: &str) -> String {
    let (mut lines, mut line) = (String::new(), String::from(" "));
    for word in text.split(' ') {
        if line.len() + 1 + word.len() > WIDEST {
            lines += &line;
            lines += "\n";
            line = " ".repeat(3);
        }
        line += " ";
        line += word;
    }
    lines + &line + "\n"
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::demo::advice::conclude;
    use crate::demo::cause::tests::failing;

    const TEXT: &str = r#"
forbear_attempts_total{pool="nightly",attempt="1",delay_source="none",outcome="throttled",limit_class="request_rate"} 120
forbear_attempts_total{pool="nightly",attempt="2",delay_source="curve",outcome="throttled",limit_class="unknown"} 330
forbear_attempts_total{pool="nightly",attempt="2",delay_source="curve",outcome="transient",limit_class="none"} 5
forbear_delay_seconds_sum{pool="nightly",delay_source="curve"} 35
forbear_delay_seconds_count{pool="nightly",delay_source="curve"} 350
"#;

    #[test]
    fn a_service_is_one_line_of_columns_and_one_of_reasons() {
        let seen = failing();
        let row = Row::of("nightly", &seen, &Scrape::read(TEXT), [0.38, 1.0], conclude(&seen));
        let text = table(&[row]);
        let lines: Vec<_> = text.lines().collect();
        assert_eq!((lines[2], lines[3]), ("", "why"));
        assert_eq!(lines[0].find("conclusion"), lines[1].find("change the backoff"));
        let cells: Vec<_> = lines[1].split("  ").map(str::trim).filter(|cell| !cell.is_empty()).collect();
        assert_eq!(cells[..4], ["nightly", "1000", "90%", "1.35"]);
        assert_eq!(cells[4], "9% request_rate, 24% unknown");
        assert_eq!(cells[5], "curve 350x0.10s");
        assert_eq!(cells[6], "38% (100%)");
        assert!(lines[4].starts_with("  nightly: the quota would do"));
    }

    #[test]
    fn prose_ends_its_lines_in_time_and_loses_no_word() {
        let text = "words of several lengths ".repeat(40);
        let lines = wrapped(text.trim_end());
        assert!(lines.lines().count() > 5 && lines.lines().all(|line| line.len() <= WIDEST), "{lines}");
        assert!(lines.split_whitespace().eq(text.split_whitespace()));
    }

    #[test]
    fn what_did_not_happen_is_called_none() {
        let scrape = Scrape::default();
        assert_eq!(throttled("chat", &failing(), &scrape), "none");
        assert_eq!(delays("chat", &scrape), "none");
    }
}
