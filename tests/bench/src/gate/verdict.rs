//! A figure and what it has to reach.

use std::fmt;

/// A figure beside its target. Displays as `pass drain 1.002 x the pace (at most 1.010)`.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Verdict {
    /// What was measured, in words.
    pub what: String,
    /// Whether the target is reached.
    pub passed: bool,
}

impl Verdict {
    /// A figure that must not be larger.
    #[must_use]
    pub fn at_most(figure: f64, limit: f64, what: &str) -> Self {
        Self { what: format!("{figure:.3} {what} (at most {limit})"), passed: figure <= limit }
    }

    /// A figure that must not be smaller.
    #[must_use]
    pub fn at_least(figure: f64, limit: f64, what: &str) -> Self {
        Self { what: format!("{figure:.3} {what} (at least {limit})"), passed: figure >= limit }
    }

    /// Something that must hold.
    #[must_use]
    pub fn holds(holds: bool, what: &str) -> Self {
        Self { what: what.to_owned(), passed: holds }
    }
}

impl fmt::Display for Verdict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "  {} {}", if self.passed { "pass" } else { "MISS" }, self.what)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_figure_at_its_limit_passes_and_one_beyond_is_missed() {
        assert!(Verdict::at_most(1.0, 1.0, "").passed && !Verdict::at_most(1.001, 1.0, "").passed);
        assert!(Verdict::at_least(1.0, 1.0, "").passed && !Verdict::at_least(0.999, 1.0, "").passed);
        assert_eq!(Verdict::at_most(2.0, 1.5, "x").to_string(), "  MISS 2.000 x (at most 1.5)");
    }
}
