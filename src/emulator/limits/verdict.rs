//! What a request costs, and what becomes of it.

use std::time::Duration;

use super::episode::FailureKind;
use crate::core::signal::{Dimension, LimitClass, QuotaWindow, TokenKind};

/// What one request takes from the quotas.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[allow(clippy::exhaustive_structs, reason = "providers count these two sides")]
pub struct Cost {
    /// Tokens sent.
    pub input_tokens: u64,
    /// Tokens received. They are charged when the request is admitted, as providers do with the most it may answer.
    pub output_tokens: u64,
}

impl Cost {
    /// A request whose tokens nobody counts.
    #[must_use]
    pub const fn request() -> Self {
        Self::tokens(0, 0)
    }

    /// A request of so many tokens sent and received.
    #[must_use]
    pub const fn tokens(input_tokens: u64, output_tokens: u64) -> Self {
        Self { input_tokens, output_tokens }
    }
}

/// Which quota: what is counted, in which window.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[allow(clippy::exhaustive_structs, reason = "a quota is named by what it counts and its window")]
pub struct Axis {
    /// What is counted.
    pub dimension: Dimension,
    /// [`QuotaWindow::Minute`] is the model's window however long it is set; [`QuotaWindow::Day`] is its day.
    pub window: QuotaWindow,
}

impl Axis {
    /// What is counted, in the model's window.
    #[must_use]
    pub const fn minute(dimension: Dimension) -> Self {
        Self { dimension, window: QuotaWindow::Minute }
    }

    /// What is counted, in the model's day.
    #[must_use]
    pub const fn day(dimension: Dimension) -> Self {
        Self { dimension, window: QuotaWindow::Day }
    }

    /// The class a request is refused with when this quota is spent.
    #[must_use]
    pub const fn class(self) -> LimitClass {
        match (self.window, self.dimension) {
            (QuotaWindow::Day, _) => LimitClass::Daily,
            (_, Dimension::Requests) => LimitClass::RequestRate,
            _ => LimitClass::TokenThroughput,
        }
    }

    /// The side of the tokens it counts.
    #[must_use]
    pub const fn token_kind(self) -> Option<TokenKind> {
        match self.dimension {
            Dimension::Requests => None,
            Dimension::Tokens => Some(TokenKind::Total),
            Dimension::InputTokens => Some(TokenKind::Input),
            Dimension::OutputTokens => Some(TokenKind::Output),
        }
    }
}

/// A request refused by a limit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Throttle {
    /// The kind of limit.
    pub class: LimitClass,
    /// The quota that was spent; `None` where it is no quota (concurrency, overload, spend).
    pub axis: Option<Axis>,
    /// How much that quota grants in its window, or how many may be in flight.
    pub limit: Option<u64>,
    /// How long until this very request would fit if no other came; `None` where no time can tell: concurrency ends
    /// with another's answer, overload and spend with the provider's or a person's deed, too large a request never.
    pub wait: Option<Duration>,
    /// How long until the quota is whole again.
    pub replenished: Option<Duration>,
    /// What the request needed of it, when it needed more than the quota ever grants.
    pub larger_than_limit: Option<u64>,
}

impl Throttle {
    pub(super) const fn of(class: LimitClass) -> Self {
        Self { class, axis: None, limit: None, wait: None, replenished: None, larger_than_limit: None }
    }

    /// The token side of the quota that was spent.
    #[must_use]
    pub fn token_kind(&self) -> Option<TokenKind> {
        self.axis.and_then(Axis::token_kind)
    }
}

/// What becomes of a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(clippy::exhaustive_enums, reason = "served, refused or failed: there is nothing else")]
pub enum Verdict {
    /// It is served.
    Admitted,
    /// A limit refused it.
    Throttled(Throttle),
    /// It fails in another way.
    Failed(FailureKind),
}

impl Verdict {
    /// Whether the request is in flight now, so that [`Meter::finished`](super::Meter::finished) must follow.
    #[must_use]
    pub const fn is_in_flight(&self) -> bool {
        !matches!(self, Self::Throttled(_) | Self::Failed(FailureKind::Auth))
    }
}
