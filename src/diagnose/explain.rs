//! The words around a verdict.

use std::time::Duration;

use crate::core::signal::Dimension;
use crate::diagnose::cause::Cause;
use crate::diagnose::evidence::Evidence;
use crate::diagnose::objective::{MOST_ATTEMPTS_PER_CALL, share};
use crate::diagnose::recommend::{Recommendation, Rung, policy_of_most};
use crate::diagnose::rules::MOSTLY;
use crate::diagnose::window::Window;
use crate::event::words::{GateMode, QuotaOrigin};

/// A configured limit that is further from the stated one is wrong.
pub(crate) const DIFFERS_BY: f64 = 0.1;
/// Less of a limit in use when it refused, and it is not only these calls that use it up.
const HALF_USED: f64 = 0.5;

/// One sentence for whoever decides: how it went, why, what to change.
pub(crate) fn sentence(cause: Cause, change: &str, seen: &Evidence) -> String {
    let went = format!(
        "{} of {:.0} calls succeeded with {:.2} attempts each",
        percent(seen.objective.success()),
        seen.calls,
        seen.objective.attempts_per_call
    );
    let why = match cause {
        Cause::Healthy => return format!("{went}: nothing is to be changed."),
        Cause::NotEnoughData => return format!("{:.0} calls are too few to tell.", seen.calls),
        Cause::QuotaTooSmall if seen.too_large > seen.objective.failed => {
            format!("{:.0} requests were larger than a whole minute's quota", seen.too_large)
        }
        Cause::QuotaTooSmall => {
            let load = seen.horizon_load().unwrap_or(seen.learned_load);
            format!("{load:.1} times what the quota can serve in time was asked for, and no way of retrying helps")
        }
        Cause::BackoffTooFast => "the quota would do, but retries come before it is back".to_owned(),
        Cause::BackoffTooSlow => "the quota would do, but calls sleep while it lies idle".to_owned(),
        Cause::Unpaced => "the quota would do, but calls come too close together".to_owned(),
        Cause::DailySpent => "the day's quota is used up".to_owned(),
        Cause::SpendLimit => "the account may spend no more".to_owned(),
        Cause::Overloaded => "the provider is short of capacity of its own, and no quota of yours helps".to_owned(),
        Cause::Concurrency => "too many requests are in flight at once".to_owned(),
        Cause::ProviderErrors => {
            format!("{} of the attempts that neither waited nor met a limit failed", percent(seen.errors))
        }
        Cause::CallerErrors => format!("{} of the calls were refused as wrong", percent(share(seen.wrong, seen.ended))),
        Cause::Unclear => "the numbers do not say why".to_owned(),
    };
    format!("{went}; {why}: {change}.")
}

/// What to change, in a few words, with the numbers.
pub(crate) fn change(cause: Cause, set: &Recommendation, window: &Window) -> String {
    match cause {
        Cause::QuotaTooSmall => return format!("raise the quota: ask for about {}", asked_for(set)),
        Cause::BackoffTooFast | Cause::BackoffTooSlow => return format!("change the backoff: {}", curve(set, window)),
        Cause::Unpaced => match set.gate {
            None | Some(Rung::Local) => "put the callers behind one gate",
            Some(Rung::News) => "let the gates of all processes share their news",
            Some(Rung::Paced) => "let all processes share one pace",
            Some(Rung::Queue) => "put a queue in front of the callers, or spread the work",
        },
        cause => in_short(cause),
    }
    .to_owned()
}

/// What to change, where the numbers are not at hand.
pub(crate) const fn in_short(cause: Cause) -> &'static str {
    match cause {
        Cause::Healthy => "nothing",
        Cause::NotEnoughData => "wait for more calls",
        Cause::QuotaTooSmall => "raise the quota",
        Cause::BackoffTooFast => "wait longer between attempts",
        Cause::BackoffTooSlow => "wait less between attempts",
        Cause::Unpaced => "let a gate pace the callers, or the next rung of it",
        Cause::DailySpent => "stop sending until the day ends, or ask for more a day",
        Cause::SpendLimit => "pay, or raise the account's limit",
        Cause::Overloaded => "wait it out, or use another provider",
        Cause::Concurrency => "run fewer at a time, or ask for more",
        Cause::ProviderErrors => "it is the provider's to repair: wait, or use another",
        Cause::CallerErrors => "repair the requests or the credentials",
        Cause::Unclear => "look at the failures themselves",
    }
}

/// The quotas to ask for.
fn asked_for(set: &Recommendation) -> String {
    let asks = [
        (set.requests_per_minute, "requests"),
        (set.tokens_per_minute, "tokens"),
        (set.input_tokens_per_minute, "input tokens"),
        (set.output_tokens_per_minute, "output tokens"),
    ];
    let asks = asks.into_iter().filter_map(|(amount, what)| Some(format!("{} {what} a minute", grouped(amount?))));
    asks.collect::<Vec<_>>().join(" and ")
}

/// From which settings to which.
fn curve(set: &Recommendation, window: &Window) -> String {
    let Some(new) = set.policy else { return "wait longer".to_owned() };
    let old = policy_of_most(window);
    let change = |name: &str, old: Option<String>, new: String| match old {
        Some(old) if old == new => None,
        Some(old) => Some(format!("{name} {old} -> {new}")),
        None => Some(format!("{name} {new}")),
    };
    let text = |duration: Duration| format!("{duration:?}");
    let changes = [
        change("base", old.and_then(|old| old.base).map(text), text(new.base)),
        change("cap", old.and_then(|old| old.cap).map(text), text(new.cap)),
        change("attempts", old.and_then(|old| old.attempts).map(|n| n.to_string()), new.attempts.to_string()),
    ];
    changes.into_iter().flatten().collect::<Vec<_>>().join(", ")
}

/// What to do at once.
pub(crate) const fn now(cause: Cause, seen: &Evidence) -> &'static str {
    match cause {
        Cause::QuotaTooSmall if !seen.gated => {
            "turn the gate on: it lets the quota there is be used, instead of being fought over; hold back what can wait"
        }
        Cause::QuotaTooSmall => "hold back what can wait, or send it elsewhere",
        Cause::BackoffTooFast | Cause::Unpaced if !seen.gated => {
            "turn the gate on: one call's throttle then holds the others"
        }
        Cause::Unpaced => "send less at once",
        Cause::DailySpent => {
            "stop sending to this pool; the gate refuses at once and lets a probe through every five minutes"
        }
        Cause::SpendLimit => "stop sending to this pool until it is paid; a probe every five minutes notices",
        Cause::Overloaded => "send less, or to another provider; it passes without you",
        Cause::Concurrency => "run fewer calls at a time",
        Cause::ProviderErrors => "look at the provider's status page; send elsewhere if you can",
        Cause::CallerErrors => "read one of the refusals: it names what is wrong",
        _ => "",
    }
}

/// When a change, or more of the same, will have shown.
pub(crate) fn look_again(cause: Cause, minute: Duration) -> Duration {
    minute.mul_f64(match cause {
        Cause::Overloaded | Cause::ProviderErrors | Cause::CallerErrors | Cause::Concurrency => 5.0,
        Cause::SpendLimit | Cause::Unclear | Cause::NotEnoughData => 15.0,
        Cause::BackoffTooFast | Cause::BackoffTooSlow | Cause::Unpaced => 30.0,
        Cause::QuotaTooSmall | Cause::DailySpent | Cause::Healthy => 60.0,
    })
}

/// The numbers, each with what it is.
pub(crate) fn because(seen: &Evidence) -> Vec<String> {
    let mut lines = vec![
        format!(
            "{} of {:.0} calls succeeded; {} is promised",
            percent(seen.objective.success()),
            seen.calls,
            percent(seen.objective.least_success)
        ),
        format!("{:.2} attempts a call", seen.objective.attempts_per_call),
    ];
    for load in &seen.loads {
        lines.push(format!(
            "{:.2} times what {} {} a minute ({}) can serve within {:.0?} was asked for at the worst, {:.2} times on average",
            load.horizon,
            grouped(load.limit.amount.round() as u64),
            dimension(load.limit.dimension),
            if load.limit.origin == QuotaOrigin::Header { "as the provider says" } else { "as configured" },
            seen.patience,
            load.mean
        ));
    }
    if seen.loads.is_empty() && seen.learned_load > 0.0 {
        lines.push(format!(
            "no limit is known; {:.2} times what was served while something was refused was asked for",
            seen.learned_load
        ));
    }
    lines.push(format!(
        "{} of the first attempts and {} of the retries were throttled",
        percent(seen.firsts_throttled),
        percent(seen.retries_throttled)
    ));
    let blame = seen.blame;
    let blamed = [
        (blame.minute, "a limit of a minute"),
        (blame.day, "the day's limit"),
        (blame.spend, "the account's limit"),
        (blame.overload, "the provider's want of capacity"),
        (blame.concurrency, "the limit in flight"),
        (blame.failure, "no limit"),
    ];
    let blamed = blamed.into_iter().filter(|(part, _)| *part > 0.005);
    let blamed = blamed.map(|(part, what)| format!("{what} {}", percent(part))).collect::<Vec<_>>();
    if !blamed.is_empty() {
        lines.push(format!("what stood in the way: {}", blamed.join(", ")));
    }
    lines
}

/// What else is worth knowing.
pub(crate) fn notes(seen: &Evidence, window: &Window) -> Vec<String> {
    let mut notes = Vec::new();
    if seen.loads.is_empty() {
        notes.push("no limit is known: set it where the pool is built, and the verdict is firm".to_owned());
    }
    if seen.part_of_fleet {
        notes.push("fleet size unknown: one process speaks for itself, and the others use the same quota".to_owned());
    }
    for told in window.settings.limits.iter().filter(|limit| limit.origin == QuotaOrigin::Header) {
        let set = window.settings.limits.iter().find(|limit| {
            (limit.dimension, limit.window, limit.origin) == (told.dimension, told.window, QuotaOrigin::Config)
        });
        if let Some(set) = set
            && (set.amount / told.amount - 1.0).abs() > DIFFERS_BY
        {
            notes.push(format!(
                "{} {} are configured, and the provider says {}: the provider counts",
                grouped(set.amount as u64),
                dimension(told.dimension),
                grouped(told.amount as u64)
            ));
        }
    }
    for load in seen.loads.iter().filter(|load| load.is_exceeded()) {
        notes.push(format!(
            "{} {} a minute are configured, and {:.1} times as many were served for a quarter of an hour: set what the \
             provider grants",
            grouped(load.limit.amount as u64),
            dimension(load.limit.dimension),
            load.sustained
        ));
    }
    if let Some(used) = refused_for_others(seen) {
        notes.push(format!(
            "a limit refused while {} of it was used here: calls come in bursts, or others use the same quota",
            percent(used)
        ));
    }
    if window.settings.gate == Some(GateMode::Off) && seen.objective.is_missed() {
        notes.push("the gate is off".to_owned());
    }
    notes
}

/// How much of a limit that is known, and named by what it refused, was used here when it refused, if that is so little that
/// others may use it. Where many retries are refused they may be what fills it.
fn refused_for_others(seen: &Evidence) -> Option<f64> {
    let few_retries = seen.gated || seen.objective.attempts_per_call <= MOST_ATTEMPTS_PER_CALL;
    let told = few_retries && !seen.inferred() && seen.blame.minute > MOSTLY && seen.objective.is_missed();
    seen.used_when_throttled.filter(|used| told && *used < HALF_USED)
}

const fn dimension(dimension: Dimension) -> &'static str {
    match dimension {
        Dimension::Requests => "requests",
        Dimension::Tokens => "tokens",
        Dimension::InputTokens => "input tokens",
        Dimension::OutputTokens => "output tokens",
    }
}

/// In per cent, as far as it can be told apart from none and all.
pub(crate) fn percent(part: f64) -> String {
    match part * 100.0 {
        share if share > 0.0 && share < 1.0 => format!("{share:.1}%"),
        share if share > 99.0 && share < 100.0 => format!("{:.1}%", share.min(99.9)),
        share => format!("{share:.0}%"),
    }
}

/// A number with commas between its thousands.
fn grouped(number: u64) -> String {
    let digits = number.to_string();
    let mut text = String::new();
    for (place, digit) in digits.chars().enumerate() {
        if place > 0 && (digits.len() - place).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn thousands_are_told_apart() {
        assert_eq!([0, 999, 1_000, 1_234_567].map(grouped), ["0", "999", "1,000", "1,234,567"]);
    }

    #[test]
    fn one_in_a_thousand_is_neither_none_nor_all() {
        assert_eq!([0.001, 0.9995, 1.0 / 3.0].map(percent), ["0.1%", "99.9%", "33%"]);
        assert_eq!([0.0, 1.0].map(percent), ["0%", "100%"]);
    }
}
