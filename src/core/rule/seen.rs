//! One pass over the headers of an answer.

use std::fmt;
use std::time::Duration;

use http::HeaderMap;

use crate::core::moment::WallTime;
use crate::core::rule::claim::Claims;
use crate::core::rule::fact::Asked;
use crate::core::rule::header::{AXES, Axis, AxisRole, Headers, Listed, ListedQuota, Means, ReadListed, When};
use crate::core::rule::verdict::RuleSet;
use crate::core::signal::{Dimension, QuotaWindow, Quotas};

/// A number that may be absent or may have been refused: for "is it exhausted" these differ.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Amount {
    #[default]
    Absent,
    Unreadable,
    Of(u64),
}

impl Amount {
    /// Takes a value in; two that differ are no value.
    fn read(&mut self, value: Option<u64>) {
        *self = match (*self, value) {
            (Self::Absent, Some(value)) => Self::Of(value),
            (Self::Of(known), Some(value)) if known == value => Self::Of(value),
            // Lines that contradict each other say nothing.
            _ => Self::Unreadable,
        };
    }

    /// The value, if there is exactly one.
    fn known(self) -> Option<u64> {
        match self {
            Self::Of(value) => Some(value),
            _ => None,
        }
    }
}

/// What the headers say of one axis.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct AxisSeen {
    pub(crate) limit: Amount,
    pub(crate) remaining: Amount,
    /// When it resets, with the number of the row that told.
    pub(crate) reset: Option<(When, u8)>,
    /// `None`: the provider did not say it in words.
    spent: Option<bool>,
}

/// The provider's verdict on retrying, over several lines.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Ballot {
    #[default]
    Open,
    Given(bool),
    Contradictory,
}

/// What the headers of one answer say.
#[derive(Debug, Default)]
pub(crate) struct Seen<'m> {
    pub(crate) axes: [AxisSeen; AXES],
    /// The axes of which anything was told, a bit each.
    told: u16,
    date: Option<Late<'m, WallTime>>,
    pub(crate) finer_wait: Option<(When, u8)>,
    pub(crate) wait: Option<(When, u8)>,
    /// Whether a wait stood there that could not be read.
    pub(crate) refused_wait: bool,
    verdict: Ballot,
    pub(crate) names: Claims,
    pub(crate) words: (RuleSet, RuleSet),
    listed: Option<Listed>,
    pub(crate) stream: bool,
    pub(crate) status: Option<u16>,
}

/// A value that is read when somebody asks: a date costs more than all the rest.
#[derive(Clone, Copy)]
struct Late<'m, T> {
    value: &'m [u8],
    read: fn(&[u8]) -> Option<T>,
}

impl<T> fmt::Debug for Late<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a value not read yet")
    }
}

impl<'m> Seen<'m> {
    /// Reads `map`. What only an error or a body asks for is read when there is one: `asked`.
    pub(crate) fn read(&mut self, headers: &Headers, map: &'m HeaderMap, asked: Option<Asked<'_>>) {
        let mut read_listed: Option<ReadListed> = None;
        for (name, value) in map {
            let Some(row) = headers.names.latest(name.as_str().as_bytes()) else { continue };
            let value = value.as_bytes();
            let slot = usize::from(headers.axis_of[row]) % AXES;
            let axis = &mut self.axes[slot];
            let row_number = row as u8;
            match &headers.rows[row].means {
                Means::Limit(_, read) => axis.limit.read(read(value)),
                Means::Remaining(_, read) => axis.remaining.read(read(value)),
                Means::Reset(_, read) => latest(&mut axis.reset, read(value), row_number, headers),
                Means::LaterReset(_, read) => {
                    if axis.reset.is_none() {
                        axis.reset = read(value).map(|when| (when, row_number));
                    }
                }
                Means::Spent(_, read) => axis.spent = read(value).or(axis.spent),
                other => {
                    self.read_other(other, value, row_number, headers, asked, &mut read_listed);
                    continue;
                }
            }
            self.told |= 1 << slot;
        }
        if let Some(read) = read_listed {
            self.listed = Some(read(map, None));
        }
    }

    /// Reads a header that describes no axis.
    fn read_other(
        &mut self,
        means: &Means,
        value: &'m [u8],
        row: u8,
        headers: &Headers,
        asked: Option<Asked<'_>>,
        read_listed: &mut Option<ReadListed>,
    ) {
        match *means {
            Means::FinerWait(read) if asked.is_some() => {
                let when = read(value);
                self.refused_wait |= when.is_none();
                latest(&mut self.finer_wait, when.filter(|when| !when.is_zero()), row, headers);
            }
            Means::Wait(read) if asked.is_some() => {
                let when = read(value);
                self.refused_wait |= when.is_none();
                latest(&mut self.wait, when, row, headers);
            }
            // Of several lines the first that can be read counts.
            Means::Date(read) if self.date().is_none() => self.date = Some(Late { value, read }),
            Means::Verdict(read) if asked.is_some() => self.verdict = self.verdict.and(read(value)),
            Means::Pushback(read) if asked.is_some() => match read(value) {
                Some(when) => latest(&mut self.wait, Some(when), row, headers),
                None => self.verdict = self.verdict.and(Some(false)),
            },
            Means::Status(read) => self.status = self.status.or(read(value)),
            Means::Word(cut) => {
                if let Some(asked) = asked {
                    let (table, user) = asked.word(cut(value));
                    self.words = (self.words.0 | table, self.words.1 | user);
                }
            }
            Means::Names(read) if asked.is_some() => self.names = self.names.and(read(value)),
            Means::Listed(read) => *read_listed = Some(read),
            Means::Stream(read) if asked.is_some_and(|asked| asked.body) => {
                self.stream |= read(value).unwrap_or(false);
            }
            _ => {}
        }
    }

    /// The server's clock.
    pub(crate) fn date(&self) -> Option<WallTime> {
        self.date.and_then(|date| (date.read)(date.value))
    }

    /// The provider's own verdict on retrying, unless its lines contradict each other.
    pub(crate) fn verdict(&self) -> Option<bool> {
        match self.verdict {
            Ballot::Given(verdict) => Some(verdict),
            _ => None,
        }
    }

    /// Whether the headers alone show that this axis is exhausted; `None` when they do not tell.
    pub(crate) fn is_exhausted(&self, slot: usize) -> Option<bool> {
        let axis = &self.axes[slot];
        axis.spent.or(match axis.remaining {
            Amount::Absent => None,
            Amount::Of(0) => Some(true),
            _ => Some(false),
        })
    }

    /// The axes of which the headers tell anything, in the order of the table.
    pub(crate) fn told_axes<'a>(&self, headers: &'a Headers) -> impl Iterator<Item = (usize, &'a Axis)> + use<'a> {
        let mut left = self.told;
        std::iter::from_fn(move || {
            let slot = left.trailing_zeros() as usize;
            left &= left.wrapping_sub(1);
            Some((slot, headers.axes.get(slot)?.as_ref()?))
        })
    }

    /// The axes that are exhausted and for whose sake a provider refuses.
    pub(crate) fn exhausted<'a>(&'a self, headers: &'a Headers) -> impl Iterator<Item = (usize, &'a Axis)> + 'a {
        self.told_axes(headers)
            .filter(|(slot, axis)| axis.role != AxisRole::Reserve && self.is_exhausted(*slot) == Some(true))
    }

    /// Whether an axis grants nothing at all.
    pub(crate) fn has_zero_limit(&self, headers: &Headers) -> bool {
        self.told_axes(headers)
            .any(|(slot, axis)| axis.role != AxisRole::Reserve && self.axes[slot].limit == Amount::Of(0))
    }

    /// The quotas of the IETF fields.
    pub(crate) fn listed(&self) -> impl Iterator<Item = &ListedQuota> {
        self.listed.iter().flat_map(Listed::iter)
    }

    /// The exhausted ones.
    pub(crate) fn listed_exhausted(&self) -> impl Iterator<Item = &ListedQuota> {
        self.listed.iter().flat_map(Listed::exhausted)
    }

    /// Enters what the headers say of quotas.
    pub(crate) fn enter(&self, headers: &Headers, now: &dyn Fn() -> WallTime, quotas: &mut Quotas) {
        for (slot, axis) in self.told_axes(headers) {
            let (Some((dimension, window)), seen) = (axis.quota, &self.axes[slot]) else { continue };
            let (limit, remaining) = (seen.limit.known(), seen.remaining.known());
            if limit.is_none() && remaining.is_none() && seen.reset.is_none() {
                continue;
            }
            if let Some(quota) = quotas.entry(dimension, window) {
                quota.limit = limit;
                quota.remaining = remaining;
                quota.reset = seen.reset.map(|(when, _)| when.from(now));
            }
        }
        for listed in self.listed() {
            let dimension = if listed.token_kind.is_some() { Dimension::Tokens } else { Dimension::Requests };
            let window = match listed.window {
                Some(MINUTE) => QuotaWindow::Minute,
                Some(DAY) => QuotaWindow::Day,
                _ => QuotaWindow::Other,
            };
            if let Some(quota) = quotas.entry(dimension, window) {
                quota.limit = listed.limit;
                quota.remaining = listed.remaining;
                quota.reset = listed.reset.map(|when| when.from(now));
            }
        }
    }
}

const MINUTE: Duration = Duration::from_secs(60);
const DAY: Duration = Duration::from_secs(86_400);

impl Ballot {
    fn and(self, vote: Option<bool>) -> Self {
        match (self, vote) {
            (ballot, None) => ballot,
            (Self::Open, Some(vote)) => Self::Given(vote),
            (Self::Given(given), Some(vote)) if given == vote => Self::Given(given),
            _ => Self::Contradictory,
        }
    }
}

/// Keeps the later of two ends; what a fallback row told gives way.
fn latest(kept: &mut Option<(When, u8)>, new: Option<When>, row: u8, headers: &Headers) {
    let Some(new) = new else { return };
    let by_fallback = |by: u8| matches!(headers.rows[usize::from(by)].means, Means::LaterReset(..));
    *kept = match *kept {
        Some((known, by)) if !by_fallback(by) => Some((known.or_later(new), by)),
        _ => Some((new, row)),
    };
}
