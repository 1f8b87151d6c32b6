//! The headers a table reads: what each means, with the function of its grammar.

use std::fmt;
use std::time::Duration;

use http::HeaderMap;

use crate::core::moment::WallTime;
use crate::core::rule::claim::Claims;
use crate::core::rule::index::{Lexicon, same};
use crate::core::signal::{Dimension, LimitClass, QuotaWindow, Scope, TokenKind};

/// Longer waits are read as this one: 2147483648 s, the number RFC 9111 section 1.2.2 uses for the same purpose.
pub const LONGEST: Duration = Duration::from_secs(2_147_483_648);
/// The same in nanoseconds.
pub(crate) const LONGEST_NANOS: u64 = 2_147_483_648_000_000_000;

/// When something ends, as it was stated: after a time, at an instant, or, where several were stated, at the latest of
/// them. Resolution one nanosecond; what is later than 584 years from now or from 1970 is taken for that.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct When {
    delay_nanos: u64,
    /// Since 1970; 0 where no instant was stated, and for one that had passed by then.
    instant_nanos: u64,
}

impl When {
    /// After this time.
    #[must_use]
    pub const fn after(delay: Duration) -> Self {
        Self { delay_nanos: saturated(delay), instant_nanos: 0 }
    }

    /// After so many nanoseconds.
    pub(crate) const fn after_nanos(delay_nanos: u64) -> Self {
        Self { delay_nanos, instant_nanos: 0 }
    }

    /// At this instant of civil time.
    #[must_use]
    pub const fn at(instant: WallTime) -> Self {
        Self { delay_nanos: 0, instant_nanos: saturated(instant.elapsed_since_epoch()) }
    }

    /// The later of both.
    #[must_use]
    pub fn or_later(self, other: Self) -> Self {
        Self {
            delay_nanos: self.delay_nanos.max(other.delay_nanos),
            instant_nanos: self.instant_nanos.max(other.instant_nanos),
        }
    }

    /// Whether it was stated as no time at all.
    #[must_use]
    pub const fn is_zero(self) -> bool {
        self.delay_nanos == 0 && self.instant_nanos == 0
    }

    /// How long from `now`; zero when it has passed, never longer than [`LONGEST`]. `now` is asked only for an instant.
    #[must_use]
    pub fn from(self, now: impl FnOnce() -> WallTime) -> Duration {
        let delay = Duration::from_nanos(self.delay_nanos);
        let until = match self.instant_nanos {
            0 => Duration::ZERO,
            nanos => now().until(WallTime::since_epoch(Duration::from_nanos(nanos))),
        };
        delay.max(until).min(LONGEST)
    }
}

const fn saturated(duration: Duration) -> u64 {
    let nanos = duration.as_nanos();
    if nanos > u64::MAX as u128 { u64::MAX } else { nanos as u64 }
}

/// What an axis is good for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum AxisRole {
    /// When it is exhausted it is why the provider throttles; it is a quota reading too.
    Cause,
    /// Its reset is the wait of every error, exhausted or not.
    Standing,
    /// Nothing is refused when it is exhausted (a priority share): telemetry only.
    Reserve,
}

/// One axis of a provider's limits: what several headers together describe.
///
/// ```
/// use forbear::core::rule::header::Axis;
/// use forbear::core::signal::{Dimension, QuotaWindow};
/// use forbear::Scope;
/// const PROJECT: Axis = Axis::new("project tokens", Dimension::Tokens, QuotaWindow::Minute).at(Scope::Project);
/// assert_eq!(PROJECT.scope, Some(Scope::Project));
/// ```
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct Axis {
    /// Its name within the table: rows that name the same axis describe it together.
    pub name: &'static str,
    /// Which limit was hit when it is exhausted.
    pub class: LimitClass,
    /// The token side it counts.
    pub token_kind: Option<TokenKind>,
    /// The level it belongs to, if the headers tell.
    pub scope: Option<Scope>,
    /// The quota it is reported as.
    pub quota: Option<(Dimension, QuotaWindow)>,
    /// What it is good for.
    pub role: AxisRole,
}

impl Axis {
    /// An axis that counts `dimension` in `window`.
    #[must_use]
    pub const fn new(name: &'static str, dimension: Dimension, window: QuotaWindow) -> Self {
        let token_kind = match dimension {
            Dimension::Requests => None,
            Dimension::Tokens => Some(TokenKind::Total),
            Dimension::InputTokens => Some(TokenKind::Input),
            Dimension::OutputTokens => Some(TokenKind::Output),
        };
        let class = match (window, dimension) {
            (QuotaWindow::Day, _) => LimitClass::Daily,
            (_, Dimension::Requests) => LimitClass::RequestRate,
            _ => LimitClass::TokenThroughput,
        };
        Self { name, class, token_kind, scope: None, quota: Some((dimension, window)), role: AxisRole::Cause }
    }

    /// An axis whose unit the provider does not say: exhausted, it means [`LimitClass::Unknown`].
    #[must_use]
    pub const fn unnamed(name: &'static str) -> Self {
        Self { name, class: LimitClass::Unknown, token_kind: None, scope: None, quota: None, role: AxisRole::Cause }
    }

    /// The same, belonging to `scope`.
    #[must_use]
    pub const fn at(mut self, scope: Scope) -> Self {
        self.scope = Some(scope);
        self
    }

    /// The same, but not reported as a quota of its own.
    #[must_use]
    pub const fn unreported(mut self) -> Self {
        self.quota = None;
        self
    }

    /// The same in this role.
    #[must_use]
    pub const fn role(mut self, role: AxisRole) -> Self {
        self.role = role;
        self
    }
}

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

    const fn axis(&self) -> Option<Axis> {
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

/// One quota of the IETF `RateLimit` fields.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct ListedQuota {
    /// The class its policy names; `None` when no policy can be read.
    pub class: Option<LimitClass>,
    /// The token side its policy names.
    pub token_kind: Option<TokenKind>,
    /// Its window, if a policy tells.
    pub window: Option<Duration>,
    /// What it grants.
    pub limit: Option<u64>,
    /// What is left; `Some(0)` is exhausted.
    pub remaining: Option<u64>,
    /// When it resets.
    pub reset: Option<When>,
    /// Where the reset stood.
    pub place: &'static str,
    /// Whether the reset stood in a header of its own, which is asked before the parameter `t`.
    pub own_header: bool,
}

/// The quotas of the IETF `RateLimit` fields of one answer: the first eight, no allocation.
#[derive(Clone, Copy, Debug, Default)]
pub struct Listed {
    quotas: [Option<ListedQuota>; 8],
}

impl Listed {
    /// Adds a quota; nothing happens when all places are taken.
    pub fn push(&mut self, quota: ListedQuota) {
        if let Some(place) = self.quotas.iter_mut().find(|place| place.is_none()) {
            *place = Some(quota);
        }
    }

    /// The quotas, in the order they stood.
    pub fn iter(&self) -> impl Iterator<Item = &ListedQuota> {
        self.quotas.iter().flatten()
    }

    /// The exhausted ones.
    pub fn exhausted(&self) -> impl Iterator<Item = &ListedQuota> {
        self.iter().filter(|quota| quota.remaining == Some(0))
    }
}

impl ListedQuota {
    /// A quota of which nothing is known yet.
    #[must_use]
    pub const fn new(place: &'static str) -> Self {
        Self {
            class: None,
            token_kind: None,
            window: None,
            limit: None,
            remaining: None,
            reset: None,
            place,
            own_header: false,
        }
    }
}
