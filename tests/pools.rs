//! Pools and their levels, what is known of them, and the levers that loosen the engine.
#![allow(clippy::disallowed_methods, reason = "tests read the paused clock")]

#[path = "support/scene.rs"]
mod scene;

use std::time::Duration;

use forbear::core::signal::Dimension;
use forbear::event::Event;
use forbear::event::recorder::Recorder;
use forbear::{
    AttemptOutcome, BudgetSettings, CallOutcome, Forbear, ForbearBuilder, Gate, Limit, LimitClass, Policy, Pool,
    provider,
};
use scene::{
    Answer, Provider, S, answer, built, engine, gauge, is_held, rate_limited, spent, throttle, throttled, with_header,
};
use tokio::time::{Instant, advance};

fn openai(forbear: &Forbear, path: &[&str]) -> Pool {
    forbear.pool(provider::openai(), path).build().expect("a valid pool")
}

fn attempts(number: u32) -> Policy {
    Policy::interactive(60 * S).attempts(number).named("chat").build().expect("a valid policy")
}

// --------------------------------------------------------------------------------------------------------- levels

const OF_THE_ORGANISATION: &str = "in organization org-AAAA";
const OF_THE_PROJECT: &str = "in project proj_AAAA";

#[tokio::test(start_paused = true)]
async fn a_limit_shuts_its_level_and_everything_under_it_and_nothing_beside_it() {
    // Pools: the one throttled, beside it in the project, in another project, in another organisation.
    let paths: [&[&str]; 4] =
        [&["org", "one", "gpt"], &["org", "one", "mini"], &["org", "two", "gpt"], &["other", "one", "gpt"]];
    let rows = [
        (rate_limited(20, OF_THE_ORGANISATION), [true, true, true, false]),
        (rate_limited(20, OF_THE_PROJECT), [true, true, false, false]),
        (rate_limited(20, ""), [true, false, false, false]),
    ];
    for (throttle, held) in rows {
        let forbear = built(engine());
        let pools = paths.map(|path| openai(&forbear, path));
        throttled(&pools[0], throttle.clone()).await;
        for (pool, expected) in pools.iter().zip(held) {
            assert_eq!(is_held(pool).await, expected, "{} after {throttle:?}", pool.labels().pool);
        }
    }
}

#[tokio::test(start_paused = true)]
async fn a_pool_made_while_a_level_above_it_is_shut_is_held_too() {
    let forbear = built(engine());
    throttled(&openai(&forbear, &["org", "one", "gpt"]), rate_limited(20, OF_THE_ORGANISATION)).await;
    // The first pool's handle is gone; what the organisation was told still holds.
    assert!(is_held(&openai(&forbear, &["org", "two", "mini"])).await);
    assert!(!is_held(&openai(&forbear, &["other", "two", "mini"])).await);
}

#[tokio::test(start_paused = true)]
async fn callers_of_all_pools_below_a_level_come_back_one_after_another() {
    let forbear = built(engine());
    let names: Vec<String> = (0..30).map(|n| format!("model-{n}")).collect();
    let pools: Vec<Pool> = names.iter().map(|name| openai(&forbear, &["org", "one", name])).collect();
    throttled(&pools[0], rate_limited(10, OF_THE_ORGANISATION)).await;
    let provider = Provider::new::<Answer>([]);
    let mut callers = tokio::task::JoinSet::new();
    for pool in pools {
        let provider = provider.clone();
        callers.spawn(async move {
            let policy = attempts(1);
            pool.call(&policy).run(|_| provider.ask()).await.is_ok()
        });
    }
    assert!(callers.join_all().await.into_iter().all(|ok| ok));
    let requests = provider.requests();
    assert!(requests[0] >= 10 * S, "{:?}", requests[0]);
    let in_the_first_second = requests.iter().filter(|at| **at < 11 * S).count();
    assert!((2..=12).contains(&in_the_first_second), "{in_the_first_second}: {requests:?}");
}

#[tokio::test(start_paused = true)]
async fn a_spent_credit_of_the_organisation_refuses_every_pool_of_it() {
    let forbear = built(engine());
    let (one, two) = (openai(&forbear, &["org", "one", "gpt"]), openai(&forbear, &["org", "two", "gpt"]));
    throttled(&one, spent()).await;
    let policy = attempts(1);
    let refused = two.call(&policy).run(|_| async { answer(200) }).await.expect_err("refused");
    assert!(refused.is_refused_by_gate() && refused.is_spend_limit());
}

// ------------------------------------------------------------------------------------------------------- identity

#[tokio::test(start_paused = true)]
async fn a_pool_built_twice_is_the_same_pool_and_another_path_another() {
    let forbear = built(engine());
    let (first, second) = (openai(&forbear, &["org", "one", "gpt"]), openai(&forbear, &["org", "one", "gpt"]));
    throttled(&first, throttle(20)).await;
    assert!(is_held(&second).await && is_held(&first.clone()).await);
    assert!(!is_held(&openai(&forbear, &["org", "one"])).await, "its parent is no part of it");
    assert!(!is_held(&openai(&built(engine()), &["org", "one", "gpt"])).await, "another engine knows nothing");
    let same_names = forbear.pool(provider::generic(), ["org", "one", "gpt"]).build().expect("a valid pool");
    assert!(!is_held(&same_names).await, "another provider is another pool");
}

#[tokio::test(start_paused = true)]
async fn what_a_pool_was_told_outlives_its_handles() {
    let forbear = built(engine());
    throttled(&openai(&forbear, &["org", "one", "gpt"]), throttle(20)).await;
    let again = openai(&forbear, &["org", "one", "gpt"]);
    assert!(is_held(&again).await, "a handle made per request must not forget what the last one heard");
    drop(again);
    advance(200 * S).await;
    assert!(!is_held(&openai(&forbear, &["org", "one", "gpt"])).await);
}

#[test]
fn a_path_or_limit_out_of_range_is_refused_with_what_is_allowed() {
    let forbear = built(engine());
    let refused = |path: &[&str]| forbear.pool(provider::generic(), path).build().expect_err("refused").to_string();
    assert_eq!(refused(&[]), "pool.path (names) is 0; allowed: 1 to 8 names");
    assert_eq!(refused(&["a", ""]), "pool.path is [\"a\", \"\"]; allowed: no empty name");
    assert_eq!(refused(&["x"; 9]), "pool.path (names) is 9; allowed: 1 to 8 names");
    let limit =
        |limit: Limit| forbear.pool(provider::generic(), ["a"]).limit(limit).build().expect_err("refused").field;
    assert_eq!(limit(Limit::requests_per_minute(0)), "limit.amount");
    assert_eq!(limit(Limit::per(Dimension::Requests, 5, Duration::ZERO)), "limit.window");
}

#[tokio::test(start_paused = true)]
async fn hostile_names_neither_break_labels_nor_join_pools() {
    let recorder = Recorder::new();
    let forbear = built(engine().sink(recorder.clone()));
    let hostile = ["a\"b\n{c=\"d\"}", "..\\/..", "\u{202e}evil", &"x".repeat(10_000)];
    let pools: Vec<Pool> =
        hostile.iter().map(|name| forbear.pool(provider::generic(), [name]).build().expect("a valid pool")).collect();
    throttled(&pools[0], throttle(20)).await;
    assert!(is_held(&pools[0]).await && !is_held(&pools[1]).await);
    for line in recorder.gauges() {
        assert!(line.is_ascii() && line.len() < 400 && !line.contains('\n'), "{line}");
    }
}

// ------------------------------------------------------------------------------------------------- what is known

#[tokio::test(start_paused = true)]
async fn configured_limits_and_what_headers_say_are_shown_side_by_side() {
    let recorder = Recorder::new();
    let forbear = built(engine().sink(recorder.clone()));
    let pool = forbear
        .pool(provider::openai(), ["org", "one", "gpt"])
        .limit(Limit::requests_per_minute(1_000))
        .limit(Limit::tokens_per_day(2_000_000))
        .limit(Limit::per(Dimension::InputTokens, 50_000, 10 * S))
        .build()
        .expect("a valid pool");
    let limit = |dimension: &str, window: &str, origin: &str| {
        let labels = format!("dimension=\"{dimension}\",window=\"{window}\",origin=\"{origin}\"");
        gauge(&recorder.gauges(), &format!("forbear_quota_limit{{{labels}}}"))
    };
    assert_eq!(limit("requests", "minute", "config"), Some(1_000.0));
    assert_eq!(limit("tokens", "day", "config"), Some(2_000_000.0));
    assert_eq!(limit("input_tokens", "other", "config"), Some(50_000.0));
    assert_eq!(limit("requests", "minute", "header"), None);

    let said = with_header(answer(200), "x-ratelimit-limit-requests", "60");
    let said = with_header(said, "x-ratelimit-remaining-requests", "59");
    let policy = attempts(1);
    pool.call(&policy).run(|_| async { said.clone() }).await.expect("a success");
    assert_eq!(
        (limit("requests", "minute", "config"), limit("requests", "minute", "header")),
        (Some(1_000.0), Some(60.0))
    );
    let left = "forbear_quota_remaining{dimension=\"requests\",window=\"minute\"}";
    assert_eq!(gauge(&recorder.gauges(), left), Some(59.0));
}

#[tokio::test(start_paused = true)]
async fn a_known_limit_sets_the_pace_after_a_shut_and_replicas_divide_it() {
    let mut served = Vec::new();
    for (limit, replicas) in [(None, 1), (Some(6_000), 1), (Some(6_000), 4)] {
        let forbear = built(engine().replicas(replicas));
        let mut pool = forbear.pool(provider::generic(), ["files"]);
        if let Some(limit) = limit {
            pool = pool.limit(Limit::requests_per_minute(limit));
        }
        let pool = pool.build().expect("a valid pool");
        throttled(&pool, throttle(5)).await;
        let provider = Provider::new::<Answer>([]);
        let mut callers = tokio::task::JoinSet::new();
        for _ in 0..300 {
            let (pool, provider) = (pool.clone(), provider.clone());
            callers.spawn(async move {
                let policy = attempts(1);
                pool.call(&policy).run(|_| provider.ask()).await.is_ok()
            });
        }
        assert!(callers.join_all().await.into_iter().all(|ok| ok));
        served.push(provider.requests().into_iter().filter(|at| *at < 6 * S).count());
    }
    // 4, 100 and 25 a second at first; all double within the second that is counted.
    assert!(served[0] < 12 && served[2] > 12 && served[2] < 60 && served[1] > 60, "{served:?}");
}

#[tokio::test(start_paused = true)]
async fn the_gates_state_and_its_end_are_shown() {
    let recorder = Recorder::new();
    let forbear = built(engine().sink(recorder.clone()));
    let pool = openai(&forbear, &["org", "one", "gpt"]);
    let state = |name: &str| gauge(&recorder.gauges(), &format!("forbear_gate_state{{state=\"{name}\"}}"));
    assert_eq!((state("flowing"), state("paced"), state("shut")), (Some(1.0), Some(0.0), Some(0.0)));
    throttled(&pool, rate_limited(20, OF_THE_ORGANISATION)).await;
    assert_eq!((state("flowing"), state("paced"), state("shut")), (Some(0.0), Some(0.0), Some(1.0)));
    assert!(
        gauge(&recorder.gauges(), "forbear_gate_shut_until_timestamp_seconds{limit_class=\"request_rate\"}").is_some()
    );
    advance(20 * S + S / 10).await;
    assert_eq!((state("paced"), state("shut")), (Some(1.0), Some(0.0)));
    advance(60 * S).await;
    assert_eq!(state("flowing"), Some(1.0));
}

// --------------------------------------------------------------------------------------------------------- levers

#[tokio::test(start_paused = true)]
async fn without_a_gate_nobody_is_held_by_anothers_throttle() {
    let forbear = built(engine().gate(Gate::off()));
    let pool = openai(&forbear, &["org", "one", "gpt"]);
    throttled(&pool, rate_limited(20, OF_THE_ORGANISATION)).await;
    throttled(&pool, spent()).await;
    assert!(!is_held(&pool).await);
}

#[tokio::test(start_paused = true)]
async fn observing_only_neither_retries_nor_holds_but_tells_all() {
    let recorder = Recorder::new();
    let forbear = built(engine().observe_only().sink(recorder.clone()));
    let pool = openai(&forbear, &["org", "one", "gpt"]);
    let (provider, start, policy) = (Provider::new([throttle(5), answer(503), spent()]), Instant::now(), attempts(4));
    for expected in [LimitClass::Unknown, LimitClass::Overload, LimitClass::Spend] {
        let error = pool.call(&policy).run(|_| provider.ask()).await.expect_err("not retried");
        assert_eq!((error.attempts(), error.limit_class()), (1, expected));
        assert!(!error.is_refused_by_gate() && error.into_last().is_some());
    }
    assert!(pool.call(&policy).run(|_| provider.ask()).await.is_ok());
    assert_eq!((provider.count(), start.elapsed()), (4, Duration::ZERO));
    let count =
        |wanted| recorder.count(|event| matches!(event, Event::AttemptEnded { outcome, .. } if *outcome == wanted));
    assert_eq!((count(AttemptOutcome::Throttled), count(AttemptOutcome::Ok)), (3, 1));
}

#[tokio::test(start_paused = true)]
async fn observing_only_cuts_nothing_and_spends_nothing() {
    let forbear = built(engine().observe_only());
    let pool = openai(&forbear, &["org", "one", "gpt"]);
    let policy = Policy::interactive(10 * S).attempt_timeout(S).build().expect("a valid policy");
    let start = Instant::now();
    let slow = pool.call(&policy).run(|_| async {
        tokio::time::sleep(60 * S).await;
        answer(200)
    });
    assert!(slow.await.is_ok(), "as it would be without us");
    assert_eq!(start.elapsed(), 60 * S);
    // Far more failures than the budget holds: none of them was about to be retried.
    let provider = Provider::new(vec![answer(500); 500]);
    for _ in 0..500 {
        assert!(pool.call(&policy).run(|_| provider.ask()).await.is_err_and(|error| error.is_exhausted()));
    }
}

#[tokio::test(start_paused = true)]
async fn transient_failures_are_retried_within_the_budget_and_throttles_outside_it() {
    let budget = BudgetSettings::default().floor_per_second(0.0).share_of_calls(0.2);
    let forbear = built(engine().gate(Gate::off()).budget(budget));
    let pool = openai(&forbear, &["org", "one", "gpt"]);
    let (provider, policy) = (Provider::new(vec![answer(500); 1_000]), attempts(2));
    let mut ends = (0, 0);
    for _ in 0..100 {
        let error = pool.call(&policy).run(|_| provider.ask()).await.expect_err("it fails");
        match error.outcome() {
            CallOutcome::RetryBudget => ends.0 += 1,
            CallOutcome::AttemptsExhausted => ends.1 += 1,
            other => panic!("{other}"),
        }
    }
    // One to begin with, then a fifth of the calls.
    assert!((20..=22).contains(&ends.1) && ends.0 + ends.1 == 100, "{ends:?}");
    assert_eq!(provider.count(), 100 + ends.1);

    provider.now_says(vec![throttle(1); 50]);
    let asked = provider.count();
    for _ in 0..10 {
        let error = pool.call(&policy).run(|_| provider.ask()).await.expect_err("it fails");
        assert!(error.is_exhausted());
    }
    assert_eq!(provider.count() - asked, 20);
}

#[tokio::test(start_paused = true)]
async fn without_a_budget_only_attempts_and_deadline_bound_the_retries() {
    let forbear = built(engine().gate(Gate::off()).no_budget());
    let pool = openai(&forbear, &["org", "one", "gpt"]);
    let (provider, policy) = (Provider::new(vec![answer(500); 400]), attempts(4));
    for _ in 0..100 {
        assert!(pool.call(&policy).run(|_| provider.ask()).await.is_err_and(|error| error.is_exhausted()));
    }
    assert_eq!(provider.count(), 400);
}

#[test]
fn settings_out_of_range_are_refused_when_the_engine_is_built() {
    let refused = |engine: ForbearBuilder| engine.build().expect_err("refused").to_string();
    let budget = |settings| refused(engine().budget(settings));
    assert_eq!(budget(BudgetSettings::default().share_of_calls(1.5)), "budget.share_of_calls is 1.5; allowed: 0 to 1");
    assert_eq!(budget(BudgetSettings::default().burst(f64::NAN)), "budget.burst is NaN; allowed: 1 to 10000");
    assert_eq!(refused(engine().replicas(100_001)), "forbear.replicas is 100001; allowed: 1 to 100000");
}
