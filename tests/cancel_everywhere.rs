//! One caller of several is dropped after each number of polls it can have: the others lose no slot and no place.
//!
//! Time is virtual, and the pool's limit is one whose slots come evenly: that a slot was lost shows as a gap.
#![allow(clippy::disallowed_methods, reason = "tests read the paused clock")]

#[path = "support/scene.rs"]
mod scene;

use std::future::Future;
use std::pin::Pin;
use std::sync::{Arc, Mutex};
use std::task::{Context, Poll};
use std::time::Duration;

use forbear::event::recorder::Recorder;
use forbear::{Forbear, Policy, Pool, provider};
use scene::{Answer, S, answer, gauge, rate_limited, with_header};
use tokio::task::JoinSet;
use tokio::time::{Instant, sleep};

const TICK: Duration = Duration::from_millis(1);
/// 600 requests a minute, refilled little by little.
const SLOT: Duration = Duration::from_millis(100);
const CALLERS: usize = 7;

/// Lets a future have so many polls, then drops it.
struct Cut<F> {
    future: Option<Pin<Box<F>>>,
    polls: usize,
}

impl<F: Future> Future for Cut<F> {
    /// Whether it ended by itself.
    type Output = bool;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<bool> {
        if self.polls == 0 {
            self.future = None;
            return Poll::Ready(false);
        }
        self.polls -= 1;
        let Some(future) = &mut self.future else { return Poll::Ready(false) };
        if future.as_mut().poll(cx).is_ready() {
            return Poll::Ready(true);
        }
        if self.polls == 0 {
            // Dropped at once, and not when it would be woken next.
            self.future = None;
            return Poll::Ready(false);
        }
        Poll::Pending
    }
}

/// A throttle of a bucket of 600 a minute that has its next request in so many seconds.
fn used_up(seconds: u64) -> Answer {
    let answer = with_header(rate_limited(seconds, ""), "x-ratelimit-limit-requests", "600");
    let answer = with_header(answer, "x-ratelimit-remaining-requests", "0");
    with_header(answer, "x-ratelimit-reset-requests", "60s")
}

#[derive(Clone, Copy, Debug)]
struct Scenario {
    /// The caller that is dropped, and after how many polls.
    victim: usize,
    polls: usize,
    /// A caller whose first attempt is throttled: it comes back to its old place.
    returns: Option<usize>,
    /// News arrive while all wait: the pool stays shut for two seconds more.
    news: bool,
    /// So many callers are dropped with the victim, right behind it.
    with: usize,
}

/// The requests that were answered with a success: whose, and when; and whether the victim ended by itself.
async fn played(scenario: Scenario) -> (Vec<(usize, Duration)>, bool) {
    let recorder = Recorder::new();
    let forbear = Forbear::builder().sink(recorder.clone()).no_budget().seed(7).build().expect("valid settings");
    let pool = forbear.pool(provider::openai(), ["gpt"]).build().expect("a valid pool");
    let (start, served) = (Instant::now(), Arc::new(Mutex::new(Vec::new())));
    let mut callers = JoinSet::new();
    let caller = |number: usize, throttled: bool| {
        let (pool, served) = (pool.clone(), Arc::clone(&served));
        async move {
            let policy = Policy::interactive(60 * S).named("chat").build().expect("a valid policy");
            let call = pool.call(&policy).run(|attempt| {
                let served = Arc::clone(&served);
                let throttled = throttled && attempt.number() == 1;
                async move {
                    sleep(3 * TICK).await;
                    if throttled {
                        return used_up(2);
                    }
                    served.lock().expect("no panic").push((number, start.elapsed()));
                    answer(200)
                }
            });
            call.await.expect("let in");
        }
    };
    if let Some(returns) = scenario.returns {
        let polls = if returns == scenario.victim { scenario.polls } else { usize::MAX };
        callers.spawn(with_number(returns, Cut { future: Some(Box::pin(caller(returns, true))), polls }));
        tokio::task::yield_now().await;
    }
    sleep(TICK).await;
    let straggler = scenario.news.then(|| tokio::spawn(throttled_after(pool.clone(), S, 3)));
    tokio::task::yield_now().await;
    throttled_after(pool.clone(), TICK, 2).await;
    for number in (0..CALLERS).filter(|number| Some(*number) != scenario.returns) {
        let dropped = (scenario.victim..=scenario.victim + scenario.with).contains(&number);
        let polls = if dropped { scenario.polls } else { usize::MAX };
        callers.spawn(with_number(number, Cut { future: Some(Box::pin(caller(number, false))), polls }));
        tokio::task::yield_now().await;
        sleep(TICK).await;
    }
    if let Some(straggler) = straggler {
        straggler.await.expect("no panic");
    }
    let ended = callers.join_all().await;
    let gauges = recorder.gauges();
    for state in ["attempting", "sleeping", "at_gate"] {
        let calls = gauge(&gauges, &format!("forbear_calls_in_flight{{state=\"{state}\"}}"));
        assert_eq!(calls, Some(0.0), "calls {state} in {scenario:?}");
    }
    let by_itself = ended.iter().any(|(number, by_itself)| *number == scenario.victim && *by_itself);
    let served = served.lock().expect("no panic").clone();
    (served, by_itself)
}

async fn with_number(number: usize, ended: impl Future<Output = bool>) -> (usize, bool) {
    (number, ended.await)
}

/// A call whose one attempt is throttled after a while.
async fn throttled_after(pool: Pool, takes: Duration, seconds: u64) {
    let once = Policy::interactive(60 * S).attempts(1).build().expect("a valid policy");
    let call = pool.call(&once).run(|_| async move {
        sleep(takes).await;
        used_up(seconds)
    });
    call.await.expect_err("throttled");
}

fn holds(scenario: Scenario, served: &[(usize, Duration)], by_itself: bool) {
    let order: Vec<usize> = served.iter().map(|(number, _)| *number).collect();
    let dropped = scenario.victim..=scenario.victim + scenario.with;
    let others: Vec<usize> = order.iter().copied().filter(|number| !dropped.contains(number)).collect();
    let mut expected: Vec<usize> = (0..CALLERS).filter(|number| !dropped.contains(number)).collect();
    if let Some(returns) = scenario.returns.filter(|returns| !dropped.contains(returns)) {
        // It arrived first, whatever its number.
        expected.retain(|number| *number != returns);
        expected.insert(0, returns);
    }
    assert_eq!(others, expected, "{scenario:?}: {served:?}");
    if by_itself {
        assert!(order.contains(&scenario.victim), "{scenario:?}: {served:?}");
    }
    let shut_until = if scenario.news { 4 * S } else { 2 * S };
    let early = served.iter().find(|(_, at)| *at < shut_until);
    assert_eq!(early, None, "{scenario:?}");
    let times: Vec<Duration> = served.iter().map(|(_, at)| *at).collect();
    let slot_of = |at: &Duration| at.saturating_sub(times[0]).as_secs_f64() / SLOT.as_secs_f64();
    // A slot that was taken by one who was dropped in its attempt was used: the request was sent.
    let used_unserved = usize::from(!by_itself) * (1 + scenario.with);
    for pair in times.windows(2) {
        let gap = pair[1] - pair[0];
        assert!(gap + 2 * TICK >= SLOT, "{scenario:?}: two in one slot: {served:?}");
        assert!(gap <= SLOT * (1 + used_unserved as u32) + 2 * TICK, "{scenario:?}: a slot was lost: {served:?}");
    }
    let last = times.last().map_or(0.0, slot_of);
    assert!(last <= (served.len() - 1 + used_unserved) as f64 + 0.05, "{scenario:?}: {served:?}");
}

/// Drops the victim after 0, 1, 2, … polls, until it ends by itself.
async fn dropped_at_every_poll(scenario: Scenario) -> usize {
    for polls in 0.. {
        let scenario = Scenario { polls, ..scenario };
        let (served, by_itself) = played(scenario).await;
        holds(scenario, &served, by_itself);
        if by_itself {
            return polls;
        }
        assert!(polls < 100, "{scenario:?} never ends");
    }
    unreachable!("a range without an end has none")
}

const PLAIN: Scenario = Scenario { victim: 0, polls: 0, returns: None, news: false, with: 0 };

#[tokio::test(start_paused = true)]
async fn any_waiter_may_be_dropped_at_any_poll() {
    for victim in 0..CALLERS {
        let polls = dropped_at_every_poll(Scenario { victim, ..PLAIN }).await;
        // When it comes, when its turn comes, when its answer comes.
        assert!(polls >= 3, "caller {victim} ended after {polls} polls");
    }
}

#[tokio::test(start_paused = true)]
async fn one_that_comes_back_to_its_place_may_be_dropped_at_any_poll() {
    for returns in [0, 3] {
        let polls = dropped_at_every_poll(Scenario { victim: returns, returns: Some(returns), ..PLAIN }).await;
        assert!(polls >= 5, "it ended after {polls} polls: it did not come back");
    }
}

#[tokio::test(start_paused = true)]
async fn others_may_be_dropped_while_one_comes_back_to_its_place() {
    for victim in [0, 1, CALLERS - 1] {
        dropped_at_every_poll(Scenario { victim, returns: Some(4), ..PLAIN }).await;
    }
}

#[tokio::test(start_paused = true)]
async fn any_waiter_may_be_dropped_while_the_end_moves() {
    for victim in 0..CALLERS {
        dropped_at_every_poll(Scenario { victim, news: true, ..PLAIN }).await;
    }
}

#[tokio::test(start_paused = true)]
async fn several_that_follow_each_other_may_be_dropped_together() {
    for victim in [0, 2, CALLERS - 3] {
        dropped_at_every_poll(Scenario { victim, with: 2, ..PLAIN }).await;
    }
}
