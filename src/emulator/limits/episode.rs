//! What goes wrong beside the quotas, and when.

use std::time::Duration;

use crate::core::dice::Dice;
use crate::core::moment::Moment;
use crate::core::setting::{InvalidSetting, within};
use crate::core::signal::words;

words! {
    /// How a request fails that no limit refused.
    FailureKind {
        /// The provider answers 500.
        ServerError => "server_error",
        /// No answer comes; the connection stays open.
        Timeout => "timeout",
        /// The provider answers 401, before it looks at any limit.
        Auth => "auth",
        /// The connection breaks without an answer.
        Broken => "broken",
        /// The provider answers 200, and the body is an error.
        ErrorInSuccess => "error_in_success",
        /// The provider answers 200 with a stream of events, the second of which is an error.
        ErrorInStream => "error_in_stream",
    }
}

/// A span of time, from `from` until just before `until`, both counted from the clock's start.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(clippy::exhaustive_structs, reason = "a span has two ends")]
pub struct Period {
    /// Its first instant.
    pub from: Duration,
    /// The first instant after it.
    pub until: Duration,
}

impl Period {
    /// All the time there is.
    pub const ALWAYS: Self = Self { from: Duration::ZERO, until: Duration::MAX };

    /// From `from` until just before `until`.
    #[must_use]
    pub const fn new(from: Duration, until: Duration) -> Self {
        Self { from, until }
    }

    /// Whether `now` lies in it.
    #[must_use]
    pub fn holds(&self, now: Moment) -> bool {
        let now = now.elapsed_since_start();
        self.from <= now && now < self.until
    }

    pub(super) fn check(&self, field: &'static str) -> Result<(), InvalidSetting> {
        if self.from < self.until {
            return Ok(());
        }
        Err(InvalidSetting::new(field, self, "from earlier than until"))
    }
}

/// A time in which the provider is short of capacity and turns a share of all requests away.
#[derive(Clone, Copy, Debug, PartialEq)]
#[allow(clippy::exhaustive_structs, reason = "an episode is a period and a share")]
pub struct Overload {
    /// When.
    pub period: Period,
    /// The share of requests turned away, 0 to 1.
    pub share: f64,
}

/// A time in which a share of all requests fails in some other way.
#[derive(Clone, Copy, Debug, PartialEq)]
#[allow(clippy::exhaustive_structs, reason = "an episode is a kind, a period and a share")]
pub struct Failure {
    /// How.
    pub kind: FailureKind,
    /// When.
    pub period: Period,
    /// The share of requests that fail, 0 to 1.
    pub share: f64,
}

impl Overload {
    pub(super) fn check(&self) -> Result<(), InvalidSetting> {
        self.period.check("limits.overload.period")?;
        within("limits.overload.share", self.share, 0.0..=1.0, "0 to 1")
    }
}

impl Failure {
    pub(super) fn check(&self) -> Result<(), InvalidSetting> {
        self.period.check("limits.failures.period")?;
        within("limits.failures.share", self.share, 0.0..=1.0, "0 to 1")
    }
}

/// Whether one of `share` is hit. No die is rolled where the answer is certain, so that an episode which is over, or
/// whole, leaves the order of the dice alone.
pub(super) fn hits(share: f64, dice: &mut impl Dice) -> bool {
    share >= 1.0 || (share > 0.0 && dice.unit() <= share)
}
