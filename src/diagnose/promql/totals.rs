//! What each number of a pool rose by within an hour.

use crate::diagnose::number::{Number, Part, Selector};
use crate::diagnose::promql::yaml::{Group, Rule};
use crate::event::metric::Kind;

/// As many as hosted rulers take in a group.
const MOST_RULES: usize = 20;

/// Numbers that no rule reads: they are what the words around a verdict are made of.
const LEFT_OUT: [Number; 13] = [
    Number::OutOfTimeEarly,
    Number::Refused,
    Number::FirstsServed,
    Number::ThrottledByTokens,
    Number::ThrottledByRequests,
    Number::Rejected,
    Number::AfterCurve,
    Number::AfterCurveThrottled,
    Number::AfterTold,
    Number::AfterToldThrottled,
    Number::CurveWaits,
    Number::CurveWaitSeconds,
    Number::GateWaitSeconds,
];

fn kept() -> impl Iterator<Item = Number> {
    Number::ALL.iter().copied().filter(|number| !LEFT_OUT.contains(number) && *number != Number::Shuts)
}

/// A number's name in templates.
fn word(number: Number) -> String {
    let mut word = String::new();
    for c in format!("{number:?}").chars() {
        if c.is_ascii_uppercase() && !word.is_empty() {
            word.push('_');
        }
        word.push(c.to_ascii_lowercase());
    }
    word
}

/// Whether there is a total of a number of this name.
pub(super) fn is_kept(name: &str) -> bool {
    kept().any(|number| word(number) == name)
}

/// The series that holds the total of the number of this name.
pub(super) fn name(number: &str) -> String {
    format!("pool:forbear_{number}:increase1h")
}

/// The selector of a number's series.
pub(super) fn selector(number: Number) -> String {
    let Selector { metric, part, labels } = number.selector();
    let row = metric.row();
    let suffix = match (row.kind, part) {
        (Kind::Histogram, Part::Count) => "_count",
        (Kind::Histogram, Part::Seconds) => "_sum",
        _ => "",
    };
    let labels = labels.iter().map(|(key, words)| match words {
        [word] => format!(" {key}=\"{word}\""),
        words => format!(" {key}=~\"{}\"", words.join("|")),
    });
    format!("{}{suffix}{{$m{}}}", row.prometheus, labels.collect::<Vec<_>>().join(","))
}

/// What a number's series rose by within `over`, and 0 where there is none of them yet.
pub(super) fn rise(number: Number, over: &str) -> String {
    let rise = |number| format!("sum by ($by) (increase({}[{over}]))", selector(number));
    match number {
        Number::Calls => rise(number),
        _ => format!("{}\nor {} * 0", rise(number), rise(Number::Calls)),
    }
}

pub(super) fn groups() -> Vec<Group> {
    let rule = |number| Rule::record(name(&word(number)), number.about(), rise(number, "1h"));
    let rules: Vec<_> = kept().map(rule).collect();
    let groups = rules.chunks(MOST_RULES).enumerate();
    groups.map(|(place, rules)| Group::of(format!("forbear-totals-{}", place + 1), rules.to_vec())).collect()
}
