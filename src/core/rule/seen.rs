//! One pass over the headers of an answer.

use std::fmt;
use std::time::Duration;

use http::HeaderMap;

use crate::core::moment::WallTime;
use crate::core::rule::axis_seen::AxisSeen;
use crate::core::rule::claim::Claims;
use crate::core::rule::fact::Asked;
use crate::core::rule::header::{AXES, Axis, AxisRole, Headers, Listed, ListedQuota, Means, ReadListed, When};
use crate::core::rule::verdict::RuleSet;
use crate::core::signal::{Dimension, QuotaWindow, Quotas};

/// The provider's verdict on retrying, over several lines.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Ballot {
    Open,
    Given(bool),
    Contradictory,
}

/// What the headers of one answer say.
#[derive(Debug)]
pub(crate) struct Seen<'m> {
    pub(crate) axes: [AxisSeen; AXES],
    /// The axes of which anything was told, a bit each.
    told: u16,
    /// Those of them that are exhausted and for whose sake a provider refuses.
    exhausted: u16,
    /// Whether an axis grants nothing at all.
    grants_nothing: bool,
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
    /// Nothing was said. No constant: its fields are set one by one, which spares copying the room for what is seldom there.
    #[inline]
    pub(crate) fn nothing() -> Self {
        Self {
            axes: [AxisSeen::NONE; AXES],
            told: 0,
            exhausted: 0,
            grants_nothing: false,
            date: None,
            finer_wait: None,
            wait: None,
            refused_wait: false,
            verdict: Ballot::Open,
            names: Claims::NONE,
            words: (0, 0),
            listed: None,
            stream: false,
            status: None,
        }
    }

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
                Means::Limit(_, read) => axis.read_limit(read(value)),
                Means::Remaining(_, read) => axis.read_remaining(read(value)),
                Means::Reset(_, read) => axis.read_reset(read(value), row_number, |row| headers.is_fallback(row)),
                Means::LaterReset(_, read) => axis.read_later_reset(read(value), row_number),
                Means::Spent(_, read) => axis.read_spent(read(value)),
                other => {
                    self.read_other(other, value, row_number, asked, &mut read_listed);
                    continue;
                }
            }
            self.told |= 1 << slot;
        }
        if let Some(read) = read_listed {
            self.listed = Some(read(map, None));
        }
        if asked.is_some() {
            self.sum_up(headers);
        }
    }

    /// Sums up what an error is judged by.
    fn sum_up(&mut self, headers: &Headers) {
        for (slot, axis) in self.told_axes(headers) {
            let seen = &self.axes[slot];
            if axis.role != AxisRole::Reserve {
                self.exhausted |= u16::from(seen.is_exhausted() == Some(true)) << slot;
                self.grants_nothing |= seen.limit() == Some(0);
            }
        }
    }

    /// Reads a header that describes no axis.
    fn read_other(
        &mut self,
        means: &Means,
        value: &'m [u8],
        row: u8,
        asked: Option<Asked<'_>>,
        read_listed: &mut Option<ReadListed>,
    ) {
        match *means {
            Means::FinerWait(read) if asked.is_some() => {
                let when = read(value);
                self.refused_wait |= when.is_none();
                keep_later(&mut self.finer_wait, when.filter(|when| !when.is_zero()), row);
            }
            Means::Wait(read) if asked.is_some() => {
                let when = read(value);
                self.refused_wait |= when.is_none();
                keep_later(&mut self.wait, when, row);
            }
            // Of several lines the first that can be read counts.
            Means::Date(read) if self.date().is_none() => self.date = Some(Late { value, read }),
            Means::Verdict(read) if asked.is_some() => self.verdict = self.verdict.and(read(value)),
            Means::Pushback(read) if asked.is_some() => match read(value) {
                Some(when) => keep_later(&mut self.wait, Some(when), row),
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

    /// The axes of which the headers tell anything, in the order of the table.
    pub(crate) fn told_axes<'a>(&self, headers: &'a Headers) -> impl Iterator<Item = (usize, &'a Axis)> + use<'a> {
        axes(self.told, headers)
    }

    /// The axes that are exhausted and for whose sake a provider refuses.
    pub(crate) fn exhausted<'a>(&self, headers: &'a Headers) -> impl Iterator<Item = &'a Axis> + use<'a> {
        axes(self.exhausted, headers).map(|(_, axis)| axis)
    }

    /// Whether any is.
    pub(crate) const fn is_any_exhausted(&self) -> bool {
        self.exhausted != 0
    }

    /// Whether an axis grants nothing at all.
    pub(crate) const fn grants_nothing(&self) -> bool {
        self.grants_nothing
    }

    /// Whether there are no IETF fields.
    pub(crate) const fn lists_nothing(&self) -> bool {
        self.listed.is_none()
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
            let (limit, remaining, reset) = (seen.limit(), seen.remaining(), seen.reset());
            if limit.is_none() && remaining.is_none() && reset.is_none() {
                continue;
            }
            if let Some(quota) = quotas.entry(dimension, window) {
                quota.limit = limit;
                quota.remaining = remaining;
                quota.reset = reset.map(|(when, _)| when.from(now));
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

/// The axes of these slots.
fn axes<'a>(mut slots: u16, headers: &'a Headers) -> impl Iterator<Item = (usize, &'a Axis)> + use<'a> {
    std::iter::from_fn(move || {
        let slot = slots.trailing_zeros() as usize;
        slots &= slots.wrapping_sub(1);
        Some((slot, headers.axes.get(slot)?.as_ref()?))
    })
}

/// Keeps the later of two ends.
fn keep_later(kept: &mut Option<(When, u8)>, new: Option<When>, row: u8) {
    let Some(new) = new else { return };
    *kept = Some(match *kept {
        Some((known, by)) => (known.or_later(new), by),
        None => (new, row),
    });
}
