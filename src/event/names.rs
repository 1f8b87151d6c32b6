//! Names that become label values: cleaned, and only so many kept apart.

use std::borrow::Cow;
use std::sync::OnceLock;

/// The value of a label whose name came after its places were taken.
pub const OTHER: &str = "_OTHER";

/// The longest label value, in characters.
pub const LONGEST: usize = 64;

/// A name as a label value: characters outside `[A-Za-z0-9._:/-]` become `_`, and at most [`LONGEST`] are kept.
///
/// ```
/// assert_eq!(forbear::event::names::clean("chat"), "chat");
/// assert_eq!(forbear::event::names::clean("a b\n\"c\""), "a_b__c_");
/// ```
#[must_use]
pub fn clean(name: &str) -> Cow<'_, str> {
    let plain = |c: char| c.is_ascii_alphanumeric() || "._:/-".contains(c);
    if name.len() <= LONGEST && name.chars().all(plain) {
        return Cow::Borrowed(name);
    }
    Cow::Owned(name.chars().take(LONGEST).map(|c| if plain(c) { c } else { '_' }).collect())
}

/// The policies a sink has heard of, each with a dense index. No lock, and no allocation once a name is known.
#[derive(Debug, Default)]
pub struct Policies {
    known: [OnceLock<Known>; Policies::CAPACITY],
}

/// A name and its place.
#[derive(Debug)]
struct Known {
    name: Box<str>,
    label: Box<str>,
}

impl Policies {
    /// How many names are kept apart.
    pub const CAPACITY: usize = 16;

    /// No names yet.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// The index of `name`, which is given one if a place is left; [`Policies::CAPACITY`] when none is.
    #[must_use]
    pub fn index(&self, name: &str) -> usize {
        let same = |place: &OnceLock<Known>| {
            let known = place.get().unwrap_or_else(|| Self::note(place, name));
            *known.name == *name
        };
        self.known.iter().position(same).unwrap_or(Self::CAPACITY)
    }

    /// Gives `name` a place, unless another took it meanwhile.
    #[cold]
    fn note<'a>(place: &'a OnceLock<Known>, name: &str) -> &'a Known {
        place.get_or_init(|| Known { name: name.into(), label: clean(name).into() })
    }

    /// The label value of an index; [`OTHER`] for one that was never given.
    #[must_use]
    pub fn label(&self, index: usize) -> &str {
        self.known.get(index).and_then(OnceLock::get).map_or(OTHER, |known| &known.label)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_known_name_keeps_its_index_and_the_seventeenth_is_other() {
        let policies = Policies::new();
        for n in 0..Policies::CAPACITY {
            assert_eq!(policies.index(&format!("policy-{n}")), n);
        }
        for n in 0..100_000 {
            assert_eq!(policies.index(&format!("hostile-{n}")), Policies::CAPACITY);
        }
        assert_eq!(policies.index("policy-3"), 3);
        assert_eq!(policies.label(3), "policy-3");
        assert_eq!(policies.label(Policies::CAPACITY), OTHER);
    }

    #[test]
    fn a_hostile_name_becomes_a_short_plain_label() {
        let hostile = "\u{1F980}\"} forbear_calls_total{x=\"".repeat(100);
        let label = clean(&hostile).into_owned();
        assert_eq!(label.chars().count(), LONGEST);
        assert!(label.chars().all(|c| c.is_ascii_alphanumeric() || "._:/-".contains(c)), "{label}");
        assert!(label.starts_with("____forbear_calls_total"), "{label}");
    }
}
