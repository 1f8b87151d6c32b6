//! Settings that were refused.

use std::fmt;

/// A setting outside its range, refused when the thing it belongs to is built.
///
/// Displays as `policy.base is 0ns; allowed: 1ms to 1h (policy "chat")`.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct InvalidSetting {
    /// The field, with what it belongs to: `policy.base`.
    pub field: &'static str,
    /// The value that was given.
    pub value: String,
    /// What is allowed, in words.
    pub allowed: &'static str,
    /// Whose setting it is, where there is more than one that it may be: a policy by its name, a pool by its path.
    pub of: Option<String>,
}

impl InvalidSetting {
    /// A refusal of `value` for `field`.
    pub(crate) fn new(field: &'static str, value: impl fmt::Debug, allowed: &'static str) -> Self {
        Self::in_words(field, format!("{value:?}"), allowed)
    }

    /// A refusal of a value that is told in words.
    pub(crate) fn in_words(field: &'static str, value: String, allowed: &'static str) -> Self {
        Self { field, value, allowed, of: None }
    }

    /// The same, with whose setting it is: a kind of thing, and the name the application gave it, as far as a line of a log
    /// has room for it.
    pub(crate) fn of(mut self, kind: &str, name: &str) -> Self {
        let (shown, more) = match name.char_indices().nth(LONGEST_NAME) {
            Some((end, _)) => (&name[..end], "…"),
            None => (name, ""),
        };
        self.of = Some(format!("{kind} {shown:?}{more}"));
        self
    }
}

impl fmt::Display for InvalidSetting {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} is {}; allowed: {}", self.field, self.value, self.allowed)?;
        self.of.as_ref().map_or(Ok(()), |of| write!(f, " ({of})"))
    }
}

impl std::error::Error for InvalidSetting {}

/// How much of a name is shown: as much as a policy's may have.
const LONGEST_NAME: usize = 64;

/// Refuses `value` unless `allowed_range` holds it.
pub(crate) fn within<T: PartialOrd + fmt::Debug>(
    field: &'static str,
    value: T,
    allowed_range: impl std::ops::RangeBounds<T>,
    allowed: &'static str,
) -> Result<(), InvalidSetting> {
    if allowed_range.contains(&value) { Ok(()) } else { Err(InvalidSetting::new(field, value, allowed)) }
}
