//! Where requests ask for tokens and answers state what was used.

/// Paths into the JSON of requests and answers, keys joined by dots; the first that holds a number counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct TokenFields {
    /// In a request: the most tokens the answer may have.
    pub output_limit: &'static [&'static str],
    /// In an answer: tokens sent that count.
    pub input_used: &'static [&'static str],
    /// In an answer: tokens received.
    pub output_used: &'static [&'static str],
    /// In an answer: both together, where the sides are not told apart.
    pub total_used: &'static [&'static str],
}

impl TokenFields {
    /// A provider that does not count tokens.
    pub const NONE: Self = Self { output_limit: &[], input_used: &[], output_used: &[], total_used: &[] };

    /// Fields of requests and answers.
    #[must_use]
    pub const fn new(
        output_limit: &'static [&'static str],
        input_used: &'static [&'static str],
        output_used: &'static [&'static str],
        total_used: &'static [&'static str],
    ) -> Self {
        Self { output_limit, input_used, output_used, total_used }
    }
}
