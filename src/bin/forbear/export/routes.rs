//! The example of routes with the labels and severities of a variant.

use super::variant::{KEPT_LABELS, Variant};

/// The file with other labels to group by, and other words for severities.
pub(super) fn rewritten(kept: &str, variant: &Variant<'_>) -> String {
    let mut text = kept.replace(&KEPT_LABELS.join(", "), &variant.group_by().join(", "));
    let word = |severity: &str| {
        let given = variant.options.severity.iter().rev().find(|(known, _)| known == severity);
        given.map_or(severity.to_owned(), |(_, word)| word.clone())
    };
    let matchers = |word: &dyn Fn(&str) -> String| {
        let [critical, warning, info] = ["critical", "warning", "info"].map(word);
        [
            format!("severity=\"{critical}\""),
            format!("severity=\"{warning}\""),
            format!("severity=\"{info}\""),
            format!("severity=~\"{critical}|{warning}\""),
        ]
    };
    // Words may change places: nothing is replaced that was put in.
    let (from, to) = (matchers(&str::to_owned), matchers(&word));
    let marks: Vec<_> = (0..from.len()).map(|place| format!("\u{0}{place}\u{0}")).collect();
    from.iter().zip(&marks).for_each(|(from, mark)| text = text.replace(from, mark));
    marks.iter().zip(&to).for_each(|(mark, to)| text = text.replace(mark, to));
    text
}
