//! A policy in the making, and what it must keep to.

use std::sync::Arc;
use std::time::Duration;

use super::{OnAmbiguous, OnOverCap, Policy, UNNAMED};
use crate::core::setting::{InvalidSetting, within};

const HOUR: Duration = Duration::from_secs(3_600);
const MILLISECOND: Duration = Duration::from_millis(1);

/// A [`Policy`] in the making; nothing is checked before [`PolicyBuilder::build`].
///
/// ```
/// use std::time::Duration;
/// use forbear::{OnAmbiguous, Policy};
/// let send = Policy::interactive(Duration::from_secs(10))
///     .named("send-mail")
///     .base(Duration::from_millis(250))
///     .attempts(3)
///     .attempt_timeout(Duration::from_secs(4))
///     .on_ambiguous(OnAmbiguous::Stop)
///     .build()?;
/// assert_eq!(send.name(), "send-mail");
/// # Ok::<(), forbear::InvalidSetting>(())
/// ```
#[derive(Clone, Debug)]
#[must_use = "a policy is made by `build`"]
pub struct PolicyBuilder {
    policy: Policy,
    /// Why it cannot be, where that is known beforehand.
    refused: Option<InvalidSetting>,
}

impl PolicyBuilder {
    pub(super) fn new(policy: Policy) -> Self {
        Self { policy, refused: None }
    }

    /// A policy that is not to be: what it would be derived from is out of range.
    pub(crate) fn refused(mut self, refused: InvalidSetting) -> Self {
        self.refused = Some(refused);
        self
    }

    /// The name in labels and spans; one per call site, a static word of the application.
    ///
    /// Metrics keep the first sixteen names apart and count the rest as `_OTHER`: name call sites, not requests or customers.
    pub fn named(mut self, name: &str) -> Self {
        self.policy.name = Arc::from(name);
        self
    }

    /// The bound of the first wait.
    ///
    /// 1 ms to 1 h. About a tenth of the provider's window; see [choosing numbers](crate::guide::choosing_numbers).
    pub fn base(mut self, base: Duration) -> Self {
        self.policy.base = base;
        self
    }

    /// By how much the bound grows with each attempt.
    ///
    /// 1 to 10; 1 is a constant bound. Two is the usual doubling.
    pub fn factor(mut self, factor: f64) -> Self {
        self.policy.factor = factor;
        self
    }

    /// The bound of every wait of the curve.
    ///
    /// From the base to 24 h. It bounds the curve alone: what a provider states has a cap of its own,
    /// [`PolicyBuilder::header_cap`].
    pub fn cap(mut self, cap: Duration) -> Self {
        self.policy.cap = cap;
        self
    }

    /// The longest stated delay that is waited for.
    ///
    /// 1 s to 26 h. A longer one ends the call at once: a retry before the stated end is known to fail.
    pub fn header_cap(mut self, header_cap: Duration) -> Self {
        self.policy.header_cap = header_cap;
        self
    }

    /// What happens to a stated delay above the header cap.
    ///
    /// [`OnOverCap::Clamp`] sends a request that is known to fail, now and then one that does not; it is counted in
    /// `forbear_clamped_delays_total` and has no effect behind a gate.
    pub fn on_over_cap(mut self, on_over_cap: OnOverCap) -> Self {
        self.policy.on_over_cap = on_over_cap;
        self
    }

    /// How long the whole call may take, gate waits and attempts included.
    ///
    /// 1 ms to 7 days. Nothing of a call outlives it: an attempt in flight is cut, a waiter leaves the queue, and a wait that would
    /// reach it is not begun.
    pub fn deadline(mut self, deadline: Duration) -> Self {
        self.policy.deadline = deadline;
        self
    }

    /// The most attempts of one call; 1 means no retry.
    ///
    /// 1 to 100, the first included. Let the deadline be the limit that matters, and this the guard against loops.
    pub fn attempts(mut self, attempts: u32) -> Self {
        self.policy.attempts = attempts;
        self
    }

    /// How long one attempt may take; the deadline cuts it in any case.
    ///
    /// 1 ms to the deadline. The attempt is dropped when it is over and counts as an ambiguous failure: the request may have had its
    /// effect.
    pub fn attempt_timeout(mut self, attempt_timeout: Duration) -> Self {
        self.policy.attempt_timeout = Some(attempt_timeout);
        self
    }

    /// What happens after an ambiguous failure.
    ///
    /// A timeout, a connection that broke after sending, a 5xx that names no cause: the provider may have done the work. Stop where
    /// doing it twice costs more than not knowing.
    pub fn on_ambiguous(mut self, on_ambiguous: OnAmbiguous) -> Self {
        self.policy.on_ambiguous = on_ambiguous;
        self
    }

    /// Lets a call under this policy retry although it runs inside an attempt of another call at the same pool. Unless it
    /// is set such a call runs once, does not ask the gate again, and is counted by `forbear_stacked_retries_total` and
    /// not as demand: the outer call owns the retries. With it both retry, and their attempts multiply.
    pub fn allow_nested(mut self) -> Self {
        self.policy.allow_nested = true;
        self
    }

    /// What the call site asks a model for: `gen_ai.operation.name` of OpenTelemetry's conventions for generative AI, with
    /// their words where they have one (`chat`, `embeddings`, `generate_content`, `text_completion`, `retrieval`,
    /// `invoke_agent`, `execute_tool`). Spans alone show it: the span of a call is then named `{operation} {model}`, is of
    /// the kind CLIENT, and tells provider and model
    /// (<https://github.com/open-telemetry/semantic-conventions-genai>, "Spans").
    pub fn gen_ai_operation(mut self, operation: &str) -> Self {
        self.policy.gen_ai.operation = Some(Arc::from(operation));
        self
    }

    /// The model this call site asks for, as `gen_ai.request.model` on spans: needed only where it is not the last name
    /// of the pool's path. Shown together with [`PolicyBuilder::gen_ai_operation`] and not without.
    pub fn gen_ai_model(mut self, model: &str) -> Self {
        self.policy.gen_ai.model = Some(Arc::from(model));
        self
    }

    /// Checks every field.
    ///
    /// # Errors
    /// The first field outside its range, with value, range and the policy's name.
    ///
    /// ```
    /// use std::time::Duration;
    /// use forbear::Policy;
    /// let refused = Policy::interactive(Duration::ZERO).build().unwrap_err().to_string();
    /// assert!(refused.starts_with("policy.deadline is 0ns; allowed: "), "{refused}");
    /// ```
    pub fn build(self) -> Result<Policy, InvalidSetting> {
        let Self { policy, refused } = self;
        let checked = refused.map_or_else(|| check(&policy), Err);
        match checked {
            Ok(()) => Ok(policy),
            // Nobody gave it a name that would tell it apart.
            Err(refused) if &*policy.name == UNNAMED => Err(refused),
            Err(refused) => Err(refused.of("policy", &policy.name)),
        }
    }
}

fn check(policy: &Policy) -> Result<(), InvalidSetting> {
    within("policy.deadline", policy.deadline, MILLISECOND..=168 * HOUR, "1ms to 7 days")?;
    within("policy.base", policy.base, MILLISECOND..=HOUR, "1ms to 1h")?;
    within("policy.factor", policy.factor, 1.0..=10.0, "1 to 10")?;
    within("policy.cap", policy.cap, policy.base..=24 * HOUR, "no less than policy.base, at most 24h")?;
    within("policy.header_cap", policy.header_cap, Duration::from_secs(1)..=26 * HOUR, "1s to 26h")?;
    within("policy.attempts", policy.attempts, 1..=100, "1 to 100")?;
    if let Some(timeout) = policy.attempt_timeout {
        within("policy.attempt_timeout", timeout, MILLISECOND..=policy.deadline, "1ms to the deadline")?;
    }
    within("policy.name (length)", policy.name.chars().count(), 1..=64, "1 to 64 characters")?;
    policy.gen_ai.check()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refusal(builder: PolicyBuilder) -> String {
        builder.build().expect_err("refused").to_string()
    }

    #[test]
    fn a_refused_field_is_named_with_its_value_and_range() {
        let policy = || Policy::interactive(Duration::from_secs(15));
        assert_eq!(refusal(policy().base(Duration::ZERO)), "policy.base is 0ns; allowed: 1ms to 1h");
        assert_eq!(refusal(policy().factor(f64::NAN)), "policy.factor is NaN; allowed: 1 to 10");
        assert_eq!(
            refusal(policy().cap(MILLISECOND)),
            "policy.cap is 1ms; allowed: no less than policy.base, at most 24h"
        );
        assert_eq!(refusal(policy().attempts(101)), "policy.attempts is 101; allowed: 1 to 100");
        assert_eq!(refusal(policy().deadline(Duration::ZERO)), "policy.deadline is 0ns; allowed: 1ms to 7 days");
        assert_eq!(
            refusal(policy().attempt_timeout(HOUR)),
            "policy.attempt_timeout is 3600s; allowed: 1ms to the deadline"
        );
        assert_eq!(refusal(policy().named("")), "policy.name (length) is 0; allowed: 1 to 64 characters (policy \"\")");
        let long = refusal(policy().named(&"ü".repeat(5_000)));
        assert!(long.starts_with("policy.name (length) is 5000; allowed: ") && long.ends_with("üü\"…)"), "{long}");
        assert!(long.chars().count() < 150, "{long}");
        assert_eq!(
            refusal(policy().named("chat").attempts(0)),
            "policy.attempts is 0; allowed: 1 to 100 (policy \"chat\")"
        );
        assert_eq!(
            refusal(policy().gen_ai_operation("Chat!")),
            "policy.gen_ai_operation is \"Chat!\"; allowed: 1 to 64 of a-z, 0-9 and _"
        );
        assert_eq!(
            refusal(policy().gen_ai_model("a\nb")),
            "policy.gen_ai_model is \"a\\nb\"; allowed: 1 to 128 characters, none of them control"
        );
    }

    #[test]
    fn both_presets_are_valid() {
        assert!(Policy::interactive(Duration::from_secs(15)).build().is_ok());
        assert!(Policy::background(HOUR).build().is_ok());
    }
}
