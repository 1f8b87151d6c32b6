//! What the emulator sends in a provider's place.

use crate::core::signal::{LimitClass, TokenKind};

/// What the emulator answers for one class in a provider's dialect.
///
/// Headers and body may hold placeholders. Of the limit that was hit: `{wait.s}` (whole seconds, rounded up),
/// `{wait.ms}`, `{wait.f}` (decimal seconds), `{wait.go}` (`1m2.5s`), `{wait.proto}` (`62.500s`), `{wait.date}` (HTTP
/// date of its end), `{wait.rfc3339}`, `{wait.epoch_s}`, `{wait.epoch_ms}`, `{wait.rpc}` (a `google.rpc.Status` in base64
/// that holds it); `{limit}`. Of any axis `A` in `requests`,
/// `tokens`, `input_tokens`, `output_tokens`, `requests_day`, `tokens_day`: `{A.limit}`, `{A.remaining}`, and
/// `{A.reset.F}` with `F` a form of `wait`. Bodies of successes may hold `{usage.input}`, `{usage.output}` and
/// `{usage.total}`, the tokens of the request. What is not told, such as an axis that has no limit, is left out with the
/// header, the field of a JSON body or the sentence around it.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct Answer {
    /// The class it expresses; `None` is the answer to a success.
    pub class: LimitClass,
    /// The token side it expresses.
    pub token_kind: Option<TokenKind>,
    /// HTTP status.
    pub status: u16,
    /// Header lines.
    pub headers: &'static [(&'static str, &'static str)],
    /// The body.
    pub body: &'static str,
}

impl Answer {
    /// An answer that expresses `class` with this status and body.
    #[must_use]
    pub const fn new(class: LimitClass, status: u16, body: &'static str) -> Self {
        Self { class, token_kind: None, status, headers: &[], body }
    }

    /// The same, expressing this side of the tokens.
    #[must_use]
    pub const fn tokens(mut self, kind: TokenKind) -> Self {
        self.token_kind = Some(kind);
        self
    }

    /// The same with these header lines.
    #[must_use]
    pub const fn headers(mut self, headers: &'static [(&'static str, &'static str)]) -> Self {
        self.headers = headers;
        self
    }
}
