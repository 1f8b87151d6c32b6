//! A check for a person.

use forbear::core::tune::{Finding, HumanDuration, HumanPercent, Jitter, RetryLayer, StatedWaits};

use super::Layer;
use crate::text::hanging;

/// The numbers, what they do, and what is wrong with them.
pub(super) fn of(layer: &Layer) -> String {
    let checked = &layer.checked;
    let mut text = hanging("", &numbers(&layer.layer));
    if let Some(library) = layer.like {
        text += &format!("as {} ({}) has them: {}\n", library.id, library.version, library.source);
        text += &hanging("", library.note);
    }
    text += &format!(
        "window {}, deadline {}, no wait stated\n\n",
        HumanDuration(checked.window),
        HumanDuration(checked.deadline)
    );
    for [name, value, what] in facts(layer) {
        text += &hanging(&format!("  {name:<13} {value:<10} "), &what);
    }
    text.push('\n');
    if checked.findings.is_empty() {
        return text + &hanging("", &nothing_wrong(layer));
    }
    text + &checked.findings.iter().map(finding).collect::<Vec<_>>().join("\n")
}

/// That nothing is wrong, and what that does not mean.
fn nothing_wrong(layer: &Layer) -> String {
    let (nothing, suggestion) = ("nothing is wrong with these numbers", &layer.checked.suggestion);
    if suggestion.saves_few() && layer.checked.most_requests > 1 {
        let most = HumanPercent(suggestion.best_coverage());
        return format!(
            "{nothing}, but no numbers save more than {most} of the throttled calls: where a person waits (--interactive), not \
             to retry is better"
        );
    }
    nothing.to_owned()
}

/// The layer's numbers on one line.
fn numbers(layer: &RetryLayer) -> String {
    let mut text = format!("base {}, factor {}, ", HumanDuration(layer.base), layer.factor);
    text += &match layer.cap.as_secs() {
        86_400 => "no cap".to_owned(),
        _ => format!("cap {}", HumanDuration(layer.cap)),
    };
    let attempts = if layer.attempts == 1 { "attempt" } else { "attempts" };
    text += &format!(", {} {attempts}, {} jitter", layer.attempts, jitter(layer.jitter));
    if let Some(timeout) = layer.timeout {
        text += &format!(", {} for a request", HumanDuration(timeout));
    }
    if let Some(below) = &layer.below {
        text += &format!("; each attempt is made of up to {} requests by the client below", below.attempts);
    }
    match layer.stated_waits {
        StatedWaits::Unknown => text,
        StatedWaits::Ignored => text + "; stated waits are not read",
        StatedWaits::UpTo(cap) => text + &format!("; stated waits are waited for up to {}", HumanDuration(cap)),
    }
}

/// How the waits are drawn, in words.
fn jitter(jitter: Jitter) -> String {
    match jitter {
        Jitter::FULL => "full".to_owned(),
        Jitter::EQUAL => "equal".to_owned(),
        Jitter::NONE => "no".to_owned(),
        Jitter { least, most, plus } if plus.is_zero() => format!("{least} to {most} times"),
        Jitter { plus, .. } => format!("up to {} of", HumanDuration(plus)),
    }
}

/// What a throttled call does: name, value, and what that means.
fn facts(layer: &Layer) -> Vec<[String; 3]> {
    let (checked, reach) = (&layer.checked, &layer.checked.reach);
    let outlives =
        if checked.can_outlive_window() { "it can outlive the window" } else { "it cannot outlive the window" };
    let longest = checked.longest_call.map_or_else(
        || ["unknown".to_owned(), "nothing cuts the requests: no --timeout was given".to_owned()],
        |longest| {
            [
                HumanDuration(longest).to_string(),
                "with every request cut at its end and every wait at its longest".to_owned(),
            ]
        },
    );
    let [longest, why_longest] = longest;
    let fact = |name: &str, value: String, what: String| [name.to_owned(), value, what];
    let mut facts = vec![
        fact(
            "wasted",
            format!("{:.1}", reach.wasted),
            "requests of a throttled call are refused before one can succeed, the first included".to_owned(),
        ),
        fact(
            "gives up",
            HumanPercent(checked.gives_up()).to_string(),
            format!(
                "of the throttled calls before the window resets; {} where it has just begun",
                HumanPercent(1.0 - reach.coverage_at_start)
            ),
        ),
    ];
    if checked.most_requests > 1 {
        facts.extend([
            fact(
                "last request",
                HumanDuration(reach.last_request).to_string(),
                format!(
                    "after the first on average, {} at the latest: {outlives}",
                    HumanDuration(reach.latest_request)
                ),
            ),
            fact(
                "together",
                HumanPercent(checked.together).to_string(),
                "of the callers throttled in one moment come back within 100 ms of each other".to_owned(),
            ),
        ]);
    }
    facts.extend([
        fact("requests", checked.most_requests.to_string(), "at most for one call".to_owned()),
        fact("longest call", longest, why_longest),
    ]);
    facts
}

/// A finding as a paragraph: how bad, what it is, what to set.
fn finding(finding: &Finding) -> String {
    let head = format!("{:<8} {}", finding.severity, finding.kind);
    format!("{head}\n{}{}", hanging("  ", &finding.what), hanging("  -> ", &finding.fix))
}
