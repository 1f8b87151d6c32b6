//! What a refused request is told.

use std::time::Duration;

use super::verdict::Throttle;
use crate::core::setting::{InvalidSetting, within};
use crate::core::signal::{LimitClass, TokenKind};

/// Which wait a refused request is told, seen from the true one: how long until this request would fit.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
#[non_exhaustive]
pub enum RetryAfter {
    /// None at all.
    None,
    /// The true wait.
    Exact,
    /// The true wait, rounded up to whole seconds.
    #[default]
    WholeSeconds,
    /// No wait; only the quota headers tell when the quota is whole again, which is later than need be.
    ResetOnly,
    /// A wrong one: the true wait times a factor (0 to 1,000), plus a constant (0 to 1 day).
    Times {
        /// The factor.
        factor: f64,
        /// The constant.
        plus: Duration,
    },
    /// Always the same (0 to 31 days), whatever is true.
    Fixed(Duration),
}

/// What one refused request is told.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Told {
    /// The class, or [`LimitClass::Unknown`] where the answer does not name it.
    pub class: LimitClass,
    /// The token side, where the class is told.
    pub token_kind: Option<TokenKind>,
    /// The wait stated outright.
    pub wait: Option<Duration>,
    /// The wait that only the quota headers tell.
    pub reset: Option<Duration>,
}

impl RetryAfter {
    /// What `throttle` is told. Spend and overload are told like any other, but have no true wait to tell of: only
    /// [`RetryAfter::Fixed`] states one.
    #[must_use]
    pub fn tell(&self, throttle: &Throttle, class_readable: bool) -> Told {
        let wait = match *self {
            Self::None | Self::ResetOnly => None,
            Self::Exact => throttle.wait,
            Self::WholeSeconds => throttle.wait.map(whole_seconds),
            Self::Times { factor, plus } => throttle.wait.map(|wait| times(wait, factor).saturating_add(plus)),
            Self::Fixed(wait) => throttle.larger_than_limit.is_none().then_some(wait),
        };
        Told {
            class: if class_readable { throttle.class } else { LimitClass::Unknown },
            token_kind: throttle.token_kind().filter(|_| class_readable),
            wait,
            reset: throttle.replenished.filter(|_| *self == Self::ResetOnly),
        }
    }

    /// Refuses settings outside their range.
    ///
    /// # Errors
    /// Names the field, its value and what is allowed.
    pub fn check(&self) -> Result<(), InvalidSetting> {
        match *self {
            Self::Times { factor, plus } => {
                within("retry_after.times", factor, 0.0..=1_000.0, "0 to 1000")?;
                within("retry_after.plus", plus, Duration::ZERO..=DAY, "0 to 1 day")
            }
            Self::Fixed(wait) => within("retry_after.fixed", wait, Duration::ZERO..=31 * DAY, "0 to 31 days"),
            _ => Ok(()),
        }
    }
}

const DAY: Duration = Duration::from_secs(86_400);

/// Rounded up to whole seconds.
pub(crate) fn whole_seconds(wait: Duration) -> Duration {
    Duration::from_secs(wait.as_secs().saturating_add(u64::from(wait.subsec_nanos() > 0)))
}

fn times(wait: Duration, factor: f64) -> Duration {
    Duration::try_from_secs_f64(wait.as_secs_f64() * factor).unwrap_or(Duration::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn throttle() -> Throttle {
        let (wait, replenished) = (Some(Duration::from_millis(1_200)), Some(Duration::from_secs(9)));
        Throttle { wait, replenished, ..Throttle::of(LimitClass::RequestRate) }
    }

    #[test]
    fn each_way_tells_its_own_wait() {
        let told = |way: RetryAfter| way.tell(&throttle(), true);
        assert_eq!(told(RetryAfter::None).wait, None);
        assert_eq!(told(RetryAfter::Exact).wait, Some(Duration::from_millis(1_200)));
        assert_eq!(told(RetryAfter::WholeSeconds).wait, Some(Duration::from_secs(2)));
        assert_eq!(told(RetryAfter::Fixed(Duration::from_secs(60))).wait, Some(Duration::from_secs(60)));
        let reset_only = told(RetryAfter::ResetOnly);
        assert_eq!((reset_only.wait, reset_only.reset), (None, Some(Duration::from_secs(9))));
        let wrong = RetryAfter::Times { factor: 5.0, plus: Duration::from_secs(10) };
        assert_eq!(told(wrong).wait, Some(Duration::from_secs(16)));
    }

    #[test]
    fn an_unreadable_class_keeps_its_wait() {
        let told = RetryAfter::Exact.tell(&throttle(), false);
        assert_eq!((told.class, told.token_kind), (LimitClass::Unknown, None));
        assert!(told.wait.is_some());
    }
}
