//! Calls that end by an instant, whatever their policy allows.
#![allow(clippy::disallowed_methods, reason = "tests read the paused clock")]

#[path = "support/scene.rs"]
mod scene;

use std::time::Duration;

use forbear::event::recorder::Recorder;
use forbear::{CallOutcome, Error, Forbear, Pool, Refusal, provider};
use scene::{Answer, Provider, S, Tried, answer, policy, throttle, throttled};
use tokio::time::{Instant, sleep};

fn pool() -> (Pool, Recorder) {
    let recorder = Recorder::new();
    let forbear = Forbear::builder().sink(recorder.clone()).seed(7).build().expect("valid settings");
    (forbear.pool(provider::generic(), ["files"]).build().expect("a valid pool"), recorder)
}

/// A call of a policy that allows a minute.
async fn ended(pool: &Pool, latest: Instant, provider: &Provider, takes: Duration) -> Result<(), Error<Tried>> {
    let policy = policy(60 * S);
    let call = pool.call(&policy).deadline_at(latest);
    let ended = call.run(|_| {
        let asked = provider.ask();
        async move {
            sleep(takes).await;
            asked.await
        }
    });
    ended.await.map(drop)
}

#[tokio::test(start_paused = true)]
async fn an_attempt_is_cut_at_it() {
    let ((pool, _), start) = (pool(), Instant::now());
    let error = ended(&pool, start + 3 * S, &Provider::new([answer(200)]), 10 * S).await.expect_err("too slow");
    assert_eq!((error.outcome(), error.attempts(), start.elapsed()), (CallOutcome::DeadlineExceeded, 1, 3 * S));
}

#[tokio::test(start_paused = true)]
async fn a_wait_that_would_reach_it_is_not_begun() {
    let ((pool, _), start) = (pool(), Instant::now());
    let error = ended(&pool, start + 15 * S, &Provider::new([throttle(20)]), Duration::ZERO).await;
    let error = error.expect_err("no time");
    assert_eq!(
        (error.outcome(), error.attempts(), start.elapsed()),
        (CallOutcome::DeadlineExceeded, 1, Duration::ZERO)
    );
    assert_eq!(error.retry_after(), Some(20 * S));
}

#[tokio::test(start_paused = true)]
async fn the_gate_turns_away_who_cannot_be_served_by_it_and_holds_who_can() {
    let (pool, _) = pool();
    throttled(&pool, throttle(20)).await;
    let start = Instant::now();
    let provider = Provider::new([answer(200)]);
    let error = ended(&pool, start + 15 * S, &provider, Duration::ZERO).await.expect_err("shut for longer");
    assert_eq!((error.refusal(), error.attempts(), start.elapsed()), (Some(Refusal::Deadline), 0, Duration::ZERO));
    assert!(ended(&pool, start + 40 * S, &provider, Duration::ZERO).await.is_ok());
    assert!(start.elapsed() >= 20 * S);
}

#[tokio::test(start_paused = true)]
async fn no_request_is_sent_once_it_has_passed() {
    let (pool, recorder) = pool();
    sleep(10 * S).await;
    for ago in [Duration::ZERO, 5 * S] {
        let error = ended(&pool, Instant::now() - ago, &Provider::new([answer(200)]), Duration::ZERO).await;
        let error = error.expect_err("too late");
        assert_eq!((error.outcome(), error.attempts()), (CallOutcome::DeadlineExceeded, 0));
    }
    assert_eq!(pool.snapshot().in_flight, 0);
    assert!(!recorder.to_string().contains("attempt_ended"), "{recorder}");
}

#[tokio::test(start_paused = true)]
async fn the_earlier_of_it_and_the_policys_deadline_counts() {
    let ((pool, recorder), start) = (pool(), Instant::now());
    let slow = Provider::new([answer(200), answer(200), answer(200)]);
    let error = ended(&pool, start + 3_600 * S, &slow, 120 * S).await.expect_err("too slow");
    assert_eq!((error.is_deadline(), start.elapsed()), (true, 60 * S));
    let (policy, start) = (policy(60 * S), Instant::now());
    let several = pool.call(&policy).deadline_at(start + 9 * S).deadline_at(start + 4 * S).deadline_at(start + 30 * S);
    let error = several.run(|_| std::future::pending::<Answer>()).await.expect_err("never");
    assert_eq!((error.is_deadline(), start.elapsed()), (true, 4 * S));
    // What a caller's patience was is told as it was, not as the policy has it.
    let told = recorder.to_string();
    assert!(told.contains("deadline=60s") && told.contains("deadline=4s"), "{told}");
}

#[tokio::test(start_paused = true)]
async fn it_holds_at_the_pools_a_call_falls_back_to() {
    let recorder = Recorder::new();
    let forbear = Forbear::builder().sink(recorder.clone()).seed(7).build().expect("valid settings");
    let [first, second] =
        ["first", "second"].map(|name| forbear.pool(provider::generic(), [name]).build().expect("a pool"));
    let (policy, start) = (policy(60 * S), Instant::now());
    let call = pool_then(&first, &second, &policy, start + 5 * S);
    let error = call.await.expect_err("the second is too slow");
    assert_eq!((error.is_deadline(), error.attempts(), start.elapsed()), (true, 1, 5 * S));
}

async fn pool_then(
    first: &Pool,
    second: &Pool,
    policy: &forbear::Policy,
    latest: Instant,
) -> Result<(), Error<Answer>> {
    let call = first.call(policy).deadline_at(latest).fallback(second);
    let ended = call.run(|attempt| async move {
        sleep(2 * S).await;
        if attempt.choice() == 0 { throttle(40) } else { std::future::pending().await }
    });
    ended.await.map(drop)
}
