//! One call in the making.

use std::future::Future;

use http::HeaderMap;
use tokio::time::Instant;

use crate::core::estimate::Estimate;
use crate::core::observation::Observation;
use crate::core::policy::Policy;
use crate::error::Error;
use crate::event::StackedBy;
use crate::run::attempt::Attempt;
use crate::run::drive::drive;
use crate::run::incoming::IncomingRetry;
use crate::run::observe::{ByInstant, ByOutcome, ByRule, Observe};
use crate::run::outcome::Settle;
use crate::run::pool::Pool;

/// A call at a pool under a policy. Made by [`Pool::call`]; [`Call::run`] carries it out.
///
/// ```
/// # use std::time::Duration;
/// # use forbear::{Estimate, Forbear, Policy, provider};
/// # #[tokio::main(flavor = "current_thread", start_paused = true)] async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// # let pool = Forbear::builder().build()?.pool(provider::generic(), ["files"]).build()?;
/// # let policy = Policy::interactive(Duration::from_secs(5)).build()?;
/// let call = pool.call(&policy).tokens(Estimate::total(900)).no_wait();
/// let answer = call.run(|attempt| async move { http::Response::new(attempt.number()) .map(|_| ()) }).await?;
/// assert_eq!(answer.status(), 200);
/// # Ok(()) }
/// ```
#[must_use = "nothing happens before `run`"]
#[derive(Clone, Debug)]
pub struct Call<'a, C = ByOutcome> {
    pub(super) pool: &'a Pool,
    pub(super) policy: &'a Policy,
    pub(super) estimate: Option<Estimate>,
    pub(super) may_wait: bool,
    pub(super) observe: C,
}

impl<'a> Call<'a> {
    pub(super) fn new(pool: &'a Pool, policy: &'a Policy) -> Self {
        Self { pool, policy, estimate: None, may_wait: true, observe: ByOutcome }
    }

    /// Observes what the operation returns by this rule, for types the engine does not know.
    ///
    /// ```
    /// # use std::time::Duration;
    /// # use forbear::{Forbear, Observation, Policy, provider};
    /// # #[tokio::main(flavor = "current_thread", start_paused = true)] async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let pool = Forbear::builder().build()?.pool(provider::generic(), ["files"]).build()?;
    /// # let policy = Policy::interactive(Duration::from_secs(5)).build()?;
    /// let text = pool
    ///     .call(&policy)
    ///     .classify(|read: &Result<String, u16>| match read {
    ///         Ok(_) => Observation::ok(),
    ///         Err(status) => Observation::status(*status),
    ///     })
    ///     .run(|attempt| async move { if attempt.number() < 3 { Err(503) } else { Ok("done".to_owned()) } })
    ///     .await?;
    /// assert_eq!(text, "done");
    /// # Ok(()) }
    /// ```
    pub fn classify<R, F>(self, rule: F) -> Call<'a, ByRule<F>>
    where
        F: for<'r> Fn(&'r R) -> Observation<'r>,
    {
        self.observing(ByRule(rule))
    }

    /// Observes what the operation returns through `observe`.
    pub(crate) fn observing<C>(self, observe: C) -> Call<'a, C> {
        let Self { pool, policy, estimate, may_wait, .. } = self;
        Call { pool, policy, estimate, may_wait, observe }
    }
}

impl<'a, C> Call<'a, C> {
    /// The tokens this call is expected to use.
    ///
    /// What is expected to be used is what the gate reserves where the pool's limit counts tokens, and what demand is counted in.
    /// [`Attempt::used_tokens`](crate::Attempt::used_tokens) settles it afterwards. Integrations estimate from the body.
    ///
    /// ```
    /// # use std::time::Duration;
    /// # use forbear::{Estimate, Forbear, Policy, provider};
    /// # #[tokio::main(flavor = "current_thread", start_paused = true)] async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let pool = Forbear::builder().build()?.pool(provider::generic(), ["files"]).build()?;
    /// # let policy = Policy::interactive(Duration::from_secs(5)).build()?;
    /// # let send = |_| async { http::Response::new(String::from("done")) };
    /// // 1,200 tokens go out, and at most 400 come back.
    /// pool.call(&policy).tokens(Estimate::input(1_200).output(400)).run(send).await?;
    /// # Ok(()) }
    /// ```
    pub fn tokens(mut self, estimate: Estimate) -> Self {
        self.estimate = Some(estimate);
        self
    }

    /// Refuses at once where the call would have to wait at the gate.
    ///
    /// For callers who have somewhere else to go: another pool, a cached answer, a message that it is busy. It says nothing of waits
    /// between attempts, which the policy rules.
    pub fn no_wait(mut self) -> Self {
        self.may_wait = false;
        self
    }

    /// Ends the call by `latest` as well: for callers who are told until when, not for how long, as a service whose own
    /// caller has a deadline. The earlier of it and the policy's deadline counts, for everything a deadline does: attempts are
    /// cut at it, waits that would reach it are not begun, waiters leave the gate. Where it has passed, no request is sent.
    ///
    /// To be told after [`Call::classify`]; of several the earliest counts.
    ///
    /// ```
    /// # use std::time::Duration;
    /// # use forbear::{Forbear, Policy, provider};
    /// # #[tokio::main(flavor = "current_thread", start_paused = true)] async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let pool = Forbear::builder().build()?.pool(provider::generic(), ["files"]).build()?;
    /// # let policy = Policy::interactive(Duration::from_secs(5)).build()?;
    /// // All of an incoming request's calls share what time it has left.
    /// let until = tokio::time::Instant::now() + Duration::from_millis(800);
    /// let slow = |_| async { tokio::time::sleep(Duration::from_secs(1)).await; http::Response::new(()) };
    /// let error = pool.call(&policy).deadline_at(until).run(slow).await.unwrap_err();
    /// assert!(error.is_deadline() && error.elapsed() < Duration::from_secs(1));
    /// let late = pool.call(&policy).deadline_at(until).run(slow).await.unwrap_err();
    /// assert!(late.is_deadline() && late.attempts() == 0);
    /// # Ok(()) }
    /// ```
    pub fn deadline_at(self, latest: Instant) -> Call<'a, ByInstant<C>> {
        let Self { pool, policy, estimate, may_wait, observe } = self;
        Call { pool, policy, estimate, may_wait, observe: ByInstant { observe, latest } }
    }

    /// Tells for which incoming request of your service the call is made. Where the request's headers say that it is
    /// somebody's retry (see [`IncomingRetry`]), it is counted at once by
    /// `forbear_stacked_retries_total{detector="incoming_header"}`, and the call site is warned once: two layers that retry
    /// multiply. The call itself goes on as it would.
    pub fn incoming(self, headers: &HeaderMap) -> Self {
        if IncomingRetry::read(headers).is_some() {
            self.pool.shared.tell_stacked(self.policy, StackedBy::IncomingHeader);
        }
        self
    }

    /// Carries the call out: asks the gate, makes attempts, waits between them, and ends by the deadline.
    ///
    /// The operation is run once per attempt. It must not retry by itself: one layer retries, and this is it. It may move
    /// its [`Attempt`] into the future it returns.
    ///
    /// # Errors
    /// The call ended without success; see [`Error`]. An answer that is no success (a 404, an exhausted 429) is an error
    /// that gives the answer back whole.
    ///
    /// # Cancel safety
    /// The future may be dropped at any await point: an attempt in flight is dropped with it, a place in the queue is
    /// given up without cost to others, and a throttle whose headers were seen is still reported to the pool.
    ///
    /// # Panics
    /// Outside a tokio runtime with its timer enabled, as soon as something has to wait.
    pub fn run<R, F, Fut>(self, operation: F) -> impl Future<Output = Result<R::Value, Error<R>>>
    where
        R: Settle,
        C: Observe<R>,
        F: FnMut(Attempt<'a>) -> Fut,
        Fut: Future<Output = R>,
    {
        drive::<C, C, _, _, _>(self, |_| (), operation)
    }
}
