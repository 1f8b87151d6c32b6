//! What one caller's throttle does to the others of its pool: nobody sends before the end, then one after another.
#![allow(clippy::disallowed_methods, reason = "tests read the paused clock")]

#[path = "support/scene.rs"]
mod scene;

use std::sync::{Arc, Mutex};
use std::time::Duration;

use forbear::core::rule::Table;
use forbear::{DelaySource, Forbear, LimitClass, Policy, Pool, provider};
use scene::{Provider, S, answer, built, daily, engine, is_held, policy, spent, throttle, throttle_in_body, throttled};
use tokio::task::JoinSet;
use tokio::time::{Instant, advance, sleep};

const TICK: Duration = Duration::from_millis(1);

fn pool_of(forbear: &Forbear, table: Table, path: &[&str]) -> Pool {
    forbear.pool(table, path).build().expect("a valid pool")
}

fn files() -> Pool {
    pool_of(&built(engine()), provider::generic(), &["files"])
}

// ----------------------------------------------------------------------------------------------------- held back

#[tokio::test(start_paused = true)]
async fn a_neighbours_throttle_holds_every_caller_of_the_pool_until_it_reopens() {
    for shut in [throttle(10), throttle_in_body(10)] {
        let pool = files();
        throttled(&pool, shut).await;
        let provider = Provider::new::<scene::Answer>([]);
        let mut callers = JoinSet::new();
        for _ in 0..50 {
            let (pool, provider) = (pool.clone(), provider.clone());
            callers.spawn(async move { pool.call(&policy(60 * S)).run(|_| provider.ask()).await.is_ok() });
        }
        sleep(10 * S - TICK).await;
        assert_eq!(provider.count(), 0, "a request left while the pool was shut");
        assert!(callers.join_all().await.into_iter().all(|ok| ok));
        let requests = provider.requests();
        assert_eq!(requests.len(), 50);
        assert!(requests[0] >= 10 * S, "{:?}", requests[0]);
        // Nobody storms back: the first second serves a handful, not fifty.
        let in_the_first_second = requests.iter().filter(|at| **at < 11 * S).count();
        assert!((2..=12).contains(&in_the_first_second), "{in_the_first_second}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_guessed_shut_lasts_a_second_at_least() {
    let pool = files();
    for unreadable in [answer(429), throttle(0)] {
        throttled(&pool, unreadable).await;
        assert!(is_held(&pool).await);
        advance(S - TICK).await;
        assert!(is_held(&pool).await);
        advance(200 * S).await;
        assert!(!is_held(&pool).await);
    }
}

#[tokio::test(start_paused = true)]
async fn waiters_leave_one_after_another_in_the_order_they_came() {
    let pool = files();
    throttled(&pool, throttle(5)).await;
    let left = Arc::new(Mutex::new(Vec::new()));
    let mut callers = JoinSet::new();
    let start = Instant::now();
    // Some come in the same instant, some later, some with another deadline.
    for number in 0..60u64 {
        if number % 3 == 0 {
            sleep(Duration::from_millis(7)).await;
        }
        let (pool, left) = (pool.clone(), Arc::clone(&left));
        callers.spawn(async move {
            let policy = policy(Duration::from_secs(40 + number % 5));
            let call = pool.call(&policy).run(|_| {
                left.lock().expect("no panic").push((number, start.elapsed()));
                async { answer(200) }
            });
            call.await.expect("let in");
        });
        tokio::task::yield_now().await;
    }
    callers.join_all().await;
    let left = left.lock().expect("no panic");
    let order: Vec<u64> = left.iter().map(|(number, _)| *number).collect();
    assert_eq!(order, (0..60).collect::<Vec<_>>());
    assert!(left.windows(2).all(|pair| pair[0].1 < pair[1].1), "two left in the same instant: {left:?}");
}

#[tokio::test(start_paused = true)]
async fn a_throttled_call_keeps_its_place_before_those_who_came_after_it() {
    let pool = files();
    let order = Arc::new(Mutex::new(Vec::new()));
    let mut callers = JoinSet::new();
    for number in 0..4 {
        let (pool, order) = (pool.clone(), Arc::clone(&order));
        callers.spawn(async move {
            let policy = policy(60 * S);
            let call = pool.call(&policy).run(|attempt| {
                let throttled = number == 0 && attempt.number() == 1;
                if !throttled {
                    order.lock().expect("no panic").push(number);
                }
                async move { if throttled { throttle(3) } else { answer(200) } }
            });
            call.await.expect("let in");
        });
        sleep(10 * TICK).await;
    }
    callers.join_all().await;
    assert_eq!(*order.lock().expect("no panic"), [0, 1, 2, 3]);
}

/// A request in flight whose answer the test gives.
struct InFlight {
    answers: tokio::sync::oneshot::Sender<scene::Answer>,
    call: tokio::task::JoinHandle<bool>,
}

impl InFlight {
    async fn at(pool: &Pool) -> Self {
        let (answers, answer) = tokio::sync::oneshot::channel::<scene::Answer>();
        let (pool, mut answer) = (pool.clone(), Some(answer));
        let call = tokio::spawn(async move {
            let once = Policy::interactive(60 * S).attempts(1).build().expect("a valid policy");
            let call = pool.call(&once).run(|_| {
                let answer = answer.take().expect("one attempt");
                async { answer.await.expect("answered") }
            });
            call.await.is_ok()
        });
        tokio::task::yield_now().await;
        Self { answers, call }
    }

    async fn comes_back(self, answer: scene::Answer) -> bool {
        self.answers.send(answer).expect("the call still waits");
        self.call.await.expect("no panic")
    }
}

#[tokio::test(start_paused = true)]
async fn a_shorter_throttle_never_shortens_a_longer_one_and_a_longer_one_moves_the_end() {
    let pool = files();
    let (shorter, longer) = (InFlight::at(&pool).await, InFlight::at(&pool).await);
    throttled(&pool, throttle(20)).await;
    assert!(!shorter.comes_back(throttle(3)).await);
    advance(19 * S).await;
    assert!(is_held(&pool).await);
    assert!(!longer.comes_back(throttle(30)).await);
    advance(30 * S - TICK).await;
    assert!(is_held(&pool).await);
    advance(S).await;
    assert!(!is_held(&pool).await);
}

#[tokio::test(start_paused = true)]
async fn a_success_that_was_sent_before_the_shut_does_not_reopen_it() {
    let pool = files();
    let early = InFlight::at(&pool).await;
    throttled(&pool, throttle(20)).await;
    assert!(early.comes_back(answer(200)).await);
    assert!(is_held(&pool).await);
}

#[tokio::test(start_paused = true)]
async fn a_caller_who_cannot_wait_so_long_is_refused_at_once_and_told_when_to_come_back() {
    let pool = files();
    throttled(&pool, throttle(10)).await;
    let (start, short) = (Instant::now(), policy(8 * S));
    let refused = pool.call(&short).run(|_| async { answer(200) }).await.expect_err("no time for it");
    assert_eq!(start.elapsed(), Duration::ZERO);
    assert!(refused.is_refused_by_gate());
    assert_eq!(
        (refused.attempts(), refused.retry_after(), refused.limit_class()),
        (0, Some(10 * S), LimitClass::Unknown)
    );
    assert!(refused.last().is_none());
}

#[tokio::test(start_paused = true)]
async fn a_waiter_is_let_go_when_too_little_of_its_time_is_left_for_an_attempt() {
    let pool = files();
    throttled(&pool, throttle(1)).await;
    // Five hundred before it: its turn does not come within two seconds.
    let mut callers = JoinSet::new();
    for _ in 0..500 {
        let pool = pool.clone();
        callers.spawn(async move { pool.call(&policy(60 * S)).run(|_| async { answer(200) }).await.is_ok() });
    }
    tokio::task::yield_now().await;
    let (start, short) = (Instant::now(), policy(2 * S));
    let ended = pool.call(&short).run(|_| async { answer(200) }).await.expect_err("its turn does not come");
    let waited = start.elapsed();
    // Nothing is known of how long attempts take: an eighth of its time is what an answer is given.
    let latest = 2 * S - S / 4;
    assert!(waited >= latest && waited <= latest + TICK, "{waited:?}");
    assert!(ended.is_refused_by_gate());
    assert_eq!((ended.attempts(), ended.delay_source()), (0, DelaySource::Gate));
    assert!(callers.join_all().await.into_iter().all(|ok| ok));
}

#[tokio::test(start_paused = true)]
async fn a_waiter_is_refused_when_news_move_the_end_past_its_deadline() {
    let pool = files();
    let straggler = InFlight::at(&pool).await;
    throttled(&pool, throttle(5)).await;
    let waiters: Vec<_> = (0..3)
        .map(|_| {
            let pool = pool.clone();
            tokio::spawn(async move {
                let start = Instant::now();
                let refused = pool.call(&policy(20 * S)).run(|_| async { answer(200) }).await.expect_err("refused");
                (refused.is_refused_by_gate(), refused.attempts(), start.elapsed())
            })
        })
        .collect();
    sleep(2 * S).await;
    assert!(!straggler.comes_back(throttle(40)).await);
    for waiter in waiters {
        assert_eq!(waiter.await.expect("no panic"), (true, 0, 2 * S));
    }
}

#[tokio::test(start_paused = true)]
async fn daily_and_spend_refuse_later_calls_at_once_without_a_request() {
    for (shut, class) in [(daily(7_200), LimitClass::Daily), (spent(), LimitClass::Spend)] {
        let pool = pool_of(&built(engine()), provider::openai(), &["gpt"]);
        throttled(&pool, shut).await;
        let provider = Provider::new::<scene::Answer>([]);
        let (start, day) = (Instant::now(), policy(86_400 * S));
        for _ in 0..20 {
            let refused = pool.call(&day).run(|_| provider.ask()).await.expect_err("refused");
            assert!(refused.is_refused_by_gate());
            assert_eq!((refused.limit_class(), refused.attempts()), (class, 0));
            assert!(refused.retry_after().is_some_and(|after| after >= 3_600 * S));
        }
        assert_eq!((provider.count(), start.elapsed()), (0, Duration::ZERO));
    }
}

#[tokio::test(start_paused = true)]
async fn a_waiter_is_refused_when_the_day_turns_out_to_be_spent() {
    let pool = pool_of(&built(engine()), provider::openai(), &["gpt"]);
    let straggler = InFlight::at(&pool).await;
    throttled(&pool, throttle(5)).await;
    let waiter = {
        let pool = pool.clone();
        tokio::spawn(async move {
            let refused = pool.call(&policy(86_400 * S)).run(|_| async { answer(200) }).await.expect_err("refused");
            (refused.is_refused_by_gate(), refused.is_daily_limit())
        })
    };
    sleep(S).await;
    assert!(!straggler.comes_back(daily(7_200)).await);
    assert_eq!(waiter.await.expect("no panic"), (true, true));
}

#[tokio::test(start_paused = true)]
async fn a_long_shut_lets_one_probe_through_and_its_success_reopens_the_pool() {
    let pool = pool_of(&built(engine()), provider::openai(), &["gpt"]);
    throttled(&pool, spent()).await;
    let provider = Provider::new([spent()]);
    let ask_ten = || async {
        let mut callers = JoinSet::new();
        for _ in 0..10 {
            let (pool, provider) = (pool.clone(), provider.clone());
            callers.spawn(async move {
                let once = Policy::interactive(60 * S).attempts(1).build().expect("a valid policy");
                pool.call(&once).run(|_| provider.ask()).await.is_ok()
            });
        }
        callers.join_all().await.into_iter().filter(|ok| *ok).count()
    };
    advance(300 * S).await;
    assert_eq!((ask_ten().await, provider.count()), (0, 1), "one probe, throttled");
    advance(299 * S).await;
    assert_eq!((ask_ten().await, provider.count()), (0, 1), "five minutes are not over");
    advance(2 * S).await;
    assert_eq!(ask_ten().await, 10, "the bill is paid: the probe goes, and after it the others");
}

#[tokio::test(start_paused = true)]
async fn a_probe_that_is_dropped_is_given_to_the_next() {
    let pool = pool_of(&built(engine()), provider::openai(), &["gpt"]);
    throttled(&pool, spent()).await;
    advance(301 * S).await;
    let policy = policy(60 * S);
    let lost = pool.call(&policy).run(|_| std::future::pending::<scene::Answer>());
    tokio::time::timeout(S / 2, lost).await.expect_err("nothing ends it");
    assert!(!is_held(&pool).await);
}

#[tokio::test(start_paused = true)]
async fn a_probe_that_is_throttled_reopens_nothing_however_slow_its_body_is() {
    let pool = pool_of(&built(engine()), provider::openai(), &["gpt"]);
    throttled(&pool, daily(40_000)).await;
    advance(301 * S).await;
    let probe = {
        let pool = pool.clone();
        tokio::spawn(async move {
            let policy = policy(60 * S);
            let call = pool.call(&policy).run(|attempt| async move {
                let answer = daily(40_000);
                attempt.saw(&answer);
                sleep(10 * S).await;
                answer
            });
            call.await.is_ok()
        })
    };
    sleep(5 * S).await;
    assert!(is_held(&pool).await, "the probe's head said that the limit still holds");
    assert!(!probe.await.expect("no panic"));
    assert!(is_held(&pool).await);
}
