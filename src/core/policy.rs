//! What a call site sets: how long to try, how often, how far apart.

use std::sync::Arc;
use std::time::Duration;

mod builder;
mod gen_ai;
mod manners;

pub use builder::PolicyBuilder;
pub(crate) use gen_ai::GenAi;
pub(crate) use manners::{HeaderJitter, Jitter, Manners};

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

/// The name of a policy that was given none.
const UNNAMED: &str = "default";

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
        PolicyBuilder::new(policy)
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
