//! What an answer states of the tokens that were used.

use crate::core::signal::TokenKind;

/// The tokens an answer says were used. Zero is "not stated"; numbers beyond 2^32 - 1 count as that.
///
/// A stream states them more than once, each time what it is by then: the largest number of each kind counts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Usage {
    input: u32,
    output: u32,
    total: u32,
    /// Stated apart from the rest of its side: tokens written to a cache, tokens of thought.
    more_input: u32,
    more_output: u32,
}

impl Usage {
    /// Notes a number of tokens of this side; `apart` where it comes on top of what else is stated of the side.
    pub fn note(&mut self, kind: TokenKind, apart: bool, tokens: u64) {
        let tokens = u32::try_from(tokens).unwrap_or(u32::MAX);
        let place = match (kind, apart) {
            (TokenKind::Input, false) => &mut self.input,
            (TokenKind::Input, true) => &mut self.more_input,
            (TokenKind::Output, false) => &mut self.output,
            (TokenKind::Output, true) => &mut self.more_output,
            (TokenKind::Total, _) => &mut self.total,
        };
        *place = tokens.max(*place);
    }

    /// Notes what else is stated of the same answer.
    #[must_use]
    pub fn and(self, other: Self) -> Self {
        Self {
            input: self.input.max(other.input),
            output: self.output.max(other.output),
            total: self.total.max(other.total),
            more_input: self.more_input.max(other.more_input),
            more_output: self.more_output.max(other.more_output),
        }
    }

    /// Whether nothing is stated.
    #[must_use]
    pub const fn is_empty(&self) -> bool {
        self.input_tokens() == 0 && self.output_tokens() == 0 && self.total == 0
    }

    /// Tokens sent.
    #[must_use]
    pub const fn input_tokens(&self) -> u32 {
        self.input.saturating_add(self.more_input)
    }

    /// Tokens received; where only the total is stated beside the input, the rest of it.
    #[must_use]
    pub const fn output_tokens(&self) -> u32 {
        match self.output.saturating_add(self.more_output) {
            0 if self.input > 0 => self.total.saturating_sub(self.input_tokens()),
            output => output,
        }
    }

    /// Tokens whose side is not stated.
    #[must_use]
    pub const fn unsided_tokens(&self) -> u32 {
        if self.input == 0 && self.output == 0 { self.total } else { 0 }
    }

    /// What is stated, side by side: to be handed to [`Attempt::used_tokens`](crate::Attempt::used_tokens).
    pub fn sides(&self) -> impl Iterator<Item = (TokenKind, u64)> {
        let sides = [
            (TokenKind::Input, self.input_tokens()),
            (TokenKind::Output, self.output_tokens()),
            (TokenKind::Total, self.unsided_tokens()),
        ];
        sides.into_iter().filter(|(_, tokens)| *tokens > 0).map(|(kind, tokens)| (kind, u64::from(tokens)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn usage(stated: &[(TokenKind, bool, u64)]) -> Usage {
        let mut usage = Usage::default();
        stated.iter().for_each(|(kind, apart, tokens)| usage.note(*kind, *apart, *tokens));
        usage
    }

    #[test]
    fn a_side_is_what_was_stated_of_it_last_and_apart() {
        let stream = usage(&[
            (TokenKind::Input, false, 25),
            (TokenKind::Input, true, 100),
            (TokenKind::Output, false, 1),
            (TokenKind::Output, false, 15),
        ]);
        assert_eq!(stream.sides().collect::<Vec<_>>(), [(TokenKind::Input, 125), (TokenKind::Output, 15)]);
    }

    #[test]
    fn the_total_stands_for_the_side_that_is_missing() {
        let rest = usage(&[(TokenKind::Input, false, 9), (TokenKind::Total, false, 12)]);
        assert_eq!(rest.sides().collect::<Vec<_>>(), [(TokenKind::Input, 9), (TokenKind::Output, 3)]);
        let alone = usage(&[(TokenKind::Total, false, 12)]);
        assert_eq!(alone.sides().collect::<Vec<_>>(), [(TokenKind::Total, 12)]);
        assert!(usage(&[(TokenKind::Output, false, 0)]).is_empty());
        assert_eq!(usage(&[(TokenKind::Total, false, u64::MAX)]).unsided_tokens(), u32::MAX);
    }
}
