//! The way of one call: gate, attempt, classify, report, decide, wait, and again.

use std::future::Future;
use std::sync::atomic::{AtomicU32, Ordering};

use crate::core::decide::{CallOutcome, Decision, GiveUp};
use crate::core::observation::{Observation, TransportFailure};
use crate::core::signal::{Reading, Signal};
use crate::error::Error;
use crate::gate::Permit;
use crate::run::attempt::Attempt;
use crate::run::call::Call;
use crate::run::classify::Observe;
use crate::run::cut::Cut;
use crate::run::going::Going;
use crate::run::outcome::Settle;
use crate::run::pool::Shared;

pub(super) async fn drive<C, R, F, Fut>(call: Call<'_, C>, mut operation: F) -> Result<R::Value, Error<R>>
where
    R: Settle,
    C: Observe<R>,
    F: FnMut(Attempt<'_>) -> Fut,
    Fut: Future<Output = R>,
{
    let Call { pool, policy, estimate, may_wait, observe } = call;
    let shared = &*pool.shared;
    let mut going = Going::start(shared, policy, estimate);
    let mut now = going.core.started();
    loop {
        let mut permit = match going.permit_at_once(now) {
            Some(permit) => permit,
            None => {
                let turn = going.turn(may_wait).await;
                let asked = std::mem::replace(&mut now, shared.clock().now());
                match turn {
                    Ok(permit) => {
                        going.admitted(asked, now);
                        permit
                    }
                    Err(refusal) => {
                        let give_up = going.refused(refusal, asked, now);
                        return Err(going.give_up(give_up, now, None));
                    }
                }
            }
        };
        let plan = match going.begin(now) {
            Ok(plan) => plan,
            Err(give_up) => return Err(going.give_up(give_up, now, None)),
        };
        let previous = going.core.last_signal();
        let attempt = Attempt {
            pool,
            number: plan.number,
            cut: plan.cut,
            delay_source: plan.delay_source,
            previous,
            sent_at: now,
        };
        let answer = Cut::new(going.spans.inside(|| operation(attempt)), shared.clock(), plan.cut).await;
        let (outcome, reading) = match answer {
            None => (None, read(shared, &Observation::failure(TransportFailure::Timeout))),
            Some(outcome) if !observe.wants_peek(&outcome) => {
                let reading = read(shared, &observe.observation(&outcome, None));
                (Some(outcome), reading)
            }
            Some(outcome) => {
                let head = read(shared, &observe.observation(&outcome, None));
                let mut seen = Seen { shared, permit: &mut permit, throttle: Some(head.signal) };
                let peek = going.spans.inside(|| observe.peek(outcome));
                match Cut::new(peek, shared.clock(), plan.cut).await {
                    Some((outcome, body)) => {
                        seen.throttle = None;
                        let reading = read(shared, &observe.observation(&outcome, body.as_deref()));
                        (Some(outcome), reading)
                    }
                    // The body did not come in time; what the head said still holds.
                    None => (None, head),
                }
            }
        };
        let signal = reading.signal;
        if signal.failed || !reading.quotas.is_empty() || shared.node.is_heard() || going.spans.is_on() {
            now = shared.clock().now();
            shared.note(&reading.quotas, now);
            going.attempt_ended(&signal, now);
        }
        if !signal.failed {
            permit.succeeded(now);
        } else if shared.gated && signal.is_throttle() {
            permit.throttled(shared.level(signal.scope), &signal, now);
        }
        drop(permit);

        let mut budget = || shared.withdraw(now);
        let mut dice = &shared.engine.trunk.dice;
        let decision = going.core.end_attempt(policy, &signal, shared.gated, now, &mut dice, &mut budget);
        let wait = match decision {
            Decision::Done => {
                return match outcome.map(Settle::settle) {
                    Some(Ok(value)) => {
                        going.done(|| now);
                        Ok(value)
                    }
                    // Observed as a success, but without a value in it: there is nothing to retry and nothing to give.
                    Some(Err(outcome)) => Err(going.give_up(empty_handed(), now, Some(outcome))),
                    None => Err(going.give_up(empty_handed(), now, None)),
                };
            }
            Decision::GiveUp(give_up) => return Err(going.give_up(give_up, now, outcome)),
            Decision::Again(_) if shared.engine.observe_only => {
                let mut give_up = empty_handed();
                give_up.outcome = CallOutcome::AttemptsExhausted;
                give_up.class = signal.class;
                return Err(going.give_up(give_up, now, outcome));
            }
            Decision::Again(wait) => wait,
        };
        // The answer and its connection are not kept while the call sleeps.
        drop(outcome);
        going.delay_begins(&wait, now);
        {
            let _sleeping = Sleeping::new(shared);
            shared.clock().sleep_until(wait.at).await;
        }
        going.spans.delay_ended();
        let slept_from = std::mem::replace(&mut now, shared.clock().now());
        going.core.waited(wait.source, slept_from.until(now));
    }
}

fn read(shared: &Shared, observation: &Observation<'_>) -> Reading {
    shared.table.read(observation, shared.clock().wall())
}

/// The end of a call whose operation returned something that holds no value although nothing failed.
fn empty_handed() -> GiveUp {
    GiveUp::not_retryable()
}

/// A throttle whose headers were seen while its body is still being read: reported even if the call is dropped.
struct Seen<'s, 'p> {
    shared: &'s Shared,
    permit: &'s mut Permit<'p>,
    throttle: Option<Signal>,
}

impl Drop for Seen<'_, '_> {
    fn drop(&mut self) {
        if let Some(signal) = self.throttle.take()
            && signal.is_throttle()
            && self.shared.gated
        {
            self.permit.throttled(self.shared.level(signal.scope), &signal, self.shared.clock().now());
        }
    }
}

/// Counts a call as sleeping.
struct Sleeping<'a>(Option<&'a AtomicU32>);

impl<'a> Sleeping<'a> {
    fn new(shared: &'a Shared) -> Self {
        let counter = shared.node.is_heard().then_some(&shared.sleeping);
        if let Some(counter) = counter {
            counter.fetch_add(1, Ordering::Relaxed);
        }
        Self(counter)
    }
}

impl Drop for Sleeping<'_> {
    fn drop(&mut self) {
        if let Some(counter) = self.0 {
            counter.fetch_sub(1, Ordering::Relaxed);
        }
    }
}
