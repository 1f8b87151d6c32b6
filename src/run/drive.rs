//! The way of one call: gate, attempt, classify, report, decide, wait, and again.
//!
//! ```text
//!          .-> gate --refused--> error
//!          |    | permit
//!          |    v
//!          |  attempt --cut--.
//!          |    | answer     |
//!          |    v            v
//!          |  classify ----> report --give up--> error
//!          |    | success    | again
//!          |    v            v
//!          |  value         nap
//!          '-----------------'
//! ```
//!
//! There are four awaits: the turn at the gate, the attempt, the reading of a body, the nap. Dropped at any of them the call
//! leaves nothing behind: the permit, the place in the queue and the span close with their values, a throttle whose head was
//! seen is reported by the guard that holds it, and what the end must tell is told by the drop of [`Going`].
//!
//! What lives over an await lives in the caller's future, so blocks end what need not, and the two functions on the happy
//! path return `async` blocks: an `async fn` keeps its arguments twice.

use std::borrow::Borrow;
use std::future::Future;

use bytes::Bytes;

use crate::core::estimate::Estimate;
use crate::core::observation::{Observation, TransportFailure};
use crate::error::Error;
use crate::run::attempt::Attempt;
use crate::run::call::Call;
use crate::run::cut::Cut;
use crate::run::going::Going;
use crate::run::inside::Inside;
use crate::run::observe::Observe;
use crate::run::outcome::Settle;

/// Drives a call to its end that is `set_up` before it arrives. How it is observed is its own, or borrowed.
#[allow(clippy::manual_async_fn, reason = "an async fn would keep its arguments twice")]
pub(super) fn drive<'a, C, B, R, F, Fut>(
    call: Call<'a, B>,
    set_up: impl FnOnce(&mut Going<'a>),
    mut operation: F,
) -> impl Future<Output = Result<R::Value, Error<R>>>
where
    R: Settle,
    C: Observe<R>,
    B: Borrow<C>,
    F: FnMut(Attempt<'a>) -> Fut,
    Fut: Future<Output = R>,
{
    let Call { pool, policy, estimate, may_wait, observe } = call;
    async move {
        let mut going = Going::start(pool, policy);
        set_up(&mut going);
        if let Some(latest) = observe.borrow().latest() {
            going.ends_by(latest);
        }
        going.arrives(&estimate);
        let ended = loop {
            if !going.passes_at_once()
                && let Err(give_up) = going.wait_for_turn(&estimate, may_wait).await
            {
                break Err(going.give_up(give_up, None));
            }
            if let Err(give_up) = going.begin() {
                break Err(going.give_up(give_up, None));
            }
            let inside = Inside::new(&going, |going: &Going<'a>| operation(going.attempt(&estimate)));
            // In a block: an answer that failed and its connection are not kept while the call sleeps.
            let wake_at = {
                let outcome = Cut::new(inside, |inside| inside.going().cut_timer()).await;
                let (outcome, wants_peek) = wants_peek(observe.borrow(), outcome);
                let ended = if wants_peek {
                    // Boxed: an answer whose body must be read is an error, and errors may cost what successes must not.
                    Box::pin(peek(&mut going, observe.borrow(), outcome, &estimate)).await
                } else {
                    read(&mut going, observe.borrow(), outcome, &estimate)
                };
                match ended {
                    Ended::Failed(outcome) => match going.attempt_failed(observe.borrow().can_repeat()) {
                        Ok(wake_at) => wake_at,
                        Err(give_up) => break Err(going.give_up(give_up, outcome)),
                    },
                    Ended::Succeeded(outcome, status) => match outcome.settle() {
                        Ok(value) => {
                            going.succeeded(status);
                            break Ok(value);
                        }
                        // Observed as a success, but there is no value in it: nothing to retry and nothing to give.
                        Err(outcome) => break Err(going.succeeded_in_vain(status, outcome)),
                    },
                }
            };
            going.nap(wake_at).await;
            going.slept();
        };
        if going.holds_nothing() {
            // Its drop would look at each of its parts again.
            std::mem::forget(going);
        } else {
            drop(going);
        }
        ended
    }
}

/// How an attempt ended: with its outcome, which is `None` when it was cut. What a failure means is noted in the call: it
/// is not carried through the future.
enum Ended<R> {
    Succeeded(R, Option<u16>),
    Failed(Option<R>),
}

/// Whether the body of an outcome must be read first. Takes it and gives it back: what was borrowed is kept in the
/// caller's future over the next await, moved or not.
#[inline(always)]
fn wants_peek<C: Observe<R>, R>(observe: &C, outcome: Option<R>) -> (Option<R>, bool) {
    let wants = outcome.as_ref().is_some_and(|outcome| observe.wants_peek(outcome));
    (outcome, wants)
}

/// Reads an outcome that can be read at once; `None` is an attempt that was cut.
#[inline]
fn read<C: Observe<R>, R>(
    going: &mut Going<'_>,
    observe: &C,
    outcome: Option<R>,
    estimate: &Option<Estimate>,
) -> Ended<R> {
    let Some(outcome) = outcome else {
        going.reads_failure(Observation::failure(TransportFailure::Timeout), estimate);
        return Ended::Failed(None);
    };
    let observation = observe.observation(&outcome, None);
    let status = observation.status;
    let failed = !observation.is_bare_success() && going.reads_failure(observation, estimate);
    if failed { Ended::Failed(Some(outcome)) } else { Ended::Succeeded(outcome, status) }
}

/// Reads the first bytes of an answer's body before it is classified.
async fn peek<C: Observe<R>, R>(
    going: &mut Going<'_>,
    observe: &C,
    outcome: Option<R>,
    estimate: &Option<Estimate>,
) -> Ended<R> {
    let Some(outcome) = outcome else { return read(going, observe, None, estimate) };
    let (clock, cut) = (going.clock(), going.cut());
    let head = going.read(&observe.observation(&outcome, None));
    let mut seen = going.seen(head);
    let inside = seen.spans.inside(|| observe.peek(outcome));
    let whole: Option<(R, Option<Bytes>)> = Cut::new(inside, |_| clock.sleep_until(cut)).await;
    // From here on the call itself reports.
    seen.forget();
    drop(seen);
    let Some((outcome, body)) = whole else {
        // The body did not come in time. An error's head holds without it; a success without its body is none.
        return if going.note_if_failed(head) { Ended::Failed(None) } else { read(going, observe, None, estimate) };
    };
    let signal = going.read(&observe.observation(&outcome, body.as_deref()));
    if going.note_if_failed(signal) { Ended::Failed(Some(outcome)) } else { Ended::Succeeded(outcome, signal.status) }
}
