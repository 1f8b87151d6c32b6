//! What an operator sees of gates, and does to them by hand.
#![allow(clippy::disallowed_methods, reason = "tests read the paused clock")]

#[path = "support/scene.rs"]
mod scene;

use std::time::Duration;

use forbear::event::Event;
use forbear::event::recorder::Recorder;
use forbear::event::words::OperatorAction;
use forbear::{Forbear, Gate, GateState, Limit, LimitClass, Pool, Refusal, provider};
use scene::{Answer, Provider, S, answer, gauge, policy, rate_limited, spent, throttle, throttled, with_header};
use tokio::task::JoinSet;
use tokio::time::{Instant, advance, sleep};

struct Scene {
    forbear: Forbear,
    recorder: Recorder,
}

impl Scene {
    fn new() -> Self {
        let recorder = Recorder::new();
        let forbear = Forbear::builder().sink(recorder.clone()).seed(7).build().expect("valid settings");
        Self { forbear, recorder }
    }

    fn pool(&self, path: &[&str]) -> Pool {
        self.forbear.pool(provider::openai(), path).build().expect("a valid pool")
    }

    /// What operators did, with their reasons.
    fn audit(&self) -> Vec<(OperatorAction, String)> {
        let operated = |event: &Event<'_>| match *event {
            Event::GateOperated { action, reason } => Some((action, reason.to_owned())),
            _ => None,
        };
        self.recorder.events().iter().filter_map(|recorded| operated(&recorded.event)).collect()
    }
}

async fn refusal(pool: &Pool) -> Option<Refusal> {
    let policy = policy(60 * S);
    match pool.call(&policy).no_wait().run(|_| async { answer(200) }).await {
        Ok(_) => None,
        Err(refused) => refused.refusal(),
    }
}

fn waiters(pool: &Pool, number: usize, provider: &Provider) -> JoinSet<bool> {
    let mut waiters = JoinSet::new();
    for _ in 0..number {
        let (pool, provider) = (pool.clone(), provider.clone());
        waiters.spawn(async move { pool.call(&policy(600 * S)).run(|_| provider.ask()).await.is_ok() });
    }
    waiters
}

// ---------------------------------------------------------------------------------------------------------- seen

#[tokio::test(start_paused = true)]
async fn a_snapshot_tells_state_end_class_who_waits_what_is_under_way_and_what_is_known() {
    let scene = Scene::new();
    let pool = scene
        .forbear
        .pool(provider::openai(), ["prod", "chat", "gpt 4\u{e9}"])
        .limit(Limit::requests_per_minute(600))
        .build()
        .expect("a valid pool");
    assert_eq!(pool.snapshot().to_string(), "openai prod/chat/gpt 4\u{e9}: flowing, 0 waiting, 0 in flight");
    let odd = scene.forbear.pool(provider::openai(), ["a\nb", "\u{1b}[31m"]).build().expect("any name is one");
    assert_eq!(odd.snapshot().to_string(), "openai a\u{fffd}b/\u{fffd}[31m: flowing, 0 waiting, 0 in flight");

    let under_way = {
        let pool = pool.clone();
        tokio::spawn(async move { pool.call(&policy(60 * S)).run(|_| std::future::pending::<Answer>()).await.is_ok() })
    };
    tokio::task::yield_now().await;
    let answer = with_header(rate_limited(12, ""), "x-ratelimit-limit-requests", "600");
    throttled(&pool, with_header(answer, "x-ratelimit-remaining-requests", "0")).await;
    let mut callers = waiters(&pool, 3, &Provider::new::<Answer>([]));
    advance(2 * S).await;
    tokio::task::yield_now().await;

    let now = pool.snapshot();
    assert_eq!(
        (now.provider, &now.path[..]),
        ("openai", &["prod".to_owned(), "chat".into(), "gpt 4\u{e9}".into()][..])
    );
    assert_eq!((now.state, now.waiting, now.in_flight, now.in_flight_limit), (GateState::Shut, 3, 1, None));
    let shut = now.shut.as_ref().expect("it is shut");
    assert_eq!((shut.class, shut.reopens_in, shut.told), (LimitClass::RequestRate, 10 * S, true));
    assert_eq!((shut.by_hand.as_deref(), shut.level.len()), (None, 3));
    assert_eq!(now.limits, [Limit::requests_per_minute(600)]);
    let (reading, age) = now.readings.first().expect("headers were read");
    assert_eq!((reading.limit, reading.remaining, *age), (Some(600), Some(0), 2 * S));
    assert_eq!(
        now.to_string(),
        "openai prod/chat/gpt 4\u{e9}: shut for request_rate, reopens in 10.0s (told), 3 waiting, 1 in flight"
    );

    sleep(10 * S + Duration::from_millis(1)).await;
    let paced = pool.snapshot();
    assert_eq!(paced.state, GateState::Paced);
    assert!(paced.shut.is_none() && paced.interval.is_some_and(|interval| interval > Duration::ZERO));
    while callers.join_next().await.is_some() {}
    under_way.abort();
}

#[tokio::test(start_paused = true)]
async fn the_level_that_is_shut_is_named_and_all_pools_are_listed_by_name() {
    let scene = Scene::new();
    let pools = [["org", "two", "gpt"], ["org", "one", "mini"], ["org", "one", "gpt"]].map(|path| scene.pool(&path));
    throttled(&pools[2], rate_limited(20, "in project proj_AAAA")).await;
    let listed = scene.forbear.pools();
    let shown: Vec<String> = listed.iter().map(ToString::to_string).collect();
    assert_eq!(
        shown,
        [
            "openai org/one/gpt: shut for request_rate at org/one, reopens in 20.0s (told), 0 waiting, 0 in flight",
            "openai org/one/mini: shut for request_rate at org/one, reopens in 20.0s (told), 0 waiting, 0 in flight",
            "openai org/two/gpt: flowing, 0 waiting, 0 in flight",
        ]
    );
}

// ------------------------------------------------------------------------------------------------------- by hand

#[tokio::test(start_paused = true)]
async fn a_pool_shut_by_hand_holds_its_callers_and_those_below_it_until_its_time_is_over() {
    let scene = Scene::new();
    let (above, pool, beside) = (scene.pool(&["org"]), scene.pool(&["org", "one"]), scene.pool(&["other", "one"]));
    above.shut(300 * S, "the export\nneeds it").expect("in range");
    for held in [&above, &pool] {
        assert_eq!(refusal(held).await, Some(Refusal::ByHand));
    }
    assert_eq!(refusal(&beside).await, None);
    let now = pool.snapshot();
    assert_eq!(
        now.to_string(),
        "openai org/one: shut by hand (the export needs it) at org, reopens in 300.0s (told), 0 waiting, 0 in flight"
    );

    let provider = Provider::new::<Answer>([]);
    let callers = waiters(&pool, 40, &provider);
    sleep(299 * S).await;
    assert_eq!(provider.count(), 0, "not even a probe goes");
    assert!(callers.join_all().await.into_iter().all(|ok| ok));
    let requests = provider.requests();
    assert!(requests[0] >= 300 * S, "{:?}", requests[0]);
    assert!(requests.iter().filter(|at| **at < 301 * S).count() <= 12, "they come back one after another");
    assert_eq!(scene.audit(), [(OperatorAction::Shut, "the export needs it".to_owned())]);
}

#[tokio::test(start_paused = true)]
async fn a_call_that_cannot_wait_so_long_is_told_that_a_hand_shut_the_pool() {
    let scene = Scene::new();
    let pool = scene.pool(&["org"]);
    pool.shut(300 * S, "maintenance").expect("in range");
    let short = policy(60 * S);
    let refused = pool.call(&short).run(|_| async { answer(200) }).await.expect_err("refused");
    assert_eq!((refused.refusal(), refused.retry_after()), (Some(Refusal::ByHand), Some(300 * S)));
    assert_eq!((refused.limit_class(), refused.attempts()), (LimitClass::None, 0));
    assert_eq!(gauge(&scene.recorder.gauges(), "forbear_gate_state{state=\"shut\"}"), Some(1.0));
}

#[tokio::test(start_paused = true)]
async fn a_hand_reopens_what_provider_or_hand_has_shut_and_calls_come_back_paced() {
    for by_hand in [true, false] {
        let scene = Scene::new();
        let pool = scene.pool(&["org"]);
        if by_hand {
            pool.shut(300 * S, "maintenance").expect("in range");
        } else {
            throttled(&pool, spent()).await;
        }
        let provider = Provider::new::<Answer>([]);
        let callers = if by_hand { waiters(&pool, 20, &provider) } else { JoinSet::new() };
        sleep(5 * S).await;
        assert!(pool.reopen("the bill is paid"));
        assert!(!pool.reopen("twice"), "it was not shut any more");
        assert_eq!(pool.snapshot().state, GateState::Paced);
        let start = Instant::now();
        assert!(callers.join_all().await.into_iter().all(|ok| ok));
        assert!(!by_hand || start.elapsed() > S, "they came back all at once");
        let audit: Vec<_> = scene.audit().into_iter().map(|(_, reason)| reason).collect();
        assert_eq!(audit[usize::from(by_hand)..], ["the bill is paid", "twice"]);
    }
}

#[tokio::test(start_paused = true)]
async fn a_hand_on_a_shut_pool_ends_with_its_time_and_what_the_provider_said_holds_on() {
    let scene = Scene::new();
    let pool = scene.pool(&["org"]);
    throttled(&pool, throttle(100)).await;
    pool.shut(20 * S, "a look").expect("in range");
    assert_eq!(pool.snapshot().shut.map(|shut| shut.class), Some(LimitClass::Unknown), "the longer one is shown");
    pool.shut(200 * S, "longer").expect("in range");
    assert_eq!(pool.snapshot().shut.and_then(|shut| shut.by_hand).as_deref(), Some("longer"));
    pool.shut(20 * S, "shorter again").expect("in range");
    advance(21 * S).await;
    assert_eq!(refusal(&pool).await, Some(Refusal::Deadline), "the provider's end is not over");
    advance(80 * S).await;
    assert_eq!(refusal(&pool).await, None);
}

#[tokio::test(start_paused = true)]
async fn a_pool_paced_by_hand_lets_one_call_pass_per_slot_here_and_below_until_its_time_is_over() {
    let scene = Scene::new();
    let (org, model) = (scene.pool(&["org"]), scene.pool(&["org", "gpt"]));
    org.pace(2 * S, 60 * S, "half for the export").expect("in range");
    assert_eq!((org.snapshot().state, model.snapshot().interval), (GateState::Paced, Some(2 * S)));
    assert!(model.snapshot().to_string().contains("paced by hand (half for the export)"), "{}", model.snapshot());
    let provider = Provider::new::<Answer>([]);
    let callers = waiters(&model, 40, &provider);
    sleep(59 * S).await;
    let requests = provider.requests();
    assert!((29..=30).contains(&requests.len()), "{} in 59 s", requests.len());
    assert!(requests.windows(2).all(|two| two[1] - two[0] >= 2 * S - S / 100), "{requests:?}");
    assert!(callers.join_all().await.into_iter().all(|ok| ok));
    assert!(provider.requests()[39] < 66 * S, "what it held comes back as after a shut: {:?}", provider.requests());
    assert_eq!(scene.audit(), [(OperatorAction::Paced, "half for the export".to_owned())]);
    sleep(10 * S).await;
    assert_eq!(model.snapshot().state, GateState::Flowing);
}

#[tokio::test(start_paused = true)]
async fn a_pace_by_hand_opens_nothing_and_gives_way_to_a_shut_by_hand_and_to_a_reopening() {
    let scene = Scene::new();
    let pool = scene.pool(&["org"]);
    throttled(&pool, throttle(100)).await;
    pool.pace(S, 600 * S, "slowly").expect("in range");
    assert_eq!(pool.snapshot().state, GateState::Shut, "the provider's word holds");
    assert!(pool.reopen("it is well"), "both end");
    assert_eq!(pool.snapshot().paced_by_hand, None);
    pool.pace(S, 600 * S, "slowly").expect("in range");
    pool.shut(600 * S, "not at all").expect("in range");
    assert_eq!(pool.snapshot().state, GateState::Shut);
    pool.pace(S, 600 * S, "slowly").expect("in range");
    assert_eq!(pool.snapshot().interval, Some(S));
    assert!(pool.reopen("done") && !pool.reopen("twice"));
}

#[test]
fn nonsense_is_refused() {
    let scene = Scene::new();
    let pool = scene.pool(&["org"]);
    let refused_pace = |every, time| pool.pace(every, time, "x").expect_err("refused").to_string();
    assert_eq!(refused_pace(Duration::ZERO, S), "pool.pace (every) is 0ns; allowed: 1ms to 1h");
    assert_eq!(refused_pace(S, Duration::ZERO), "pool.pace (time) is 0ns; allowed: 1ms to 365 days");
    let refused = |time| pool.shut(time, "x").expect_err("refused").to_string();
    assert_eq!(refused(Duration::ZERO), "pool.shut (time) is 0ns; allowed: 1ms to 365 days");
    assert!(refused(366 * 86_400 * S).ends_with("1ms to 365 days"));
    let ungated = Forbear::builder().gate(Gate::off()).build().expect("valid settings");
    let pool = ungated.pool(provider::openai(), ["org"]).build().expect("a valid pool");
    assert_eq!(
        pool.shut(S, "x").expect_err("no gate").to_string(),
        "pool.shut (gate) is \"off\"; allowed: a gate that is on"
    );
    assert!(!pool.reopen("x") && !ungated.turn_gate_off("x") && !ungated.turn_gate_on("x"));
}

#[tokio::test(start_paused = true)]
async fn a_long_reason_is_kept_in_part_and_on_one_line() {
    let scene = Scene::new();
    scene.pool(&["org"]).shut(S, &"a\tb\r\n".repeat(1_000)).expect("in range");
    let [(_, reason)] = &scene.audit()[..] else { panic!("one action") };
    assert!(reason.chars().count() == 200 && !reason.contains(char::is_control), "{reason:?}");
}

// --------------------------------------------------------------------------------------------------- the switch

#[tokio::test(start_paused = true)]
async fn a_gate_that_is_turned_off_lets_everybody_through_and_knows_all_when_it_is_turned_on_again() {
    let scene = Scene::new();
    let pool = scene.pool(&["org"]);
    throttled(&pool, throttle(600)).await;
    let provider = Provider::new::<Answer>([]);
    let mut callers = JoinSet::new();
    for _ in 0..10 {
        let (pool, provider) = (pool.clone(), provider.clone());
        callers.spawn(async move { pool.call(&policy(3_600 * S)).run(|_| provider.ask()).await.is_ok() });
    }
    sleep(S).await;
    assert_eq!((provider.count(), pool.snapshot().waiting), (0, 10));
    assert!(scene.forbear.turn_gate_off("it holds us for nothing"));
    assert!(!scene.forbear.turn_gate_off("twice"));
    let start = Instant::now();
    assert!(callers.join_all().await.into_iter().all(|ok| ok));
    assert_eq!((provider.count(), start.elapsed()), (10, Duration::ZERO));
    assert_eq!(refusal(&pool).await, None);
    assert_eq!(gauge(&scene.recorder.gauges(), "forbear_gate_info{mode=\"off\"}"), Some(1.0));

    // A throttle is its call's own affair now: it waits as stated, with jitter, and holds nobody.
    let beside = scene.pool(&["other"]);
    throttled(&beside, throttle(60)).await;
    assert_eq!(refusal(&beside).await, None);

    assert!(scene.forbear.turn_gate_on("found"));
    assert_eq!(refusal(&pool).await, Some(Refusal::Deadline), "the provider's end is not over");
    assert_eq!(refusal(&beside).await, None, "what was said meanwhile was not heard");
    let actions: Vec<_> = scene.audit().into_iter().map(|(action, _)| action).collect();
    assert_eq!(actions, [OperatorAction::SwitchedOff, OperatorAction::SwitchedOn]);
}
