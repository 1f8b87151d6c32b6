//! How many tokens a call is expected to use.

/// The tokens a call is expected to use, by side where the sides are known apart.
///
/// ```
/// use forbear::Estimate;
/// let estimate = Estimate::input(1_200).output(400);
/// assert_eq!(estimate.total_tokens(), 1_600);
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Estimate {
    input: u32,
    output: u32,
    total: u32,
}

impl Estimate {
    /// Tokens sent.
    #[must_use]
    pub const fn input(tokens: u32) -> Self {
        Self { input: tokens, output: 0, total: 0 }
    }

    /// The same with tokens received: what the request asks for at most, or what is usual.
    #[must_use]
    pub const fn output(mut self, tokens: u32) -> Self {
        self.output = tokens;
        self
    }

    /// Tokens of both sides, where they are not known apart.
    #[must_use]
    pub const fn total(tokens: u32) -> Self {
        Self { input: 0, output: 0, total: tokens }
    }

    /// Tokens sent; zero when only the total is known.
    #[must_use]
    pub const fn input_tokens(&self) -> u32 {
        self.input
    }

    /// Tokens received; zero when only the total is known.
    #[must_use]
    pub const fn output_tokens(&self) -> u32 {
        self.output
    }

    /// Tokens whose side is not known.
    #[must_use]
    pub const fn unsided_tokens(&self) -> u32 {
        self.total
    }

    /// All tokens; saturates.
    #[must_use]
    pub const fn total_tokens(&self) -> u32 {
        self.input.saturating_add(self.output).saturating_add(self.total)
    }
}
