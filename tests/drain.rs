//! The end of a process: nobody is let in any more, what is under way comes to its end.
#![allow(clippy::disallowed_methods, reason = "tests read the paused clock")]

#[path = "support/scene.rs"]
mod scene;

use std::sync::{Arc, Mutex};
use std::time::Duration;

use forbear::event::recorder::Recorder;
use forbear::event::{Event, GateResult};
use forbear::{CallOutcome, Forbear, ForbearBuilder, Gate, Policy, Pool, Refusal, provider};
use scene::{Answer, Provider, S, answer, throttle};
use tokio::task::JoinHandle;
use tokio::time::{Instant, sleep, timeout};

struct Scene {
    forbear: Forbear,
    pool: Pool,
    recorder: Recorder,
}

impl Scene {
    fn of(builder: ForbearBuilder) -> Self {
        let recorder = Recorder::new();
        let forbear = builder.sink(recorder.clone()).seed(7).build().expect("valid settings");
        let pool = forbear.pool(provider::generic(), ["files"]).build().expect("a valid pool");
        Self { forbear, pool, recorder }
    }

    fn new() -> Self {
        Self::of(Forbear::builder())
    }

    /// A call whose attempts each take so long and answer from the script.
    fn call(&self, takes: Duration, script: impl IntoIterator<Item = Answer>) -> JoinHandle<Ended> {
        let (pool, provider, start) = (self.pool.clone(), Provider::new(script), Instant::now());
        tokio::spawn(async move {
            let policy = policy();
            let call = pool.call(&policy).run(|_| {
                let asked = provider.ask();
                async move {
                    sleep(takes).await;
                    asked.await
                }
            });
            let ended = call.await.map(|_| ()).map_err(|error| (error.outcome(), error.refusal(), error.attempts()));
            (ended, start.elapsed())
        })
    }

    async fn is_refused(&self) -> bool {
        let policy = policy();
        match self.pool.call(&policy).run(|_| async { answer(200) }).await {
            Ok(_) => false,
            Err(refused) => {
                assert_eq!((refused.refusal(), refused.retry_after()), (Some(Refusal::Draining), None));
                assert!(refused.is_refused_by_gate() && refused.to_string().contains("refused for: draining"));
                true
            }
        }
    }
}

type Ended = (Result<(), (CallOutcome, Option<Refusal>, u32)>, Duration);

const REFUSED: Result<(), (CallOutcome, Option<Refusal>, u32)> =
    Err((CallOutcome::GateRefused, Some(Refusal::Draining), 0));

fn policy() -> Policy {
    Policy::interactive(60 * S).named("chat").build().expect("a valid policy")
}

#[tokio::test(start_paused = true)]
async fn a_drain_ends_when_the_last_request_comes_back_and_lets_nobody_in_meanwhile() {
    let scene = Scene::new();
    let (short, long) = (scene.call(2 * S, []), scene.call(7 * S, []));
    tokio::task::yield_now().await;
    let start = Instant::now();
    let forbear = scene.forbear.clone();
    let drain = tokio::spawn(async move { forbear.drain(30 * S).await });
    sleep(S).await;
    assert!(scene.is_refused().await);
    assert_eq!((drain.await.expect("no panic"), start.elapsed()), (Ok(()), 7 * S));
    assert_eq!((short.await.expect("no panic"), long.await.expect("no panic")), ((Ok(()), 2 * S), (Ok(()), 7 * S)));
    assert!(scene.is_refused().await, "there is no way back");
}

#[tokio::test(start_paused = true)]
async fn nothing_under_way_is_drained_at_once() {
    let scene = Scene::new();
    assert_eq!(scene.forbear.drain(Duration::ZERO).await, Ok(()));
    assert!(scene.is_refused().await);
    // Made after: closed as well.
    let late = scene.forbear.pool(provider::generic(), ["late"]).build().expect("a valid pool");
    let refused = late.call(&policy()).run(|_| async { answer(200) }).await.expect_err("draining");
    assert_eq!(refused.refusal(), Some(Refusal::Draining));
    assert_eq!(scene.forbear.drain(Duration::ZERO).await, Ok(()), "twice is once");
}

#[tokio::test(start_paused = true)]
async fn who_waits_at_the_gate_is_refused_at_once_and_counted() {
    let scene = Scene::new();
    scene.call(Duration::ZERO, vec![throttle(20); 4]);
    sleep(S).await;
    let waiters = [scene.call(S, []), scene.call(S, [])];
    sleep(S).await;
    assert_eq!(scene.forbear.drain(30 * S).await, Ok(()));
    for waiter in waiters {
        assert_eq!(waiter.await.expect("no panic"), (REFUSED, S));
    }
    let told = |event: &Event<'_>| matches!(event, Event::GateWaited { result: GateResult::Draining, .. });
    // The throttled one slept; it asked as well.
    assert_eq!(scene.recorder.count(told), 3);
}

#[tokio::test(start_paused = true)]
async fn who_sleeps_between_two_attempts_sleeps_no_longer_and_sends_nothing() {
    for gate in [Gate::local(), Gate::off()] {
        let scene = Scene::of(Forbear::builder().gate(gate));
        let sleeper = scene.call(Duration::ZERO, [throttle(20)]);
        sleep(3 * S).await;
        assert_eq!(scene.forbear.drain(30 * S).await, Ok(()));
        let refused = Err((CallOutcome::GateRefused, Some(Refusal::Draining), 1));
        assert_eq!(sleeper.await.expect("no panic"), (refused, 3 * S));
    }
}

#[tokio::test(start_paused = true)]
async fn a_drain_whose_time_is_up_says_how_many_are_left_and_cuts_nobody() {
    let scene = Scene::new();
    let calls = [scene.call(20 * S, []), scene.call(40 * S, [])];
    tokio::task::yield_now().await;
    let left = scene.forbear.drain(5 * S).await.expect_err("they take longer");
    assert_eq!((left.requests, left.waited), (2, 5 * S));
    assert_eq!(left.to_string(), "2 requests still in flight after 5.0s");
    let left = scene.forbear.drain(20 * S).await.expect_err("one takes longer");
    assert_eq!(left.to_string(), "1 request still in flight after 20.0s");
    assert_eq!(scene.forbear.drain(20 * S).await, Ok(()));
    for call in calls {
        assert_eq!(call.await.expect("no panic").0, Ok(()));
    }
}

#[tokio::test(start_paused = true)]
async fn a_drain_that_is_dropped_leaves_the_engine_closed_and_can_be_taken_up_again() {
    let scene = Scene::new();
    let call = scene.call(10 * S, []);
    tokio::task::yield_now().await;
    timeout(S, scene.forbear.drain(30 * S)).await.expect_err("dropped");
    assert!(scene.is_refused().await);
    let start = Instant::now();
    assert_eq!((scene.forbear.drain(30 * S).await, start.elapsed()), (Ok(()), 9 * S));
    assert_eq!(call.await.expect("no panic").0, Ok(()));
}

#[tokio::test(start_paused = true)]
async fn a_drain_waits_for_streams_that_outlive_their_calls() {
    let scene = Scene::new();
    let guard = Arc::new(Mutex::new(None));
    let policy = policy();
    let call = scene.pool.call(&policy).run(|attempt| {
        *guard.lock().expect("no panic") = Some(attempt.permit());
        async { answer(200) }
    });
    call.await.expect("a success");
    let stream = guard.lock().expect("no panic").take();
    let reader = tokio::spawn(async move {
        sleep(4 * S).await;
        drop(stream);
    });
    let start = Instant::now();
    assert_eq!((scene.forbear.drain(30 * S).await, start.elapsed()), (Ok(()), 4 * S));
    reader.await.expect("no panic");
}

#[tokio::test(start_paused = true)]
async fn without_gate_budget_and_sink_nothing_is_counted_and_nobody_refused() {
    let forbear = Forbear::builder().gate(Gate::off()).no_budget().build().expect("valid settings");
    let pool = forbear.pool(provider::generic(), ["files"]).build().expect("a valid pool");
    assert_eq!(forbear.drain(S).await, Ok(()));
    assert!(pool.call(&policy()).run(|_| async { answer(200) }).await.is_ok());
}
