//! An objective as people write it.

/// What is understood.
pub(crate) const ALLOWED: &str = "94 to 99.99 percent, as in 99.9 or 99.9%, or 0.94 to 0.9999 as a share, as in 0.999";

/// The share of calls that has to succeed, 0.94 to 0.9999, out of `99.9`, `99.9%` or `0.999`. Up to 1 it is a share: one
/// percent is no objective.
///
/// # Errors
/// It is none of these, or outside of the range; the text names the option, the value and what is allowed.
pub(crate) fn parse(text: &str) -> Result<f64, String> {
    let refused = || format!("--slo is {text}; allowed: {ALLOWED}");
    let (number, is_percent) =
        text.trim().strip_suffix('%').map_or((text.trim(), false), |number| (number.trim(), true));
    let number: f64 = number.parse().map_err(|_| refused())?;
    // Rounded, so that a percentage has not the dust of binary fractions.
    let share = if is_percent || number > 1.0 { (number * 1e7).round() / 1e9 } else { number };
    if (0.94..=0.9999).contains(&share) { Ok(share) } else { Err(refused()) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn percent_and_shares_are_told_apart() {
        for (text, share) in [
            ("99", 0.99),
            ("99.9", 0.999),
            ("99.9%", 0.999),
            (" 99.5 % ", 0.995),
            ("0.999", 0.999),
            ("94", 0.94),
            ("0.94", 0.94),
            ("99.99", 0.9999),
            ("0.9999", 0.9999),
        ] {
            assert_eq!(parse(text), Ok(share), "{text}");
        }
        for text in ["", "ninety", "93.9", "0.93", "100", "1", "1.0", "0.999%", "99.999", "NaN", "-99", "inf", "99,9"] {
            let refusal = parse(text).expect_err(text);
            assert!(
                refusal.starts_with(&format!("--slo is {text}; allowed: 94 to 99.99 percent, as in 99.9")),
                "{refusal}"
            );
        }
    }
}
