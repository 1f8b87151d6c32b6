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
///
/// ```
/// # use std::time::Duration;
/// # use forbear::{Forbear, Policy, provider};
/// # #[tokio::main(flavor = "current_thread", start_paused = true)] async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// # let pool = Forbear::builder().build()?.pool(provider::openai(), ["prod", "gpt-4o"]).build()?;
/// # let policy = Policy::interactive(Duration::from_secs(15)).build()?;
/// # let body = r#"{"error":{"code":"insufficient_quota","type":"insufficient_quota","message":"You exceeded your current quota."}}"#;
/// # let ask = |_| async { http::Response::builder().status(429).body(body.to_owned()).map_err(std::io::Error::other) };
/// match pool.call(&policy).run(ask).await {
///     Ok(answer) => println!("{}", answer.status()),
///     Err(error) if error.is_spend_limit() => println!("a person must pay: {error}"),
///     Err(error) if error.is_daily_limit() => println!("no more today, again in {:?}", error.retry_after()),
///     Err(error) => println!("{error}"),
/// }
/// # Ok(()) }
/// ```
pub struct Error<R> {
    // Boxed: the happy path pays for the size of what it returns.
    inner: Box<Inner<R>>,
}

/// What an error tells. `now` is when the call ended on the engine's clock: what is counted from then is told as a duration.
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
    /// Of a call that ended at `now`; `last` is what its last attempt returned, if it may be given back.
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
    ///
    /// [`LimitClass::None`] where the call ended for another reason than a limit.
    #[must_use]
    pub fn limit_class(&self) -> LimitClass {
        self.inner.give_up.class
    }

    /// Attempts made: requests that were sent.
    ///
    /// Zero where the gate turned the call away, or the deadline came in its queue.
    #[must_use]
    pub fn attempts(&self) -> u32 {
        self.inner.attempts
    }

    /// How long the call took.
    ///
    /// From its arrival to its end: attempts, waits between them and the wait at the gate.
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
    ///
    /// What the provider stated, when the pool reopens, or when its next turn comes. Zero where that has passed. `None` says nothing either way: for a spend
    /// limit nobody knows, and for a failure that is no throttle there is nothing to know.
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
    ///
    /// Both are the same to the caller: the answer would have come too late. [`Error::retry_after`] tells them apart, as a wait that
    /// was known not to fit is named there.
    #[must_use]
    pub fn is_deadline(&self) -> bool {
        self.outcome() == CallOutcome::DeadlineExceeded
    }

    /// Whether the day's quota is used up: said by the provider, or by the gate that heard it.
    ///
    /// The next attempt that can succeed is tomorrow's: use another pool, or give up.
    #[must_use]
    pub fn is_daily_limit(&self) -> bool {
        self.limit_class() == LimitClass::Daily
    }

    /// Whether credit, balance or budget is used up: said by the provider, or by the gate that heard it.
    ///
    /// No wait helps before a person acts; the pool lets one probe through every five minutes and reopens by itself when it is paid.
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
    ///
    /// The deadline had not come: where this happens often, the policy has fewer attempts than its deadline has time for.
    #[must_use]
    pub fn is_exhausted(&self) -> bool {
        self.outcome() == CallOutcome::AttemptsExhausted
    }

    /// Whether waiting does not help.
    ///
    /// The request, the key or the account is what must change. The answer says which, and is in [`Error::into_last`].
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
    ///
    /// ```
    /// # use std::time::Duration;
    /// # use forbear::{Forbear, Policy, provider};
    /// # #[tokio::main(flavor = "current_thread", start_paused = true)] async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let pool = Forbear::builder().build()?.pool(provider::generic(), ["files"]).build()?;
    /// # let policy = Policy::interactive(Duration::from_secs(5)).build()?;
    /// # let ask = |_| async { http::Response::builder().status(404).body("no such file".to_owned()).map_err(std::io::Error::other) };
    /// let error = pool.call(&policy).run(ask).await.unwrap_err();
    /// assert!(error.is_not_retryable() && error.attempts() == 1);
    /// let answer = error.into_last().expect("an answer came")?;
    /// assert_eq!((answer.status().as_u16(), answer.body().as_str()), (404, "no such file"));
    /// # Ok(()) }
    /// ```
    #[must_use]
    pub fn into_last(self) -> Option<R> {
        self.inner.last
    }

    /// The error without the last outcome, and the last outcome.
    #[cfg(any(feature = "tower", feature = "reqwest-middleware"))]
    pub(crate) fn apart(self) -> (Error<()>, Option<R>) {
        let Inner { labels, give_up, attempts, elapsed, now, last_signal, last } = *self.inner;
        let inner = Box::new(Inner { labels, give_up, attempts, elapsed, now, last_signal, last: None });
        (Error { inner }, last)
    }

    /// What to do about it, in one clause: the end of the error's text.
    fn what_next(&self) -> &'static str {
        match self.refusal() {
            Some(Refusal::QueueFull) => return "take in less, use another pool, or raise the pool's queue_limit",
            Some(Refusal::Draining) => return "send it to another process: this one is about to end",
            Some(Refusal::ByHand) => return "ask who shut the pool, or use another pool",
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
            (CallOutcome::GateRefused, _) if self.refusal() == Some(Refusal::NoWait) => {
                "let it wait for its turn, come back later, or use another pool"
            }
            (CallOutcome::GateRefused, _) => "give the call a longer deadline, come back later, or use another pool",
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
            .field("outcome", &self.inner.give_up.outcome)
            .field("limit_class", &self.inner.give_up.class)
            .field("refusal", &self.inner.give_up.refusal)
            .field("attempts", &self.inner.attempts)
            .field("elapsed", &self.inner.elapsed)
            .field("delay_source", &self.inner.give_up.source)
            .field("retry_after", &self.retry_after())
            .field("last_signal", &self.inner.last_signal)
            .finish_non_exhaustive()
    }
}

impl<R> std::error::Error for Error<R> {}
