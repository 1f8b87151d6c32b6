//! Estimates of tokens, and what answers say was used.

use std::sync::{Mutex, PoisonError};

use crate::core::estimate::{Estimate, Estimator, Usage};
use crate::event::Event;
use crate::run::pool::{Pool, Shared};

/// What a pool has learnt of the tokens its requests use.
#[derive(Debug, Default)]
pub(super) struct Learnt(Mutex<Estimator>);

impl Pool {
    /// The tokens a call with this request body is expected to use: by its size, and by the output limit it asks for under
    /// the provider's names. What answers state corrects it: those whose body the engine sees (a `http::Response` of
    /// [`PeekBody`](crate::PeekBody)), and those handed to [`Attempt::used`](crate::Attempt::used).
    ///
    /// ```
    /// # use std::time::Duration;
    /// # use forbear::{Forbear, Policy, provider};
    /// # #[tokio::main(flavor = "current_thread", start_paused = true)] async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let forbear = Forbear::builder().build()?;
    /// # let policy = Policy::interactive(Duration::from_secs(5)).build()?;
    /// let pool = forbear.pool(provider::openai(), ["acme", "gpt-4o"]).build()?;
    /// let body = r#"{"model":"gpt-4o","max_tokens":300,"messages":[{"role":"user","content":"Hello!"}]}"#;
    /// let estimate = pool.estimate(body.as_bytes());
    /// assert_eq!((estimate.input_tokens(), estimate.output_tokens()), (21, 300));
    /// let answer = pool
    ///     .call(&policy)
    ///     .tokens(estimate)
    ///     .run(|_| async { Ok::<_, std::io::Error>(http::Response::new("{}".to_owned())) })
    ///     .await?;
    /// # let _ = answer;
    /// # Ok(()) }
    /// ```
    #[must_use]
    pub fn estimate(&self, request: &[u8]) -> Estimate {
        let size = self.shared.table.measure(request);
        self.shared.learnt.0.lock().unwrap_or_else(PoisonError::into_inner).estimate(size)
    }
}

impl Shared {
    /// Settles what a success said was used; `takes` where the gate reckons with tokens.
    #[cold]
    pub(super) fn settle(&self, estimate: Option<Estimate>, takes: bool, used: Usage) {
        let now = self.clock().now();
        for (kind, tokens) in used.sides() {
            if takes {
                self.node.settle(estimate.unwrap_or_default(), kind, tokens, now);
            }
            self.tell(now, || Event::TokensUsed { kind, tokens });
        }
        if let Some(estimate) = estimate {
            self.learnt.0.lock().unwrap_or_else(PoisonError::into_inner).learn(&estimate, &used);
        }
    }
}
