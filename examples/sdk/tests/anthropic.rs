//! Anthropic's Messages API through one retry layer, by a chain of middlewares and by a closure.

mod support;

use forbear::layer::GaveUp;
use forbear::{GateState, provider};
use forbear_sdk_examples::{anthropic, plain};
use serde_json::{Value, json};
use support::{S, Script, World, http, stream, throttle};

fn question() -> Value {
    json!({"model": "claude", "max_tokens": 16, "messages": [{"role": "user", "content": "Hello!"}]})
}

#[tokio::test]
async fn exactly_one_layer_retries() {
    let world = World::new(provider::anthropic(), 4).await;
    world.emulator.shut_for(S);
    let client = anthropic::client(http(), &world.through);
    let answer = anthropic::messages(&client, &world.emulator.url(), "none", &question()).await.expect("an answer");
    assert_eq!(answer.status(), 200);
    assert_eq!(world.counted(), [2, 2, 2, 1]);
}

#[tokio::test]
async fn by_a_closure_exactly_one_layer_retries_as_well() {
    let world = World::new(provider::anthropic(), 4).await;
    world.emulator.shut_for(S);
    let answer = plain::ask(&world.through, &http(), &world.emulator.url(), &question()).await;
    assert_eq!(answer.expect("an answer").status(), 200);
    assert_eq!(world.counted(), [2, 0, 2, 1], "there is no tap below a closure");
}

#[tokio::test]
async fn the_providers_error_reaches_the_application_whole() {
    let world = World::new(provider::anthropic(), 4).await;
    world.emulator.spend(true);
    let client = anthropic::client(http(), &world.through);
    let answer = anthropic::messages(&client, &world.emulator.url(), "none", &question()).await.expect("an answer");
    let gave_up = answer.extensions().get::<GaveUp>().expect("it was given up on").clone();
    assert!(gave_up.is_spend_limit(), "{gave_up}");
    let body: Value = answer.json().await.expect("whole");
    assert_eq!(body["type"], "error");
    assert_eq!(world.counted(), [1, 1, 1, 1]);
}

#[tokio::test]
async fn a_stream_is_retried_before_its_first_byte_and_an_error_in_it_is_news() {
    let error = "event: error\ndata: {\"type\":\"error\",\"error\":{\"type\":\"overloaded_error\",\"message\":\"Overloaded\"}}\n\n";
    let begins = "event: ping\ndata: {\"type\":\"ping\"}\n\n";
    let provider = Script::start(&[throttle(), stream(&format!("{begins}{error}"))]).await;
    let world = World::new(provider::anthropic(), 4).await;
    let client = anthropic::client(http(), &world.through);
    let mut answer = anthropic::messages(&client, &provider.url, "none", &question()).await.expect("it begins");
    assert_eq!((provider.answered(), world.counted()), (2, [0, 2, 2, 1]));
    assert_eq!(world.in_flight(), 1);
    let mut read = Vec::new();
    while !read.ends_with(error.as_bytes()) {
        read.extend(answer.chunk().await.expect("no failure").expect("more"));
    }
    assert_eq!(world.through.pool.snapshot().state, GateState::Shut);
    drop(answer);
    assert_eq!((world.in_flight(), provider.answered()), (0, 2), "what has begun is not begun again");
}

#[tokio::test]
async fn by_a_closure_a_stream_counts_as_long_as_its_guard_is_kept() {
    let provider = Script::start(&[throttle(), stream("event: ping\ndata: {}\n\n")]).await;
    let world = World::new(provider::anthropic(), 4).await;
    let (answer, in_flight) =
        plain::stream(&world.through, &http(), &provider.url, &question()).await.expect("it begins");
    assert_eq!((answer.status().as_u16(), provider.answered(), world.in_flight()), (200, 2, 1));
    drop(in_flight);
    assert_eq!(world.in_flight(), 0);
}
