//! What a call site sets: how long to try, how often, how far apart.

use std::sync::Arc;
use std::time::Duration;

use crate::core::setting::{InvalidSetting, within};

/// What to do with a stated delay above the policy's `header_cap`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum OnOverCap {
    /// Give up at once: a retry before the stated end is known to fail.
    GiveUp,
    /// Wait only the cap, and count it. Taken only without a gate; behind one it means [`OnOverCap::GiveUp`].
    Clamp,
}

/// What to do after a failure that may have had an effect: timeout, 5xx other than 503 and 529, a connection that broke
/// after sending.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum OnAmbiguous {
    /// Try again: right for calls without side effects, as model calls are.
    Retry,
    /// Stop: right where a second execution costs more than a failure.
    Stop,
}

/// How a call site retries. Built once, validated when built, shared by reference or by cheap clone.
///
/// # Defaults
///
/// | field | `interactive` | `background` | range | why |
/// |---|---|---|---|---|
/// | `deadline` | given | given | 1 ms to 7 days | only the caller knows how long an answer is worth having |
/// | `base` | 500 ms | 6 s | 1 ms to 1 h | a person waits; a job against a per-minute window should start at a tenth of it |
/// | `factor` | 2 | 2 | 1 to 10 | the usual doubling |
/// | `cap` | 8 s | 2 min | `base` to 24 h | two windows are enough for a job; a person does not wait longer than this once |
/// | `header_cap` | 5 min | 5 min | 1 s to 26 h | waits of a minute or two are real, hours are another key's business |
/// | `on_over_cap` | give up | give up | | a retry before the stated end is known to fail |
/// | `attempts` | 4 | 10 | 1 to 100 | the deadline is the limit that matters; this one stops loops |
/// | `attempt_timeout` | none | none | 1 ms to `deadline` | the deadline cuts the attempt in any case |
/// | `on_ambiguous` | retry | retry | | model calls have no side effect but their price |
/// | `allow_nested` | no | no | | two layers multiply: 4 attempts of 4 attempts are 16 requests |
/// | `gen_ai_operation` | none | none | 1 to 64 of `a-z`, `0-9`, `_` | only the call site knows what it asks for |
/// | `gen_ai_model` | the pool's | the pool's | 1 to 128 characters | a path may end in something else than the model |
///
/// The wait before attempt n+1 is uniform in (0, min(`cap`, `base`·`factor`^(n−1))]: full jitter
/// (<https://aws.amazon.com/blogs/architecture/exponential-backoff-and-jitter/>).
///
/// ```
/// use std::time::Duration;
/// use forbear::Policy;
/// let chat = Policy::interactive(Duration::from_secs(15)).named("chat").build()?;
/// assert_eq!(chat.attempts(), 4);
/// let refused = Policy::interactive(Duration::from_secs(15)).attempts(0).build().unwrap_err();
/// assert_eq!(refused.to_string(), "policy.attempts is 0; allowed: 1 to 100");
/// # Ok::<(), forbear::InvalidSetting>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Policy {
    pub(crate) name: Arc<str>,
    pub(crate) base: Duration,
    pub(crate) factor: f64,
    pub(crate) cap: Duration,
    pub(crate) header_cap: Duration,
    pub(crate) on_over_cap: OnOverCap,
    pub(crate) deadline: Duration,
    pub(crate) attempts: u32,
    pub(crate) attempt_timeout: Option<Duration>,
    pub(crate) on_ambiguous: OnAmbiguous,
    pub(crate) gen_ai: GenAi,
    pub(crate) allow_nested: bool,
    pub(crate) manners: Manners,
}

/// What a call site asks a model for, in the words of OpenTelemetry's conventions for generative AI. Only spans show it.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct GenAi {
    /// `gen_ai.operation.name`.
    pub(crate) operation: Option<Arc<str>>,
    /// `gen_ai.request.model`, where the pool's path does not name it or names another.
    pub(crate) model: Option<Arc<str>>,
}

impl GenAi {
    /// The words are the application's own, but they become a span's name: plain ones, and not too long.
    fn check(&self) -> Result<(), InvalidSetting> {
        let plain = |word: &str| word.chars().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_');
        if let Some(operation) = &self.operation
            && !((1..=64).contains(&operation.len()) && plain(operation))
        {
            return Err(InvalidSetting::new("policy.gen_ai_operation", operation, "1 to 64 of a-z, 0-9 and _"));
        }
        if let Some(model) = &self.model
            && (!(1..=128).contains(&model.chars().count()) || model.chars().any(char::is_control))
        {
            return Err(InvalidSetting::new("policy.gen_ai_model", model, "1 to 128 characters, none of them control"));
        }
        Ok(())
    }
}

/// What other retry layers do differently. Nothing a service can set: the simulator does, to show what comes of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Manners {
    /// Whether the stated wait is looked at.
    pub(crate) honour_header: bool,
    /// What is added to a stated wait where no gate paces the pool.
    pub(crate) jitter_on_header: HeaderJitter,
    /// How the curve is drawn.
    pub(crate) jitter: Jitter,
}

/// What is added to a stated wait.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(not(feature = "simulate"), expect(dead_code, reason = "only the simulator departs from the default"))]
pub(crate) enum HeaderJitter {
    /// Nothing.
    None,
    /// Uniform up to a second.
    Second,
    /// Uniform up to the curve's bound.
    Curve,
}

/// How a wait is drawn from the curve's bound.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(not(feature = "simulate"), expect(dead_code, reason = "only the simulator departs from the default"))]
pub(crate) enum Jitter {
    /// Uniform up to the bound.
    Full,
    /// Half the bound, and uniform up to the other half.
    Equal,
    /// The bound.
    None,
}

impl Default for Manners {
    fn default() -> Self {
        Self { honour_header: true, jitter_on_header: HeaderJitter::Curve, jitter: Jitter::Full }
    }
}

/// The name of a policy that was given none.
const UNNAMED: &str = "default";

const HOUR: Duration = Duration::from_secs(3_600);
const MILLISECOND: Duration = Duration::from_millis(1);

impl Policy {
    /// A policy for a caller who waits for the answer; `deadline` bounds the whole call, waits in the gate included.
    ///
    /// Short waits and four attempts: a person would rather hear "busy" than wait a minute. `deadline` is 1 ms to 7 days.
    pub fn interactive(deadline: Duration) -> PolicyBuilder {
        let policy = Self {
            name: Arc::from(UNNAMED),
            base: Duration::from_millis(500),
            factor: 2.0,
            cap: Duration::from_secs(8),
            header_cap: Duration::from_secs(300),
            on_over_cap: OnOverCap::GiveUp,
            deadline,
            attempts: 4,
            attempt_timeout: None,
            on_ambiguous: OnAmbiguous::Retry,
            gen_ai: GenAi::default(),
            allow_nested: false,
            manners: Manners::default(),
        };
        PolicyBuilder(policy, None)
    }

    /// A policy for work nobody is waiting for; `deadline` bounds the whole call, waits in the gate included.
    ///
    /// Waits that begin at a tenth of a minute and ten attempts: a job can outlive a window of a minute, and should.
    ///
    /// ```
    /// use std::time::Duration;
    /// use forbear::Policy;
    /// let nightly = Policy::background(Duration::from_secs(600)).named("nightly").build()?;
    /// assert_eq!((nightly.base(), nightly.cap(), nightly.attempts()), (Duration::from_secs(6), Duration::from_secs(120), 10));
    /// # Ok::<(), forbear::InvalidSetting>(())
    /// ```
    pub fn background(deadline: Duration) -> PolicyBuilder {
        Self::interactive(deadline).base(Duration::from_secs(6)).cap(Duration::from_secs(120)).attempts(10)
    }

    /// The name in labels and spans.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The bound of the first wait.
    #[must_use]
    pub const fn base(&self) -> Duration {
        self.base
    }

    /// By how much the bound grows with each attempt.
    #[must_use]
    pub const fn factor(&self) -> f64 {
        self.factor
    }

    /// The bound of every wait of the curve.
    #[must_use]
    pub const fn cap(&self) -> Duration {
        self.cap
    }

    /// The longest stated delay that is waited for.
    #[must_use]
    pub const fn header_cap(&self) -> Duration {
        self.header_cap
    }

    /// What happens above it.
    #[must_use]
    pub const fn on_over_cap(&self) -> OnOverCap {
        self.on_over_cap
    }

    /// How long the whole call may take.
    #[must_use]
    pub const fn deadline(&self) -> Duration {
        self.deadline
    }

    /// The most attempts of one call.
    #[must_use]
    pub const fn attempts(&self) -> u32 {
        self.attempts
    }

    /// How long one attempt may take, if less than the deadline.
    #[must_use]
    pub const fn attempt_timeout(&self) -> Option<Duration> {
        self.attempt_timeout
    }

    /// What happens after an ambiguous failure.
    #[must_use]
    pub const fn on_ambiguous(&self) -> OnAmbiguous {
        self.on_ambiguous
    }
}

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
pub struct PolicyBuilder(Policy, Option<InvalidSetting>);

impl PolicyBuilder {
    /// A policy that is not to be: what it would be derived from is out of range.
    pub(crate) fn refused(mut self, refused: InvalidSetting) -> Self {
        self.1 = Some(refused);
        self
    }

    /// The name in labels and spans; one per call site, a static word of the application.
    ///
    /// Metrics keep the first sixteen names apart and count the rest as `_OTHER`: name call sites, not requests or customers.
    pub fn named(mut self, name: &str) -> Self {
        self.0.name = Arc::from(name);
        self
    }

    /// The bound of the first wait.
    ///
    /// 1 ms to 1 h. About a tenth of the provider's window; see [choosing numbers](crate::guide::choosing_numbers).
    pub fn base(mut self, base: Duration) -> Self {
        self.0.base = base;
        self
    }

    /// By how much the bound grows with each attempt.
    ///
    /// 1 to 10; 1 is a constant bound. Two is the usual doubling.
    pub fn factor(mut self, factor: f64) -> Self {
        self.0.factor = factor;
        self
    }

    /// The bound of every wait of the curve.
    ///
    /// From the base to 24 h. It bounds the curve alone: what a provider states has a cap of its own,
    /// [`PolicyBuilder::header_cap`].
    pub fn cap(mut self, cap: Duration) -> Self {
        self.0.cap = cap;
        self
    }

    /// The longest stated delay that is waited for.
    ///
    /// 1 s to 26 h. A longer one ends the call at once: a retry before the stated end is known to fail.
    pub fn header_cap(mut self, header_cap: Duration) -> Self {
        self.0.header_cap = header_cap;
        self
    }

    /// What happens to a stated delay above the header cap.
    ///
    /// [`OnOverCap::Clamp`] sends a request that is known to fail, now and then one that does not; it is counted in
    /// `forbear_clamped_delays_total` and has no effect behind a gate.
    pub fn on_over_cap(mut self, on_over_cap: OnOverCap) -> Self {
        self.0.on_over_cap = on_over_cap;
        self
    }

    /// How long the whole call may take, gate waits and attempts included.
    ///
    /// 1 ms to 7 days. Nothing of a call outlives it: an attempt in flight is cut, a waiter leaves the queue, and a wait that would
    /// reach it is not begun.
    pub fn deadline(mut self, deadline: Duration) -> Self {
        self.0.deadline = deadline;
        self
    }

    /// The most attempts of one call; 1 means no retry.
    ///
    /// 1 to 100, the first included. Let the deadline be the limit that matters, and this the guard against loops.
    pub fn attempts(mut self, attempts: u32) -> Self {
        self.0.attempts = attempts;
        self
    }

    /// How long one attempt may take; the deadline cuts it in any case.
    ///
    /// 1 ms to the deadline. The attempt is dropped when it is over and counts as an ambiguous failure: the request may have had its
    /// effect.
    pub fn attempt_timeout(mut self, attempt_timeout: Duration) -> Self {
        self.0.attempt_timeout = Some(attempt_timeout);
        self
    }

    /// What happens after an ambiguous failure.
    ///
    /// A timeout, a connection that broke after sending, a 5xx that names no cause: the provider may have done the work. Stop where
    /// doing it twice costs more than not knowing.
    pub fn on_ambiguous(mut self, on_ambiguous: OnAmbiguous) -> Self {
        self.0.on_ambiguous = on_ambiguous;
        self
    }

    /// Lets a call under this policy retry although it runs inside an attempt of another call at the same pool. Unless it
    /// is set such a call runs once, does not ask the gate again, and is counted by `forbear_stacked_retries_total` and
    /// not as demand: the outer call owns the retries. With it both retry, and their attempts multiply.
    pub fn allow_nested(mut self) -> Self {
        self.0.allow_nested = true;
        self
    }

    /// What the call site asks a model for: `gen_ai.operation.name` of OpenTelemetry's conventions for generative AI, with
    /// their words where they have one (`chat`, `embeddings`, `generate_content`, `text_completion`, `retrieval`,
    /// `invoke_agent`, `execute_tool`). Spans alone show it: the span of a call is then named `{operation} {model}`, is of
    /// the kind CLIENT, and tells provider and model
    /// (<https://github.com/open-telemetry/semantic-conventions-genai>, "Spans").
    pub fn gen_ai_operation(mut self, operation: &str) -> Self {
        self.0.gen_ai.operation = Some(Arc::from(operation));
        self
    }

    /// The model this call site asks for, as `gen_ai.request.model` on spans: needed only where it is not the last name
    /// of the pool's path. Shown together with [`PolicyBuilder::gen_ai_operation`] and not without.
    pub fn gen_ai_model(mut self, model: &str) -> Self {
        self.0.gen_ai.model = Some(Arc::from(model));
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
        let Self(policy, refused) = self;
        let checked = refused.map_or_else(|| policy.check_fields(), Err);
        match checked {
            Ok(()) => Ok(policy),
            // Nobody gave it a name that would tell it apart.
            Err(refused) if &*policy.name == UNNAMED => Err(refused),
            Err(refused) => Err(refused.of("policy", &policy.name)),
        }
    }
}

impl Policy {
    fn check_fields(&self) -> Result<(), InvalidSetting> {
        let policy = self;
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
