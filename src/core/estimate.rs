//! How many tokens a call is expected to use, and how many it did.

mod estimator;
mod usage;

pub use estimator::{Estimator, RequestSize};
pub use usage::Usage;

/// The tokens a call is expected to use, by side where the sides are known apart.
///
/// Stated by hand, or made from a request's body by an [`Estimator`].
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
    size: Option<RequestSize>,
}

impl Estimate {
    /// Tokens sent.
    #[must_use]
    pub const fn input(tokens: u32) -> Self {
        Self { input: tokens, output: 0, total: 0, size: None }
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
        Self { input: 0, output: 0, total: tokens, size: None }
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

    /// The size it was made from; `None` when it was stated by hand.
    #[must_use]
    pub const fn size(&self) -> Option<RequestSize> {
        self.size
    }
}
