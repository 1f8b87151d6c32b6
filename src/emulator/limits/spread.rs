//! Times that are drawn.

use std::time::Duration;

use crate::core::dice::Dice;
use crate::core::setting::{InvalidSetting, within};

/// A length of time, uniform between two ends. From a [`Duration`] it is always that one.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Spread {
    from: Duration,
    to: Duration,
}

impl Spread {
    /// Uniform from `from` to `to`; 0 to 1 day, and `from` not above `to`.
    #[must_use]
    pub const fn between(from: Duration, to: Duration) -> Self {
        Self { from, to }
    }

    /// One of them. No die is rolled when there is but one.
    pub fn draw(&self, dice: &mut impl Dice) -> Duration {
        self.from + dice_within(self.to.saturating_sub(self.from), dice)
    }

    /// Refuses a spread outside its range.
    ///
    /// # Errors
    /// Names `field`, its value and what is allowed.
    pub fn check(&self, field: &'static str) -> Result<(), InvalidSetting> {
        within(field, self.to, self.from..=Duration::from_secs(86_400), "0 to 1 day, from not above to")
    }
}

impl From<Duration> for Spread {
    fn from(always: Duration) -> Self {
        Self::between(always, always)
    }
}

fn dice_within(width: Duration, dice: &mut impl Dice) -> Duration {
    if width.is_zero() { Duration::ZERO } else { dice.within(width) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::core::dice::SeededDice;

    #[test]
    fn a_draw_lies_between_the_ends_and_a_point_is_itself() {
        let (from, to) = (Duration::from_secs(1), Duration::from_secs(3));
        let mut dice = SeededDice::new(3);
        for _ in 0..1_000 {
            let drawn = Spread::between(from, to).draw(&mut dice);
            assert!((from..=to).contains(&drawn));
        }
        assert_eq!(Spread::from(from).draw(&mut dice), from);
        assert!(Spread::between(to, from).check("service_time").is_err());
    }
}
