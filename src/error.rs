//! How a call that did not succeed tells about it.

use std::fmt;
use std::time::Duration;

use crate::core::call::Call;
use crate::core::decide::{CallOutcome, DelaySource, GiveUp};
use crate::core::moment::Moment;
use crate::core::refusal::Refusal;
use crate::core::signal::{LimitClass, Signal};
use crate::event::PoolLabels;

/// A call ended without success.
///
/// It says what happened, what was done about it (attempts, time, class, where the last delay came from) and what to do
/// next, and gives the last outcome back whole: also an exhausted `Ok(429)`.
///
/// Display and Debug print nothing of request or answer, and `source()` is `None`: transport errors of common clients
/// print URLs, and URLs may hold keys. Whoever needs them asks [`Error::last`]. The wording is not API; the questions are.
pub struct Error<R> {
    // Boxed: the happy path pays for the size of what it returns.
    inner: Box<Inner<R>>,
}

struct Inner<R> {
    labels: PoolLabels,
    give_up: GiveUp,
    attempts: u32,
    elapsed: Duration,
    now: Moment,
    last_signal: Option<Signal>,
    last: Option<R>,
}

impl<R> Error<R> {
    pub(crate) fn new(labels: PoolLabels, give_up: GiveUp, call: &Call, now: Moment, last: Option<R>) -> Self {
        let (attempts, elapsed, last_signal) = (call.attempts(), call.started().until(now), call.last_signal());
        Self { inner: Box::new(Inner { labels, give_up, attempts, elapsed, now, last_signal, last }) }
    }

    /// How the call ended.
    #[must_use]
    pub fn outcome(&self) -> CallOutcome {
        self.inner.give_up.outcome
    }

    /// What stood in the way last; for a refusal by the gate, what the pool is shut for.
    #[must_use]
    pub fn limit_class(&self) -> LimitClass {
        self.inner.give_up.class
    }

    /// Attempts made: requests that were sent.
    #[must_use]
    pub fn attempts(&self) -> u32 {
        self.inner.attempts
    }

    /// How long the call took.
    #[must_use]
    pub fn elapsed(&self) -> Duration {
        self.inner.elapsed
    }

    /// The source of the wait that did not fit, if that ended the call.
    #[must_use]
    pub fn delay_source(&self) -> DelaySource {
        self.inner.give_up.source
    }

    /// What the last failed attempt meant.
    #[must_use]
    pub fn signal(&self) -> Option<&Signal> {
        self.inner.last_signal.as_ref()
    }

    /// How long after the call's end another one makes sense, if that is known.
    #[must_use]
    pub fn retry_after(&self) -> Option<Duration> {
        self.inner.give_up.retry_at.map(|at| self.inner.now.until(at))
    }

    /// When another call makes sense, if that is known: [`Error::retry_after`] counted from now.
    #[must_use]
    pub fn retry_at(&self) -> Option<tokio::time::Instant> {
        self.retry_after().map(crate::clock::from_now)
    }

    /// Whether the deadline ended it, or would have been passed by the next wait.
    #[must_use]
    pub fn is_deadline(&self) -> bool {
        self.outcome() == CallOutcome::DeadlineExceeded
    }

    /// Whether the day's quota is used up: said by the provider, or by the gate that heard it.
    #[must_use]
    pub fn is_daily_limit(&self) -> bool {
        self.limit_class() == LimitClass::Daily
    }

    /// Whether credit, balance or budget is used up: said by the provider, or by the gate that heard it.
    #[must_use]
    pub fn is_spend_limit(&self) -> bool {
        self.limit_class() == LimitClass::Spend
    }

    /// Whether the gate turned the call away; no request was sent since.
    #[must_use]
    pub fn is_refused_by_gate(&self) -> bool {
        self.outcome() == CallOutcome::GateRefused
    }

    /// Why the gate turned the call away, if it did.
    #[must_use]
    pub fn refusal(&self) -> Option<Refusal> {
        self.inner.give_up.refusal
    }

    /// Whether every attempt was used.
    #[must_use]
    pub fn is_exhausted(&self) -> bool {
        self.outcome() == CallOutcome::AttemptsExhausted
    }

    /// Whether waiting does not help.
    #[must_use]
    pub fn is_not_retryable(&self) -> bool {
        self.outcome() == CallOutcome::NotRetryable
    }

    /// The last outcome, whole; `None` when the last attempt was cut, when none was made, and when the call ended while it
    /// waited for another: what an attempt returned is not kept while its call sleeps.
    #[must_use]
    pub fn last(&self) -> Option<&R> {
        self.inner.last.as_ref()
    }

    /// The last outcome, whole.
    #[must_use]
    pub fn into_last(self) -> Option<R> {
        self.inner.last
    }

    fn what_next(&self) -> &'static str {
        match self.refusal() {
            Some(Refusal::QueueFull) => return "take in less, use another pool, or raise the pool's queue_limit",
            Some(Refusal::Draining) => return "send it to another process: this one is about to end",
            _ => {}
        }
        match (self.outcome(), self.limit_class()) {
            (_, LimitClass::Daily) => "use another pool until the day's quota resets, or ask for more",
            (_, LimitClass::Spend) => "a person must raise the budget or pay; the pool is probed every 5 min",
            (CallOutcome::DeadlineExceeded, _) => "give the call a longer deadline, or queue it",
            (CallOutcome::AttemptsExhausted, _) => "check the policy against the provider's window",
            (CallOutcome::RetryBudget, _) => "the provider is failing: more retries would only add load",
            (CallOutcome::StatedDelayTooLong, _) => "use another pool, or raise the policy's header_cap",
            (CallOutcome::NotRetryable, _) => "the request must change: the answer is in `into_last`",
            (CallOutcome::GateRefused, _) => "come back when the pool reopens, or use another pool",
            _ => "see the answer in `into_last`",
        }
    }
}

impl<R> fmt::Display for Error<R> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Inner { labels, give_up, attempts, elapsed, last_signal, .. } = &*self.inner;
        let plural = if *attempts == 1 { "" } else { "s" };
        write!(
            f,
            "{} {}: {} after {attempts} attempt{plural} in {elapsed:.1?}; limit class {}",
            labels.provider, labels.pool, give_up.outcome, give_up.class
        )?;
        if let Some(refusal) = give_up.refusal {
            write!(f, ", refused for: {refusal}")?;
        }
        if let Some(status) = last_signal.and_then(|signal| signal.status) {
            write!(f, ", last status {status}")?;
        }
        if let Some(stated) = last_signal.and_then(|signal| signal.stated) {
            write!(f, ", stated delay {:.1?} in {} {}", stated.delay, stated.part, stated.place)?;
        }
        if give_up.source != DelaySource::None {
            write!(f, ", the wait that did not fit came from: {}", give_up.source)?;
        }
        if let Some(after) = self.retry_after() {
            write!(f, ", retry makes sense in {after:.1?}")?;
        }
        write!(f, "; next: {}", self.what_next())
    }
}

impl<R> fmt::Debug for Error<R> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Error")
            .field("provider", &self.inner.labels.provider)
            .field("pool", &self.inner.labels.pool)
            .field("give_up", &self.inner.give_up)
            .field("attempts", &self.inner.attempts)
            .field("elapsed", &self.inner.elapsed)
            .field("last_signal", &self.inner.last_signal)
            .finish_non_exhaustive()
    }
}

impl<R> std::error::Error for Error<R> {}
