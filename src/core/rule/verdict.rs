//! Rules: conditions on an answer, and the opinion they lead to.
//!
//! A rule that matches has an opinion on some of: class, retrying, scope; on the rest it has none, which is not the same
//! as "no". The general rules run first, the provider's after them, the user's last; a later opinion replaces an earlier
//! one.

mod rules;

pub(crate) use crate::core::rule::verdict::rules::RuleSet;
pub use crate::core::rule::verdict::rules::{RULES, Rules};
use crate::core::signal::{LimitClass, Scope, TokenKind};

/// Something an answer shows, beside status, words and phrases.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Shown {
    /// An axis described by headers is exhausted.
    Exhausted,
    /// A header states a wait.
    WaitInHeader,
    /// The IETF `RateLimit` field is there and can be read.
    RateLimitField,
}

/// What a rule says about the limit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(clippy::exhaustive_enums, reason = "read by the engine alone")]
pub enum Opinion {
    /// None.
    NoOpinion,
    /// It is this limit.
    Limit(LimitClass, Option<TokenKind>),
    /// It is a limit; texts and headers tell which.
    SomeLimit,
}

/// The status that stands for an error inside a success which repeats no status of its own.
pub const INSIDE_A_SUCCESS: u16 = 200;

/// A row: what must be shown, all of it, and what follows.
///
/// ```
/// use forbear::core::rule::verdict::Rule;
/// use forbear::{LimitClass, Scope};
/// // A 429 whose text speaks of the account is the account's limit, on requests.
/// const RULE: Rule = Rule::phrase(&["this account"]).on(&[429]).limit(LimitClass::RequestRate).scope(Scope::Org);
/// assert_eq!(RULE.statuses, [429]);
/// ```
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct Rule {
    /// Any of these statuses; empty: any at all.
    pub statuses: &'static [u16],
    /// Any of these words in a field or header that holds words; empty: not asked.
    pub words: &'static [&'static str],
    /// Any of these phrases, upper and lower case alike, at the start of a word; empty: not asked.
    pub phrases: &'static [&'static str],
    /// All of these.
    pub shown: &'static [Shown],
    /// Asked only where nothing else told the limit.
    pub otherwise: bool,
    /// The limit.
    pub limit: Opinion,
    /// Could waiting help? `None`: no opinion.
    pub retry: Option<bool>,
    /// The level; `None`: no opinion.
    pub scope: Option<Scope>,
}

impl Rule {
    const ANY: Self = Self {
        statuses: &[],
        words: &[],
        phrases: &[],
        shown: &[],
        otherwise: false,
        limit: Opinion::NoOpinion,
        retry: None,
        scope: None,
    };

    /// A rule about answers with one of these statuses.
    #[must_use]
    pub const fn status(statuses: &'static [u16]) -> Self {
        Self { statuses, ..Self::ANY }
    }

    /// A rule about answers that show one of these words.
    #[must_use]
    pub const fn word(words: &'static [&'static str]) -> Self {
        Self { words, ..Self::ANY }
    }

    /// A rule about answers that show one of these phrases.
    #[must_use]
    pub const fn phrase(phrases: &'static [&'static str]) -> Self {
        Self { phrases, ..Self::ANY }
    }

    /// The same, asked only where nothing else told the limit.
    ///
    /// For a provider's last resort: "resource exhausted" without any other sign is overload with one, an unknown limit with another.
    #[must_use]
    pub const fn otherwise(mut self) -> Self {
        self.otherwise = true;
        self
    }

    /// And one of these statuses.
    #[must_use]
    pub const fn on(mut self, statuses: &'static [u16]) -> Self {
        self.statuses = statuses;
        self
    }

    /// And one of these phrases.
    #[must_use]
    pub const fn saying(mut self, phrases: &'static [&'static str]) -> Self {
        self.phrases = phrases;
        self
    }

    /// And all of these.
    #[must_use]
    pub const fn showing(mut self, shown: &'static [Shown]) -> Self {
        self.shown = shown;
        self
    }

    /// Then it is this limit.
    #[must_use]
    pub const fn limit(mut self, class: LimitClass) -> Self {
        let kind = match class {
            LimitClass::TokenThroughput => Some(TokenKind::Total),
            _ => None,
        };
        self.limit = Opinion::Limit(class, kind);
        self
    }

    /// Then it is this limit on this side of the tokens.
    #[must_use]
    pub const fn tokens(mut self, class: LimitClass, kind: TokenKind) -> Self {
        self.limit = Opinion::Limit(class, Some(kind));
        self
    }

    /// Then it is a limit; texts and headers tell which.
    ///
    /// For answers that are a throttle under a status that is none by itself: a 200, a 400, a 403. Texts, fields and exhausted axes
    /// are then asked which limit it was.
    #[must_use]
    pub const fn some_limit(mut self) -> Self {
        self.limit = Opinion::SomeLimit;
        self
    }

    /// Then waiting can help.
    #[must_use]
    pub const fn retry(mut self) -> Self {
        self.retry = Some(true);
        self
    }

    /// Then waiting cannot help.
    #[must_use]
    pub const fn stop(mut self) -> Self {
        self.retry = Some(false);
        self
    }

    /// Then it belongs to this level.
    ///
    /// Decides which level of a pool's path is shut. Where no rule and no header names one, the caller's own pool is.
    #[must_use]
    pub const fn scope(mut self, scope: Scope) -> Self {
        self.scope = Some(scope);
        self
    }
}
