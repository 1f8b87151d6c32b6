//! Settings that were refused.

use std::fmt;

/// A setting outside its range, refused when the thing it belongs to is built.
///
/// Displays as `policy.base is 0ns; allowed: 1ms to 1h`.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct InvalidSetting {
    /// The field, with what it belongs to: `policy.base`.
    pub field: &'static str,
    /// The value that was given.
    pub value: String,
    /// What is allowed, in words.
    pub allowed: &'static str,
}

impl InvalidSetting {
    /// A refusal of `value` for `field`.
    pub(crate) fn new(field: &'static str, value: impl fmt::Debug, allowed: &'static str) -> Self {
        Self { field, value: format!("{value:?}"), allowed }
    }
}

impl fmt::Display for InvalidSetting {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} is {}; allowed: {}", self.field, self.value, self.allowed)
    }
}

impl std::error::Error for InvalidSetting {}

/// Refuses `value` unless `allowed_range` holds it.
pub(crate) fn within<T: PartialOrd + fmt::Debug>(
    field: &'static str,
    value: T,
    allowed_range: impl std::ops::RangeBounds<T>,
    allowed: &'static str,
) -> Result<(), InvalidSetting> {
    if allowed_range.contains(&value) { Ok(()) } else { Err(InvalidSetting::new(field, value, allowed)) }
}
