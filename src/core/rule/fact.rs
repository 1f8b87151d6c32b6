//! What a body told: a short list of facts, none of which holds a byte of it.

use std::cmp::Ordering;

use crate::core::rule::claim::Claims;
use crate::core::rule::field::{Fields, Told};
use crate::core::rule::header::{Axis, Listed, When};
use crate::core::rule::verdict::{RuleSet, Rules};

/// What a text told.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Prose {
    /// The limits it names.
    pub claims: Claims,
    /// The longest wait it states.
    pub wait: Option<When>,
    /// Whether it says that the request asks for more than the limit grants.
    pub larger_than_limit: bool,
    /// Whether it says that the limit is zero.
    pub limit_is_zero: bool,
    /// The table's rules whose phrase it shows.
    pub rules: RuleSet,
    /// The user's rules whose phrase it shows.
    pub user_rules: RuleSet,
}

/// One fact.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Fact {
    Error,
    Status(u16),
    OriginalStatus(u16),
    Wait(When),
    Spent(bool),
    Prose(Prose),
    Words(RuleSet, RuleSet),
    Names(Claims),
    Unit(Claims),
    LimitIsZero,
}

#[derive(Clone, Copy, Debug)]
pub(crate) struct Entry {
    /// The node of the field tree it stood at.
    pub(crate) node: u8,
    /// The field's row.
    pub(crate) row: u8,
    pub(crate) fact: Fact,
}

/// More facts than this are dropped: a table has at most 96 rows, and errors list a few violations.
const CAPACITY: usize = 1_024;
/// Room made when the first fact comes: most errors tell fewer.
const USUAL: usize = 16;

/// What a body told. A body reader fills it; no text.
#[derive(Debug, Default)]
pub struct Facts {
    entries: Vec<Entry>,
    /// Whether the error stood in a stream that had begun as a success.
    pub(crate) in_stream: bool,
    /// Whether there was anything to read.
    pub(crate) any: bool,
    /// The policies it says were violated.
    pub(crate) violated: Listed,
}

impl Facts {
    /// The row of a text that is the whole body.
    pub(crate) const WHOLE_BODY: u8 = u8::MAX;

    /// Notes a fact.
    pub(crate) fn push(&mut self, node: u8, row: u8, fact: Fact) {
        if self.entries.capacity() == 0 {
            self.entries.reserve(USUAL);
        }
        if self.entries.len() < CAPACITY {
            self.entries.push(Entry { node, row, fact });
        }
    }

    pub(crate) fn len(&self) -> usize {
        self.entries.len()
    }

    /// Forgets everything noted since there were `len` facts.
    pub(crate) fn truncate(&mut self, len: usize) {
        self.entries.truncate(len);
    }

    /// Forgets what was noted at `node` and below it since there were `len` facts: a repeated key counts last.
    pub(crate) fn forget(&mut self, fields: &Fields, node: u8, len: usize) {
        let mut kept = len;
        for i in len..self.entries.len() {
            if !fields.is_below(self.entries[i].node, node) {
                self.entries[kept] = self.entries[i];
                kept += 1;
            }
        }
        self.entries.truncate(kept);
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = &Entry> {
        self.entries.iter()
    }

    pub(crate) fn is_error(&self) -> bool {
        self.iter().any(|entry| matches!(entry.fact, Fact::Error))
    }

    /// The status the body repeats.
    pub(crate) fn status(&self) -> Option<u16> {
        self.iter().find_map(|entry| match entry.fact {
            Fact::Status(status) => Some(status),
            _ => None,
        })
    }

    /// The status of the answer behind this one.
    pub(crate) fn original_status(&self) -> Option<u16> {
        self.iter().find_map(|entry| match entry.fact {
            Fact::OriginalStatus(status) => Some(status),
            _ => None,
        })
    }

    pub(crate) fn prose(&self) -> impl Iterator<Item = &Prose> {
        self.iter().filter_map(|entry| match &entry.fact {
            Fact::Prose(prose) => Some(prose),
            _ => None,
        })
    }

    /// The limits its texts and names name.
    pub(crate) fn claims(&self) -> Claims {
        self.iter().fold(Claims::NONE, |claims, entry| match entry.fact {
            Fact::Prose(prose) => claims.and(prose.claims),
            Fact::Names(named) => claims.and(named),
            _ => claims,
        })
    }

    /// The unit its words name.
    pub(crate) fn unit(&self) -> Claims {
        self.iter().fold(Claims::NONE, |claims, entry| match entry.fact {
            Fact::Unit(unit) => claims.and(unit),
            _ => claims,
        })
    }

    /// The unit, where the texts name a window alone: "daily" beside the word `tokens`.
    pub(crate) fn unit_beside(&self, claims: Claims) -> Claims {
        if claims.names_a_day() { self.unit() } else { Claims::NONE }
    }

    /// Whether it says that the limit is zero.
    pub(crate) fn has_zero_limit(&self) -> bool {
        self.iter().any(|entry| match entry.fact {
            Fact::LimitIsZero => true,
            Fact::Prose(prose) => prose.limit_is_zero,
            _ => false,
        })
    }

    /// The rules whose words and phrases it shows.
    pub(crate) fn rules(&self) -> (RuleSet, RuleSet, RuleSet, RuleSet) {
        self.iter().fold((0, 0, 0, 0), |(words, user_words, phrases, user_phrases), entry| match entry.fact {
            Fact::Words(table, user) => (words | table, user_words | user, phrases, user_phrases),
            Fact::Prose(prose) => (words, user_words, phrases | prose.rules, user_phrases | prose.user_rules),
            _ => (words, user_words, phrases, user_phrases),
        })
    }

    /// The first stated wait in the order of the table, with the place it stood at.
    pub(crate) fn wait(&self, fields: &Fields) -> Option<(When, &'static str)> {
        self.iter()
            .filter_map(|entry| match entry.fact {
                Fact::Wait(when) if matches!(fields.rows[usize::from(entry.row)].told, Told::Wait(_)) => {
                    Some((entry.row, when))
                }
                _ => None,
            })
            .reduce(|first, next| match next.0.cmp(&first.0) {
                Ordering::Less => next,
                // Two statements of one kind: nobody retries earlier than told.
                Ordering::Equal => (first.0, first.1.or_later(next.1)),
                Ordering::Greater => first,
            })
            .map(|(row, when)| (when, fields.rows[usize::from(row)].path))
    }

    /// The repeated reset headers of axes that are used up.
    pub(crate) fn spent_resets<'a>(
        &'a self,
        fields: &'a Fields,
    ) -> impl Iterator<Item = (Axis, When, &'static str)> + 'a {
        let told = |entry: &Entry| fields.rows[usize::from(entry.row)].told;
        let spent = move |axis: &Axis| {
            self.iter().any(|entry| {
                matches!(entry.fact, Fact::Spent(true))
                    && matches!(told(entry), Told::Spent(other, _) if other.name == axis.name)
            })
        };
        self.iter().filter_map(move |entry| match entry.fact {
            Fact::Wait(when) => match told(entry) {
                Told::Reset(axis, _) if spent(&axis) => Some((axis, when, fields.rows[usize::from(entry.row)].path)),
                _ => None,
            },
            _ => None,
        })
    }
}

/// Which rules a word or phrase belongs to: the table's and the user's.
#[derive(Clone, Copy, Debug)]
pub struct Asked<'a> {
    pub(crate) table: &'a Rules,
    pub(crate) user: &'a Rules,
}

impl Asked<'_> {
    /// Notes in `prose` the rules whose phrase `text`, beginning at the start of a word, begins with.
    #[inline]
    pub fn begun_by(&self, text: &[u8], prose: &mut Prose) {
        prose.rules |= self.table.begun_by(text);
        prose.user_rules |= self.user.begun_by(text);
    }

    pub(crate) fn word(&self, word: &[u8]) -> (RuleSet, RuleSet) {
        (self.table.asking_for(word), self.user.asking_for(word))
    }
}
