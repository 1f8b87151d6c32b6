//! Numbers of a scenario, checked by name.
//!
//! All are read as JSON numbers, whole ones too: generators of scenarios write `200.0` as readily as `200`.

use std::ops::RangeInclusive;
use std::time::Duration;

use crate::core::setting::{InvalidSetting, within};

/// A field of the JSON and what was given for it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Number(pub(crate) &'static str, pub(crate) Option<f64>);

impl Number {
    /// The number, or `default`.
    pub(crate) fn within(
        self,
        default: f64,
        range: RangeInclusive<f64>,
        allowed: &'static str,
    ) -> Result<f64, InvalidSetting> {
        let number = self.1.unwrap_or(default);
        within(self.0, number, range, allowed)?;
        Ok(number)
    }

    /// A whole number, or none.
    pub(crate) fn whole(self, most: f64, allowed: &'static str) -> Result<Option<u64>, InvalidSetting> {
        let Some(number) = self.1 else { return Ok(None) };
        let whole = number.fract() == 0.0 && (1.0..=most).contains(&number);
        if whole { Ok(Some(number as u64)) } else { Err(InvalidSetting::new(self.0, number, allowed)) }
    }
}

/// A time in seconds, or `default`.
pub(crate) fn seconds(
    field: &'static str,
    given: Option<f64>,
    default: f64,
    range: RangeInclusive<f64>,
    allowed: &'static str,
) -> Result<Duration, InvalidSetting> {
    Number(field, given).within(default, range, allowed).map(Duration::from_secs_f64)
}
