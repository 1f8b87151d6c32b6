//! Chance as an argument, so that every run can be repeated.

use std::time::Duration;

/// A source of uniformly distributed numbers.
pub trait Dice {
    /// The next number, uniform over all of `u64`.
    fn roll(&mut self) -> u64;

    /// The next number, uniform in (0, 1]: never zero, so that nothing drawn from it is a zero wait.
    fn unit(&mut self) -> f64 {
        // 53 bits are what an f64 holds exactly.
        ((self.roll() >> 11) + 1) as f64 / (1u64 << 53) as f64
    }

    /// A duration, uniform in (0, `upto`] and at least one nanosecond, unless `upto` is zero.
    fn within(&mut self, upto: Duration) -> Duration {
        Duration::from_nanos(self.nanos_within(u64::try_from(upto.as_nanos()).unwrap_or(u64::MAX)))
    }

    /// Nanoseconds, uniform in 1..=`upto`, unless `upto` is zero.
    fn nanos_within(&mut self, upto: u64) -> u64 {
        if upto == 0 {
            return 0;
        }
        // The high half of the product maps a u64 onto 0..upto without division; the bias is below 2^-40 for a day.
        let product = u128::from(self.roll()) * u128::from(upto);
        (product >> 64) as u64 + 1
    }
}

impl<D: Dice + ?Sized> Dice for &mut D {
    fn roll(&mut self) -> u64 {
        (**self).roll()
    }
}

/// Dice that repeat: the same seed gives the same numbers (SplitMix64, <https://prng.di.unimi.it/splitmix64.c>).
///
/// For simulations and tests. Not for secrets.
///
/// ```
/// use std::time::Duration;
/// use forbear::core::dice::{Dice, SeededDice};
/// let (mut a, mut b) = (SeededDice::new(7), SeededDice::new(7));
/// assert_eq!(a.roll(), b.roll());
/// let second = Duration::from_secs(1);
/// assert!((Duration::from_nanos(1)..=second).contains(&a.within(second)));
/// ```
#[derive(Clone, Debug)]
pub struct SeededDice(u64);

impl SeededDice {
    /// What a roll adds to the state.
    pub(crate) const STEP: u64 = 0x9E37_79B9_7F4A_7C15;

    /// Dice from a seed; every seed is as good as another.
    #[must_use]
    pub const fn new(seed: u64) -> Self {
        Self(seed)
    }
}

impl Dice for SeededDice {
    fn roll(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(Self::STEP);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        z ^ (z >> 31)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    struct Fixed(u64);
    impl Dice for Fixed {
        fn roll(&mut self) -> u64 {
            self.0
        }
    }

    #[test]
    fn a_drawn_duration_is_never_zero_and_never_above_its_bound() {
        for upto in [1, 2, 999, 86_400_000_000_000u64, u64::MAX] {
            let upto = Duration::from_nanos(upto);
            assert_eq!(Fixed(0).within(upto), Duration::from_nanos(1));
            assert_eq!(Fixed(u64::MAX).within(upto), upto);
        }
        assert!(Fixed(0).unit() > 0.0);
        assert_eq!(Fixed(u64::MAX).unit(), 1.0);
    }

    #[test]
    fn the_mean_of_many_draws_is_half_the_bound() {
        let mut dice = SeededDice::new(7);
        let upto = Duration::from_secs(10);
        let total: Duration = (0..10_000).map(|_| dice.within(upto)).sum();
        let mean = total.as_secs_f64() / 10_000.0;
        assert!((4.9..5.1).contains(&mean), "{mean}");
    }
}
