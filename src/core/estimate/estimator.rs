//! From the size of a request to the tokens it will use, corrected by what answers state.

use crate::core::estimate::{Estimate, Usage};

/// What the body of a request shows of the tokens it will use.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct RequestSize {
    /// The bytes of the body; more than 2^32 - 1 count as that.
    pub bytes: u32,
    /// The most tokens it asks for; `None` where it does not say.
    pub output_limit: Option<u32>,
    /// Whether the provider counts the output asked for, used or not.
    pub limit_counts: bool,
}

impl RequestSize {
    /// A body of so many bytes that asks for no limit.
    #[must_use]
    pub fn bytes(bytes: usize) -> Self {
        Self { bytes: u32::try_from(bytes).unwrap_or(u32::MAX), output_limit: None, limit_counts: false }
    }
}

/// Estimates tokens from sizes, and learns from what answers state. One per pool: languages, images and habits differ.
///
/// It begins with 4 bytes a token, the usual figure for English text, and with all of the output a request asks for. Each
/// answer moves bytes per token, the share of the limit that is used, and the usual output by an eighth of the
/// difference, so that some twenty answers count.
///
/// ```
/// use forbear::core::estimate::Estimator;
/// use forbear::provider;
///
/// let (table, mut estimator) = (provider::anthropic(), Estimator::default());
/// let request = br#"{"model":"m","max_tokens":400,"messages":[{"role":"user","content":"Hello!"}]}"#;
/// let estimate = estimator.estimate(table.measure(request));
/// assert_eq!((estimate.input_tokens(), estimate.output_tokens()), (20, 400));
///
/// let used = table.usage(br#"{"type":"message","usage":{"input_tokens":12,"output_tokens":40}}"#);
/// estimator.learn(&estimate, &used);
/// assert!(estimator.estimate(table.measure(request)).output_tokens() < 400);
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Estimator {
    tokens_per_byte: f64,
    share_of_limit: f64,
    usual_output: f64,
}

/// The weight of one answer.
const WEIGHT: f64 = 0.125;
/// Compressed images at one end, text without spaces at the other.
const TOKENS_PER_BYTE: std::ops::RangeInclusive<f64> = 0.000_1..=2.0;
const SHARE_OF_LIMIT: std::ops::RangeInclusive<f64> = 0.01..=1.0;

impl Default for Estimator {
    fn default() -> Self {
        Self { tokens_per_byte: 0.25, share_of_limit: 1.0, usual_output: 0.0 }
    }
}

impl Estimator {
    /// The tokens a request of this size is expected to use.
    #[must_use]
    pub fn estimate(&self, size: RequestSize) -> Estimate {
        let input = tokens(f64::from(size.bytes) * self.tokens_per_byte);
        let output = match size.output_limit {
            Some(limit) if size.limit_counts => limit,
            Some(limit) => tokens(f64::from(limit) * self.share_of_limit),
            None => tokens(self.usual_output),
        };
        Estimate { size: Some(size), ..Estimate::input(input).output(output) }
    }

    /// Learns what a request with this estimate used. An estimate that was stated by hand teaches nothing.
    pub fn learn(&mut self, estimate: &Estimate, used: &Usage) {
        let Some(size) = estimate.size else { return };
        let (input, output) = (f64::from(used.input_tokens()), f64::from(used.output_tokens()));
        if input > 0.0 && size.bytes > 0 {
            moved(&mut self.tokens_per_byte, input / f64::from(size.bytes));
            self.tokens_per_byte = self.tokens_per_byte.clamp(*TOKENS_PER_BYTE.start(), *TOKENS_PER_BYTE.end());
        }
        if output > 0.0 {
            if self.usual_output == 0.0 {
                self.usual_output = output;
            }
            moved(&mut self.usual_output, output);
            if let Some(limit) = size.output_limit.filter(|limit| *limit > 0) {
                moved(&mut self.share_of_limit, output / f64::from(limit));
                self.share_of_limit = self.share_of_limit.clamp(*SHARE_OF_LIMIT.start(), *SHARE_OF_LIMIT.end());
            }
        }
    }
}

fn moved(known: &mut f64, seen: f64) {
    *known += (seen - *known) * WEIGHT;
}

/// Rounded up; saturates.
fn tokens(number: f64) -> u32 {
    number.ceil() as u32
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::core::signal::TokenKind;

    fn used(input: u64, output: u64) -> Usage {
        let mut usage = Usage::default();
        usage.note(TokenKind::Input, false, input);
        usage.note(TokenKind::Output, false, output);
        usage
    }

    fn size(bytes: u32, output_limit: Option<u32>, limit_counts: bool) -> RequestSize {
        RequestSize { bytes, output_limit, limit_counts }
    }

    #[test]
    fn it_begins_with_four_bytes_a_token_and_the_whole_limit() {
        let estimate = Estimator::default().estimate(size(1_001, Some(400), false));
        assert_eq!((estimate.input_tokens(), estimate.output_tokens()), (251, 400));
        assert_eq!(Estimator::default().estimate(RequestSize::bytes(0)).total_tokens(), 0);
    }

    #[test]
    fn it_comes_to_what_answers_state_and_keeps_a_limit_that_counts() {
        let mut estimator = Estimator::default();
        for _ in 0..60 {
            let estimate = estimator.estimate(size(1_000, Some(1_000), false));
            estimator.learn(&estimate, &used(500, 100));
        }
        let of = |size| estimator.estimate(size);
        let near = |tokens: u32, expected: u32| tokens.abs_diff(expected) <= expected / 50 + 1;
        assert!(near(of(size(2_000, None, false)).input_tokens(), 1_000));
        assert!(near(of(size(2_000, Some(500), false)).output_tokens(), 50));
        assert!(near(of(size(2_000, None, false)).output_tokens(), 100));
        assert_eq!(of(size(2_000, Some(500), true)).output_tokens(), 500);
    }

    #[test]
    fn nothing_absurd_is_learnt() {
        let mut estimator = Estimator::default();
        for _ in 0..100 {
            let estimate = estimator.estimate(size(1, Some(1), false));
            estimator.learn(&estimate, &used(u64::MAX, u64::MAX));
        }
        let estimate = estimator.estimate(size(1_000, Some(10), false));
        assert_eq!((estimate.input_tokens(), estimate.output_tokens()), (2_000, 10));
        let before = estimator;
        estimator.learn(&Estimate::input(7), &used(900, 900));
        assert_eq!(estimator, before);
    }
}
