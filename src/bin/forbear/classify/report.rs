//! Readings in plain words.

use std::fmt::Write;

use forbear::core::rule::Table;
use forbear::core::signal::{LimitClass, Part, Quotas, Reading, Scope, Signal, TokenKind};
use forbear::core::tune::HumanDuration;

/// All that one answer says, for a person.
pub(super) fn of_reading(table: &Table, reading: &Reading) -> String {
    let signal = &reading.signal;
    let status = signal.status.map_or_else(String::new, |status| format!(" {status}"));
    let mut text = format!("{}{status}: {}\n\n", table.id, meaning(signal));
    let mut row = |name: &str, value: &str| {
        let _ = writeln!(text, "  {name:<9} {value}");
    };
    row("class", &class(signal));
    row("then", &advice(signal));
    if let Some(stated) = signal.stated {
        let part = match stated.part {
            Part::Header => "header",
            Part::Body => "field",
        };
        row("told by", &format!("the {part} {}: {}", stated.place, HumanDuration(stated.delay)));
    } else if signal.failed {
        row("told by", "nothing: no wait is stated");
    }
    row("shuts", &shuts(table, signal));
    let used: Vec<String> = reading.used.sides().map(|(kind, tokens)| format!("{tokens} {kind}")).collect();
    if !used.is_empty() {
        row("tokens", &format!("{}, as the answer states", used.join(", ")));
    }
    if let Some(part) = signal.unreadable {
        row("note", &format!("this provider normally tells more: its {part} could not be read as expected"));
    }
    text + &quotas(&reading.quotas)
}

/// The answer in one sentence.
fn meaning(signal: &Signal) -> &'static str {
    if !signal.failed {
        return "a success.";
    }
    if signal.larger_than_limit {
        return "this request alone asks for more than the limit grants.";
    }
    match signal.class {
        LimitClass::None if signal.retryable => "a failure that is no limit and may pass.",
        LimitClass::None => "a failure that is no limit and will not pass by waiting.",
        LimitClass::RequestRate => "too many requests in the window.",
        LimitClass::TokenThroughput => "too many tokens in the window.",
        LimitClass::Daily => "the day's quota is used up.",
        LimitClass::Concurrency => "too many requests at the same time.",
        LimitClass::Overload => "the provider is short of capacity; a larger quota would not help.",
        LimitClass::Spend => "credit, budget or plan is used up; a person must act.",
        LimitClass::Unknown => "a limit was hit, and the answer does not say which.",
    }
}

/// The limit in words.
fn class(signal: &Signal) -> String {
    match signal.token_kind {
        Some(TokenKind::Total) => format!("{}, tokens of both sides", signal.class),
        Some(kind) => format!("{}, {kind} tokens", signal.class),
        None => signal.class.to_string(),
    }
}

/// What a call does about it.
pub(super) fn advice(signal: &Signal) -> String {
    let until = signal
        .stated
        .map_or_else(String::new, |stated| format!(", to be tried again after {}", HumanDuration(stated.delay)));
    match signal {
        Signal { failed: false, .. } => "nothing to do".to_owned(),
        Signal { class: LimitClass::Spend, .. } => "give up at once, until a person has acted".to_owned(),
        Signal { larger_than_limit: true, .. } => "give up at once: send a smaller request".to_owned(),
        Signal { class: LimitClass::Daily, .. } => format!("give up at once{until}"),
        Signal { retryable: false, .. } if signal.is_throttle() => {
            "give up at once: waiting does not help, as the answer says".to_owned()
        }
        Signal { retryable: false, .. } => "give up at once: the same request will fail again".to_owned(),
        Signal { stated: Some(stated), .. } if stated.delay.is_zero() => {
            "try again after the policy's own curve; the stated wait is over".to_owned()
        }
        Signal { stated: Some(stated), .. } => {
            format!("try again, not before {} are over", HumanDuration(stated.delay))
        }
        Signal { ambiguous: true, .. } => {
            "try again after the policy's own curve, if the request may be sent twice".to_owned()
        }
        _ => "try again after the policy's own curve".to_owned(),
    }
}

/// Which pools the throttle would shut.
fn shuts(table: &Table, signal: &Signal) -> String {
    let pool = signal.scope.map_or_else(
        || "the caller's own pool".to_owned(),
        |scope| format!("the pool of the {}{}", level(scope), with_those_below(table, scope)),
    );
    match signal.class {
        LimitClass::None => "no pool".to_owned(),
        _ if signal.larger_than_limit => "no pool".to_owned(),
        LimitClass::Concurrency => format!("no pool; {pool} lets fewer in at a time"),
        _ => pool,
    }
}

/// That a limit shuts what is below its level, where there is anything below it.
fn with_those_below(table: &Table, scope: Scope) -> &'static str {
    if table.scopes.last() == Some(&scope) { "" } else { ", and all below it" }
}

/// A level in words.
const fn level(scope: Scope) -> &'static str {
    match scope {
        Scope::Org => "organisation",
        Scope::Project => "project",
        Scope::Region => "region",
        Scope::Deployment => "deployment",
        Scope::Model => "model",
        Scope::Key => "key",
        Scope::Endpoint => "endpoint",
    }
}

/// What the answer says of quotas, a line each.
fn quotas(quotas: &Quotas) -> String {
    if quotas.is_empty() {
        return String::new();
    }
    let mut text = format!("\n  {:<14} {:<7} {:>12} {:>12}  resets in\n", "quota", "window", "limit", "remaining");
    let number = |value: Option<u64>| value.map_or_else(|| "-".to_owned(), |value| value.to_string());
    for quota in quotas.iter() {
        let reset = quota.reset.map_or_else(|| "-".to_owned(), |reset| HumanDuration(reset).to_string());
        let _ = writeln!(
            text,
            "  {:<14} {:<7} {:>12} {:>12}  {reset}",
            quota.dimension,
            quota.window,
            number(quota.limit),
            number(quota.remaining)
        );
    }
    text
}

#[cfg(test)]
mod tests {
    use forbear::core::moment::WallTime;
    use forbear::provider;

    use super::super::raw;
    use super::*;

    /// What is told of an answer, and which row begins with `name`.
    fn row(raw_answer: &str, name: &str) -> Option<String> {
        let table = provider::openai();
        let case = raw::parse(raw_answer.as_bytes()).expect("a response");
        let report = of_reading(&table, &case.0.read(&table, WallTime::default()));
        report.lines().find_map(|line| Some(line.trim_start().strip_prefix(name)?.trim_start().to_owned()))
    }

    #[test]
    fn a_refusal_to_wait_is_the_answers_own_and_the_tokens_used_are_told() {
        let refused = "HTTP/2 429\r\nx-should-retry: false\r\n\r\n";
        assert_eq!(row(refused, "then").as_deref(), Some("give up at once: waiting does not help, as the answer says"));
        assert_eq!(row(refused, "tokens"), None);
        let answer = "HTTP/2 200\r\n\r\n{\"usage\":{\"prompt_tokens\":9,\"completion_tokens\":12}}";
        assert_eq!(row(answer, "tokens").as_deref(), Some("9 input, 12 output, as the answer states"));
    }

    #[test]
    fn an_answer_is_told_in_plain_words() {
        let text = b"HTTP/2 429\r\nretry-after-ms: 3890\r\nx-ratelimit-remaining-tokens: 0\r\n\r\n\
            {\"error\":{\"message\":\"Rate limit reached for gpt-4o on tokens per min (TPM).\"}}";
        let table = provider::openai();
        let case = raw::parse(text).expect("a response");
        let report = of_reading(&table, &case.0.read(&table, WallTime::default()));
        assert_eq!(
            report,
            "openai 429: too many tokens in the window.\n\n  \
             class     token_throughput, tokens of both sides\n  \
             then      try again, not before 3.89 s are over\n  \
             told by   the header retry-after-ms: 3.89 s\n  \
             shuts     the pool of the model\n\n  \
             quota          window         limit    remaining  resets in\n  \
             tokens         minute             -            0  -\n"
        );
    }
}
