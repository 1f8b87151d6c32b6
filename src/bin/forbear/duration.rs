//! Durations as they are typed.

use std::time::Duration;

/// `500ms`, `1.5s`, `2m` or `2min`, `1h`, `1d`, or a number of seconds.
pub(crate) fn parse(text: &str) -> Result<Duration, String> {
    const UNITS: [(&str, f64); 6] =
        [("ms", 0.001), ("s", 1.0), ("min", 60.0), ("m", 60.0), ("h", 3_600.0), ("d", 86_400.0)];
    let unit = UNITS.into_iter().find_map(|(unit, seconds)| Some((text.strip_suffix(unit)?, seconds)));
    let (number, seconds) = unit.unwrap_or((text, 1.0));
    let number = number.trim_end().parse::<f64>().ok().filter(|number| number.is_finite() && *number >= 0.0);
    let duration = number.and_then(|number| Duration::try_from_secs_f64(number * seconds).ok());
    duration.ok_or_else(|| "a duration, as in 500ms, 1.5s, 2m, 1h, 1d, or a number of seconds".to_owned())
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
        assert_eq!(["", "s", "-1s", "1w", "NaN", "inf", "1e300h", "1s2"].map(millis), [None; 8]);
    }
}
