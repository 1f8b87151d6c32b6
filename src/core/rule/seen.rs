//! One pass over the headers of an answer.

use std::time::Duration;

use http::HeaderMap;

use crate::core::moment::WallTime;
use crate::core::rule::claim::Claims;
use crate::core::rule::fact::Asked;
use crate::core::rule::header::{AXES, Axis, AxisRole, Headers, Listed, Means, ReadListed, When};
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
    fn read(&mut self, value: Option<u64>) {
        *self = match (*self, value) {
            (Self::Absent, Some(value)) => Self::Of(value),
            (Self::Of(known), Some(value)) if known == value => Self::Of(value),
            // Lines that contradict each other say nothing.
            _ => Self::Unreadable,
        };
    }

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
pub(crate) struct Seen {
    pub(crate) axes: [AxisSeen; AXES],
    pub(crate) date: Option<WallTime>,
    pub(crate) finer_wait: Option<(When, u8)>,
    pub(crate) wait: Option<(When, u8)>,
    /// Whether a wait stood there that could not be read.
    pub(crate) refused_wait: bool,
    verdict: Ballot,
    pub(crate) names: Claims,
    pub(crate) words: (RuleSet, RuleSet),
    pub(crate) listed: Listed,
    pub(crate) stream: bool,
}

impl Seen {
    /// Reads `map`. Words are looked up only when `asked`: on a success nobody does.
    pub(crate) fn read(headers: &Headers, map: &HeaderMap, asked: Option<Asked<'_>>) -> Self {
        let mut seen = Self::default();
        let mut read_listed: Option<ReadListed> = None;
        for (name, value) in map {
            let Some(row) = headers.names.find(name.as_str().as_bytes()).next() else { continue };
            let value = value.as_bytes();
            let axis = &mut seen.axes[usize::from(headers.axis_of[row]) % AXES];
            let row_number = row as u8;
            match headers.rows[row].means {
                Means::Limit(_, read) => axis.limit.read(read(value)),
                Means::Remaining(_, read) => axis.remaining.read(read(value)),
                Means::Reset(_, read) => latest(&mut axis.reset, read(value), row_number, headers),
                Means::LaterReset(_, read) => {
                    if axis.reset.is_none() {
                        axis.reset = read(value).map(|when| (when, row_number));
                    }
                }
                Means::Spent(_, read) => axis.spent = read(value).or(axis.spent),
                Means::FinerWait(read) => {
                    let when = read(value);
                    seen.refused_wait |= when.is_none();
                    latest(&mut seen.finer_wait, when.filter(|when| !when.is_zero()), row_number, headers);
                }
                Means::Wait(read) => {
                    let when = read(value);
                    seen.refused_wait |= when.is_none();
                    latest(&mut seen.wait, when, row_number, headers);
                }
                Means::Date(read) => seen.date = seen.date.or(read(value)),
                Means::Verdict(read) => seen.verdict = seen.verdict.and(read(value)),
                Means::Word(cut) => {
                    if let Some(asked) = asked {
                        let (table, user) = asked.word(cut(value));
                        seen.words = (seen.words.0 | table, seen.words.1 | user);
                    }
                }
                Means::Names(read) => seen.names = seen.names.and(read(value)),
                Means::Listed(read) => read_listed = Some(read),
                Means::Stream(read) => seen.stream |= read(value).unwrap_or(false),
            }
        }
        if let Some(read) = read_listed {
            seen.listed = read(map, None);
        }
        seen
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

    /// The axes that are exhausted and for whose sake a provider refuses.
    pub(crate) fn exhausted<'a>(&'a self, headers: &'a Headers) -> impl Iterator<Item = (usize, &'a Axis)> + 'a {
        headers
            .axes
            .iter()
            .flatten()
            .enumerate()
            .filter(|(slot, axis)| axis.role != AxisRole::Reserve && self.is_exhausted(*slot) == Some(true))
    }

    /// Whether an axis grants nothing at all.
    pub(crate) fn has_zero_limit(&self, headers: &Headers) -> bool {
        let zero =
            |(slot, axis): (usize, &Axis)| axis.role != AxisRole::Reserve && self.axes[slot].limit == Amount::Of(0);
        headers.axes.iter().flatten().enumerate().any(zero)
    }

    /// What the headers say of quotas.
    pub(crate) fn quotas(&self, headers: &Headers, now: &dyn Fn() -> WallTime) -> Quotas {
        let mut quotas = Quotas::default();
        for (slot, axis) in headers.axes.iter().enumerate() {
            let Some(axis) = axis else { break };
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
        for listed in self.listed.iter() {
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
        quotas
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
