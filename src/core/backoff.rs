//! From an attempt's number to the wait after it: exponential, capped, full jitter.

use std::time::Duration;

use crate::core::dice::Dice;
use crate::core::policy::{Jitter, Policy};

/// The upper bound of the wait after attempt `number` (1-based): min(cap, base·factor^(number−1)).
///
/// Saturates at the cap; never zero, because base and cap are not.
///
/// ```
/// use std::time::Duration;
/// use forbear::Policy;
/// use forbear::core::backoff::bound;
/// let policy = Policy::background(Duration::from_secs(600)).build()?;
/// let seconds: Vec<_> = (1..=6).map(|number| bound(&policy, number).as_secs()).collect();
/// assert_eq!(seconds, [6, 12, 24, 48, 96, 120]);
/// # Ok::<(), forbear::InvalidSetting>(())
/// ```
#[must_use]
pub fn bound(policy: &Policy, number: u32) -> Duration {
    Duration::from_nanos(bound_nanos(policy, number))
}

/// The wait after attempt `number`: uniform in (0, [`bound`]].
///
/// Never zero and never above the bound. Full jitter spreads callers that failed together over the whole of it
/// (<https://aws.amazon.com/blogs/architecture/exponential-backoff-and-jitter/>).
#[inline]
#[must_use]
pub fn wait(policy: &Policy, number: u32, dice: &mut impl Dice) -> Duration {
    let bound = bound_nanos(policy, number);
    Duration::from_nanos(match policy.manners.jitter {
        Jitter::Full => dice.nanos_within(bound),
        Jitter::Equal => bound / 2 + dice.nanos_within(bound - bound / 2),
        Jitter::None => bound,
    })
}

/// [`bound`] in nanoseconds.
#[inline]
fn bound_nanos(policy: &Policy, number: u32) -> u64 {
    let (base, cap) = (policy.base.as_nanos() as u64, policy.cap.as_nanos() as u64);
    let doublings = number.saturating_sub(1);
    if policy.factor != 2.0 {
        return grown(base, policy.factor, doublings).min(cap);
    }
    // The usual factor is a shift.
    if doublings > base.leading_zeros() { cap } else { (base << doublings).min(cap) }
}

/// base·factor^times. An f64 holds nanoseconds exactly up to 104 days; base and cap are at most hours.
#[cold]
fn grown(base: u64, factor: f64, times: u32) -> u64 {
    // Saturates where it is more than fits.
    (base as f64 * factor.powi(i32::try_from(times).unwrap_or(i32::MAX))) as u64
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

    #[test]
    fn doubling_by_shift_is_what_the_powers_give() {
        for (base, cap) in [(1, 86_400_000), (3, 250), (500, 8_000), (3_600_000, 86_400_000)] {
            let (base, cap) = (Duration::from_millis(base), Duration::from_millis(cap));
            let policy = Policy::background(Duration::from_secs(1_000)).base(base).cap(cap).build().expect("valid");
            for number in (1..80).chain([200, u32::MAX]) {
                let power = grown(base.as_nanos() as u64, 2.0, number - 1).min(cap.as_nanos() as u64);
                assert_eq!(bound(&policy, number).as_nanos() as u64, power, "{base:?} {cap:?} {number}");
            }
        }
    }
}
