//! The fields of a body a table reads: a path, what stands there, and the function of its grammar.

use crate::core::rule::claim::Claims;
use crate::core::rule::header::{Axis, When};
use crate::core::rule::index::same;
use crate::core::rule::keys::Keys;
use crate::core::signal::TokenKind;
use std::fmt;

/// A value of a body, lent for the moment of reading.
#[derive(Clone, Copy, Debug, PartialEq)]
#[allow(clippy::exhaustive_enums, reason = "JSON has no other scalars")]
pub enum Scalar<'a> {
    /// A string.
    Text(&'a str),
    /// A whole number that is not negative.
    Whole(u64),
    /// Any other number.
    Number(f64),
    /// True or false.
    Bool(bool),
    /// Seconds and nanoseconds of a `google.protobuf.Duration` written as an object.
    Duration(i64, i64),
}

/// What a field means.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub enum Told {
    /// Text for people: phrases, named limits, stated waits.
    Text,
    /// Text whose phrases rules ask for, but whose named limits and waits are somebody else's.
    ForeignText,
    /// A word that rules ask for; the function cuts it out.
    Word(fn(&str) -> &str),
    /// When something stands here, it is as if this word stood in a field that holds words.
    Named(&'static str),
    /// A name of the limit that was hit.
    Names(fn(&str) -> Claims),
    /// A word that names the unit only, believed where the texts name no limit.
    Unit(fn(&str) -> Claims),
    /// A stated wait. Of several fields the one that stands first in the table is asked first.
    Wait(fn(Scalar<'_>) -> Option<When>),
    /// The status of the answer, repeated in the body.
    Status,
    /// The status of an answer behind this one.
    OriginalStatus,
    /// The names of the policies that were violated, of those listed in the IETF fields.
    Policy,
    /// What the limit grants; zero means that waiting never helps.
    Limit,
    /// The body is an error when something stands here.
    Error,
    /// The body is an error when one of these words stands here.
    ErrorWord(&'static [&'static str]),
    /// The body is an error when `false` stands here.
    ErrorIfFalse,
    /// The tokens of this side that were used.
    Used(TokenKind),
    /// The same, stated apart from the rest of the side.
    UsedBeside(TokenKind),
    /// In a request: the most tokens the answer may have.
    OutputLimit,
    /// A header of the answer, repeated in the body: when an axis resets.
    Reset(Axis, fn(Scalar<'_>) -> Option<When>),
    /// A header of the answer, repeated in the body: whether an axis is used up.
    Spent(Axis, fn(Scalar<'_>) -> Option<bool>),
}

/// A row: a field and what it means.
///
/// ```
/// use forbear::core::rule::field::{Field, Told};
/// // Where an error's words for people stand.
/// const TEXT: Field = Field::new("body.error.message", Told::Text);
/// assert_eq!(TEXT.path, "body.error.message");
/// ```
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct Field {
    /// `body.` and the keys to it, joined by dots; `[]` after a key whose elements are meant.
    pub path: &'static str,
    /// What stands there.
    pub told: Told,
}

impl Field {
    /// A row.
    #[must_use]
    pub const fn new(path: &'static str, told: Told) -> Self {
        Self { path, told }
    }
}

/// The most field rows of one table.
pub const FIELDS: usize = 96;
const NODES: usize = 128;
const NOTHING: u8 = u8::MAX;
/// The node of the body itself.
pub(crate) const ROOT: u8 = 0;

/// One key on the way to a field.
#[derive(Clone, Copy, Debug)]
struct Node {
    path: &'static str,
    start: u8,
    end: u8,
    parent: u8,
    child: u8,
    sibling: u8,
    /// The first row that ends here; further ones follow by `next_row`.
    row: u8,
    /// Whether a path means the value itself, and whether one means its elements (`[]`).
    itself: bool,
    elements: bool,
}

/// The fields of a table as a tree of keys, built when the program is compiled.
pub struct Fields {
    pub(crate) rows: [&'static Field; FIELDS],
    next_row: [u8; FIELDS],
    nodes: [Node; NODES],
    /// The nodes by their keys.
    keys: Keys<NODES>,
}

impl fmt::Debug for Fields {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.rows.iter().map(|row| row.path).filter(|path| *path != "body.")).finish()
    }
}

impl Fields {
    /// Builds the tree; of waits, the rows that stand first are asked first.
    ///
    /// # Panics
    ///
    /// With more than [`FIELDS`] rows or 128 different keys, or a path that does not begin with `body.`: in a `const`
    /// that is an error of compilation.
    #[must_use]
    pub const fn of(lists: &'static [&'static [Field]]) -> Self {
        const NO_FIELD: Field = Field::new("body.", Told::Text);
        const NO_NODE: Node = Node {
            path: "",
            start: 0,
            end: 0,
            parent: ROOT,
            child: NOTHING,
            sibling: NOTHING,
            row: NOTHING,
            itself: false,
            elements: false,
        };
        let mut fields =
            Self { rows: [&NO_FIELD; FIELDS], next_row: [NOTHING; FIELDS], nodes: [NO_NODE; NODES], keys: Keys::new() };
        let (mut list, mut count, mut nodes) = (0, 0, 1);
        while list < lists.len() {
            let mut row = 0;
            while row < lists[list].len() {
                let field = &lists[list][row];
                assert!(count < FIELDS, "a table has at most 96 field rows");
                fields.rows[count] = field;
                nodes = fields.insert(field.path, count as u8, nodes);
                count += 1;
                row += 1;
            }
            list += 1;
        }
        fields
    }

    const fn insert(&mut self, path: &'static str, row: u8, mut nodes: usize) -> usize {
        let bytes = path.as_bytes();
        assert!(
            bytes.len() > 5 && bytes[0] == b'b' && bytes[3] == b'y' && bytes[4] == b'.' && bytes.len() < 255,
            "a path begins with `body.`"
        );
        let (mut at, mut start) = (ROOT, 5);
        loop {
            let mut end = start;
            while end < bytes.len() && bytes[end] != b'.' && bytes[end] != b'[' {
                end += 1;
            }
            let mut child = self.nodes[at as usize].child;
            while child != NOTHING && !same(self.key(child), part(path, start, end)) {
                child = self.nodes[child as usize].sibling;
            }
            if child == NOTHING {
                assert!(nodes < NODES, "a table's fields have at most 128 different keys");
                child = nodes as u8;
                self.nodes[nodes] = Node {
                    path,
                    start: start as u8,
                    end: end as u8,
                    parent: at,
                    child: NOTHING,
                    sibling: self.nodes[at as usize].child,
                    row: NOTHING,
                    itself: false,
                    elements: false,
                };
                self.nodes[at as usize].child = child;
                self.keys.add(part(path, start, end), nodes);
                nodes += 1;
            }
            at = child;
            if end < bytes.len() && bytes[end] == b'[' {
                self.nodes[at as usize].elements = true;
            } else {
                self.nodes[at as usize].itself = true;
            }
            start = end;
            while start < bytes.len() && (bytes[start] == b'[' || bytes[start] == b']') {
                start += 1;
            }
            if start >= bytes.len() {
                break;
            }
            start += 1;
        }
        self.next_row[row as usize] = self.nodes[at as usize].row;
        self.nodes[at as usize].row = row;
        nodes
    }

    const fn key(&self, node: u8) -> &'static str {
        let node = &self.nodes[node as usize];
        part(node.path, node.start as usize, node.end as usize)
    }

    /// The node below `node` that `key`, whose first bytes are `head`, leads to.
    #[inline]
    pub(crate) fn child(&self, node: u8, key: &str, head: u128) -> Option<u8> {
        let mut alike = self.keys.all(key, head);
        alike.find(|child| self.nodes[*child].parent == node).map(|child| child as u8)
    }

    /// Whether a path means the value at `node` itself.
    #[inline]
    pub(crate) fn means_itself(&self, node: u8) -> bool {
        node == ROOT || self.nodes[usize::from(node)].itself
    }

    /// Whether a path means the elements of an array at `node`.
    #[inline]
    pub(crate) fn means_elements(&self, node: u8) -> bool {
        self.nodes[usize::from(node)].elements
    }

    /// Whether further keys lead on from `node`.
    pub(crate) fn leads_on(&self, node: u8) -> bool {
        self.nodes[usize::from(node)].child != NOTHING
    }

    /// Whether `node` is `ancestor` or below it.
    pub(crate) fn is_below(&self, mut node: u8, ancestor: u8) -> bool {
        loop {
            if node == ancestor {
                return true;
            }
            if node == ROOT {
                return false;
            }
            node = self.nodes[usize::from(node)].parent;
        }
    }

    /// The rows that end at `node`, with their numbers.
    pub(crate) fn rows_at(&self, node: u8) -> impl Iterator<Item = (u8, &'static Field)> + '_ {
        let mut row = self.nodes[usize::from(node)].row;
        std::iter::from_fn(move || {
            let number = row;
            (number != NOTHING).then(|| {
                row = self.next_row[usize::from(number)];
                (number, self.rows[usize::from(number)])
            })
        })
    }
}

/// `text[start..end]`, when the program is compiled.
const fn part(text: &'static str, start: usize, end: usize) -> &'static str {
    text.split_at(end).0.split_at(start).1
}
