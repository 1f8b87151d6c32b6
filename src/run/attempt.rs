//! What an operation knows of its attempt.

use std::sync::Arc;
use std::time::Duration;

use http::{HeaderMap, StatusCode};

use crate::clock::Glance;
use crate::core::call::AttemptPlan;
use crate::core::decide::DelaySource;
use crate::core::estimate::Estimate;
use crate::core::gate::Pass;
use crate::core::moment::Moment;
use crate::core::observation::Observation;
use crate::core::policy::Policy;
use crate::core::signal::{Signal, TokenKind};
use crate::event::Event;
use crate::gate::OwnedPermit;
use crate::run::in_flight::InFlight;
use crate::run::pool::Pool;
use crate::run::scope::AttemptScope;

/// One attempt, handed to the operation. Small, and free to be moved into its future.
///
/// `Copy`, so that an `async move` block may take it. What it tells of time is counted on the engine's clock, which follows
/// tokio's paused time.
#[derive(Clone, Copy, Debug)]
pub struct Attempt<'a> {
    pool: &'a Pool,
    policy: &'a Policy,
    time: Time,
    /// The number of its permit.
    permit: Option<u32>,
    number: u32,
    delay_source: DelaySource,
    previous: Option<Signal>,
    choice: u16,
}

/// When an attempt was sent and is cut.
#[derive(Clone, Copy, Debug)]
enum Time {
    /// Sent when the call arrived. When it is cut is reckoned when it is asked for.
    AtOnce(Glance),
    Planned {
        sent_at: Moment,
        cut: Moment,
        /// What the gate let it in for, if it was asked.
        takes: Option<Estimate>,
    },
}

impl<'a> Attempt<'a> {
    /// The first attempt of a call that did not wait.
    #[inline]
    pub(super) fn at_once(pool: &'a Pool, permit: Option<u32>, policy: &'a Policy, arrived: Glance) -> Self {
        let time = Time::AtOnce(arrived);
        Self { pool, policy, time, permit, number: 1, delay_source: DelaySource::None, previous: None, choice: 0 }
    }

    /// An attempt that was planned.
    pub(super) fn planned(
        (pool, policy): (&'a Pool, &'a Policy),
        permit: Option<u32>,
        plan: AttemptPlan,
        previous: Option<Signal>,
        sent_at: Moment,
        takes: Option<Estimate>,
    ) -> Self {
        let AttemptPlan { number, cut, delay_source } = plan;
        Self {
            pool,
            policy,
            time: Time::Planned { sent_at, cut, takes },
            permit,
            number,
            delay_source,
            previous,
            choice: 0,
        }
    }

    /// The same at another pool of its call.
    pub(super) fn of_choice(self, choice: usize) -> Self {
        Self { choice: u16::try_from(choice).unwrap_or(u16::MAX), ..self }
    }

    /// When the attempt began: the round its throttle is reported under.
    fn sent_at(&self) -> Moment {
        match self.time {
            Time::AtOnce(arrived) => self.pool.shared.clock().moment(arrived),
            Time::Planned { sent_at, .. } => sent_at,
        }
    }

    /// When it is cut: the attempt timeout or the deadline, whichever comes first.
    fn cut(&self) -> Moment {
        match self.time {
            Time::AtOnce(_) => AttemptPlan::first(self.policy, self.sent_at()).cut,
            Time::Planned { cut, .. } => cut,
        }
    }

    /// 1 for the first.
    ///
    /// 2 and later are retries.
    #[must_use]
    pub const fn number(&self) -> u32 {
        self.number
    }

    /// Which of the call's pools is asked: 0 for its own, 1 for its first [`fallback`](crate::Call::fallback), and so on.
    ///
    /// For operations that must say who is asked: the model, the region, the client.
    #[must_use]
    pub const fn choice(&self) -> usize {
        self.choice as usize
    }

    /// How long until the attempt is cut: for the client's own timeout, so that it ends by itself.
    ///
    /// Zero when the time is up. Waits at the gate and earlier attempts have been taken off already. Under
    /// [`observe_only`](crate::ForbearBuilder::observe_only) nothing is cut, and this still counts to the deadline.
    #[must_use]
    pub fn time_left(&self) -> Duration {
        self.pool.shared.clock().now().until(self.cut())
    }

    /// The source of the longest single wait before this attempt.
    #[must_use]
    pub const fn delay_source(&self) -> DelaySource {
        self.delay_source
    }

    /// What the attempt before showed.
    ///
    /// `None` in the first attempt. For operations that change with what went wrong: a smaller request after a limit on tokens, a
    /// fresh connection after a broken one.
    ///
    /// ```
    /// # use std::time::Duration;
    /// # use forbear::{Forbear, LimitClass, Policy, provider};
    /// # #[tokio::main(flavor = "current_thread", start_paused = true)] async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let pool = Forbear::builder().build()?.pool(provider::generic(), ["files"]).build()?;
    /// # let policy = Policy::interactive(Duration::from_secs(5)).build()?;
    /// let answer = pool.call(&policy).run(|attempt| async move {
    ///     let overloaded = attempt.previous().is_some_and(|signal| signal.class == LimitClass::Overload);
    ///     let status = if overloaded { 200 } else { 503 };
    ///     http::Response::builder().status(status).body(String::new()).map_err(std::io::Error::other)
    /// }).await?;
    /// assert_eq!(answer.status(), 200);
    /// # Ok(()) }
    /// ```
    #[must_use]
    pub const fn previous(&self) -> Option<&Signal> {
        self.previous.as_ref()
    }

    /// Tells what an answer's head says before its body is read: a throttle is reported to the pool at once, so that
    /// dropping the call cannot lose it. Takes `http::response::Parts`, `http::Response` and `reqwest::Response`. A plain
    /// function: it never waits.
    ///
    /// The attempt's end reports the same answer again only if its body told more: a throttle is counted once.
    ///
    /// ```
    /// # use std::time::Duration;
    /// # use forbear::{Forbear, Policy, peek, provider};
    /// # #[tokio::main(flavor = "current_thread", start_paused = true)] async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let pool = Forbear::builder().build()?.pool(provider::generic(), ["files"]).build()?;
    /// # let policy = Policy::interactive(Duration::from_secs(5)).build()?;
    /// # let send = || async { http::Response::new(String::from("done")) };
    /// let answer = pool.call(&policy).run(|attempt| {
    ///     let request = send();
    ///     async move {
    ///         let answer = request.await;
    ///         attempt.saw(&answer); // its body may take long; others need not wait for the news
    ///         answer
    ///     }
    /// }).await?;
    /// assert_eq!(answer.body(), "done");
    /// # Ok(()) }
    /// ```
    pub fn saw(&self, head: &impl Head) {
        let shared = &self.pool.shared;
        let observation = Observation::status(head.status().as_u16()).headers(head.headers());
        let signal = shared.read(&observation);
        if signal.is_throttle() && shared.is_gated() {
            let sent_at = self.sent_at();
            shared.reported.note(sent_at, self.permit, signal);
            let pass = Pass { at: sent_at, probe: false };
            shared.node.report(shared.level(signal.scope), pass, &signal, shared.clock().now());
        }
    }

    /// Tells how many tokens of a side were really used. Where the pool is paced by tokens the difference to the call's
    /// [estimate](crate::Call::tokens) is settled: to be told once for each side of an attempt.
    pub fn used_tokens(&self, kind: TokenKind, tokens: u64) {
        let shared = &self.pool.shared;
        if let Time::Planned { takes: Some(estimate), .. } = self.time {
            shared.node.settle(estimate, kind, tokens, shared.clock().now());
        }
        shared.tell(shared.clock().now(), || Event::TokensUsed { kind, tokens });
    }

    /// [`Attempt::used_tokens`] for each side that an answer's body states, JSON or a stream of events. Needed where the
    /// engine does not see the body of a success; it sees that of a `http::Response` of [`PeekBody`](crate::PeekBody).
    pub fn used(&self, answer: &[u8]) {
        for (kind, tokens) in self.pool.shared.table.usage(answer).sides() {
            self.used_tokens(kind, tokens);
        }
    }

    /// Makes a future part of this attempt in whatever task it runs: what it opens nests in the attempt's span, what a tap
    /// sees it send is counted, and a call it makes at the same pool is known to be inside the attempt. Needed where the
    /// operation spawns; what it awaits is part of the attempt by itself. To be called inside the operation, whose span it
    /// takes over.
    ///
    /// ```
    /// # use std::time::Duration;
    /// # use forbear::{Forbear, Policy, provider};
    /// # #[tokio::main(flavor = "current_thread", start_paused = true)] async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let pool = Forbear::builder().build()?.pool(provider::generic(), ["files"]).build()?;
    /// # let policy = Policy::interactive(Duration::from_secs(5)).build()?;
    /// # let send = || async { http::Response::new(()) };
    /// let answer = pool
    ///     .call(&policy)
    ///     .run(|attempt| {
    ///         let request = tokio::spawn(attempt.scope(send()));
    ///         async { request.await.map_err(std::io::Error::from) }
    ///     })
    ///     .await?;
    /// # Ok(()) }
    /// ```
    pub fn scope<F: Future>(&self, future: F) -> AttemptScope<F> {
        AttemptScope::new(self.pool, self.policy, future)
    }

    /// Keeps the request counted as in flight until the guard is dropped: to be moved into a stream that outlives the
    /// call. A concurrency limit counts a stream until its last byte, and so must we.
    ///
    /// The guard takes the attempt's own place: the request is counted once, whether the attempt or the guard ends first.
    /// A second guard of the same attempt counts as a request of its own.
    #[must_use = "the request is counted until the guard is dropped"]
    pub fn permit(&self) -> InFlight {
        let takes = match self.time {
            Time::Planned { takes, .. } => takes,
            Time::AtOnce(_) => None,
        };
        let pool = self.pool.clone();
        InFlight { _permit: OwnedPermit::of(Arc::clone(&pool.shared.node), self.permit), pool, takes }
    }
}

/// The head of an answer.
///
/// ```
/// use forbear::Head;
/// let answer = http::Response::builder().status(429).header("retry-after", "2").body(())?;
/// assert_eq!(Head::status(&answer), 429);
/// assert_eq!(Head::headers(&answer)["retry-after"], "2");
/// # Ok::<(), http::Error>(())
/// ```
pub trait Head {
    /// Its status.
    fn status(&self) -> StatusCode;
    /// Its headers.
    fn headers(&self) -> &HeaderMap;
}

impl Head for http::response::Parts {
    fn status(&self) -> StatusCode {
        self.status
    }

    fn headers(&self) -> &HeaderMap {
        &self.headers
    }
}

impl<B> Head for http::Response<B> {
    fn status(&self) -> StatusCode {
        self.status()
    }

    fn headers(&self) -> &HeaderMap {
        self.headers()
    }
}

#[cfg(feature = "reqwest")]
impl Head for reqwest::Response {
    fn status(&self) -> StatusCode {
        self.status()
    }

    fn headers(&self) -> &HeaderMap {
        self.headers()
    }
}
