//! A call that goes on at another pool where its own cannot serve it.

use std::future::Future;
use std::sync::{Arc, Mutex, PoisonError};

use crate::core::decide::{CallOutcome, DelaySource, GiveUp};
use crate::core::moment::Moment;
use crate::core::policy::Policy;
use crate::core::refusal::Refusal;
use crate::core::signal::LimitClass;
use crate::error::Error;
use crate::event::Event;
use crate::run::attempt::Attempt;
use crate::run::call::Call;
use crate::run::drive::drive;
use crate::run::observe::{ByOutcome, Observe};
use crate::run::outcome::Settle;
use crate::run::pool::Pool;
use crate::run::spans::{CallSpans, Whose};

/// A [`Call`] with pools to go to where its own cannot serve it: another model, another region, another provider.
///
/// The next pool is asked at once where the one before
///
/// - has its day's quota used up, or its credit,
/// - refuses the call at its gate (unless the engine is being drained),
/// - states a wait above the policy's `header_cap`, or one that would not fit into the deadline,
/// - answered every attempt with a limit,
///
/// and time is left. A failure that is no limit (a 404, a broken connection, a server that fails) ends the call: another pool
/// would be no cure, or the policy has said when to stop.
///
/// A limit of a whole account shuts every pool below it: after a spent credit only a pool of another account, or another
/// provider, can help.
///
/// It is one call under one policy: its deadline counts from the arrival at the first pool, and the same estimate holds
/// everywhere. Each pool asked has a whole policy's attempts. On a pool whose place another took the call counts as
/// `ok_by_fallback`, which is a success; on the pool that answered it counts as any call does. Where no pool could serve it, each
/// counts its own reason, and the error is the last one's.
///
/// ```
/// # use std::time::Duration;
/// # use forbear::event::{catalogue::Metric, totals::Totals};
/// # use forbear::{Forbear, Policy, provider};
/// # #[tokio::main(flavor = "current_thread", start_paused = true)] async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// # let totals = Totals::new();
/// # let forbear = Forbear::builder().sink(totals.clone()).build()?;
/// # let policy = Policy::interactive(Duration::from_secs(15)).build()?;
/// let large = forbear.pool(provider::openai(), ["ours", "large"]).build()?;
/// let small = forbear.pool(provider::openai(), ["our-second-account", "small"]).build()?;
/// # let spent = r#"{"error":{"code":"insufficient_quota","type":"insufficient_quota","message":"You exceeded your current quota."}}"#;
/// # let ask = |model: &'static str| async move {
/// #     let (status, body) = if model == "large" { (429, spent) } else { (200, "{}") };
/// #     http::Response::builder().status(status).body(body.to_owned()).map_err(std::io::Error::other)
/// # };
/// let models = ["large", "small"];
/// let answer = large.call(&policy).fallback(&small).run(|attempt| ask(models[attempt.choice()])).await?;
/// assert_eq!(answer.status(), 200);
/// let ended = |pool, outcome| totals.count(Metric::CallDuration, pool, &[("outcome", outcome)]);
/// assert_eq!((ended("ours/large", "ok_by_fallback"), ended("our-second-account/small", "ok")), (1, 1));
/// # Ok(()) }
/// ```
#[must_use = "nothing happens before `run`"]
#[derive(Clone, Debug)]
pub struct FallbackCall<'a, C = ByOutcome> {
    call: Call<'a, C>,
    others: Vec<&'a Pool>,
}

impl<'a, C> Call<'a, C> {
    /// Goes on at `pool` where the call's own cannot serve it; see [`FallbackCall`] for when that is. May be told several
    /// times: they are asked in this order. [`Attempt::choice`](crate::Attempt::choice) says whose turn it is.
    pub fn fallback(self, pool: &'a Pool) -> FallbackCall<'a, C> {
        FallbackCall { call: self, others: vec![pool] }
    }
}

impl<'a, C> FallbackCall<'a, C> {
    /// One pool more to go to.
    pub fn fallback(mut self, pool: &'a Pool) -> Self {
        self.others.push(pool);
        self
    }

    /// Carries the call out, as [`Call::run`] does, at one pool after another.
    ///
    /// # Errors
    /// The call ended without success: at the last pool that was asked.
    ///
    /// # Cancel safety
    /// As of [`Call::run`]. Dropped it counts as cancelled, on every pool that was asked.
    pub async fn run<R, F, Fut>(self, mut operation: F) -> Result<R::Value, Error<R>>
    where
        R: Settle,
        C: Observe<R>,
        F: FnMut(Attempt<'a>) -> Fut,
        Fut: Future<Output = R>,
    {
        let Self { call, others } = self;
        let started = call.pool.shared.clock().now();
        let mut asked: Vec<Held> = Vec::new();
        loop {
            let choice = asked.len();
            let pool = if choice == 0 { call.pool } else { others[choice - 1] };
            let end = (choice < others.len()).then(End::default);
            let place = Place { choice, started, end: end.clone() };
            let Call { policy, estimate, may_wait, observe, .. } = &call;
            let one = Call { pool, policy, estimate: *estimate, may_wait: *may_wait, observe };
            let ended = drive::<C, _, _, _, _>(one, |going| going.takes_place(place), &mut operation);
            // In the span of the call whose place it takes.
            let ended = match asked.last() {
                None => ended.await,
                Some(held) => held.spans.inside_call(|| ended).await,
            };
            match (end.and_then(|end| end.take()), ended) {
                (Some(held), Err(_)) => asked.push(held),
                (_, ended) => {
                    asked.drain(..).for_each(|held| held.tell(ended.is_ok()));
                    return ended;
                }
            }
        }
    }
}

/// A call's place among the pools it may be served by.
pub(super) struct Place {
    /// 0 at its own pool.
    pub(super) choice: usize,
    /// When it arrived there.
    pub(super) started: Moment,
    /// Where its end is put, if there is another pool to go to.
    pub(super) end: Option<End>,
}

/// Where the end of a call is put that goes on at another pool.
#[derive(Clone, Debug, Default)]
pub(super) struct End(Arc<Mutex<Option<Held>>>);

impl End {
    pub(super) fn put(&self, held: Held) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = Some(held);
    }

    fn take(&self) -> Option<Held> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).take()
    }
}

/// The end of a call that is not told before it is known how the call ends elsewhere. Dropped it tells that the caller went
/// away.
pub(super) struct Held {
    pub(super) pool: Pool,
    pub(super) policy: Policy,
    pub(super) spans: CallSpans,
    pub(super) give_up: GiveUp,
    pub(super) early: bool,
    pub(super) attempts: u32,
    pub(super) arrived: Moment,
    /// Whether it is still to be told.
    pub(super) tells: bool,
}

impl std::fmt::Debug for Held {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Held").field("pool", &self.pool).field("give_up", &self.give_up).finish_non_exhaustive()
    }
}

impl Held {
    /// Whether a call that ends at `now` for this reason is to go on at another pool, if it has one.
    pub(super) fn may_go_on(give_up: &GiveUp, now: Moment, deadline: Moment) -> bool {
        let helps = match give_up.outcome {
            CallOutcome::DailyLimit | CallOutcome::SpendLimit | CallOutcome::StatedDelayTooLong => true,
            CallOutcome::GateRefused => give_up.refusal != Some(Refusal::Draining),
            CallOutcome::DeadlineExceeded | CallOutcome::AttemptsExhausted => give_up.class != LimitClass::None,
            _ => false,
        };
        helps && now < deadline
    }

    /// Tells how the call ended: by a fallback, or for its own reason.
    fn tell(mut self, by_fallback: bool) {
        let GiveUp { outcome, class, source, .. } = self.give_up;
        if by_fallback {
            self.spans.done_by_fallback(self.attempts);
            self.tell_end(CallOutcome::OkByFallback, LimitClass::None, DelaySource::None, false);
        } else {
            let shared = &self.pool.shared;
            let whose = Whose { pool: self.pool.labels(), about: &shared.about, policy: &self.policy };
            self.spans.gave_up(whose, &self.give_up, self.attempts);
            self.tell_end(outcome, class, source, self.early);
        }
    }

    fn tell_end(&mut self, outcome: CallOutcome, class: LimitClass, delay_source: DelaySource, early: bool) {
        if !std::mem::take(&mut self.tells) {
            return;
        }
        let shared = &self.pool.shared;
        let now = shared.clock().now();
        let (policy, attempts) = (self.policy.name(), self.attempts);
        let duration = self.arrived.until(now);
        shared.tell(now, || Event::CallEnded { policy, outcome, class, delay_source, early, attempts, duration });
    }
}

impl Drop for Held {
    fn drop(&mut self) {
        self.tell_end(CallOutcome::Cancelled, self.give_up.class, DelaySource::None, false);
    }
}
