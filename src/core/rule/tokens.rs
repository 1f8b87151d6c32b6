//! Where requests ask for tokens and answers state what was used.

use crate::core::estimate::{RequestSize, Usage};
use crate::core::rule::Table;
use crate::core::rule::fact::Facts;
use crate::core::rule::field::{Field, Fields};

/// Reads a JSON body of any length, or a stream of events, by these fields into facts.
pub type ReadTokens = fn(&Table, &'static Fields, &[u8], &mut Facts);

/// The fields of requests and answers that speak of tokens.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct TokenFields {
    /// In a request: the most tokens the answer may have.
    pub request: &'static Fields,
    /// In an answer: the tokens that were used. They belong to the table's own list of fields, too, so that an answer is
    /// read once.
    pub answer: &'static [Field],
    /// Whether the provider counts the output a request asks for, used or not.
    pub limit_counts: bool,
    /// How such a body is read.
    pub read: ReadTokens,
}

impl TokenFields {
    /// A provider that does not count tokens.
    pub const NONE: Self = {
        const NO_FIELDS: &Fields = &Fields::of(&[]);
        Self::new(NO_FIELDS, &[], |_, _, _, _| {})
    };

    /// Fields of requests and answers.
    #[must_use]
    pub const fn new(request: &'static Fields, answer: &'static [Field], read: ReadTokens) -> Self {
        Self { request, answer, limit_counts: false, read }
    }

    /// The same of a provider that counts the output a request asks for, used or not.
    #[must_use]
    pub const fn counting_the_limit(mut self) -> Self {
        self.limit_counts = true;
        self
    }
}

/// Tokens, as requests and answers show them.
impl Table {
    /// The size of a request by its body: its bytes, and the output limit it asks for under the provider's names for it
    /// (`max_tokens`, `max_completion_tokens`, `generationConfig.maxOutputTokens`, …; the largest, if several stand
    /// there). A body that is no JSON asks for no limit. Takes time linear in the body, allocates nothing.
    ///
    /// For an [`Estimator`](crate::core::estimate::Estimator) to make an estimate of. The bytes of images are counted as
    /// those of text: where requests carry them, state an [`Estimate`](crate::Estimate) by hand.
    #[must_use]
    pub fn measure(&self, request: &[u8]) -> RequestSize {
        let mut facts = Facts::default();
        (self.tokens.read)(self, self.tokens.request, request, &mut facts);
        let output_limit = facts.output_limit;
        RequestSize { output_limit, limit_counts: self.tokens.limit_counts, ..RequestSize::bytes(request.len()) }
    }

    /// The tokens an answer says were used: of a whole body of any length, JSON or a stream of events. Empty where it says
    /// nothing, or this provider counts none. Takes time linear in the body.
    ///
    /// ```
    /// use forbear::core::signal::TokenKind;
    /// use forbear::provider;
    ///
    /// let answer = br#"{"choices":[],"usage":{"prompt_tokens":9,"completion_tokens":12,"total_tokens":21}}"#;
    /// let sides: Vec<_> = provider::openai().usage(answer).sides().collect();
    /// assert_eq!(sides, [(TokenKind::Input, 9), (TokenKind::Output, 12)]);
    /// ```
    #[must_use]
    pub fn usage(&self, answer: &[u8]) -> Usage {
        let mut facts = Facts::default();
        (self.tokens.read)(self, self.fields, answer, &mut facts);
        facts.used
    }
}
