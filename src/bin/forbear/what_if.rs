//! `forbear what-if`: the same traffic under today's numbers, the suggested ones, a shared gate, and twice the quota.

use std::fs;
use std::io::{self, Read, Write};
use std::path::PathBuf;
use std::process::ExitCode;

use clap::Args;
use forbear::core::tune::{HumanDuration, HumanPercent};
use forbear::simulate::{Change, Row, Scenario, WhatIf as Compared, what_if};
use serde_json::json;

use crate::text::hanging;

/// Simulate the same traffic under today's numbers, with suggested ones, behind a shared gate, and with twice the quota.
///
/// Prints one table and one sentence, and draws one picture. Each run meets the same calls at the same instants with the
/// same sizes, and differs from today in one thing.
#[derive(Args)]
#[command(after_help = EXAMPLE)]
pub(crate) struct WhatIf {
    /// The scenario of today, as JSON; standard input without it
    file: Option<PathBuf>,
    /// Draw the runs into this file, as SVG
    #[arg(long, value_name = "FILE")]
    plot: Option<PathBuf>,
    /// Print one JSON object with everything that was found out about each run
    #[arg(long)]
    json: bool,
}

const EXAMPLE: &str = r#"Example: bursts at a provider that grants 60 a minute, retried by numbers made for another

  echo '{"provider": {"requests_per_minute": 60, "algorithm": "fixed_window",
                      "retry_after": "none"},
         "callers": {"arrivals": {"batch": {"size": 100, "every_s": 300}}, "deadline_s": 120},
         "policy": {"base_s": 1, "attempts": 6}, "gate": "none"}' |
    forbear what-if --plot what-if.svg

The fields and their defaults are those of forbear::simulate::Scenario, as for forbear simulate.

Exit status: 0 when the runs were made, 2 when the scenario is refused or a file cannot be read or written."#;

/// Prints the same traffic under one change each.
pub(crate) fn run(options: &WhatIf) -> ExitCode {
    match options.compare() {
        Ok(text) => {
            // Whoever reads our output may stop reading it.
            let _ = io::stdout().lock().write_all(text.as_bytes());
            ExitCode::SUCCESS
        }
        Err(failure) => {
            eprintln!("forbear what-if: {failure}");
            ExitCode::from(2)
        }
    }
}

impl WhatIf {
    /// Simulates them all.
    fn compare(&self) -> Result<String, String> {
        let scenario: Scenario = self.input()?.parse().map_err(|error| format!("the scenario is refused: {error}"))?;
        let compared = what_if(&scenario).map_err(|refused| refused.to_string())?;
        if let Some(path) = &self.plot {
            fs::write(path, compared.plot())
                .map_err(|error| format!("{} cannot be written: {error}", path.display()))?;
        }
        Ok(if self.json {
            json!({"runs": compared.rows(), "sentence": compared.sentence()}).to_string() + "\n"
        } else {
            report(&compared)
        })
    }

    /// The scenario as it was written.
    fn input(&self) -> Result<String, String> {
        let Some(file) = &self.file else {
            let mut json = String::new();
            let read = io::stdin().read_to_string(&mut json);
            return read.map(|_| json).map_err(|error| format!("standard input cannot be read: {error}"));
        };
        fs::read_to_string(file).map_err(|error| format!("{} cannot be read: {error}", file.display()))
    }
}

const HEADINGS: [&str; 6] = ["", "success", "requests a call", "throttled", "wait p95", "gave up"];

/// The table, the numbers behind its second line, and the sentence.
fn report(compared: &Compared) -> String {
    let rows: Vec<[String; 6]> = compared.rows().iter().map(cells).collect();
    let mut widths = HEADINGS.map(|heading| heading.chars().count());
    for row in &rows {
        for (width, cell) in widths.iter_mut().zip(row) {
            *width = (*width).max(cell.chars().count());
        }
    }
    let line = |cells: [&str; 6]| {
        let padded = cells.iter().zip(widths).map(|(cell, width)| format!("{cell:width$}"));
        padded.collect::<Vec<_>>().join("  ").trim_end().to_owned() + "\n"
    };
    let mut text = line(HEADINGS);
    rows.iter().for_each(|row| text += &line(row.each_ref().map(String::as_str)));
    text.push('\n');
    for change in [Change::Today, Change::SuggestedNumbers] {
        let head = format!("{:<18} ", format!("{}:", name(change)));
        text += &hanging(&head, &compared.row(change).numbers);
    }
    text.push('\n');
    text + &hanging("", &compared.sentence())
}

/// The change, as a row is called.
const fn name(change: Change) -> &'static str {
    match change {
        Change::Today => "today",
        Change::SuggestedNumbers => "suggested numbers",
        Change::SharedGate => "shared gate",
        Change::TwiceTheQuota => "twice the quota",
    }
}

/// A row of the table.
fn cells(row: &Row) -> [String; 6] {
    let outcome = &row.outcome;
    let success = outcome.success_ratio.unwrap_or(0.0);
    let wait = outcome.wait_s.p95.and_then(|wait| std::time::Duration::try_from_secs_f64(wait).ok());
    let gave_up = outcome.gave_up.iter().map(|(why, calls)| format!("{calls} {why}"));
    let gave_up = gave_up.collect::<Vec<_>>().join(", ");
    [
        name(row.change).to_owned(),
        HumanPercent(success).to_string(),
        format!("{:.2}", success + outcome.wasted_per_call.unwrap_or(0.0)),
        outcome.throttled.to_string(),
        wait.map_or_else(|| "-".to_owned(), |wait| HumanDuration(rounded(wait)).to_string()),
        if gave_up.is_empty() { "none".to_owned() } else { gave_up },
    ]
}

/// To tenths of a second: what is finer is nobody's concern here.
fn rounded(wait: std::time::Duration) -> std::time::Duration {
    std::time::Duration::from_millis((wait.as_secs_f64() * 10.0).round() as u64 * 100)
}
