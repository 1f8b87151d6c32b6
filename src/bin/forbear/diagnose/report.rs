//! What is found, for people: a line a pool, then what to do about each that is not well.

use std::time::Duration;

use forbear::core::tune::{HumanDuration, HumanPercent};
use forbear::diagnose::{Cause, Diagnosis, Verdict};

use crate::text::hanging;

const HEADINGS: [&str; 7] = ["provider", "pool", "cause", "certainty", "horizon load", "success", "attempts/call"];

/// The table, and what belongs to its lines.
pub(crate) fn report(found: &[Diagnosis], window: Duration) -> String {
    if found.is_empty() {
        return format!("no pool was called in the last {}\n", HumanDuration(window));
    }
    let rows: Vec<_> = found.iter().map(row).collect();
    let mut widths = HEADINGS.map(str::len);
    for row in &rows {
        widths.iter_mut().zip(row).for_each(|(width, cell)| *width = (*width).max(cell.chars().count()));
    }
    let line = |cells: [&str; 7]| {
        let padded = cells.iter().zip(widths).map(|(cell, width)| format!("{cell:width$}"));
        padded.collect::<Vec<_>>().join("  ").trim_end().to_owned() + "\n"
    };
    let mut text = line(HEADINGS);
    rows.iter().for_each(|row| text += &line(row.each_ref().map(String::as_str)));
    for diagnosis in found {
        text += "\n";
        text += &paragraph(diagnosis);
    }
    text
}

/// A pool's line.
fn row(diagnosis: &Diagnosis) -> [String; 7] {
    let Diagnosis { provider, pool, verdict, .. } = diagnosis;
    let objective = verdict.evidence.objective;
    [
        provider.clone(),
        pool.clone(),
        verdict.cause.to_string(),
        verdict.certainty.to_string(),
        verdict.horizon_load.map_or_else(|| "-".to_owned(), |load| format!("{load:.2}")),
        HumanPercent(objective.success()).to_string(),
        format!("{:.2}", objective.attempts_per_call),
    ]
}

/// What to do, why, why not the others, and what else was noticed.
fn paragraph(diagnosis: &Diagnosis) -> String {
    let Diagnosis { pool, verdict, .. } = diagnosis;
    let mut text = hanging(&format!("{pool}: "), &verdict.sentence);
    let quiet = matches!(verdict.cause, Cause::Healthy | Cause::NotEnoughData);
    if !quiet {
        text += &details(verdict);
    }
    for note in &verdict.notes {
        text += &hanging("  note     ", note);
    }
    text
}

fn details(verdict: &Verdict) -> String {
    let mut text = String::new();
    if !verdict.now.is_empty() {
        text += &hanging("  now      ", verdict.now);
    }
    text += &hanging("  again    ", &format!("look again {} after the change", HumanDuration(verdict.look_again)));
    for (place, reason) in verdict.because().iter().enumerate() {
        text += &hanging(if place == 0 { "  because  " } else { "           " }, reason);
    }
    for reason in &verdict.not {
        text += &hanging("  not      ", &format!("{}: {}", reason.cause, reason.why));
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use forbear::diagnose::Scrapes;

    fn found(ok: u32, exhausted: u32) -> Vec<Diagnosis> {
        let mut scrapes = Scrapes::new(Duration::from_secs(15));
        for quarter in 0..=240 {
            let (ok, exhausted) = (ok * quarter, exhausted * quarter);
            let pool = r#"provider="openai",pool="chat""#;
            scrapes.note(
                Duration::from_secs(15) * quarter,
                &format!(
                    r#"
forbear_calls_total{{{pool},policy="chat"}} {}
forbear_call_deadline_seconds_sum{{{pool},policy="chat"}} {}
forbear_call_duration_seconds_count{{{pool},outcome="ok"}} {ok}
forbear_call_duration_seconds_count{{{pool},outcome="attempts_exhausted"}} {exhausted}
forbear_giveups_total{{{pool},policy="chat",outcome="attempts_exhausted",limit_class="request_rate",delay_source="none",early="no"}} {exhausted}
forbear_attempts_total{{{pool},attempt="1",delay_source="none",outcome="ok",limit_class="none"}} {ok}
forbear_attempts_total{{{pool},attempt="2",delay_source="curve",outcome="throttled",limit_class="request_rate"}} {exhausted}
forbear_quota_limit{{{pool},dimension="requests",window="minute",origin="header"}} 60
forbear_gate_info{{{pool},mode="off"}} 1
"#,
                    ok + exhausted,
                    (ok + exhausted) * 30
                ),
            );
        }
        scrapes.diagnose()
    }

    #[test]
    fn a_pool_that_is_well_takes_a_line_and_a_sentence() {
        let text = report(&found(5, 0), Duration::from_secs(3_600));
        let lines: Vec<_> = text.lines().collect();
        assert_eq!(lines.len(), 4, "{text}");
        assert!(lines[1].starts_with("openai    chat  healthy  firm"), "{text}");
        assert_eq!(lines[3], "chat: 100% of 1200 calls succeeded with 1.00 attempts each: nothing is to be changed.");
    }

    #[test]
    fn a_pool_that_is_not_is_told_what_to_do_and_why() {
        let text = report(&found(15, 10), Duration::from_secs(3_600));
        assert!(text.contains("quota_too_small"), "{text}");
        for part in
            ["ask for ", "\n  now      turn the gate on", "\n  because  60% of 6000 calls", "\n  not      unpaced: "]
        {
            assert!(text.contains(part), "{part} is not in\n{text}");
        }
    }

    #[test]
    fn nobody_called_is_said() {
        assert_eq!(report(&[], Duration::from_secs(3_600)), "no pool was called in the last 60 min\n");
    }
}
