//! What somebody who typed no provider's id may have meant.

use crate::provider::all;

/// The ids of all tables, those most like `id` first: what to show when [`by_id`](super::by_id) knows none.
#[must_use]
pub fn closest(id: &str) -> Vec<&'static str> {
    let wanted: Vec<char> = id.chars().take(LONGEST_ID).flat_map(char::to_lowercase).collect();
    let mut ids: Vec<_> = all().iter().map(|table| table.id).collect();
    ids.sort_by_key(|known| {
        let begins = !wanted.is_empty() && known.starts_with(&wanted.iter().collect::<String>());
        (!begins, distance(&wanted, &known.chars().collect::<Vec<_>>()))
    });
    ids
}

/// No id is longer; what is typed beyond it cannot matter.
const LONGEST_ID: usize = 64;

/// The Levenshtein distance: how many letters must be put in, taken out or replaced.
fn distance(a: &[char], b: &[char]) -> usize {
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for (i, letter) in a.iter().enumerate() {
        let mut diagonal = row[0];
        row[0] = i + 1;
        for j in 0..b.len() {
            let replaced = diagonal + usize::from(*letter != b[j]);
            diagonal = row[j + 1];
            row[j + 1] = replaced.min(row[j] + 1).min(diagonal + 1);
        }
    }
    row[b.len()]
}
