//! `forbear suggest`: numbers for a call site, from the limit's window and the caller's deadline.

use std::io::{self, Write};
use std::process::ExitCode;
use std::time::Duration;

use clap::Args;
use forbear::Policy;
use forbear::core::tune::{HumanDuration, HumanPercent, Suggestion};
use serde_json::{Value, json};

use crate::duration;
use crate::known::{by_option, table, window_or};
use crate::text::hanging;

/// Suggest a retry policy for the window a limit counts in and the deadline a caller has.
///
/// Says why each number is what it is, what the numbers reach, and the line of Rust to paste. Where no retry can save
/// enough of the throttled calls it says so.
#[derive(Args)]
#[command(after_help = "\
Examples:
  forbear suggest --window 60s --deadline 90s
  forbear suggest --provider openai --deadline 15s
  forbear suggest --window 60s --deadline 15s --interactive

Exit status: 0 with a suggestion, also if it is not to retry; 2 when the arguments are refused.")]
pub(crate) struct Suggest {
    /// The window the limit counts in, 10ms to 24h; with --provider the provider's, unless given.
    #[arg(long, value_name = "TIME", value_parser = duration::parse, allow_hyphen_values = true, required_unless_present = "provider")]
    window: Option<Duration>,

    /// How long a call may take, waits and all attempts: 1ms to 7d. Where answers take long, less the time of one.
    #[arg(long, value_name = "TIME", value_parser = duration::parse, allow_hyphen_values = true)]
    deadline: Duration,

    /// The provider: whether it states how long to wait is then known, and its window, if it counts in minutes.
    #[arg(long, value_name = "ID")]
    provider: Option<String>,

    /// The provider states how long to wait (a header, or a field of the body).
    #[arg(long, conflicts_with = "provider")]
    states_delay: bool,

    /// A person waits for the answer: no retry where it could save one throttled call in four at most.
    #[arg(long)]
    interactive: bool,

    /// Print one JSON object; times are seconds, shares 0 to 1.
    #[arg(long)]
    json: bool,
}

/// Prints numbers that fit, each with its reason.
pub(crate) fn run(options: &Suggest) -> ExitCode {
    match options.suggest() {
        Ok(suggestion) => {
            let text = if options.json { object(&suggestion).to_string() + "\n" } else { report(&suggestion, options) };
            // Whoever reads our output may stop reading it.
            let _ = io::stdout().lock().write_all(text.as_bytes());
            ExitCode::SUCCESS
        }
        Err(refused) => {
            eprintln!("forbear suggest: {refused}");
            ExitCode::from(2)
        }
    }
}

impl Suggest {
    /// The numbers for the window and deadline asked about; a provider's own window where one is named.
    fn suggest(&self) -> Result<Suggestion, String> {
        let table = self.provider.as_deref().map(table).transpose()?;
        let window = window_or(self.window, table.as_ref())?;
        let states_delay = table.map_or(self.states_delay, |table| table.states_delay.is_some());
        let for_window = Policy::for_window(window).states_delay(states_delay).interactive(self.interactive);
        let suggestion = for_window.suggest(self.deadline);
        suggestion.map_err(|refused| by_option(&refused))
    }
}

/// The suggestion for a person.
fn report(suggestion: &Suggestion, options: &Suggest) -> String {
    let told = if suggestion.states_delay { "waits are stated" } else { "no wait is stated" };
    let of = options.provider.as_deref().map(|id| format!("{id}: ")).unwrap_or_default();
    let (window, deadline) = (HumanDuration(suggestion.window), HumanDuration(suggestion.deadline));
    let mut text = format!("{of}window {window}, deadline {deadline}, {told}\n\n");
    let reasons = suggestion.reasons().into_iter().map(|reason| [reason.field.to_owned(), reason.value, reason.why]);
    let reached = suggestion.retries().then(|| reached(suggestion));
    let rows: Vec<_> = reasons.chain(reached.into_iter().flatten()).collect();
    let width = rows.iter().map(|[_, value, _]| value.chars().count()).max().unwrap_or_default().max(7);
    for [name, value, why] in rows {
        text += &hanging(&format!("  {name:<11} {value:<width$} "), &why);
    }
    if let Some(caution) = suggestion.caution() {
        text.push('\n');
        text += &hanging(&format!("  {:<11} ", "caution"), &caution);
    }
    text += "\n  ";
    text + &rust(suggestion) + "\n"
}

/// What the numbers reach: name, value, and what that means.
fn reached(suggestion: &Suggestion) -> [[String; 3]; 2] {
    let reach = suggestion.reach;
    let unless = if suggestion.states_delay { "where an answer states no wait: the" } else { "the" };
    let coverage = format!(
        "{unless} chance that an attempt comes after the window's reset and before the deadline; {} where the window has just \
         begun",
        HumanPercent(reach.coverage_at_start)
    );
    let wasted = "requests of a throttled call are refused before that, the first one included";
    [
        ["coverage".to_owned(), HumanPercent(reach.coverage).to_string(), coverage],
        ["wasted".to_owned(), format!("{:.1}", reach.wasted), wasted.to_owned()],
    ]
}

/// The line to paste.
pub(crate) fn rust(suggestion: &Suggestion) -> String {
    let Suggestion { deadline, interactive, base, cap, attempts, header_cap, .. } = *suggestion;
    let who_waits = if interactive { "interactive" } else { "background" };
    let mut line = format!("Policy::{who_waits}({})", rust_duration(deadline));
    if suggestion.retries() {
        line += &format!(".base({}).cap({})", rust_duration(base), rust_duration(cap));
    }
    line += &format!(".attempts({attempts})");
    if suggestion.retries() && header_cap > Duration::from_secs(300) {
        line += &format!(".header_cap({})", rust_duration(header_cap));
    }
    line
}

/// The duration as Rust.
fn rust_duration(duration: Duration) -> String {
    if duration.subsec_nanos() == 0 {
        format!("Duration::from_secs({})", duration.as_secs())
    } else if duration.subsec_nanos().is_multiple_of(1_000_000) {
        format!("Duration::from_millis({})", duration.as_millis())
    } else {
        format!("Duration::from_nanos({})", duration.as_nanos())
    }
}

/// The suggestion for a program.
pub(crate) fn object(suggestion: &Suggestion) -> Value {
    let seconds = |duration: Duration| duration.as_secs_f64();
    let reasons = suggestion.reasons().into_iter().map(|reason| (reason.field.to_owned(), Value::from(reason.why)));
    json!({
        "window_s": seconds(suggestion.window),
        "deadline_s": seconds(suggestion.deadline),
        "states_delay": suggestion.states_delay,
        "interactive": suggestion.interactive,
        "retries": suggestion.retries(),
        "base_s": seconds(suggestion.base),
        "factor": suggestion.factor,
        "cap_s": seconds(suggestion.cap),
        "attempts": suggestion.attempts,
        "header_cap_s": seconds(suggestion.header_cap),
        "coverage": suggestion.reach.coverage,
        "coverage_at_window_start": suggestion.reach.coverage_at_start,
        "best_coverage": suggestion.best_coverage(),
        "wasted_requests": suggestion.reach.wasted,
        "caution": suggestion.caution(),
        "reasons": reasons.collect::<serde_json::Map<_, _>>(),
        "rust": rust(suggestion),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_line_to_paste_says_what_is_suggested() {
        let suggestion = |window, deadline| {
            Policy::for_window(Duration::from_secs(window)).suggest(Duration::from_millis(deadline)).expect("in range")
        };
        let person = Policy::for_window(Duration::from_secs(60)).interactive(true);
        assert_eq!(
            rust(&suggestion(60, 90_000)),
            "Policy::background(Duration::from_secs(90)).base(Duration::from_secs(6)).cap(Duration::from_secs(9)).attempts(32)"
        );
        assert_eq!(
            rust(&person.suggest(Duration::from_millis(1_500)).expect("in range")),
            "Policy::interactive(Duration::from_millis(1500)).attempts(1)"
        );
        assert!(rust(&suggestion(600, 900_000)).ends_with(".header_cap(Duration::from_secs(600))"));
    }
}
