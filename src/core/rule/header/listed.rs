//! What the IETF `RateLimit` fields of one answer say.

use std::time::Duration;

use crate::core::rule::header::When;
use crate::core::signal::{LimitClass, TokenKind};

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
