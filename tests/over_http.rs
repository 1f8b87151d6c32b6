//! Calls over real HTTP against the emulator, on a clock that stands still while a request is under way: numbers and
//! orders are exact on any machine. The emulator tells every arrival on the same clock, with what became of it.
#![cfg(all(feature = "emulator", feature = "reqwest"))]
#![allow(clippy::disallowed_methods, reason = "a test waits as its callers do")]

#[path = "support/still.rs"]
mod still;

use std::pin::pin;
use std::time::Duration;

use forbear::core::moment::Moment;
use forbear::emulator::limits::{Algorithm, Cost, Limits, Meter, Verdict};
use forbear::emulator::{Arrival, Emulator};
use forbear::{Forbear, Gate, LimitClass, Policy, Pool, provider};
use still::{reached, standing_still};
use tokio::task::JoinSet;
use tokio::time::Instant;

const S: Duration = Duration::from_secs(1);

fn pool(gate: Gate) -> Pool {
    let forbear = Forbear::builder().gate(gate).build().expect("valid settings");
    forbear.pool(provider::openai(), ["prod", "gpt"]).build().expect("a valid pool")
}

fn policy(attempts: u32) -> Policy {
    Policy::interactive(30 * S).attempts(attempts).build().expect("a valid policy")
}

fn client() -> reqwest::Client {
    reqwest::Client::builder().no_proxy().build().expect("a client")
}

/// One call over HTTP; whether it succeeded.
async fn call(pool: &Pool, client: &reqwest::Client, url: &str, attempts: u32) -> bool {
    let policy = policy(attempts);
    let call = pool
        .call(&policy)
        .run(|attempt| standing_still(client.post(url).timeout(attempt.time_left()).body("{}").send()));
    call.await.is_ok()
}

/// So many calls at once; how many succeeded.
async fn calls(number: usize, pool: &Pool, client: &reqwest::Client, url: &str, attempts: u32) -> usize {
    let mut callers = JoinSet::new();
    for _ in 0..number {
        let (pool, client, url) = (pool.clone(), client.clone(), url.to_owned());
        callers.spawn(async move { call(&pool, &client, &url, attempts).await });
    }
    callers.join_all().await.into_iter().filter(|ok| *ok).count()
}

fn was_throttled(arrival: &Arrival) -> bool {
    matches!(arrival.verdict, Verdict::Throttled(_))
}

#[tokio::test(start_paused = true)]
async fn a_neighbours_throttle_holds_every_caller_until_the_pool_reopens() {
    let emulator = Emulator::builder().speaks(provider::openai()).start().await.expect("started");
    let (pool, client, url) = (pool(Gate::local()), client(), emulator.url());
    emulator.shut_for(2 * S);
    assert!(!call(&pool, &client, &url, 1).await, "the neighbour is throttled");
    assert_eq!(calls(20, &pool, &client, &url, 4).await, 20);

    let arrivals = emulator.arrivals();
    assert_eq!((arrivals.len(), emulator.counts().throttled), (21, 1));
    let reopened = arrivals[0].at + 2 * S;
    let early = arrivals[1..].iter().filter(|arrival| arrival.at < reopened).count();
    assert_eq!(early, 0, "requests were sent while the pool was shut: {arrivals:?}");
}

#[tokio::test(start_paused = true)]
async fn the_same_callers_without_a_gate_are_throttled_again_and_again() {
    let emulator = Emulator::builder().speaks(provider::openai()).start().await.expect("started");
    let (pool, client, url) = (pool(Gate::off()), client(), emulator.url());
    emulator.shut_for(2 * S);
    assert!(!call(&pool, &client, &url, 1).await, "the neighbour is throttled");
    assert_eq!(calls(20, &pool, &client, &url, 4).await, 20);
    // Each of them has to find out by itself: what the gate spared above.
    assert_eq!((emulator.counts().requests, emulator.counts().throttled), (41, 21));
}

#[tokio::test(start_paused = true)]
async fn a_burst_above_the_quota_is_served_with_few_throttles() {
    let builder = Emulator::builder().speaks(provider::openai()).requests_per_minute(20u64).window(2 * S);
    let emulator = builder.algorithm(Algorithm::FixedWindow).start().await.expect("started");
    let (pool, client, url) = (pool(Gate::local()), client(), emulator.url());
    assert_eq!(calls(60, &pool, &client, &url, 10).await, 60);
    let arrivals = emulator.arrivals();
    let throttled = arrivals.iter().filter(|arrival| was_throttled(arrival)).count();
    assert_eq!(arrivals.len(), 60 + throttled, "every request but the throttled ones served a call");
    // The first burst is in flight before anybody is told. Later ones are let in one by one.
    let first = arrivals.iter().find(|arrival| was_throttled(arrival)).expect("sixty do not fit").at;
    let later = arrivals.iter().filter(|arrival| arrival.at > first + 2 * S && was_throttled(arrival)).count();
    // The headers speak of a minute where this window has 2 s, so each window has to be found out anew.
    assert!(later <= 40, "{later} throttled after the first burst");
}

#[tokio::test(start_paused = true)]
async fn a_daily_quota_is_given_up_at_once_and_refused_without_a_request_after() {
    let builder = Emulator::builder().speaks(provider::openai()).requests_per_day(3u64);
    let emulator = builder.start().await.expect("started");
    let (pool, client, url) = (pool(Gate::local()), client(), emulator.url());
    for _ in 0..3 {
        assert!(call(&pool, &client, &url, 4).await);
    }
    let policy = policy(4);
    for attempts in [1, 0, 0] {
        let call = pool.call(&policy).run(|_| standing_still(client.post(&url).send()));
        let error = call.await.expect_err("the day is spent");
        assert!(error.is_daily_limit());
        assert_eq!(error.attempts(), attempts);
    }
    assert_eq!((emulator.counts().requests, emulator.counts().throttled), (4, 1));
}

#[tokio::test(start_paused = true)]
async fn a_call_dropped_while_the_provider_serves_it_frees_its_place() {
    let emulator = Emulator::builder().concurrency(1u32).service_time(60 * S).start().await.expect("started");
    let (pool, client, url) = (pool(Gate::off()), client(), emulator.url());
    let policy = policy(1);
    let admitted = |number| emulator.counts().admitted == number;
    let freed = async {
        {
            let mut lost = pin!(pool.call(&policy).run(|_| client.post(&url).send()));
            tokio::select! {
                ended = &mut lost => panic!("it is served for a minute, and ended as {ended:?}"),
                () = reached(|| admitted(1)) => {}
            }
        }
        // The provider notices that the caller hung up, or it would refuse the next for ever.
        for _ in 0..10_000 {
            let mut next = pin!(pool.call(&policy).run(|_| client.post(&url).send()));
            tokio::select! {
                ended = &mut next => assert_eq!(ended.expect_err("refused").limit_class(), LimitClass::Unknown),
                () = reached(|| admitted(2)) => return,
            }
        }
        panic!("the place was never freed");
    };
    standing_still(freed).await;
}

/// The emulator's own limits in paused time: the answer is there at once, so every count is exact.
#[tokio::test(start_paused = true)]
async fn in_paused_time_no_request_reaches_the_limits_before_the_end_they_stated() {
    use std::sync::{Arc, Mutex};
    let limits = Limits::new().requests_per_minute(10u64).algorithm(Algorithm::FixedWindow);
    let meter =
        Arc::new(Mutex::new((Meter::new(limits).expect("valid limits"), Vec::<(Duration, Option<Duration>)>::new())));
    let (pool, start) = (pool(Gate::local()), Instant::now());
    let mut callers = JoinSet::new();
    for _ in 0..60 {
        let (pool, meter) = (pool.clone(), Arc::clone(&meter));
        callers.spawn(async move {
            let policy = Policy::background(3_600 * S).attempts(20).build().expect("a valid policy");
            let call = pool.call(&policy).run(|_| {
                let now = start.elapsed();
                let mut dice = forbear::core::dice::SeededDice::new(1);
                let mut meter = meter.lock().expect("no panic");
                let verdict = meter.0.admit(Moment::since_start(now), Cost::request(), &mut dice);
                let wait = match verdict {
                    Verdict::Throttled(throttle) => throttle.wait,
                    _ => None,
                };
                meter.1.push((now, wait));
                let answer = http::Response::builder();
                let answer = match wait {
                    Some(wait) => answer.status(429).header("retry-after", wait.as_secs_f64().ceil().to_string()),
                    None => answer.status(200),
                };
                std::future::ready(answer.body(String::new()).expect("a well-formed answer"))
            });
            call.await.is_ok()
        });
    }
    assert!(callers.join_all().await.into_iter().all(|ok| ok));
    let requests = &meter.lock().expect("no panic").1;
    let throttles: Vec<_> = requests.iter().filter_map(|&(at, wait)| Some((at, at + wait?))).collect();
    assert!(!throttles.is_empty() && requests.len() == 60 + throttles.len());
    for (told, end) in &throttles {
        // Whoever was told in the same instant had sent before the news.
        let early = requests.iter().filter(|(at, _)| at > told && at < end).count();
        assert_eq!(early, 0, "told at {told:?} to wait until {end:?}: {requests:?}");
    }
}
