//! The spans and log events of calls, as a subscriber sees them.
#![cfg(feature = "telemetry")]

#[path = "support/spans.rs"]
mod support;

use std::time::Duration;

use forbear::{Forbear, Gate, Policy, Pool, provider};
use support::Traced;
use tracing::{Instrument, Level, info_span};

type Answer = http::Response<String>;

fn answer(status: u16, retry_after: Option<&str>) -> Answer {
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

#[tokio::test(start_paused = true)]
async fn attempts_are_children_of_the_call_and_hold_what_the_operation_opens() {
    let (traced, _guard) = Traced::here();
    let pool = pool(Gate::off());
    let policy = policy();
    let call = pool.call(&policy).run(|attempt| {
        let number = attempt.number();
        async move {
            tokio::task::yield_now().await;
            info_span!("http").in_scope(|| ());
            if number == 1 { answer(429, Some("2")) } else { answer(200, None) }
        }
    });
    call.instrument(info_span!("request")).await.expect("the second attempt succeeds");
    insta::assert_snapshot!(traced.tree(), @"");
}

#[tokio::test(start_paused = true)]
async fn a_call_that_is_given_up_carries_the_reason_and_logs_it_once() {
    let (traced, _guard) = Traced::here();
    let pool = pool(Gate::off());
    let policy = policy();
    let call = pool.call(&policy).run(|_| async { answer(429, Some("3600")) });
    call.await.expect_err("the stated delay is too long");
    insta::assert_snapshot!(traced.tree(), @"");
}

#[tokio::test(start_paused = true)]
async fn a_dropped_call_is_cancelled_and_no_error() {
    let (traced, _guard) = Traced::here();
    let pool = pool(Gate::off());
    let policy = policy();
    let call = pool.call(&policy).run(|_| std::future::pending::<Answer>());
    tokio::time::timeout(Duration::from_secs(1), call).await.expect_err("nothing ends it");
    insta::assert_snapshot!(traced.tree(), @"");
}

#[tokio::test(start_paused = true)]
async fn a_wait_at_the_gate_is_a_span_and_a_call_that_need_not_wait_has_none() {
    let (traced, _guard) = Traced::here();
    let pool = pool(Gate::local());
    let policy = policy();
    let mut first = true;
    let call = pool.call(&policy).run(|_| {
        let throttled = std::mem::take(&mut first);
        async move { if throttled { answer(429, Some("2")) } else { answer(200, None) } }
    });
    call.await.expect("the second attempt succeeds");
    insta::assert_snapshot!(traced.tree(), @"");
}

#[tokio::test(start_paused = true)]
async fn nothing_that_was_retried_is_logged_above_info_and_nothing_at_error() {
    let (traced, _guard) = Traced::here();
    let pool = pool(Gate::off());
    let policy = policy();
    let mut statuses = [429, 503, 500, 529, 200].into_iter();
    let call = pool.call(&policy).run(|_| {
        let status = statuses.next().expect("no sixth attempt");
        async move { answer(status, None) }
    });
    let result = call.await;
    let levels = traced.levels();
    let gave_up = levels.iter().filter(|(name, _)| name == "forbear.gave_up").count();
    assert_eq!(gave_up, usize::from(result.is_err()));
    for (name, level) in levels {
        let most = if name == "forbear.gave_up" { Level::WARN } else { Level::INFO };
        assert!(level >= most, "{name} at {level}");
    }
}

#[tokio::test(start_paused = true)]
async fn log_events_are_told_to_a_subscriber_that_wants_no_spans() {
    use tracing_subscriber::layer::SubscriberExt;
    let traced = Traced::default();
    let filter = tracing_subscriber::filter::filter_fn(|metadata| metadata.is_event());
    let _guard =
        tracing::subscriber::set_default(tracing_subscriber::Registry::default().with(filter).with(traced.clone()));
    let (pool, policy) = (pool(Gate::off()), policy());
    let call = pool.call(&policy).run(|_| async { answer(429, Some("3600")) });
    call.await.expect_err("the stated delay is too long");
    assert_eq!(traced.tree(), "");
    let names: Vec<_> = traced.levels().into_iter().map(|(name, _)| name).collect();
    assert_eq!(names, ["forbear.throttled", "forbear.gave_up"]);
}
