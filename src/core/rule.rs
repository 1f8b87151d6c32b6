//! Provider tables: what a row is, and how a table is read.

use std::time::Duration;

use crate::core::moment::WallTime;
use crate::core::observation::Observation;
use crate::core::signal::{LimitClass, Reading, Scope, Signal, TokenKind};

/// What the emulator answers for one class in a provider's dialect.
///
/// Headers and body may hold placeholders. Of the limit that was hit: `{wait.s}` (whole seconds, rounded up),
/// `{wait.ms}`, `{wait.f}` (decimal seconds), `{wait.go}` (`1m2.5s`), `{wait.proto}` (`62.500s`), `{wait.date}` (HTTP
/// date of its end), `{wait.rfc3339}`, `{wait.epoch_s}`, `{wait.epoch_ms}`; `{limit}`. Of any axis `A` in `requests`,
/// `tokens`, `input_tokens`, `output_tokens`, `requests_day`, `tokens_day`: `{A.limit}`, `{A.remaining}`, and
/// `{A.reset.F}` with `F` a form of `wait`. A header with a placeholder of an axis that has no limit is left out.
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

/// Everything the engine knows of one provider.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct Table {
    /// Our word for the provider, as in the `provider` label.
    pub id: &'static str,
    /// The provider's public page on its limits.
    pub page: &'static str,
    /// When the table was last held against that page.
    pub verified_on: &'static str,
    /// The levels its limits belong to, widest first.
    pub scopes: &'static [Scope],
    /// The least time a throttle shuts a pool; zero where waits of milliseconds are meant.
    pub shut_floor: Duration,
    /// What the emulator sends, one per class the provider can express.
    pub answers: &'static [Answer],
}

impl Table {
    /// What `observation`, made at `wall`, means to this provider.
    #[must_use]
    pub fn read(&self, observation: &Observation<'_>, wall: WallTime) -> Reading {
        let _ = (observation, wall);
        Signal::success().into()
    }
}

impl Table {
    /// x
    pub fn for_test() -> Self {
        Self { id: "t", page: "", verified_on: "", scopes: &[], shut_floor: Duration::from_secs(1), answers: &[] }
    }
}
