//! The way of one call: gate, attempt, classify, report, decide, wait, and again.
//!
//! What lives over an await lives in the caller's future, so blocks end what need not, and the two functions on the happy
//! path return `async` blocks: an `async fn` keeps its arguments twice.

use std::future::Future;

use bytes::Bytes;

use crate::core::observation::{Observation, TransportFailure};
use crate::error::Error;
use crate::run::attempt::Attempt;
use crate::run::call::Call;
use crate::run::classify::Observe;
use crate::run::cut::Cut;
use crate::run::going::Going;
use crate::run::inside::Inside;
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
        let mut going = Going::start(call.pool, call.policy, &call.estimate);
        loop {
            if !going.passes_at_once()
                && let Err(give_up) = going.wait_for_turn(call.may_wait, &call.estimate).await
            {
                return Err(going.give_up(give_up, None));
            }
            if let Err(give_up) = going.begin() {
                return Err(going.give_up(give_up, None));
            }
            let inside = Inside::new(&going, || operation(going.attempt(&call.estimate)));
            let ended = match Cut::new(inside, || going.timer()).await {
                // Boxed: an answer whose body must be read is an error, and errors may cost what successes must not.
                Some(outcome) if call.observe.wants_peek(&outcome) => {
                    Box::pin(peek(&mut going, &call.observe, outcome)).await
                }
                Some(outcome) => observe(&mut going, &call.observe, outcome),
                None => {
                    going.reads_failure(Observation::failure(TransportFailure::Timeout));
                    Ended::Failed(None)
                }
            };
            // An answer that failed and its connection are not kept while the call sleeps.
            let wake_at = match ended {
                Ended::Failed(outcome) => match going.attempt_failed() {
                    Ok(wake_at) => wake_at,
                    Err(give_up) => return Err(going.give_up(give_up, outcome)),
                },
                Ended::Succeeded(outcome, status) => {
                    return match outcome.map(Settle::settle) {
                        Some(Ok(value)) => {
                            going.succeeded(status);
                            Ok(value)
                        }
                        // Observed as a success, but there is no value in it: nothing to retry and nothing to give.
                        Some(Err(outcome)) => Err(going.succeeded_in_vain(status, Some(outcome))),
                        None => Err(going.succeeded_in_vain(status, None)),
                    };
                }
            };
            going.nap(wake_at).await;
            going.slept();
        }
    }
}

/// How an attempt ended: with its outcome, which is `None` when it was cut. What a failure means is noted in the call: it
/// is not carried through the future.
enum Ended<R> {
    Succeeded(Option<R>, Option<u16>),
    Failed(Option<R>),
}

/// Reads an outcome that can be read at once.
#[inline]
fn observe<C: Observe<R>, R>(going: &mut Going<'_>, observe: &C, outcome: R) -> Ended<R> {
    let observation = observe.observation(&outcome, None);
    let status = observation.status;
    let failed = !observation.is_bare_success() && going.reads_failure(observation);
    if failed { Ended::Failed(Some(outcome)) } else { Ended::Succeeded(Some(outcome), status) }
}

/// Reads the first bytes of an answer's body before it is classified.
async fn peek<C: Observe<R>, R>(going: &mut Going<'_>, observe: &C, outcome: R) -> Ended<R> {
    let (clock, cut) = (going.clock(), going.plan().cut);
    let mut signal = going.read(&observe.observation(&outcome, None));
    let mut seen = going.seen(signal);
    let inside = seen.spans.inside(|| observe.peek(outcome));
    let read: Option<(R, Option<Bytes>)> = Cut::new(inside, || clock.sleep_until(cut)).await;
    // From here on the call itself reports.
    seen.forget();
    drop(seen);
    // Where the body did not come in time, what the head said still holds.
    let outcome = read.map(|(outcome, body)| {
        signal = going.read(&observe.observation(&outcome, body.as_deref()));
        outcome
    });
    if going.note_if_failed(signal) { Ended::Failed(outcome) } else { Ended::Succeeded(outcome, signal.status) }
}
