//! What changes between two providers, as their tables know them.

use std::collections::{BTreeMap, BTreeSet};

use forbear::core::rule::Table;
use forbear::core::rule::header::{Axis, Means};
use forbear::core::signal::{LimitClass, Part, QuotaWindow};
use serde_json::{Value, json};

use crate::text::hanging;

/// What changes. Every word comes out of the two tables.
struct Moving<'t> {
    from: &'t Table,
    to: &'t Table,
    /// Headers of one name that mean two things: name, there, here.
    renamed: Vec<[String; 3]>,
    /// What is counted, with the headers that tell of it, there and here.
    quotas: BTreeMap<String, [Vec<&'static str>; 2]>,
}

impl<'t> Moving<'t> {
    /// What changes between two providers.
    fn between(from: &'t Table, to: &'t Table) -> Self {
        let mut quotas: BTreeMap<String, [Vec<&'static str>; 2]> = BTreeMap::new();
        for (side, table) in [from, to].into_iter().enumerate() {
            for header in table.headers.iter() {
                if let Some(axis) = header.axis() {
                    quotas.entry(counted(axis)).or_default()[side].push(header.name);
                }
            }
        }
        let meanings = |table: &Table| -> BTreeMap<&'static str, String> {
            table.headers.iter().map(|header| (header.name, meaning(header.means))).collect()
        };
        let (there, here) = (meanings(from), meanings(to));
        let renamed = there.into_iter().filter_map(|(name, before)| {
            let after = here.get(name)?;
            (before != *after).then(|| [name.to_owned(), before, after.clone()])
        });
        Self { from, to, renamed: renamed.collect(), quotas }
    }

    /// The rows of facts that both tables have: what, there, here.
    fn facts(&self) -> Vec<[String; 3]> {
        let row = |what: &str, of: fn(&Table) -> String| [what.to_owned(), of(self.from), of(self.to)];
        vec![
            row("a wait is stated in", |table| place(table.states_delay)),
            row("the limit is named in", |table| place(table.states_class)),
            row("levels, widest first", |table| words(table.scopes.iter().map(|scope| scope.as_str()))),
            row("counted per day", per_day),
            row("classes of throttles", |table| words(classes(table).into_iter().map(LimitClass::as_str))),
            row("table checked on", |table| format!("{}, {}", table.verified_on, table.page)),
        ]
    }
}

/// What an axis counts, in words.
fn counted(axis: Axis) -> String {
    match axis.quota {
        Some((dimension, QuotaWindow::Other)) => {
            format!("{} per window of its own", dimension.as_str().replace('_', " "))
        }
        Some((dimension, window)) => format!("{} per {window}", dimension.as_str().replace('_', " ")),
        None => axis.name.to_owned(),
    }
}

/// What a header means, in words.
fn meaning(means: Means) -> String {
    match means {
        Means::FinerWait(_) | Means::Wait(_) => "the wait".to_owned(),
        Means::Limit(axis, _) => format!("limit of {}", counted(axis)),
        Means::Remaining(axis, _) => format!("left of {}", counted(axis)),
        Means::Reset(axis, _) | Means::LaterReset(axis, _) => format!("reset of {}", counted(axis)),
        Means::Spent(axis, _) => format!("whether {} are used up", counted(axis)),
        Means::Word(_) | Means::Names(_) => "names the limit".to_owned(),
        _ => "the same with every provider".to_owned(),
    }
}

/// Header, body, or neither where nothing is promised.
fn place(part: Option<Part>) -> String {
    part.map_or_else(|| "not reliably".to_owned(), |part| part.to_string())
}

fn words<'w>(words: impl Iterator<Item = &'w str>) -> String {
    let words: Vec<_> = words.collect();
    if words.is_empty() { "none".to_owned() } else { words.join(", ") }
}

/// The kinds of throttle the provider is known to answer with.
fn classes(table: &Table) -> Vec<LimitClass> {
    let known = |class: &&LimitClass| table.answers.iter().any(|answer| answer.class == **class);
    LimitClass::ALL.iter().filter(known).copied().filter(|class| *class != LimitClass::None).collect()
}

/// What is counted per day: what headers tell of, and what answers do.
fn per_day(table: &Table) -> String {
    let in_headers = table.headers.iter().filter_map(|header| header.axis());
    let in_headers = in_headers.filter(|axis| axis.class == LimitClass::Daily).map(counted);
    let in_answers = table.answers.iter().filter(|answer| answer.class == LimitClass::Daily).map(|answer| {
        let counted = answer.token_kind.map_or("requests", |_| "tokens");
        format!("{counted} per day")
    });
    let daily: BTreeSet<_> = in_headers.chain(in_answers).collect();
    words(daily.iter().map(String::as_str))
}

/// The names, with what they have in common said once: `x-ratelimit-{limit,remaining,reset}-requests`.
fn folded(names: &[&str]) -> String {
    let Some((first, rest)) = names.split_first() else { return "no header".to_owned() };
    if rest.is_empty() {
        return (*first).to_owned();
    }
    let parts: Vec<Vec<&str>> = names.iter().map(|name| name.split('-').collect()).collect();
    let shortest = parts.iter().map(Vec::len).min().unwrap_or_default();
    let same = |at: fn(&[&str], usize) -> Option<String>, place: usize| {
        let of = |parts: &Vec<&str>| at(parts, place);
        of(&parts[0]).is_some_and(|word| parts.iter().all(|parts| of(parts) == Some(word.clone())))
    };
    let from_start = |parts: &[&str], place: usize| parts.get(place).map(|word| (*word).to_owned());
    let from_end = |parts: &[&str], place: usize| parts.iter().rev().nth(place).map(|word| (*word).to_owned());
    let head = (0..shortest).take_while(|place| same(from_start, *place)).count();
    let tail = (0..shortest - head).take_while(|place| same(from_end, *place)).count();
    let middles: Vec<_> = parts.iter().map(|parts| parts[head..parts.len() - tail].join("-")).collect();
    if middles.iter().any(String::is_empty) || head + tail == 0 {
        return names.join(", ");
    }
    let join = |words: &[&str], end: &str, start: &str| match words {
        [] => String::new(),
        words => format!("{start}{}{end}", words.join("-")),
    };
    let tail_words = &parts[0][parts[0].len() - tail..];
    format!("{}{{{}}}{}", join(&parts[0][..head], "-", ""), middles.join(","), join(tail_words, "", "-"))
}

/// What changes, for a person.
pub(super) fn report(from: &Table, to: &Table) -> String {
    let moving = Moving::between(from, to);
    let mut text = format!("from {} to {}\n\n", from.id, to.id);
    if !moving.renamed.is_empty() {
        text += "headers of the same name that mean something else\n";
        for [name, before, after] in &moving.renamed {
            text += &hanging(&format!("  {name:<32} "), &format!("{before} -> {after}"));
        }
        text.push('\n');
    }
    text += "quotas, and the headers that tell of them\n";
    for (counted, [before, after]) in &moving.quotas {
        text += &hanging(&format!("  {counted:<32} "), &arrow(&folded(before), &folded(after)));
    }
    text.push('\n');
    for [what, before, after] in moving.facts() {
        text += &hanging(&format!("{what:<23} "), &arrow(&before, &after));
    }
    text
}

/// Before and after, or that nothing changes.
fn arrow(before: &str, after: &str) -> String {
    if before == after { format!("{before} (the same)") } else { format!("{before} -> {after}") }
}

/// What changes, for a program.
pub(super) fn object(from: &Table, to: &Table) -> Value {
    let moving = Moving::between(from, to);
    let renamed = |[name, before, after]: &[String; 3]| json!({"header": name, "from": before, "to": after});
    let quotas =
        moving.quotas.iter().map(|(counted, [before, after])| json!({"quota": counted, "from": before, "to": after}));
    let facts =
        moving.facts().into_iter().map(|[what, before, after]| json!({"what": what, "from": before, "to": after}));
    json!({
        "from": from.id,
        "to": to.id,
        "same_name_other_meaning": moving.renamed.iter().map(renamed).collect::<Vec<_>>(),
        "quotas": quotas.collect::<Vec<_>>(),
        "facts": facts.collect::<Vec<_>>(),
    })
}

#[cfg(test)]
mod tests {
    use forbear::provider;

    use super::*;

    #[test]
    fn a_header_that_keeps_its_name_and_changes_its_window_is_named() {
        let (from, to) = (provider::openai(), provider::groq());
        let moving = Moving::between(&from, &to);
        let requests = moving.renamed.iter().find(|row| row[0] == "x-ratelimit-limit-requests").expect("it changes");
        assert_eq!(requests[1..], ["limit of requests per minute", "limit of requests per day"]);
        assert!(moving.renamed.iter().all(|row| !row[0].ends_with("-tokens")), "tokens stay per minute");
        assert!(Moving::between(&from, &from).renamed.is_empty());
    }

    #[test]
    fn names_are_folded_where_they_differ_in_one_part() {
        let fold = |names: &[&'static str]| folded(names);
        assert_eq!(fold(&["x-limit-tokens", "x-remaining-tokens"]), "x-{limit,remaining}-tokens");
        assert_eq!(fold(&["x-tokens-limit", "x-tokens-reset"]), "x-tokens-{limit,reset}");
        assert_eq!(fold(&["a-b"]), "a-b");
        assert_eq!(fold(&[]), "no header");
        assert_eq!(fold(&["a", "b"]), "a, b");
    }

    #[test]
    fn every_pair_of_providers_can_be_compared() {
        for from in provider::all() {
            for to in provider::all() {
                let text = report(from, to);
                assert!(text.starts_with(&format!("from {} to {}\n", from.id, to.id)) && text.lines().count() > 7);
            }
        }
    }
}
