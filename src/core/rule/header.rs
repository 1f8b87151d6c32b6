//! The headers a table reads: what each means, with the function of its grammar.

mod axis;
mod listed;
mod when;

use std::fmt;

use http::HeaderMap;

use crate::core::moment::WallTime;
use crate::core::rule::claim::Claims;
pub use crate::core::rule::header::axis::{Axis, AxisRole};
pub use crate::core::rule::header::listed::{Listed, ListedQuota};
pub(crate) use crate::core::rule::header::when::LONGEST_NANOS;
pub use crate::core::rule::header::when::{LONGEST, When};
use crate::core::rule::index::{Lexicon, same};

/// What a header means, and the grammar its value is read by. A grammar refuses (`None`) what it does not read whole;
/// a refused value counts as absent.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub enum Means {
    /// A wait that is asked before every other, and where zero is a placeholder (`retry-after-ms`).
    FinerWait(fn(&[u8]) -> Option<When>),
    /// A wait (`retry-after`).
    Wait(fn(&[u8]) -> Option<When>),
    /// The server's clock, from which dates count.
    Date(fn(&[u8]) -> Option<WallTime>),
    /// The provider's own verdict on retrying. Contradictory lines cancel out.
    Verdict(fn(&[u8]) -> Option<bool>),
    /// What an axis grants.
    Limit(Axis, fn(&[u8]) -> Option<u64>),
    /// What is left on an axis.
    Remaining(Axis, fn(&[u8]) -> Option<u64>),
    /// When an axis resets.
    Reset(Axis, fn(&[u8]) -> Option<When>),
    /// The same, asked only where [`Means::Reset`] told nothing.
    LaterReset(Axis, fn(&[u8]) -> Option<When>),
    /// Whether an axis is used up, in the provider's own words.
    Spent(Axis, fn(&[u8]) -> Option<bool>),
    /// A wait that the server insists on: a value that cannot be read says not to retry (`grpc-retry-pushback-ms`).
    Pushback(fn(&[u8]) -> Option<When>),
    /// The status of the answer where HTTP's own is that of the transport (`grpc-status`), as HTTP spells it.
    Status(fn(&[u8]) -> Option<u16>),
    /// A word that rules ask for; the function cuts it out.
    Word(fn(&[u8]) -> &[u8]),
    /// Names the axis that was hit.
    Names(fn(&[u8]) -> Claims),
    /// Part of the IETF `RateLimit` fields; the function reads them all together. See [`Listed`].
    Listed(ReadListed),
    /// Tells whether the body is a stream.
    Stream(fn(&[u8]) -> Option<bool>),
}

/// Reads the IETF `RateLimit` fields; with a name only the policy of that name, as if it were exhausted.
pub type ReadListed = fn(&HeaderMap, Option<&str>) -> Listed;

/// A row: a header and what it means.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct Header {
    /// Its name in lower case.
    pub name: &'static str,
    /// What it means.
    pub means: Means,
}

impl Header {
    /// A row.
    #[must_use]
    pub const fn new(name: &'static str, means: Means) -> Self {
        Self { name, means }
    }

    /// The axis it describes, if it describes one.
    ///
    /// ```
    /// use forbear::provider;
    /// let table = provider::openai();
    /// let mut axes = table.headers.iter().filter_map(|header| header.axis());
    /// assert!(axes.any(|axis| axis.name == "requests"));
    /// ```
    #[must_use]
    pub const fn axis(&self) -> Option<Axis> {
        match self.means {
            Means::Limit(axis, _)
            | Means::Remaining(axis, _)
            | Means::Reset(axis, _)
            | Means::LaterReset(axis, _)
            | Means::Spent(axis, _) => Some(axis),
            _ => None,
        }
    }
}

/// The most axes of one table.
pub const AXES: usize = 16;
/// The most header rows of one table.
pub const HEADERS: usize = 96;
const NO_AXIS: u8 = u8::MAX;

/// The headers of a table, indexed when the program is compiled.
pub struct Headers {
    pub(crate) rows: [&'static Header; HEADERS],
    pub(crate) names: Lexicon<HEADERS>,
    pub(crate) axis_of: [u8; HEADERS],
    pub(crate) axes: [Option<Axis>; AXES],
    /// Whether a header tells the status.
    pub(crate) tells_status: bool,
}

impl fmt::Debug for Headers {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.rows.iter().map(|row| row.name).filter(|name| !name.is_empty())).finish()
    }
}

impl Headers {
    /// Indexes rows; of rows with one name the last counts, so the general list comes first.
    ///
    /// # Panics
    ///
    /// With more than [`HEADERS`] rows or [`AXES`] axes, or a name that is empty, longer than 63 bytes or not in lower
    /// case: in a `const` that is an error of compilation.
    #[must_use]
    pub const fn of(lists: &'static [&'static [Header]]) -> Self {
        const NOTHING: Header = Header::new("", Means::Word(whole));
        let mut headers = Self {
            rows: [&NOTHING; HEADERS],
            names: Lexicon::new(),
            axis_of: [NO_AXIS; HEADERS],
            axes: [None; AXES],
            tells_status: false,
        };
        let (mut list, mut count) = (0, 0);
        while list < lists.len() {
            let mut row = 0;
            while row < lists[list].len() {
                let header = &lists[list][row];
                assert!(count < HEADERS, "a table has at most 96 header rows");
                headers.rows[count] = header;
                headers.tells_status |= matches!(header.means, Means::Status(_));
                headers.names.add(header.name, count);
                if let Some(axis) = header.axis() {
                    let mut slot = 0;
                    while let Some(known) = headers.axes[slot] {
                        if same(known.name, axis.name) {
                            break;
                        }
                        slot += 1;
                        assert!(slot < AXES, "a table has at most 16 axes");
                    }
                    headers.axes[slot] = Some(axis);
                    headers.axis_of[count] = slot as u8;
                }
                count += 1;
                row += 1;
            }
            list += 1;
        }
        headers
    }
}

impl Headers {
    /// The rows that count, each name once, in the order of the table.
    pub fn iter(&self) -> impl Iterator<Item = &'static Header> {
        let counts = |(number, row): (usize, &'static Header)| {
            let last = self.names.latest(row.name.as_bytes());
            (!row.name.is_empty() && last == Some(number)).then_some(row)
        };
        self.rows.into_iter().enumerate().filter_map(counts)
    }

    /// Whether a row is asked only where others told nothing.
    pub(crate) fn is_fallback(&self, row: u8) -> bool {
        matches!(self.rows[usize::from(row)].means, Means::LaterReset(..))
    }

    /// How the IETF fields are read, if the table reads them.
    pub(crate) fn read_listed(&self) -> Option<ReadListed> {
        self.rows.iter().find_map(|row| match row.means {
            Means::Listed(read) => Some(read),
            _ => None,
        })
    }
}

const fn whole(value: &[u8]) -> &[u8] {
    value
}
