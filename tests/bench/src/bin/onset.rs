//! How long it takes from the first trouble of a pool to the page, and to the right cause.

use std::fs::File;
use std::io::{BufRead, BufReader};
use std::process::ExitCode;
use std::time::Duration;

use forbear::diagnose::{Certainty, Verdict};
use forbear::simulate::{Judging, Scenario, Simulation};
use forbear_bench::confusion::Case;

const HELP: &str = "\
Runs scenarios of which it is known what is wrong with them, judges them every minute, and measures from the first five
minutes in which the objective is missed.

  cargo run --release -p forbear-bench --bin onset -- cases.jsonl

The file is one that the program confusion kept: --keep. Scenarios with one fault are taken, 200 at most.";

/// Onsets that are measured.
const MOST: usize = 200;
/// How long each is judged, in minutes.
const MINUTES: u64 = 65;
/// The page: this share of the calls fails over an hour and over five minutes …
const PAGED_ABOVE: f64 = 0.144;
/// … with more failures than this …
const LEAST_FAILURES: f64 = 20.0;
/// … for so many minutes.
const PAGED_AFTER: usize = 2;
/// A cause is told when it held for so many minutes.
const TOLD_AFTER: usize = 5;

fn main() -> ExitCode {
    let Some(file) = std::env::args().nth(1).filter(|argument| argument != "--help") else {
        println!("{HELP}");
        return ExitCode::SUCCESS;
    };
    let lines = match File::open(&file) {
        Ok(open) => BufReader::new(open).lines().map_while(Result::ok),
        Err(error) => {
            eprintln!("onset: {file} cannot be read: {error}");
            return ExitCode::FAILURE;
        }
    };
    let cases = lines.filter_map(|line| Case::of_line(&line).ok()).filter(|case| case.truth.is_single());
    let onsets: Vec<_> = cases.filter_map(|case| Onset::of(&case)).take(MOST).collect();
    println!("{} onsets, from the first five minutes in which the objective is missed\n", onsets.len());
    show("to the page, where one comes", onsets.iter().map(|onset| onset.page));
    show("to the right cause, not provisional", onsets.iter().map(|onset| onset.cause));
    let wrong = onsets.iter().filter(|onset| onset.told_wrong).count();
    println!("{:36} {wrong:>4} of {}", "another cause told before, or only", onsets.len());
    ExitCode::SUCCESS
}

/// Minutes from the onset; `None` where it did not happen within the hour.
struct Onset {
    page: Option<usize>,
    cause: Option<usize>,
    told_wrong: bool,
}

impl Onset {
    fn of(case: &Case) -> Option<Self> {
        let mut scenario = case.scenario.clone();
        scenario["warmup_s"] = serde_json::json!(0);
        scenario["measured_s"] = serde_json::json!(MINUTES * 60);
        let scenario: Scenario = scenario.to_string().parse().ok()?;
        let judged = |window: u64| {
            let mut judging = Judging::at((1..=MINUTES).map(minutes), Duration::from_millis(7_500));
            judging.window = minutes(window);
            Some(Simulation::of(&scenario).judged(judging).run().ok()?.judged)
        };
        let (hour, now) = (judged(60)?, judged(5)?);
        let onset = now.iter().position(|verdict| verdict.evidence.objective.is_missed())?;
        let failing = |verdict: &Verdict| 1.0 - verdict.evidence.objective.success();
        let pages = hour.iter().zip(&now).map(|(hour, now)| {
            let many = hour.evidence.objective.failed > LEAST_FAILURES;
            failing(hour) > PAGED_ABOVE && failing(now) > PAGED_ABOVE && many
        });
        let told = |right: bool| {
            let said = hour.iter().map(|verdict| {
                let fault = verdict.evidence.objective.is_missed() && verdict.certainty != Certainty::Provisional;
                let is_right =
                    case.truth.is(verdict.cause) || case.truth.fixes.iter().any(|fix| fix == verdict.cause.as_str());
                fault && is_right == right
            });
            held(said, TOLD_AFTER, onset)
        };
        let (cause, wrong) = (told(true), told(false));
        let told_wrong = wrong.is_some_and(|wrong| cause.is_none_or(|cause| wrong < cause));
        Some(Self { page: held(pages, PAGED_AFTER, onset), cause, told_wrong })
    }
}

fn minutes(minutes: u64) -> Duration {
    Duration::from_secs(minutes * 60)
}

/// How long after `onset` something had held for so many minutes.
fn held(holds: impl Iterator<Item = bool>, minutes: usize, onset: usize) -> Option<usize> {
    let mut so_far = 0;
    for (minute, holds) in holds.enumerate() {
        so_far = if holds { so_far + 1 } else { 0 };
        if so_far > minutes {
            return Some(minute.saturating_sub(onset));
        }
    }
    None
}

fn show(what: &str, minutes: impl ExactSizeIterator<Item = Option<usize>>) {
    let all = minutes.len();
    let mut came: Vec<_> = minutes.flatten().collect();
    came.sort_unstable();
    let at = |share: f64| came.get((came.len() as f64 * share) as usize).map_or("-".to_owned(), |m| format!("{m} min"));
    println!("{what:36} p50 {:>7}  p90 {:>7}  {} of {all}", at(0.5), at(0.9), came.len());
}
