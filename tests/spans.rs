//! The spans of whole calls, as a subscriber sees them.
#![cfg(feature = "telemetry")]

#[path = "support/traced.rs"]
mod traced;

use std::future::{Future, poll_fn};
use std::task::Poll;
use std::time::Duration;

use forbear::{Forbear, Gate, Policy, Pool, provider};
use traced::Traced;
use tracing::{Instrument, info_span};

fn answer(status: u16, retry_after: Option<&str>) -> http::Response<String> {
    let mut answer = http::Response::builder().status(status);
    if let Some(seconds) = retry_after {
        answer = answer.header("retry-after", seconds);
    }
    answer.body(String::new()).expect("a well-formed answer")
}

fn pool(gate: Gate) -> Pool {
    let forbear = Forbear::builder().gate(gate).seed(7).build().expect("valid settings");
    forbear.pool(provider::generic(), ["files"]).build().expect("a valid pool")
}

fn policy() -> Policy {
    Policy::interactive(Duration::from_secs(30)).named("chat").build().expect("a valid policy")
}

/// A throttle that states two seconds, then a success.
async fn throttled_once(pool: &Pool) {
    let policy = policy();
    let call = pool.call(&policy).run(|attempt| {
        let number = attempt.number();
        let request = async move {
            tokio::task::yield_now().await;
            if number == 1 { answer(429, Some("2")) } else { answer(200, None) }
        };
        request.instrument(info_span!("http"))
    });
    call.instrument(info_span!("request")).await.expect("the second attempt succeeds");
}

#[tokio::test(start_paused = true)]
async fn what_the_operation_opens_nests_in_its_attempt_and_the_call_in_the_callers_span() {
    let (traced, _guard) = Traced::here();
    throttled_once(&pool(Gate::off())).await;
    insta::assert_snapshot!(traced.outline(), @r"
    request
      forbear.call forbear.call.outcome=ok
        forbear.attempt forbear.attempt.number=1 forbear.delay.source=none forbear.attempt.outcome=throttled
          http
        forbear.delay forbear.delay.source=header
        forbear.attempt forbear.attempt.number=2 forbear.delay.source=header forbear.attempt.outcome=ok
          http
    ");
}

#[tokio::test(start_paused = true)]
async fn a_pool_that_shut_shows_as_a_wait_at_the_gate() {
    let (traced, _guard) = Traced::here();
    throttled_once(&pool(Gate::local())).await;
    insta::assert_snapshot!(traced.outline(), @r"
    request
      forbear.call forbear.call.outcome=ok
        forbear.attempt forbear.attempt.number=1 forbear.delay.source=none forbear.attempt.outcome=throttled
          http
        forbear.delay forbear.delay.source=header
        forbear.gate.wait forbear.gate.result=admitted
        forbear.attempt forbear.attempt.number=2 forbear.delay.source=header forbear.attempt.outcome=ok
          http
    ");
}

#[tokio::test(start_paused = true)]
async fn a_call_dropped_in_an_attempt_closes_its_spans() {
    let (traced, _guard) = Traced::here();
    let (pool, policy) = (pool(Gate::off()), policy());
    let call = pool.call(&policy).run(|_| std::future::pending::<http::Response<String>>());
    let mut call = Box::pin(call);
    assert!(poll_fn(|cx| Poll::Ready(call.as_mut().poll(cx).is_pending())).await);
    drop(call);
    assert!(!traced.tree().contains("(open)"), "{}", traced.tree());
    insta::assert_snapshot!(traced.outline(), @r"
    forbear.call forbear.call.outcome=cancelled
      forbear.attempt forbear.attempt.number=1 forbear.delay.source=none forbear.attempt.outcome=cancelled
    ");
}

#[tokio::test(start_paused = true)]
async fn a_call_in_another_task_nests_below_the_span_it_was_given() {
    let (traced, _guard) = Traced::here();
    let pool = pool(Gate::off());
    let request = info_span!("request");
    let call = async move {
        let policy = policy();
        pool.call(&policy).run(|_| async { answer(200, None) }).await.map(|_| ())
    };
    let task = tokio::spawn(call.instrument(request));
    task.await.expect("no panic").expect("a success");
    insta::assert_snapshot!(traced.outline(), @r"
    request
      forbear.call forbear.call.outcome=ok
        forbear.attempt forbear.attempt.number=1 forbear.delay.source=none forbear.attempt.outcome=ok
    ");
}
