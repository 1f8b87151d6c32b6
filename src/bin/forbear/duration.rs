//! Durations as they are typed.

use std::time::Duration;

/// `500ms`, `1.5s`, `2m` or `2min`, `1h`, `1d`, several of them as in `1h30m`, or a number of seconds.
pub(crate) fn parse(text: &str) -> Result<Duration, String> {
    let seconds = one(text).or_else(|| several(text)).filter(|seconds| *seconds >= 0.0);
    let duration = seconds.and_then(|seconds| Duration::try_from_secs_f64(seconds).ok());
    duration.ok_or_else(|| "a duration, as in 500ms, 1.5s, 2m, 1h30m, 1d, or a number of seconds".to_owned())
}

/// The units in seconds; none ends or begins with one that stands before it.
const UNITS: [(&str, f64); 6] =
    [("ms", 0.001), ("s", 1.0), ("min", 60.0), ("m", 60.0), ("h", 3_600.0), ("d", 86_400.0)];

/// The seconds of a number with its unit, or without one.
fn one(text: &str) -> Option<f64> {
    let unit = UNITS.into_iter().find_map(|(unit, seconds)| Some((text.strip_suffix(unit)?, seconds)));
    let (number, seconds) = unit.unwrap_or((text, 1.0));
    Some(number.trim_end().parse::<f64>().ok().filter(|number| number.is_finite())? * seconds)
}

/// The seconds of numbers that have a unit each, the larger before the smaller, as Go and Prometheus write them.
fn several(text: &str) -> Option<f64> {
    let (mut rest, mut sum, mut last) = (text, 0.0, f64::INFINITY);
    while !rest.is_empty() {
        let number_ends = rest.find(|char: char| !char.is_ascii_digit() && char != '.')?;
        let (number, behind) = rest.split_at(number_ends);
        let (unit, seconds) = UNITS.into_iter().find(|(unit, _)| behind.starts_with(unit))?;
        if seconds >= last {
            return None;
        }
        sum += number.parse::<f64>().ok()? * seconds;
        (rest, last) = (&behind[unit.len()..], seconds);
    }
    (last < f64::INFINITY).then_some(sum)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_unit_is_read_and_nothing_else() {
        let millis = |text| parse(text).map(|duration| duration.as_millis()).ok();
        assert_eq!(
            ["500ms", "1.5s", "2m", "1h", "1d"].map(millis),
            [500, 1_500, 120_000, 3_600_000, 86_400_000].map(Some)
        );
        assert_eq!(["60", "60 s", "2 min", "0"].map(millis), [60_000, 60_000, 120_000, 0].map(Some));
        assert_eq!(
            ["1m30s", "1h30min", "1d12h", "1s500ms"].map(millis),
            [90_000, 5_400_000, 129_600_000, 1_500].map(Some)
        );
        assert_eq!(["", "s", "-1s", "1w", "NaN", "inf", "1e300h", "1s2"].map(millis), [None; 8]);
        assert_eq!(["1s1m", "1m1m", "1m-1s", "1h 30m", "m30s", "1..5m1s"].map(millis), [None; 6]);
    }
}
