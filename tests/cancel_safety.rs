//! A call may be dropped at any point: nothing leaks, nobody is blocked, and a throttle already seen is still reported.
#![allow(clippy::disallowed_methods, reason = "tests read the paused clock")]

#[path = "cancel_safety/queue.rs"]
mod queue;
#[path = "support/scene.rs"]
mod scene;

use std::convert::Infallible;
use std::future::poll_fn;
use std::panic::AssertUnwindSafe;
use std::pin::{Pin, pin};
use std::task::{Context, Poll};
use std::time::Duration;

use bytes::Bytes;
use forbear::event::Event;
use forbear::event::recorder::Recorder;
use forbear::{AttemptOutcome, CallOutcome, Forbear, Peek, Policy, Pool, peek, provider};
use http_body::{Body, Frame};
use scene::{Answer, S, answer, gauge, throttle};
use tokio::time::advance;

struct Watched {
    pool: Pool,
    policy: Policy,
    recorder: Recorder,
}

fn watched() -> Watched {
    let recorder = Recorder::new();
    let forbear = Forbear::builder().sink(recorder.clone()).seed(7).build().expect("valid settings");
    let pool = forbear.pool(provider::generic(), ["files"]).build().expect("a valid pool");
    let policy = Policy::interactive(60 * S).named("chat").build().expect("a valid policy");
    Watched { pool, policy, recorder }
}

impl Watched {
    /// Nothing is under way, asleep or queued.
    fn is_clean(&self) {
        let gauges = self.recorder.gauges();
        for state in ["attempting", "sleeping", "at_gate"] {
            let calls = gauge(&gauges, &format!("forbear_calls_in_flight{{state=\"{state}\"}}"));
            assert_eq!(calls, Some(0.0), "calls {state}");
        }
    }

    fn calls(&self, state: &str) -> f64 {
        gauge(&self.recorder.gauges(), &format!("forbear_calls_in_flight{{state=\"{state}\"}}")).expect("shown")
    }

    fn is_shut(&self) -> bool {
        gauge(&self.recorder.gauges(), "forbear_gate_state{state=\"shut\"}") == Some(1.0)
    }

    /// Shuts the pool for so many seconds, by a call that is dropped as soon as its throttle was seen.
    async fn shut_for(&self, seconds: u64) {
        let call = self.pool.call(&self.policy).run(|_| async move { throttle(seconds) });
        poll_times(call, 1).await;
        assert!(self.is_shut());
    }

    /// Every call that started has ended, once.
    fn every_call_ended_once(&self) {
        let started = self.recorder.count(|event| matches!(event, Event::CallStarted { .. }));
        let ended = self.recorder.count(|event| matches!(event, Event::CallEnded { .. }));
        assert_eq!(started, ended);
    }

    fn cancelled(&self) -> usize {
        self.recorder.count(|event| matches!(event, Event::CallEnded { outcome: CallOutcome::Cancelled, .. }))
    }
}

/// Polls a future so often, each time whatever it waits for; then drops it. Whether it ended.
async fn poll_times<F: Future>(future: F, times: usize) -> bool {
    let mut future = pin!(future);
    for time in 0..times {
        if poll_fn(|cx| Poll::Ready(future.as_mut().poll(cx))).await.is_ready() {
            return true;
        }
        if time + 1 < times {
            advance(100 * Duration::from_millis(1)).await;
        }
    }
    false
}

/// A body that yields its frames one poll after another, with a pending poll before each, and may never end.
struct Slow {
    frames: Vec<Bytes>,
    ready: bool,
    ends: bool,
}

impl Slow {
    fn new(frames: &[&'static str], ends: bool) -> Self {
        Self {
            frames: frames.iter().rev().map(|frame| Bytes::from_static(frame.as_bytes())).collect(),
            ready: false,
            ends,
        }
    }
}

impl Body for Slow {
    type Data = Bytes;
    type Error = Infallible;

    fn poll_frame(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Result<Frame<Bytes>, Infallible>>> {
        if self.frames.is_empty() && !self.ends {
            return Poll::Pending;
        }
        self.ready = !self.ready;
        if self.ready {
            cx.waker().wake_by_ref();
            return Poll::Pending;
        }
        Poll::Ready(self.frames.pop().map(|frame| Ok(Frame::data(frame))))
    }
}

/// An answer whose body the engine itself reads before it classifies.
struct Streamed(http::Response<Slow>);

/// The same once it was read.
enum Seen {
    Head(http::Response<Slow>),
    Whole(http::Response<Peek<Slow>>),
}

impl forbear::Settle for Seen {
    type Value = u16;

    fn settle(self) -> Result<u16, Self> {
        match &self {
            Self::Head(answer) => Ok(answer.status().as_u16()),
            Self::Whole(answer) => Ok(answer.status().as_u16()),
        }
    }
}

impl forbear::Outcome for Seen {
    fn wants_peek(&self) -> bool {
        matches!(self, Self::Head(answer) if answer.status().as_u16() >= 400)
    }

    async fn peek(self) -> (Self, Option<Bytes>) {
        match self {
            Self::Head(answer) => {
                let answer = peek(answer).await;
                let excerpt = forbear::PeekBody::excerpt(answer.body()).map(Bytes::copy_from_slice);
                (Self::Whole(answer), excerpt)
            }
            whole => (whole, None),
        }
    }

    fn observation<'a>(&'a self, body: Option<&'a [u8]>) -> forbear::Observation<'a> {
        let (status, headers) = match self {
            Self::Head(answer) => (answer.status(), answer.headers()),
            Self::Whole(answer) => (answer.status(), answer.headers()),
        };
        let seen = forbear::Observation::status(status.as_u16()).headers(headers);
        match body {
            Some(body) => seen.body(body),
            None => seen,
        }
    }
}

fn streamed(seconds: u64, ends: bool) -> Streamed {
    Streamed(throttle(seconds).map(|_| Slow::new(&["{\"detail\"", ":\"slow\"}"], ends)))
}

// ------------------------------------------------------------------------------------------------------- everywhere

#[tokio::test(start_paused = true)]
async fn dropping_a_call_after_any_number_of_polls_leaks_nothing_and_blocks_nobody() {
    let mut polls = 0;
    loop {
        let watched = watched();
        // Two throttled attempts whose bodies are read, sleeps and gate waits between, then a success.
        let ended = {
            let call = watched.pool.call(&watched.policy).run(|attempt| {
                let number = attempt.number();
                async move {
                    tokio::task::yield_now().await;
                    match number {
                        1 | 2 => Seen::Head(streamed(1, true).0),
                        _ => Seen::Head(answer(200).map(|_| Slow::new(&[], true))),
                    }
                }
            });
            poll_times(call, polls).await
        };
        watched.is_clean();
        watched.every_call_ended_once();
        let polled = usize::from(polls > 0);
        assert_eq!(watched.cancelled(), if ended { 0 } else { polled }, "after {polls} polls");

        let second = watched.pool.call(&watched.policy).run(|_| async { answer(200) });
        assert_eq!(second.await.expect("a second caller proceeds").status(), 200);
        watched.is_clean();
        if ended {
            break;
        }
        polls += 1;
    }
    assert!(polls > 20, "only {polls} polls: the call did not wait where it should");
}

#[tokio::test(start_paused = true)]
async fn a_call_that_was_never_polled_tells_nothing() {
    let watched = watched();
    drop(watched.pool.call(&watched.policy).run(|_| async { answer(200) }));
    assert_eq!(watched.recorder.events(), []);
    watched.is_clean();
}

// --------------------------------------------------------------------------------------------------- in the attempt

#[tokio::test(start_paused = true)]
async fn a_call_dropped_in_its_attempt_is_cancelled_and_counted_no_longer() {
    let watched = watched();
    {
        let call = watched.pool.call(&watched.policy).run(|_| std::future::pending::<Answer>());
        let mut call = pin!(call);
        assert!(poll_fn(|cx| Poll::Ready(call.as_mut().poll(cx))).await.is_pending());
        assert_eq!(watched.calls("attempting"), 1.0);
        advance(S).await;
    }
    watched.is_clean();
    let told = |event: &Event<'_>| match *event {
        Event::AttemptEnded { number, outcome, duration, .. } => {
            (number, outcome, duration) == (1, AttemptOutcome::Cancelled, S)
        }
        _ => false,
    };
    assert_eq!((watched.recorder.count(told), watched.cancelled()), (1, 1));
    assert!(!watched.is_shut());
}

#[tokio::test(start_paused = true)]
async fn an_operation_that_panics_leaves_the_pool_whole() {
    let watched = watched();
    let call = watched.pool.call(&watched.policy).run(|_| async {
        tokio::task::yield_now().await;
        if true {
            panic!("an operation's own fault");
        }
        answer(200)
    });
    let mut call = Box::pin(call);
    let caught = poll_fn(|cx| {
        let polled = std::panic::catch_unwind(AssertUnwindSafe(|| call.as_mut().poll(cx)));
        match polled {
            Ok(Poll::Pending) => Poll::Pending,
            Ok(Poll::Ready(_)) => Poll::Ready(false),
            Err(_) => Poll::Ready(true),
        }
    });
    assert!(caught.await);
    drop(call);
    watched.is_clean();
    let next = watched.pool.call(&watched.policy).run(|_| async { answer(200) });
    assert!(next.await.is_ok());
}

#[tokio::test(start_paused = true)]
async fn a_request_that_outlives_its_call_is_counted_until_its_guard_is_dropped() {
    let watched = watched();
    let mut guard = None;
    let call = watched.pool.call(&watched.policy).run(|attempt| {
        guard = Some(attempt.permit());
        async { answer(200) }
    });
    call.await.expect("a success");
    assert_eq!(watched.calls("attempting"), 1.0);
    drop(guard);
    watched.is_clean();
}

#[tokio::test(start_paused = true)]
async fn a_call_may_be_moved_to_another_task_with_its_attempt() {
    let watched = watched();
    let (pool, policy) = (watched.pool.clone(), watched.policy.clone());
    let task = tokio::spawn(async move {
        let call = pool.call(&policy).run(|attempt| async move {
            tokio::task::yield_now().await;
            answer(if attempt.number() == 1 { 503 } else { 200 })
        });
        call.await.map(|answer| answer.status().as_u16())
    });
    assert_eq!(task.await.expect("no panic").expect("the second attempt succeeds"), 200);
}

// ------------------------------------------------------------------------------------- a throttle that was seen

#[tokio::test(start_paused = true)]
async fn a_throttle_is_reported_although_the_call_is_dropped_while_its_body_is_read() {
    for polls in 1..4 {
        let watched = watched();
        let call = watched.pool.call(&watched.policy).run(|_| async { Seen::Head(streamed(30, false).0) });
        assert!(!poll_times(call, polls).await);
        assert!(watched.is_shut(), "after {polls} polls");
        watched.is_clean();
        let shuts = watched.recorder.count(|event| matches!(event, Event::GateShut { told: true, .. }));
        assert_eq!(shuts, 1);

        let next = watched.pool.call(&watched.policy).no_wait().run(|_| async { answer(200) });
        assert!(next.await.expect_err("held").is_refused_by_gate());
    }
}

#[tokio::test(start_paused = true)]
async fn a_throttle_told_by_the_operation_is_reported_although_the_call_is_dropped() {
    let watched = watched();
    let call = watched.pool.call(&watched.policy).run(|attempt| async move {
        let (parts, body) = throttle(30).into_parts();
        attempt.saw(&parts);
        std::future::pending::<()>().await;
        Answer::from_parts(parts, body)
    });
    assert!(!poll_times(call, 1).await);
    assert!(watched.is_shut());
    watched.is_clean();
    let next = watched.pool.call(&watched.policy).no_wait().run(|_| async { answer(200) });
    let refused = next.await.expect_err("held");
    assert_eq!((refused.is_refused_by_gate(), refused.attempts(), refused.retry_after()), (true, 0, Some(30 * S)));
}

#[tokio::test(start_paused = true)]
async fn a_throttle_told_by_the_operation_and_by_its_end_is_one() {
    let watched = watched();
    let once = Policy::interactive(300 * S).attempts(1).build().expect("a valid policy");
    let slow = watched.pool.call(&once).run(|attempt| async move {
        let answer = throttle(30);
        attempt.saw(&answer);
        tokio::time::sleep(45 * S).await;
        answer
    });
    assert!(slow.await.expect_err("throttled").is_exhausted());
    // Neither was the end moved by the time the body took, nor is the pool shut again that has reopened meanwhile.
    assert_eq!(watched.recorder.count(|event| matches!(event, Event::GateShut { .. })), 1);
    assert!(!watched.is_shut());
    watched.is_clean();
}

#[tokio::test(start_paused = true)]
async fn what_the_body_tells_beyond_its_head_is_reported_at_the_attempts_end() {
    let watched = watched();
    let once = Policy::interactive(300 * S).attempts(1).build().expect("a valid policy");
    let slow = watched.pool.call(&once).run(|attempt| async move {
        attempt.saw(&answer(429));
        tokio::time::sleep(S / 10).await;
        scene::throttle_in_body(200)
    });
    assert!(slow.await.expect_err("throttled").is_exhausted());
    let told = watched.recorder.count(|event| matches!(event, Event::GateShut { told: true, .. }));
    let guessed = watched.recorder.count(|event| matches!(event, Event::GateShut { told: false, .. }));
    assert_eq!((guessed, told), (1, 1));
}

#[tokio::test(start_paused = true)]
async fn a_success_told_by_the_operation_shuts_nothing() {
    let watched = watched();
    let call = watched.pool.call(&watched.policy).run(|attempt| async move {
        let answer = answer(200);
        attempt.saw(&answer);
        answer
    });
    call.await.expect("a success");
    assert!(!watched.is_shut());
}

#[tokio::test(start_paused = true)]
async fn a_throttle_holds_although_its_call_is_dropped_in_the_delay() {
    let watched = watched();
    {
        let call = watched.pool.call(&watched.policy).run(|_| async { throttle(30) });
        let mut call = pin!(call);
        assert!(poll_fn(|cx| Poll::Ready(call.as_mut().poll(cx))).await.is_pending());
        assert_eq!((watched.calls("sleeping"), watched.calls("attempting")), (1.0, 0.0));
    }
    watched.is_clean();
    assert!(watched.is_shut());
    assert_eq!(watched.cancelled(), 1);
}
