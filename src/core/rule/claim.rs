//! What texts and identifiers say about the limit that was hit: which units, in which windows.

use crate::core::signal::{LimitClass, TokenKind};

/// What a limit counts, as a text names it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(clippy::exhaustive_enums, reason = "the set of bits below is made from it")]
pub enum Unit {
    /// Not said.
    Unsaid,
    /// Requests, calls, queries, images.
    Requests,
    /// Tokens, side not said or both.
    Tokens,
    /// Tokens sent.
    InputTokens,
    /// Tokens received.
    OutputTokens,
    /// Requests in flight.
    InFlight,
    /// Audio seconds, bytes: named, but no class is theirs.
    Other,
}

/// The window a limit counts in, as a text names it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(clippy::exhaustive_enums, reason = "the set of bits below is made from it")]
pub enum Span {
    /// Not said.
    Unsaid,
    /// Shorter than a day.
    Short,
    /// A day.
    Day,
}

/// The limits a text names: a set of (unit, window).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Claims(u32);

/// What [`Claims::verdict`] found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(clippy::exhaustive_enums, reason = "read by the engine alone")]
pub enum Named {
    /// No axis is named.
    Nothing,
    /// One axis is named, or the longest-lived of several.
    Limit(LimitClass, Option<TokenKind>),
    /// An axis without a class is named, or several of which none lives longer: which class was hit is not said.
    Several,
}

const UNITS: u32 = 7;
/// Every claim on [`Unit::Other`].
const OTHERS: u32 = (1 | 1 << UNITS | 1 << (2 * UNITS)) << Unit::Other as u32;

impl Claims {
    /// Nothing is named.
    pub const NONE: Self = Self(0);

    /// One claim.
    #[must_use]
    pub const fn of(unit: Unit, span: Span) -> Self {
        Self(1 << (span as u32 * UNITS + unit as u32))
    }

    /// Both sets together.
    #[must_use]
    pub const fn and(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }

    /// Whether nothing is named.
    #[must_use]
    pub const fn is_empty(self) -> bool {
        self.0 == 0
    }

    const fn has(self, unit: Unit, span: Span) -> bool {
        self.0 & Self::of(unit, span).0 != 0
    }

    /// Whether a window of a day is named.
    #[must_use]
    pub const fn names_a_day(self) -> bool {
        self.0 >> (Span::Day as u32 * UNITS) != 0
    }

    /// The side of the tokens named in any of `spans`.
    fn tokens(self, spans: &[Span]) -> Option<TokenKind> {
        let any = |unit| spans.iter().any(|&span| self.has(unit, span));
        match (any(Unit::Tokens), any(Unit::InputTokens), any(Unit::OutputTokens)) {
            (_, true, true) | (true, false, false) => Some(TokenKind::Total),
            (_, true, false) => Some(TokenKind::Input),
            (_, false, true) => Some(TokenKind::Output),
            (false, false, false) => None,
        }
    }

    /// The limit these claims name together. The longest-lived wins: a day beats a minute. Of several that live equally
    /// long none wins.
    #[must_use]
    pub fn verdict(self) -> Named {
        if self.is_empty() {
            return Named::Nothing;
        }
        let other = self.has(Unit::Other, Span::Short) || self.has(Unit::Other, Span::Unsaid);
        if other || self.has(Unit::Other, Span::Day) {
            let known = Self(self.0 & !OTHERS);
            // A longer-lived limit beside it still wins.
            let longer_lived = known.has(Unit::Requests, Span::Day) || known.tokens(&[Span::Day]).is_some();
            return if longer_lived && !self.has(Unit::Other, Span::Day) { known.verdict() } else { Named::Several };
        }
        if self.names_a_day() {
            let in_a_day = self.tokens(&[Span::Day]);
            let requests = self.has(Unit::Requests, Span::Day);
            // "Number of request tokens has exceeded your daily limit": the unit stands apart from the window.
            let apart = !requests && self.has(Unit::Unsaid, Span::Day);
            let kind = if apart { in_a_day.or_else(|| self.tokens(&[Span::Unsaid])) } else { in_a_day };
            return Named::Limit(LimitClass::Daily, if requests { None } else { kind });
        }
        let tokens = self.tokens(&[Span::Short, Span::Unsaid]);
        let requests = self.has(Unit::Requests, Span::Short) || self.has(Unit::Requests, Span::Unsaid);
        let in_flight = self.has(Unit::InFlight, Span::Short) || self.has(Unit::InFlight, Span::Unsaid);
        match (tokens, requests, in_flight) {
            (Some(kind), false, false) => Named::Limit(LimitClass::TokenThroughput, Some(kind)),
            (None, true, false) => Named::Limit(LimitClass::RequestRate, None),
            (None, false, true) => Named::Limit(LimitClass::Concurrency, None),
            // "hourly", "per 60s": a window without a unit counts requests.
            (None, false, false) if self.has(Unit::Unsaid, Span::Short) => Named::Limit(LimitClass::RequestRate, None),
            (None, false, false) => Named::Nothing,
            _ => Named::Several,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_longest_lived_limit_wins_and_equals_leave_it_open() {
        let minute_tokens = Claims::of(Unit::Tokens, Span::Short);
        let day_requests = Claims::of(Unit::Requests, Span::Day);
        assert_eq!(minute_tokens.and(day_requests).verdict(), Named::Limit(LimitClass::Daily, None));
        let minute_requests = Claims::of(Unit::Requests, Span::Short);
        assert_eq!(minute_tokens.and(minute_requests).verdict(), Named::Several);
        assert_eq!(Claims::NONE.verdict(), Named::Nothing);
    }

    #[test]
    fn both_sides_of_the_tokens_are_the_total() {
        let input = Claims::of(Unit::InputTokens, Span::Short);
        let both = input.and(Claims::of(Unit::OutputTokens, Span::Short));
        assert_eq!(input.verdict(), Named::Limit(LimitClass::TokenThroughput, Some(TokenKind::Input)));
        assert_eq!(both.verdict(), Named::Limit(LimitClass::TokenThroughput, Some(TokenKind::Total)));
    }
}
