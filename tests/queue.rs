//! How many may wait for a pool, who is refused instead, and what they are told.
#![allow(clippy::disallowed_methods, reason = "tests read the paused clock")]

#[path = "support/scene.rs"]
mod scene;

use std::time::Duration;

use forbear::event::recorder::Recorder;
use forbear::event::{Event, GateResult};
use forbear::{CallOutcome, Forbear, Policy, Pool, Refusal, provider};
use scene::{Provider, S, answer, daily, policy, throttle, throttled};
use tokio::task::JoinSet;
use tokio::time::{Instant, advance, sleep};

fn pool_with(queue_limit: usize, recorder: &Recorder) -> Pool {
    let forbear = Forbear::builder().sink(recorder.clone()).seed(7).build().expect("valid settings");
    forbear.pool(provider::openai(), ["gpt"]).queue_limit(queue_limit).build().expect("a valid pool")
}

/// Lets callers wait, one after the other; each ends with whether it was let in.
async fn callers(pool: &Pool, number: usize) -> JoinSet<bool> {
    let mut callers = JoinSet::new();
    for _ in 0..number {
        let pool = pool.clone();
        callers.spawn(async move { pool.call(&policy(60 * S)).run(|_| async { answer(200) }).await.is_ok() });
        tokio::task::yield_now().await;
    }
    callers
}

// --------------------------------------------------------------------------------------------------- a full queue

#[tokio::test(start_paused = true)]
async fn a_full_queue_refuses_the_next_call_at_once_says_why_and_is_counted() {
    let recorder = Recorder::new();
    let pool = pool_with(3, &recorder);
    throttled(&pool, throttle(10)).await;
    let waiters = callers(&pool, 3).await;
    let (start, policy) = (Instant::now(), policy(60 * S));
    let refused = pool.call(&policy).run(|_| async { answer(200) }).await.expect_err("the queue is full");
    assert!(refused.is_refused_by_gate());
    assert_eq!((refused.refusal(), refused.outcome()), (Some(Refusal::QueueFull), CallOutcome::GateRefused));
    assert_eq!((refused.attempts(), refused.retry_after(), start.elapsed()), (0, Some(10 * S), Duration::ZERO));
    let said = refused.to_string();
    assert!(said.contains("refused for: queue_full") && said.contains("queue_limit"), "{said}");
    let counted = recorder.count(|event| matches!(event, Event::GateWaited { result: GateResult::QueueFull, .. }));
    assert_eq!(counted, 1);
    assert!(waiters.join_all().await.into_iter().all(|ok| ok), "those who wait already are none the worse");
}

#[tokio::test(start_paused = true)]
async fn a_place_that_is_given_up_is_free_for_the_next() {
    let pool = pool_with(2, &Recorder::new());
    throttled(&pool, throttle(10)).await;
    let mut waiters = callers(&pool, 2).await;
    assert_eq!(callers(&pool, 1).await.join_all().await, [false]);
    waiters.abort_all();
    while waiters.join_next().await.is_some() {}
    assert_eq!(callers(&pool, 2).await.join_all().await, [true, true]);
}

#[tokio::test(start_paused = true)]
async fn with_no_room_at_all_nobody_waits_and_who_need_not_wait_passes() {
    let pool = pool_with(0, &Recorder::new());
    assert_eq!(callers(&pool, 2).await.join_all().await, [true, true], "the pool flows");
    throttled(&pool, throttle(10)).await;
    assert_eq!(callers(&pool, 2).await.join_all().await, [false, false]);
}

#[tokio::test(start_paused = true)]
async fn a_call_that_comes_back_from_an_attempt_is_not_refused_for_a_full_queue() {
    let pool = pool_with(2, &Recorder::new());
    let provider = Provider::new([throttle(5)]);
    let throttled = {
        let (pool, provider) = (pool.clone(), provider.clone());
        tokio::spawn(async move { pool.call(&policy(60 * S)).run(|_| provider.ask()).await.is_ok() })
    };
    tokio::task::yield_now().await;
    let waiters = callers(&pool, 2).await;
    assert_eq!(callers(&pool, 1).await.join_all().await, [false], "the queue is full");
    assert!(throttled.await.expect("no panic"));
    assert!(waiters.join_all().await.into_iter().all(|ok| ok));
}

#[tokio::test(start_paused = true)]
async fn the_engines_limit_holds_for_pools_that_set_none() {
    let forbear = Forbear::builder().queue_limit(1).seed(7).build().expect("valid settings");
    let tight = forbear.pool(provider::generic(), ["tight"]).build().expect("a valid pool");
    let wide = forbear.pool(provider::generic(), ["wide"]).queue_limit(4).build().expect("a valid pool");
    for (pool, let_in) in [(tight, 1), (wide, 4)] {
        throttled(&pool, throttle(10)).await;
        let ended = callers(&pool, 5).await.join_all().await;
        assert_eq!(ended.into_iter().filter(|ok| *ok).count(), let_in);
    }
}

#[test]
fn a_limit_nobody_could_keep_in_memory_is_refused() {
    let refused = Forbear::builder().queue_limit(10_000_001).build().expect_err("refused").to_string();
    assert_eq!(refused, "forbear.queue_limit is 10000001; allowed: 0 (nobody waits) to 10000000");
    let forbear = Forbear::builder().build().expect("valid settings");
    let pool = forbear.pool(provider::generic(), ["files"]).queue_limit(usize::MAX).build();
    assert_eq!(pool.expect_err("refused").field, "pool.queue_limit");
}

// ---------------------------------------------------------------------------------------------------- not waiting

#[tokio::test(start_paused = true)]
async fn a_call_that_does_not_wait_is_refused_where_others_would_wait() {
    let pool = pool_with(100, &Recorder::new());
    let policy = policy(60 * S);
    let ask = || async {
        let started = Instant::now();
        let ended = pool.call(&policy).no_wait().run(|_| async { answer(200) }).await;
        assert_eq!(started.elapsed(), Duration::ZERO);
        ended.map(|_| ()).map_err(|refused| (refused.refusal(), refused.retry_after()))
    };
    assert_eq!(ask().await, Ok(()), "the pool flows");
    throttled(&pool, throttle(10)).await;
    assert_eq!(ask().await, Err((Some(Refusal::NoWait), Some(10 * S))));

    // Paced, and people wait: they come first.
    let waiters = callers(&pool, 3).await;
    sleep(10 * S).await;
    assert_eq!(ask().await.map_err(|(why, _)| why), Err(Some(Refusal::NoWait)));
    assert!(waiters.join_all().await.into_iter().all(|ok| ok));
    // Paced, and nobody waits: the slot is anybody's, and when the next one is can be told.
    let (mut passed, mut told) = (0, 0);
    for _ in 0..100 {
        match ask().await {
            Ok(()) => passed += 1,
            Err((why, after)) => {
                assert_eq!(why, Some(Refusal::NoWait));
                told += usize::from(after.is_some_and(|after| after > Duration::ZERO && after < S));
            }
        }
        advance(Duration::from_millis(10)).await;
    }
    assert!(passed >= 2 && told > 50, "{passed} passed, {told} were told when the next slot is");
}

#[tokio::test(start_paused = true)]
async fn why_a_call_was_refused_tells_a_spent_quota_from_a_deadline() {
    let pool = pool_with(100, &Recorder::new());
    throttled(&pool, throttle(10)).await;
    let refusal = |deadline: Duration| {
        let pool = pool.clone();
        async move {
            let ended = pool.call(&policy(deadline)).run(|_| async { answer(200) }).await;
            ended.map(|_| ()).map_err(|refused| refused.refusal())
        }
    };
    assert_eq!(refusal(5 * S).await, Err(Some(Refusal::Deadline)));
    assert_eq!(refusal(30 * S).await, Ok(()));
    throttled(&pool, daily(7_200)).await;
    assert_eq!(refusal(86_400 * S).await, Err(Some(Refusal::Spent)));
}

#[tokio::test(start_paused = true)]
async fn an_error_that_is_no_refusal_has_no_reason_for_one() {
    let pool = pool_with(100, &Recorder::new());
    let once = Policy::interactive(60 * S).attempts(1).build().expect("a valid policy");
    let failed = pool.call(&once).run(|_| async { answer(503) }).await.expect_err("it fails");
    assert_eq!(failed.refusal(), None);
}
