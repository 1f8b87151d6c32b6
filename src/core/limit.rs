//! A quota the application knows of.

use std::time::Duration;

use crate::core::setting::{InvalidSetting, within};
use crate::core::signal::{Dimension, QuotaWindow};

/// A quota as configured: always the whole pool's, never divided by the number of replicas. What headers say beats it.
///
/// ```
/// use std::time::Duration;
/// use forbear::Limit;
/// let limit = Limit::requests_per_minute(1_000);
/// assert_eq!(limit.window(), Duration::from_secs(60));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limit {
    dimension: Dimension,
    amount: u64,
    window: Duration,
}

const MINUTE: Duration = Duration::from_secs(60);
const DAY: Duration = Duration::from_secs(86_400);

impl Limit {
    /// Requests per minute.
    #[must_use]
    pub const fn requests_per_minute(amount: u64) -> Self {
        Self::per(Dimension::Requests, amount, MINUTE)
    }

    /// Tokens of both sides per minute.
    #[must_use]
    pub const fn tokens_per_minute(amount: u64) -> Self {
        Self::per(Dimension::Tokens, amount, MINUTE)
    }

    /// Tokens sent per minute.
    #[must_use]
    pub const fn input_tokens_per_minute(amount: u64) -> Self {
        Self::per(Dimension::InputTokens, amount, MINUTE)
    }

    /// Tokens received per minute.
    #[must_use]
    pub const fn output_tokens_per_minute(amount: u64) -> Self {
        Self::per(Dimension::OutputTokens, amount, MINUTE)
    }

    /// Requests per day.
    #[must_use]
    pub const fn requests_per_day(amount: u64) -> Self {
        Self::per(Dimension::Requests, amount, DAY)
    }

    /// Tokens of both sides per day.
    #[must_use]
    pub const fn tokens_per_day(amount: u64) -> Self {
        Self::per(Dimension::Tokens, amount, DAY)
    }

    /// `amount` of `dimension` in each `window`; the window may be 1 s to 31 days, the amount 1 to 10^12.
    ///
    /// Checked when the pool is built.
    ///
    /// ```
    /// use std::time::Duration;
    /// use forbear::{Dimension, Limit};
    /// // The Hub of Hugging Face counts in windows of five minutes.
    /// let limit = Limit::per(Dimension::Requests, 1_000, Duration::from_secs(300));
    /// assert_eq!(limit.amount(), 1_000);
    /// ```
    #[must_use]
    pub const fn per(dimension: Dimension, amount: u64, window: Duration) -> Self {
        Self { dimension, amount, window }
    }

    /// What is counted.
    #[must_use]
    pub const fn dimension(&self) -> Dimension {
        self.dimension
    }

    /// How much the window grants.
    #[must_use]
    pub const fn amount(&self) -> u64 {
        self.amount
    }

    /// How long the window is.
    #[must_use]
    pub const fn window(&self) -> Duration {
        self.window
    }

    /// The window as a label.
    #[must_use]
    pub fn quota_window(&self) -> QuotaWindow {
        match self.window {
            MINUTE => QuotaWindow::Minute,
            DAY => QuotaWindow::Day,
            _ => QuotaWindow::Other,
        }
    }

    pub(crate) fn check(&self) -> Result<(), InvalidSetting> {
        within("limit.amount", self.amount, 1..=1_000_000_000_000, "1 to 10^12")?;
        within("limit.window", self.window, Duration::from_secs(1)..=31 * DAY, "1s to 31 days")
    }
}
