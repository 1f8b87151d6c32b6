//! What an answer means, in the engine's own words.

use std::time::Duration;

use crate::core::estimate::Usage;

/// Declares a closed set of words: the enum, its spelling in labels, and all its members.
macro_rules! words {
    ($(#[$outer:meta])* $name:ident { $($(#[$inner:meta])* $variant:ident => $word:literal,)* }) => {
        $(#[$outer])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
        #[allow(clippy::exhaustive_enums, reason = "the label set is closed and promised; a new word is a new schema")]
        pub enum $name { $($(#[$inner])* $variant,)* }

        impl $name {
            /// Every member, in label order.
            pub const ALL: &'static [Self] = &[$(Self::$variant,)*];

            /// The word as it stands in labels, spans and errors.
            #[must_use]
            pub const fn as_str(self) -> &'static str {
                match self { $(Self::$variant => $word,)* }
            }
        }

        impl std::fmt::Display for $name {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.pad(self.as_str())
            }
        }
    };
}
pub(crate) use words;

words! {
    /// Which kind of limit was hit. It comes from headers and body, not from the status; each class recovers differently.
    LimitClass {
        /// No limit: a success, or a failure of another kind.
        None => "none",
        /// Requests in a window shorter than a day.
        RequestRate => "request_rate",
        /// Tokens in a window shorter than a day.
        TokenThroughput => "token_throughput",
        /// Requests or tokens per day.
        Daily => "daily",
        /// Requests in flight at the same time.
        Concurrency => "concurrency",
        /// The provider itself is short of capacity; the caller's quota is not the cause.
        Overload => "overload",
        /// Credit, balance, budget or plan: a person must act.
        Spend => "spend",
        /// Throttled, but the answer does not say by which limit.
        Unknown => "unknown",
    }
}

words! {
    /// Which side of a call's tokens is meant.
    TokenKind {
        /// Tokens sent.
        Input => "input",
        /// Tokens received.
        Output => "output",
        /// Both together, or the side is not said.
        Total => "total",
    }
}

words! {
    /// Which level a limit belongs to. A provider table lists its own, widest first.
    Scope {
        /// Organisation, account, team or user.
        Org => "org",
        /// Project or workspace.
        Project => "project",
        /// Region or location.
        Region => "region",
        /// Deployment of a model.
        Deployment => "deployment",
        /// Model.
        Model => "model",
        /// API key.
        Key => "key",
        /// Endpoint or method.
        Endpoint => "endpoint",
    }
}

words! {
    /// What a quota counts.
    Dimension {
        /// Requests.
        Requests => "requests",
        /// Tokens of both sides.
        Tokens => "tokens",
        /// Tokens sent.
        InputTokens => "input_tokens",
        /// Tokens received.
        OutputTokens => "output_tokens",
    }
}

words! {
    /// The window a quota counts in.
    QuotaWindow {
        /// One minute.
        Minute => "minute",
        /// One day.
        Day => "day",
        /// Any other window.
        Other => "other",
    }
}

words! {
    /// The part of an answer in which something stood.
    Part {
        /// A header field.
        Header => "header",
        /// The body.
        Body => "body",
    }
}

/// A wait the provider stated, and exactly where it stood. A floor: nobody retries earlier than told.
///
/// ```
/// use std::time::Duration;
/// use forbear::core::signal::{Part, Signal, StatedDelay};
/// use forbear::LimitClass;
/// let stated = StatedDelay::new(Duration::from_secs(20), Part::Header, "retry-after");
/// let signal = Signal::throttle(LimitClass::RequestRate).stating(stated);
/// assert!(signal.retryable && signal.is_throttle());
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct StatedDelay {
    /// How long to wait, from the answer's arrival; zero when the stated instant has passed.
    pub delay: Duration,
    /// Header or body.
    pub part: Part,
    /// The header's lower-case name, or `body.` and the path of keys: one of the tables' own fixed words, never a
    /// string out of the answer.
    pub place: &'static str,
}

impl StatedDelay {
    /// A wait of `delay` read at `place` of `part`.
    #[must_use]
    pub const fn new(delay: Duration, part: Part, place: &'static str) -> Self {
        Self { delay, part, place }
    }
}

/// What one answer means. Small and `Copy`: it holds no text of the answer.
///
/// Two words are kept apart: `retryable` is what the provider said, what a call does about it is a decision, which also knows
/// how much time is left.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Signal {
    /// Whether the answer is an error at all.
    pub failed: bool,
    /// Which limit was hit, if one was.
    pub class: LimitClass,
    /// The token side; only with [`LimitClass::TokenThroughput`] and daily token limits.
    pub token_kind: Option<TokenKind>,
    /// Could waiting alone, with the same request, help? What the *provider* said; what a call does about it is a
    /// [`Decision`](crate::core::decide::Decision).
    pub retryable: bool,
    /// Whether the same request may have had an effect although it failed (timeouts, broken connections, plain 5xx).
    pub ambiguous: bool,
    /// Whether the attempt ended by time, not by an answer.
    pub timed_out: bool,
    /// Whether the request alone is larger than the limit: waiting never helps.
    pub larger_than_limit: bool,
    /// The wait the provider stated.
    pub stated: Option<StatedDelay>,
    /// The level the limit belongs to, if the answer tells.
    pub scope: Option<Scope>,
    /// A part that should have stated delay or class and could not be read: the provider may have changed its spelling.
    pub unreadable: Option<Part>,
    /// The HTTP status, if there was one.
    pub status: Option<u16>,
}

impl Signal {
    /// A success.
    #[must_use]
    pub const fn success() -> Self {
        Self {
            failed: false,
            class: LimitClass::None,
            token_kind: None,
            retryable: false,
            ambiguous: false,
            timed_out: false,
            larger_than_limit: false,
            stated: None,
            scope: None,
            unreadable: None,
            status: None,
        }
    }

    /// A failure that is no throttle, retryable or not.
    #[must_use]
    pub const fn failure(retryable: bool) -> Self {
        Self { failed: true, retryable, ..Self::success() }
    }

    /// A throttle of this class; retryable unless it is [`LimitClass::Spend`].
    ///
    /// ```
    /// use forbear::{LimitClass, Signal};
    /// assert!(Signal::throttle(LimitClass::Overload).retryable);
    /// assert!(!Signal::throttle(LimitClass::Spend).retryable, "a person must act");
    /// ```
    #[must_use]
    pub const fn throttle(class: LimitClass) -> Self {
        Self { failed: true, class, retryable: !matches!(class, LimitClass::Spend), ..Self::success() }
    }

    /// The same with a stated wait.
    #[must_use]
    pub const fn stating(mut self, stated: StatedDelay) -> Self {
        self.stated = Some(stated);
        self
    }

    /// The same at this scope.
    #[must_use]
    pub const fn at(mut self, scope: Scope) -> Self {
        self.scope = Some(scope);
        self
    }

    /// Whether a limit was hit.
    #[must_use]
    pub const fn is_throttle(&self) -> bool {
        !matches!(self.class, LimitClass::None)
    }
}

/// What an answer says of one quota. Fields it does not tell are `None`.
///
/// Readings are the provider's own: of the whole pool, shared by all who use it, and as old as the answer they stood in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct QuotaReading {
    /// What is counted.
    pub dimension: Dimension,
    /// In which window.
    pub window: QuotaWindow,
    /// How much the window grants.
    pub limit: Option<u64>,
    /// How much is left.
    pub remaining: Option<u64>,
    /// How long until the window resets, from the answer's arrival.
    pub reset: Option<Duration>,
}

impl QuotaReading {
    /// A reading of which nothing is known yet.
    #[must_use]
    pub const fn new(dimension: Dimension, window: QuotaWindow) -> Self {
        Self { dimension, window, limit: None, remaining: None, reset: None }
    }
}

/// The quota readings of one answer: at most one per dimension and window, [`Quotas::CAPACITY`] in all. No allocation.
///
/// ```
/// use forbear::core::signal::{Dimension, QuotaWindow, Quotas};
/// let mut quotas = Quotas::default();
/// assert!(quotas.is_empty());
/// let reading = quotas.entry(Dimension::Requests, QuotaWindow::Minute).expect("there is room");
/// (reading.limit, reading.remaining) = (Some(1_000), Some(12));
/// assert_eq!(quotas.iter().count(), 1);
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Quotas {
    readings: [Option<QuotaReading>; Quotas::CAPACITY],
}

impl Quotas {
    /// The most readings one answer is asked for; no provider sends more.
    pub const CAPACITY: usize = 8;

    /// The reading of this quota, made if it is new; `None` when all places are taken.
    pub fn entry(&mut self, dimension: Dimension, window: QuotaWindow) -> Option<&mut QuotaReading> {
        let place =
            self.readings.iter().position(|r| r.is_none_or(|r| (r.dimension, r.window) == (dimension, window)))?;
        Some(self.readings[place].get_or_insert(QuotaReading::new(dimension, window)))
    }

    /// The readings, in the order they were found.
    pub fn iter(&self) -> impl Iterator<Item = &QuotaReading> {
        self.readings.iter().flatten()
    }

    /// Whether the answer said nothing of quotas.
    #[must_use]
    pub const fn is_empty(&self) -> bool {
        self.readings[0].is_none()
    }
}

/// All that one answer says: what happened, and the quotas beside it (on successes too).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Reading {
    /// What happened.
    pub signal: Signal,
    /// What it says of quotas.
    pub quotas: Quotas,
    /// The tokens a success says were used, where its body was looked at.
    pub used: Usage,
}

impl From<Signal> for Reading {
    fn from(signal: Signal) -> Self {
        Self { signal, quotas: Quotas { readings: [None; Quotas::CAPACITY] }, used: Usage::default() }
    }
}
