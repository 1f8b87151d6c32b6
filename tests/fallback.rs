//! A call that goes on at another pool where its own cannot serve it.
#![allow(clippy::disallowed_methods, reason = "tests read the paused clock")]

#[path = "support/polled.rs"]
mod polled;
#[path = "support/scene.rs"]
mod scene;
#[cfg(feature = "telemetry")]
#[path = "support/traced.rs"]
mod traced;

use std::time::Duration;

use forbear::event::catalogue::Metric;
use forbear::event::totals::Totals;
use forbear::{Forbear, Gate, Observation, Policy, Pool, provider};
use polled::polled;
use scene::{Answer, Provider, S, answer, daily, rate_limited, spent, throttled};
use tokio::time::Instant;

struct World {
    forbear: Forbear,
    totals: Totals,
    pools: [Pool; 3],
}

impl World {
    fn new(gate: Gate) -> Self {
        let totals = Totals::new();
        let forbear = Forbear::builder().gate(gate).no_budget().seed(7).sink(totals.clone()).build().expect("valid");
        let pools = ["large", "small", "tiny"]
            .map(|name| forbear.pool(provider::openai(), ["ours", name]).build().expect("a valid pool"));
        Self { forbear, totals, pools }
    }

    /// How the calls at a pool ended, and how many there were.
    fn ended(&self, pool: usize) -> (u64, Vec<(&'static str, u64)>) {
        let pool = format!("ours/{}", ["large", "small", "tiny"][pool]);
        let words = ["ok", "ok_by_fallback", "daily_limit", "spend_limit", "gate_refused", "not_retryable"];
        let words =
            words.iter().chain(&["attempts_exhausted", "deadline_exceeded", "stated_delay_too_long", "cancelled"]);
        let count = |word: &str| self.totals.count(Metric::CallDuration, &pool, &[("outcome", word)]);
        let ended = words.map(|word| (*word, count(word))).filter(|(_, calls)| *calls > 0).collect();
        (self.totals.count(Metric::Calls, &pool, &[]), ended)
    }
}

fn chat() -> Policy {
    Policy::interactive(20 * S).named("chat").build().expect("a valid policy")
}

/// A call at the first pool that goes on at the second and the third; what each answers.
async fn call(world: &World, policy: &Policy, answers: [&Provider; 3]) -> (Option<u16>, Vec<usize>) {
    let [large, small, tiny] = &world.pools;
    let mut choices = Vec::new();
    let call = large.call(policy).fallback(small).fallback(tiny).run(|attempt| {
        choices.push(attempt.choice());
        answers[attempt.choice()].ask()
    });
    let ended = call.await;
    let status = match ended {
        Ok(answer) => Some(answer.status().as_u16()),
        Err(error) => error.into_last().map(|last| last.expect("an answer").status().as_u16()),
    };
    (status, choices)
}

fn always(answer: Answer) -> Provider {
    Provider::new(vec![answer; 20])
}

#[tokio::test(start_paused = true)]
async fn a_spent_day_a_spent_account_and_a_long_wait_lead_to_the_next_pool_at_once() {
    for (cannot, gate) in [
        (daily(3_600), Gate::off()),
        (spent(), Gate::off()),
        (rate_limited(400, ""), Gate::off()),
        (rate_limited(30, ""), Gate::local()),
    ] {
        let (world, began) = (World::new(gate), Instant::now());
        let [large, small, tiny] = [always(cannot), always(answer(200)), always(answer(200))];
        assert_eq!(call(&world, &chat(), [&large, &small, &tiny]).await, (Some(200), vec![0, 1]));
        assert_eq!(began.elapsed(), Duration::ZERO, "nobody waits for what cannot come in time");
        assert_eq!(world.ended(0), (1, vec![("ok_by_fallback", 1)]));
        assert_eq!(world.ended(1), (1, vec![("ok", 1)]));
        assert_eq!(world.ended(2), (0, vec![]));
    }
}

#[tokio::test(start_paused = true)]
async fn a_gate_that_refuses_leads_on_without_a_request() {
    let world = World::new(Gate::local());
    throttled(&world.pools[0], rate_limited(600, "")).await;
    let [large, small, tiny] = [always(answer(200)), always(answer(200)), always(answer(200))];
    assert_eq!(call(&world, &chat(), [&large, &small, &tiny]).await, (Some(200), vec![1]));
    assert_eq!(large.count(), 0);
    assert_eq!(world.ended(0).1, [("ok_by_fallback", 1), ("attempts_exhausted", 1)]);
}

#[tokio::test(start_paused = true)]
async fn attempts_that_were_all_throttled_lead_on_too() {
    let world = World::new(Gate::off());
    let policy = Policy::interactive(20 * S).attempts(2).build().expect("a valid policy");
    let [large, small, tiny] = [always(rate_limited(1, "")), always(answer(200)), always(answer(200))];
    assert_eq!(call(&world, &policy, [&large, &small, &tiny]).await, (Some(200), vec![0, 0, 1]));
    assert_eq!(world.ended(0), (1, vec![("ok_by_fallback", 1)]));
}

#[tokio::test(start_paused = true)]
async fn a_failure_that_is_no_limit_ends_the_call() {
    for (cannot, word, attempts) in [(answer(404), "not_retryable", 1), (answer(500), "attempts_exhausted", 4)] {
        let world = World::new(Gate::off());
        let [large, small, tiny] = [always(cannot), always(answer(200)), always(answer(200))];
        let (_, choices) = call(&world, &chat(), [&large, &small, &tiny]).await;
        assert_eq!(choices, vec![0; attempts]);
        assert_eq!(world.ended(0), (1, vec![(word, 1)]));
        assert_eq!(world.ended(1), (0, vec![]));
    }
}

#[tokio::test(start_paused = true)]
async fn where_no_pool_can_each_tells_its_own_reason_and_the_error_is_the_last_ones() {
    let world = World::new(Gate::off());
    let [large, small, tiny] = [always(daily(3_600)), always(spent()), always(answer(404))];
    assert_eq!(call(&world, &chat(), [&large, &small, &tiny]).await, (Some(404), vec![0, 1, 2]));
    assert_eq!(world.ended(0), (1, vec![("daily_limit", 1)]));
    assert_eq!(world.ended(1), (1, vec![("spend_limit", 1)]));
    assert_eq!(world.ended(2), (1, vec![("not_retryable", 1)]));
}

#[tokio::test(start_paused = true)]
async fn a_pool_between_that_could_not_either_ended_by_fallback_as_well() {
    let world = World::new(Gate::off());
    let [large, small, tiny] = [always(daily(3_600)), always(spent()), always(answer(200))];
    assert_eq!(call(&world, &chat(), [&large, &small, &tiny]).await, (Some(200), vec![0, 1, 2]));
    assert_eq!(world.ended(0), (1, vec![("ok_by_fallback", 1)]));
    assert_eq!(world.ended(1), (1, vec![("ok_by_fallback", 1)]));
    assert_eq!(world.ended(2), (1, vec![("ok", 1)]));
}

#[tokio::test(start_paused = true)]
async fn the_deadline_counts_from_the_arrival_at_the_first_pool() {
    let world = World::new(Gate::off());
    let policy = Policy::interactive(20 * S).attempts(20).build().expect("a valid policy");
    // Twice six seconds at the first, then its day is spent; the second says six seconds each time.
    let large = Provider::new([rate_limited(6, ""), rate_limited(6, ""), daily(3_600)]);
    let [small, tiny] = [always(rate_limited(6, "")), always(answer(404))];
    let began = Instant::now();
    let (status, choices) = call(&world, &policy, [&large, &small, &tiny]).await;
    assert_eq!(status, Some(404), "the second wait at the second pool would not have fit: the third is asked");
    assert!(choices.iter().filter(|choice| **choice == 1).count() <= 2, "{choices:?}");
    assert!(began.elapsed() < 20 * S);
    assert_eq!(world.ended(1).1, [("deadline_exceeded", 1)]);
}

#[tokio::test(start_paused = true)]
async fn a_drained_engine_goes_nowhere() {
    let world = World::new(Gate::local());
    world.forbear.drain(Duration::ZERO).await.expect("nothing is under way");
    let [large, small, tiny] = [always(answer(200)), always(answer(200)), always(answer(200))];
    assert_eq!(call(&world, &chat(), [&large, &small, &tiny]).await, (None, vec![]));
    assert_eq!(world.ended(0), (1, vec![("gate_refused", 1)]));
    assert_eq!(world.ended(1), (0, vec![]));
}

#[tokio::test(start_paused = true)]
async fn a_rule_of_the_call_site_holds_at_every_pool() {
    let world = World::new(Gate::off());
    let policy = chat();
    let [large, small, _] = &world.pools;
    let call = large.call(&policy).classify(|read: &Result<&str, (u16, Answer)>| match read {
        Ok(_) => Observation::ok(),
        Err((status, answer)) => Observation::status(*status).body(answer.body().as_bytes()),
    });
    let call = call.fallback(small).run(|attempt| async move {
        match (attempt.choice(), attempt.number()) {
            (0, _) => Err((429, spent())),
            (_, 1) => Err((503, answer(503))),
            _ => Ok("done"),
        }
    });
    assert_eq!(call.await.expect("the second pool's second attempt"), "done");
    assert_eq!(world.ended(0).1, [("ok_by_fallback", 1)]);
}

#[tokio::test(start_paused = true)]
async fn dropped_at_any_await_it_counts_as_cancelled_wherever_it_was_asked() {
    let (mut whole, mut polls) = (false, 0);
    while !whole {
        let world = World::new(Gate::local());
        let policy = chat();
        let [large, small, _] = &world.pools;
        let call = large.call(&policy).fallback(small).run(|attempt| async move {
            tokio::task::yield_now().await;
            if attempt.choice() == 0 { daily(3_600) } else { answer(200) }
        });
        whole = polled(call, polls).await.is_some_and(|ended| ended.is_ok());
        for pool in 0..2 {
            let (calls, ended) = world.ended(pool);
            assert_eq!(
                ended.iter().map(|(_, calls)| calls).sum::<u64>(),
                calls,
                "each that began has ended: {ended:?}"
            );
            let word = if !whole {
                "cancelled"
            } else if pool == 0 {
                "ok_by_fallback"
            } else {
                "ok"
            };
            assert!(ended.iter().all(|(ended, _)| *ended == word), "{ended:?} after {polls} polls");
            assert_eq!(world.pools[pool].snapshot().in_flight, 0);
        }
        polls += 1;
    }
    assert!(polls >= 3, "{polls}");
}

#[cfg(feature = "telemetry")]
#[tokio::test(start_paused = true)]
async fn the_span_of_the_call_that_took_its_place_nests_in_its_own() {
    let (traced, _guard) = traced::Traced::here();
    let world = World::new(Gate::off());
    let [large, small, tiny] = [always(daily(3_600)), always(answer(200)), always(answer(200))];
    call(&world, &chat(), [&large, &small, &tiny]).await;
    let tree = traced.tree();
    let calls: Vec<_> = tree
        .lines()
        .filter(|line| line.contains("forbear.call ") || line.trim_start().starts_with("forbear.call"))
        .collect();
    assert!(tree.contains("ok_by_fallback"), "{tree}");
    assert!(calls.len() >= 2, "{tree}");
    let depth = |line: &str| line.len() - line.trim_start().len();
    assert!(depth(calls[0]) < depth(calls[1]), "{tree}");
    assert!(!traced.log().contains("gave_up"), "a call that got its answer did not give up: {}", traced.log());
}
