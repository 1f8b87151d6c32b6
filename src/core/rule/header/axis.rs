//! What several headers together describe.

use crate::core::signal::{Dimension, LimitClass, QuotaWindow, Scope, TokenKind};

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
