//! What a sink hears of ten calls, line by line: a change of behaviour shows as a readable difference.
#![allow(clippy::disallowed_methods, reason = "a caller that goes away is a timeout around the call")]

#[path = "support/scene.rs"]
mod scene;

use std::io::ErrorKind;

use forbear::core::rule::Table;
use forbear::event::recorder::Recorder;
use forbear::{BudgetSettings, Estimate, Forbear, ForbearBuilder, Gate, OnOverCap, Policy, Pool, TokenKind, provider};
use scene::{Answer, Provider, S, Step, answer, daily, spent, throttle, throttle_in_body, with_header};
use tokio::time::timeout;

/// An engine whose dice repeat, one pool of it, and what it told.
struct Heard {
    recorder: Recorder,
    pool: Pool,
}

impl Heard {
    fn of(table: Table, engine: ForbearBuilder) -> Self {
        let recorder = Recorder::new();
        let forbear = engine.seed(7).sink(recorder.clone()).build().expect("valid settings");
        let pool = forbear.pool(table, ["prod", "gpt"]).build().expect("a valid pool");
        Self { recorder, pool }
    }

    fn gated(table: Table) -> Self {
        Self::of(table, Forbear::builder().gate(Gate::local()))
    }

    fn ungated(table: Table) -> Self {
        Self::of(table, Forbear::builder().gate(Gate::off()))
    }

    /// One call at a provider with this script; whether it succeeded.
    async fn call<T: Into<Step>>(&self, policy: &Policy, steps: impl IntoIterator<Item = T>) -> bool {
        let provider = Provider::new(steps);
        self.pool.call(policy).run(|_| provider.ask()).await.is_ok()
    }

    fn text(&self) -> String {
        self.recorder.to_string()
    }
}

fn chat() -> Policy {
    Policy::interactive(15 * S).named("chat").build().expect("a valid policy")
}

#[tokio::test(start_paused = true)]
async fn a_success_with_quotas_and_tokens() {
    let heard = Heard::gated(provider::openai());
    let said = with_header(answer(200), "x-ratelimit-limit-requests", "60");
    let said = with_header(said, "x-ratelimit-remaining-requests", "59");
    let policy = chat();
    let call = heard.pool.call(&policy).tokens(Estimate::input(1_200).output(400)).run(|attempt| {
        let said = said.clone();
        async move {
            attempt.used_tokens(TokenKind::Input, 1_180);
            said
        }
    });
    assert!(call.await.is_ok());
    insta::assert_snapshot!(heard.text());
}

#[tokio::test(start_paused = true)]
async fn a_stated_delay_then_a_success() {
    let heard = Heard::gated(provider::generic());
    assert!(heard.call(&chat(), [throttle(2)]).await);
    insta::assert_snapshot!(heard.text());
}

#[tokio::test(start_paused = true)]
async fn transient_failures_on_the_curve() {
    let heard = Heard::gated(provider::generic());
    assert!(heard.call(&chat(), [Step::from(answer(500)), ErrorKind::ConnectionReset.into()]).await);
    insta::assert_snapshot!(heard.text());
}

#[tokio::test(start_paused = true)]
async fn a_delay_stated_in_the_body_without_a_gate() {
    let heard = Heard::ungated(provider::generic());
    assert!(heard.call(&chat(), [throttle_in_body(3)]).await);
    insta::assert_snapshot!(heard.text());
}

#[tokio::test(start_paused = true)]
async fn a_stated_delay_that_is_clamped() {
    let heard = Heard::ungated(provider::generic());
    let clamping = Policy::background(600 * S).header_cap(30 * S).on_over_cap(OnOverCap::Clamp).named("nightly");
    assert!(heard.call(&clamping.build().expect("a valid policy"), [throttle(900)]).await);
    insta::assert_snapshot!(heard.text());
}

#[tokio::test(start_paused = true)]
async fn a_day_that_is_spent() {
    let heard = Heard::gated(provider::openai());
    assert!(!heard.call(&chat(), [daily(7_200)]).await);
    insta::assert_snapshot!(heard.text());
}

#[tokio::test(start_paused = true)]
async fn a_spent_credit_and_the_gates_refusal_after_it() {
    let heard = Heard::gated(provider::openai());
    assert!(!heard.call(&chat(), [spent()]).await);
    assert!(!heard.call::<Answer>(&chat(), []).await);
    insta::assert_snapshot!(heard.text());
}

#[tokio::test(start_paused = true)]
async fn a_deadline_before_the_stated_end_and_one_in_an_attempt() {
    let heard = Heard::ungated(provider::generic());
    assert!(!heard.call(&chat(), [throttle(60)]).await);
    assert!(!heard.call(&chat(), [Step::Hangs]).await);
    insta::assert_snapshot!(heard.text());
}

#[tokio::test(start_paused = true)]
async fn a_retry_budget_that_is_empty() {
    let budget = BudgetSettings::default().share_of_calls(0.0).floor_per_second(0.0);
    let heard = Heard::of(provider::generic(), Forbear::builder().budget(budget));
    assert!(!heard.call(&chat(), [answer(500)]).await);
    insta::assert_snapshot!(heard.text());
}

#[tokio::test(start_paused = true)]
async fn callers_that_go_away_in_the_attempt_in_the_delay_and_at_the_gate() {
    let heard = Heard::gated(provider::generic());
    for step in [Step::Hangs, throttle(5).into(), answer(200).into()] {
        timeout(S, heard.call(&chat(), [step])).await.expect_err("the caller goes away");
    }
    insta::assert_snapshot!(heard.text());
}

#[tokio::test(start_paused = true)]
async fn the_same_seed_tells_the_same_story() {
    let mut stories = Vec::new();
    for _ in 0..2 {
        let heard = Heard::ungated(provider::generic());
        assert!(heard.call(&chat(), [answer(503), throttle(1), answer(429)]).await);
        stories.push(heard.text());
    }
    assert_eq!(stories[0], stories[1]);
    assert_eq!(stories[0].matches("delay_scheduled").count(), 3);
}

#[tokio::test(start_paused = true)]
async fn without_a_sink_and_with_a_deaf_one_calls_end_alike() {
    let mut ends = Vec::new();
    for sink in [None, Some(())] {
        let engine = Forbear::builder().gate(Gate::off()).seed(7);
        let engine = if let Some(sink) = sink { engine.sink(sink) } else { engine };
        let pool = engine.build().expect("valid settings").pool(provider::generic(), ["a"]).build().expect("valid");
        let (provider, policy) = (Provider::new([throttle(1), answer(500)]), chat());
        assert!(pool.call(&policy).run(|_| provider.ask()).await.is_ok());
        ends.push(provider.requests());
    }
    assert_eq!(ends[0], ends[1]);
}
