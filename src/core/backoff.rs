//! From an attempt's number to the wait after it: exponential, capped, full jitter.

use std::time::Duration;

use crate::core::dice::Dice;
use crate::core::policy::{Jitter, Policy};

/// The upper bound of the wait after attempt `number` (1-based): min(cap, base·factor^(number−1)).
///
/// Saturates at the cap; never zero, because base and cap are not.
#[must_use]
pub fn bound(policy: &Policy, number: u32) -> Duration {
    let exponent = i32::try_from(number.saturating_sub(1)).unwrap_or(i32::MAX);
    let seconds = policy.base.as_secs_f64() * policy.factor.powi(exponent);
    if seconds < policy.cap.as_secs_f64() { Duration::from_secs_f64(seconds) } else { policy.cap }
}

/// The wait after attempt `number`: uniform in (0, [`bound`]].
#[must_use]
pub fn wait(policy: &Policy, number: u32, dice: &mut impl Dice) -> Duration {
    let bound = bound(policy, number);
    match policy.manners.jitter {
        Jitter::Full => dice.within(bound),
        Jitter::Equal => bound / 2 + dice.within(bound - bound / 2),
        Jitter::None => bound,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_bound_doubles_up_to_the_cap_and_stays_there() {
        let policy = Policy::interactive(Duration::from_secs(15)).build().expect("valid");
        let seconds: Vec<f64> = (1..8).map(|n| bound(&policy, n).as_secs_f64()).collect();
        assert_eq!(seconds, [0.5, 1.0, 2.0, 4.0, 8.0, 8.0, 8.0]);
        assert_eq!(bound(&policy, u32::MAX), policy.cap);
    }
}
