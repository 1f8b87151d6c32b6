//! From an attempt's number to the wait after it: exponential, capped, full jitter.

use std::time::Duration;

use crate::core::dice::Dice;
use crate::core::policy::{Jitter, Policy};

/// The upper bound of the wait after attempt `number` (1-based): min(cap, base·factor^(number−1)).
///
/// Saturates at the cap; never zero, because base and cap are not.
#[must_use]
pub fn bound(policy: &Policy, number: u32) -> Duration {
    Duration::from_nanos(bound_nanos(policy, number))
}

/// The wait after attempt `number`: uniform in (0, [`bound`]].
#[must_use]
pub fn wait(policy: &Policy, number: u32, dice: &mut impl Dice) -> Duration {
    let bound = bound_nanos(policy, number);
    Duration::from_nanos(match policy.manners.jitter {
        Jitter::Full => dice.nanos_within(bound),
        Jitter::Equal => bound / 2 + dice.nanos_within(bound - bound / 2),
        Jitter::None => bound,
    })
}

/// [`bound`] in nanoseconds, which an f64 holds exactly up to 104 days: base and cap are at most hours.
fn bound_nanos(policy: &Policy, number: u32) -> u64 {
    let (base, cap) = (policy.base.as_nanos() as u64, policy.cap.as_nanos() as u64);
    let exponent = i32::try_from(number.saturating_sub(1)).unwrap_or(i32::MAX);
    let nanos = base as f64 * policy.factor.powi(exponent);
    if nanos < cap as f64 { nanos as u64 } else { cap }
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
