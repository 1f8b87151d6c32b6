//! The way of one call: gate, attempt, classify, report, decide, wait, and again.
//!
//! What lives over an await lives in the caller's future, so blocks end what need not, and the two functions on the happy
//! path return `async` blocks: an `async fn` keeps its arguments twice.

use std::future::Future;

use bytes::Bytes;

use crate::core::call::AttemptPlan;
use crate::core::decide::{Decision, GiveUp};
use crate::core::observation::{Observation, TransportFailure};
use crate::core::signal::Signal;
use crate::error::Error;
use crate::run::attempt::Attempt;
use crate::run::call::Call;
use crate::run::classify::Observe;
use crate::run::cut::Cut;
use crate::run::going::Going;
use crate::run::outcome::Settle;

/// Drives a call to its end.
#[allow(clippy::manual_async_fn, reason = "an async fn would keep its arguments twice")]
pub(super) fn drive<'a, C, R, F, Fut>(
    call: Call<'a, C>,
    mut operation: F,
) -> impl Future<Output = Result<R::Value, Error<R>>>
where
    R: Settle,
    C: Observe<R>,
    F: FnMut(Attempt<'a>) -> Fut,
    Fut: Future<Output = R>,
{
    async move {
        let mut going = Going::start(call.pool, call.policy, call.estimate);
        loop {
            if !going.passes_at_once()
                && let Err(give_up) = going.wait_for_turn(call.may_wait).await
            {
                return Err(going.give_up(give_up, None));
            }
            let plan = match going.begin() {
                Ok(plan) => plan,
                Err(give_up) => return Err(going.give_up(give_up, None)),
            };
            let wait = {
                let (outcome, signal) = attempt(&mut going, plan, &call.observe, &mut operation).await;
                match going.end_attempt(&signal) {
                    Decision::Again(wait) => wait,
                    Decision::GiveUp(give_up) => return Err(going.give_up(give_up, outcome)),
                    Decision::Done => {
                        return match outcome.map(Settle::settle) {
                            Some(Ok(value)) => {
                                going.done();
                                Ok(value)
                            }
                            // Observed as a success, but there is no value in it: nothing to retry and nothing to give.
                            Some(Err(outcome)) => Err(going.give_up(GiveUp::not_retryable(), Some(outcome))),
                            None => Err(going.give_up(GiveUp::not_retryable(), None)),
                        };
                    }
                }
                // The answer and its connection are not kept while the call sleeps.
            };
            going.sleep(wait).await;
        }
    }
}

/// Makes one attempt and reads what it shows. The outcome is `None` when it was cut.
#[allow(clippy::manual_async_fn, reason = "an async fn would keep its arguments twice")]
fn attempt<'a, C, R, F, Fut>(
    going: &mut Going<'a>,
    plan: AttemptPlan,
    observe: &C,
    operation: &mut F,
) -> impl Future<Output = (Option<R>, Signal)>
where
    C: Observe<R>,
    F: FnMut(Attempt<'a>) -> Fut,
    Fut: Future<Output = R>,
{
    async move {
        let inside = going.spans.inside(|| operation(going.attempt(plan)));
        let Some(outcome) = Cut::new(inside, going.clock(), plan.cut).await else {
            let signal = going.read(&Observation::failure(TransportFailure::Timeout));
            return (None, signal);
        };
        if !observe.wants_peek(&outcome) {
            let signal = going.read(&observe.observation(&outcome, None));
            return (Some(outcome), signal);
        }
        // Boxed: an answer whose body must be read is an error, and errors may cost what successes must not.
        Box::pin(peek(going, plan, observe, outcome)).await
    }
}

/// Reads the first bytes of an answer's body before it is classified.
async fn peek<C: Observe<R>, R>(
    going: &mut Going<'_>,
    plan: AttemptPlan,
    observe: &C,
    outcome: R,
) -> (Option<R>, Signal) {
    let clock = going.clock();
    let head = going.read(&observe.observation(&outcome, None));
    let mut seen = going.seen(head);
    let inside = seen.spans.inside(|| observe.peek(outcome));
    let read: Option<(R, Option<Bytes>)> = Cut::new(inside, clock, plan.cut).await;
    // From here on the call itself reports.
    seen.forget();
    drop(seen);
    match read {
        Some((outcome, body)) => {
            let signal = going.read(&observe.observation(&outcome, body.as_deref()));
            (Some(outcome), signal)
        }
        // The body did not come in time; what the head said still holds.
        None => (None, head),
    }
}
