//! The settings of a provider's limits.

use std::time::Duration;

use super::episode::{Failure, Overload, Period};
use super::verdict::Axis;
use crate::core::moment::Moment;
use crate::core::setting::{InvalidSetting, within};
use crate::core::signal::{Dimension, QuotaWindow, words};

words! {
    /// How a window shorter than a day is counted.
    Algorithm {
        /// A level that refills steadily and holds at most a burst.
        TokenBucket => "token_bucket",
        /// A count that starts anew at each boundary.
        FixedWindow => "fixed_window",
        /// Never more than the quota in any span of one window.
        SlidingWindow => "sliding_window",
    }
}

const MINUTE: Duration = Duration::from_secs(60);
const DAY: Duration = Duration::from_secs(86_400);
const AMOUNT: &str = "1 to 10^12, or none";

/// What a provider allows. Every limit is off until it is set; `None` takes one off again.
///
/// | setting | default | allowed |
/// |---|---|---|
/// | quotas | none | 1 to 10^12 |
/// | `concurrency` | none | 1 to 10^6 |
/// | `window` | 60 s | 1 ms to 31 days |
/// | `algorithm` | token bucket | |
/// | `burst` | the whole window | 0 to the window |
/// | `first_boundary_after` | the window | 0 to the window |
/// | `day`, `day_ends_at` | 24 h after the start | 1 ms to 31 days |
/// | `throttled_attempts_count` | false | |
#[derive(Clone, Debug, PartialEq)]
pub struct Limits {
    requests_per_minute: Option<u64>,
    tokens_per_minute: Option<u64>,
    input_tokens_per_minute: Option<u64>,
    output_tokens_per_minute: Option<u64>,
    requests_per_day: Option<u64>,
    tokens_per_day: Option<u64>,
    day_ends_at: Option<Duration>,
    burst: Option<Duration>,
    phase: Duration,
    pub(super) concurrency: Option<u32>,
    pub(super) day: Duration,
    pub(super) window: Duration,
    pub(super) algorithm: Algorithm,
    pub(super) throttled_attempts_count: bool,
    pub(super) overload: Vec<Overload>,
    pub(super) spend: Vec<Period>,
    pub(super) failures: Vec<Failure>,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            requests_per_minute: None,
            tokens_per_minute: None,
            input_tokens_per_minute: None,
            output_tokens_per_minute: None,
            requests_per_day: None,
            tokens_per_day: None,
            day_ends_at: None,
            burst: None,
            phase: Duration::ZERO,
            concurrency: None,
            day: DAY,
            window: MINUTE,
            algorithm: Algorithm::TokenBucket,
            throttled_attempts_count: false,
            overload: Vec::new(),
            spend: Vec::new(),
            failures: Vec::new(),
        }
    }
}

/// Setters of one shape: the documentation, the name, the type of what is set.
macro_rules! setters {
    ($($(#[$doc:meta])* $name:ident($field:ident): $type:ty;)*) => {
        $($(#[$doc])* #[must_use] pub fn $name(mut self, $name: impl Into<$type>) -> Self {
            self.$field = $name.into();
            self
        })*
    };
}

impl Limits {
    /// No limit at all.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    setters! {
        /// Requests in each [`Limits::window`].
        requests_per_minute(requests_per_minute): Option<u64>;
        /// Tokens of both sides in each [`Limits::window`].
        tokens_per_minute(tokens_per_minute): Option<u64>;
        /// Tokens sent in each [`Limits::window`].
        input_tokens_per_minute(input_tokens_per_minute): Option<u64>;
        /// Tokens received in each [`Limits::window`].
        output_tokens_per_minute(output_tokens_per_minute): Option<u64>;
        /// Requests in each [`Limits::day`].
        requests_per_day(requests_per_day): Option<u64>;
        /// Tokens of both sides in each [`Limits::day`].
        tokens_per_day(tokens_per_day): Option<u64>;
        /// When the first day ends, from the start; one [`Limits::day`] by default.
        day_ends_at(day_ends_at): Option<Duration>;
        /// How long a day is: 24 h; shorter for a demonstration.
        day(day): Duration;
        /// Requests in flight at the same time.
        concurrency(concurrency): Option<u32>;
        /// How long the "minute" of the quotas is: 60 s; shorter for a demonstration.
        window(window): Duration;
        /// How the window is counted.
        algorithm(algorithm): Algorithm;
        /// How much of the window's quota a token bucket holds, as the time that brings it; at least one request. A
        /// request of more tokens than that passes when the bucket is full and leaves a debt.
        burst(burst): Option<Duration>;
        /// Where the boundaries of fixed windows lie: the first comes so long after the start.
        first_boundary_after(phase): Duration;
        /// Whether a request refused by a quota or by concurrency counts against the window's request quota.
        throttled_attempts_count(throttled_attempts_count): bool;
    }

    /// Adds a time in which a share (0 to 1) of all requests is turned away for want of capacity.
    #[must_use]
    pub fn overload(mut self, period: Period, share: f64) -> Self {
        self.overload.push(Overload { period, share });
        self
    }

    /// Adds a time in which the account may spend no more.
    #[must_use]
    pub fn spend(mut self, period: Period) -> Self {
        self.spend.push(period);
        self
    }

    /// Adds a time in which requests fail in some other way.
    #[must_use]
    pub fn failure(mut self, failure: Failure) -> Self {
        self.failures.push(failure);
        self
    }

    /// The same quotas, and nothing that goes wrong beside them.
    #[must_use]
    pub fn without_episodes(mut self) -> Self {
        self.overload.clear();
        self.spend.clear();
        self.failures.clear();
        self
    }

    /// Refuses settings outside their range.
    ///
    /// # Errors
    /// Names the field, its value and what is allowed.
    pub fn check(&self) -> Result<(), InvalidSetting> {
        let (least, most) = (Duration::from_millis(1), 31 * DAY);
        within("limits.window", self.window, least..=most, "1ms to 31 days")?;
        within("limits.day", self.day, least..=most, "1ms to 31 days")?;
        within("limits.burst", self.burst_length(), Duration::ZERO..=self.window, "0 to the window")?;
        within("limits.first_boundary_after", self.phase, Duration::ZERO..=self.window, "0 to the window")?;
        if let Some(end) = self.day_ends_at {
            within("limits.day_ends_at", end, least..=most, "1ms to 31 days")?;
        }
        if let Some(concurrency) = self.concurrency {
            within("limits.concurrency", concurrency, 1..=1_000_000, "1 to 10^6, or none")?;
        }
        for (axis, amount) in self.amounts() {
            within(field(axis), amount, 1..=1_000_000_000_000, AMOUNT)?;
        }
        self.overload.iter().try_for_each(Overload::check)?;
        self.spend.iter().try_for_each(|period| period.check("limits.spend"))?;
        self.failures.iter().try_for_each(Failure::check)
    }

    /// The quotas that are set, days first.
    pub(super) fn amounts(&self) -> impl Iterator<Item = (Axis, u64)> {
        [
            (Axis::day(Dimension::Requests), self.requests_per_day),
            (Axis::day(Dimension::Tokens), self.tokens_per_day),
            (Axis::minute(Dimension::Requests), self.requests_per_minute),
            (Axis::minute(Dimension::Tokens), self.tokens_per_minute),
            (Axis::minute(Dimension::InputTokens), self.input_tokens_per_minute),
            (Axis::minute(Dimension::OutputTokens), self.output_tokens_per_minute),
        ]
        .into_iter()
        .filter_map(|(axis, amount)| amount.map(|amount| (axis, amount)))
    }

    pub(super) fn burst_length(&self) -> Duration {
        self.burst.unwrap_or(self.window)
    }

    pub(super) fn first_boundary(&self) -> Moment {
        Moment::since_start(if self.phase.is_zero() { self.window } else { self.phase })
    }

    pub(super) fn first_day_end(&self) -> Moment {
        Moment::since_start(self.day_ends_at.unwrap_or(self.day))
    }
}

fn field(axis: Axis) -> &'static str {
    match (axis.window, axis.dimension) {
        (QuotaWindow::Day, Dimension::Requests) => "limits.requests_per_day",
        (QuotaWindow::Day, _) => "limits.tokens_per_day",
        (_, Dimension::Requests) => "limits.requests_per_minute",
        (_, Dimension::Tokens) => "limits.tokens_per_minute",
        (_, Dimension::InputTokens) => "limits.input_tokens_per_minute",
        (_, Dimension::OutputTokens) => "limits.output_tokens_per_minute",
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::emulator::limits::FailureKind;

    #[test]
    fn settings_out_of_range_are_refused_by_name() {
        let refused = |limits: Limits| limits.check().unwrap_err().field;
        let hour = Duration::from_secs(3_600);
        assert_eq!(refused(Limits::new().requests_per_minute(0)), "limits.requests_per_minute");
        assert_eq!(refused(Limits::new().tokens_per_day(u64::MAX)), "limits.tokens_per_day");
        assert_eq!(refused(Limits::new().window(Duration::ZERO)), "limits.window");
        assert_eq!(refused(Limits::new().burst(hour)), "limits.burst");
        assert_eq!(refused(Limits::new().concurrency(0)), "limits.concurrency");
        assert_eq!(refused(Limits::new().overload(Period::ALWAYS, f64::NAN)), "limits.overload.share");
        assert_eq!(refused(Limits::new().spend(Period::new(hour, hour))), "limits.spend");
        let failure = Failure { kind: FailureKind::Timeout, period: Period::ALWAYS, share: 1.5 };
        assert_eq!(refused(Limits::new().failure(failure)), "limits.failures.share");
    }

    #[test]
    fn none_takes_a_limit_off_again() {
        let limits = Limits::new().requests_per_minute(5).requests_per_minute(None);
        assert_eq!(limits, Limits::new());
    }
}
