//! What a body told: a short list of facts, none of which holds a byte of it.

use std::cmp::Ordering;

use crate::core::estimate::Usage;
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

/// What all facts of a body say together.
#[derive(Debug, Default)]
pub(crate) struct Summary {
    /// The status the body repeats.
    pub(crate) status: Option<u16>,
    /// The status of the answer behind this one.
    pub(crate) original_status: Option<u16>,
    /// The limits its texts and names name.
    pub(crate) claims: Claims,
    /// The unit its words name.
    pub(crate) unit: Claims,
    /// The rules whose words it shows: the table's and the user's.
    pub(crate) words: (RuleSet, RuleSet),
    /// The rules whose phrases it shows.
    pub(crate) phrases: (RuleSet, RuleSet),
    /// Whether a text says that the request asks for more than the limit grants.
    pub(crate) larger_than_limit: bool,
    /// Whether it says that the limit is zero.
    pub(crate) limit_is_zero: bool,
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
    /// The tokens it says were used, also of the events before the last.
    pub(crate) used: Usage,
    /// The most tokens a request asks for.
    pub(crate) output_limit: Option<u32>,
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

    pub(crate) const fn is_empty(&self) -> bool {
        self.entries.is_empty()
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
        self.is_error_since(0)
    }

    /// Whether one of the facts noted since there were `len` says that the body is an error.
    pub(crate) fn is_error_since(&self, len: usize) -> bool {
        self.entries.iter().skip(len).any(|entry| matches!(entry.fact, Fact::Error))
    }

    /// What all facts say together.
    pub(crate) fn summary(&self) -> Summary {
        let mut told = Summary::default();
        for entry in self.iter() {
            match &entry.fact {
                Fact::Status(status) => told.status = told.status.or(Some(*status)),
                Fact::OriginalStatus(status) => told.original_status = told.original_status.or(Some(*status)),
                Fact::Words(table, user) => told.words = (told.words.0 | table, told.words.1 | user),
                Fact::Names(named) => told.claims = told.claims.and(*named),
                Fact::Unit(unit) => told.unit = told.unit.and(*unit),
                Fact::LimitIsZero => told.limit_is_zero = true,
                Fact::Prose(prose) => {
                    told.claims = told.claims.and(prose.claims);
                    told.phrases = (told.phrases.0 | prose.rules, told.phrases.1 | prose.user_rules);
                    told.larger_than_limit |= prose.larger_than_limit;
                    told.limit_is_zero |= prose.limit_is_zero;
                }
                Fact::Error | Fact::Wait(_) | Fact::Spent(_) => {}
            }
        }
        told
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
        // Of several headers that tell the reset of one axis the one that stands first in the table counts.
        let is_first = move |axis: &Axis, row: u8| {
            !self.iter().any(|entry| {
                matches!(entry.fact, Fact::Wait(_))
                    && entry.row < row
                    && matches!(told(entry), Told::Reset(other, _) if other.name == axis.name)
            })
        };
        self.iter().filter_map(move |entry| match entry.fact {
            Fact::Wait(when) => match told(entry) {
                Told::Reset(axis, _) if spent(&axis) && is_first(&axis, entry.row) => {
                    Some((axis, when, fields.rows[usize::from(entry.row)].path))
                }
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
    /// Whether there is a body.
    pub(crate) body: bool,
}

impl Asked<'_> {
    /// Notes in `prose` the rules whose phrase `text`, beginning at the start of a word, begins with.
    #[inline]
    pub fn begun_by(&self, text: &[u8], prose: &mut Prose) {
        prose.rules |= self.table.begun_by(text);
        if self.user.asks_for_phrases() {
            prose.user_rules |= self.user.begun_by(text);
        }
    }

    pub(crate) fn word(&self, word: &[u8]) -> (RuleSet, RuleSet) {
        (self.table.asking_for(word), self.user.asking_for(word))
    }
}
