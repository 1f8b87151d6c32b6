//! Durations and shares as people write them.

use std::fmt;
use std::time::Duration;

/// A duration as people write it: `250 ms`, `11.25 s`, `2 min 30 s`, `3 h`, `2 days 5 h`.
///
/// The smaller of two units is left out where there is nothing of it; what is finer than shown is cut off.
///
/// ```
/// use std::time::Duration;
/// use forbear::core::tune::HumanDuration;
/// assert_eq!(HumanDuration(Duration::from_millis(11_250)).to_string(), "11.25 s");
/// assert_eq!(HumanDuration(Duration::from_secs(10_830)).to_string(), "3 h");
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(clippy::exhaustive_structs, reason = "only a way to show a duration")]
pub struct HumanDuration(pub Duration);

impl fmt::Display for HumanDuration {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (duration, seconds) = (self.0, self.0.as_secs());
        let text = match seconds {
            0 if duration.is_zero() => "0 s".to_owned(),
            0 => format!("{} ms", duration.as_millis().max(1)),
            1..120 => format!("{} s", (duration.as_secs_f64() * 1_000.0).round() / 1_000.0),
            120..7_200 => two(seconds, 60, "min", 1, "s"),
            7_200..172_800 => two(seconds, 3_600, "h", 60, "min"),
            _ => two(seconds, 86_400, "days", 3_600, "h"),
        };
        f.pad(&text)
    }
}

/// `seconds` in two units, the second only if there is something of it.
fn two(seconds: u64, large: u64, large_name: &str, small: u64, small_name: &str) -> String {
    match seconds % large / small {
        0 => format!("{} {large_name}", seconds / large),
        rest => format!("{} {large_name} {rest} {small_name}", seconds / large),
    }
}

/// A share of a whole as people write it: whole percents, but never `0 %` or `100 %` for what is not.
///
/// ```
/// use forbear::core::tune::HumanPercent;
/// assert_eq!([0.0, 0.0004, 0.256, 0.9999, 1.0].map(|share| HumanPercent(share).to_string()), ["0 %", "0.1 %", "26 %", "99.9 %", "100 %"]);
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
#[allow(clippy::exhaustive_structs, reason = "only a way to show a share")]
pub struct HumanPercent(pub f64);

impl fmt::Display for HumanPercent {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self(share) = *self;
        let rounded = (share * 100.0).round();
        let text = if (rounded == 0.0 && share > 0.0) || (rounded == 100.0 && share < 1.0) {
            format!("{:.1} %", (share * 100.0).clamp(0.1, 99.9))
        } else {
            format!("{rounded:.0} %")
        };
        f.pad(&text)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_length_has_its_units() {
        let shown = |millis| HumanDuration(Duration::from_millis(millis)).to_string();
        assert_eq!([0, 250, 1_000, 90_500].map(shown), ["0 s", "250 ms", "1 s", "90.5 s"]);
        assert_eq!([120_000, 150_000].map(shown), ["2 min", "2 min 30 s"]);
        assert_eq!([10_800_000, 11_700_000, 190_800_000].map(shown), ["3 h", "3 h 15 min", "2 days 5 h"]);
        assert_eq!(format!("{:>8}", HumanDuration(Duration::from_secs(6))), "     6 s");
    }
}
