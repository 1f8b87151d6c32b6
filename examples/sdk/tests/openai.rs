//! async-openai through one retry layer.

mod support;

use async_openai::config::OpenAIConfig;
use async_openai::error::OpenAIError;
use forbear::{GateState, provider};
use forbear_sdk_examples::openai::{client, gave_up, uploading_client};
use futures_util::StreamExt;
use serde_json::{Value, json};
use support::{S, Script, World, http, stream, throttle};

fn config(url: &str) -> OpenAIConfig {
    OpenAIConfig::new().with_api_base(url).with_api_key("no key is needed")
}

fn question() -> Value {
    json!({"model": "gpt", "max_tokens": 16, "messages": [{"role": "user", "content": "Hello!"}]})
}

#[tokio::test]
async fn exactly_one_layer_retries() {
    for make in [client, uploading_client] {
        let world = World::new(provider::openai(), 4).await;
        world.emulator.shut_for(S);
        let openai = make(config(&world.emulator.url()), http(), &world.through);
        let answer: Value = openai.chat().create_byot(question()).await.expect("the second attempt succeeds");
        assert!(answer.is_object(), "{answer}");
        assert_eq!(world.counted(), [2, 2, 2, 1]);
    }
}

#[tokio::test]
async fn the_sdks_own_retries_would_be_a_second_layer() {
    let world = World::new(provider::openai(), 1).await;
    world.emulator.shut_for(S / 2);
    let itself = async_openai::Client::with_config(config(&world.emulator.url())).with_http_client(http());
    let answer: Value = itself.chat().create_byot(question()).await.expect("it retries by itself");
    assert!(answer.is_object(), "{answer}");
    assert!(world.emulator.counts().requests > 1, "what is turned off above is on here");
}

#[tokio::test]
async fn the_providers_error_reaches_the_application_as_the_sdks_own() {
    let world = World::new(provider::openai(), 4).await;
    world.emulator.spend(true);
    let openai = client(config(&world.emulator.url()), http(), &world.through);
    let error = openai.chat().create_byot::<_, Value>(question()).await.expect_err("nobody paid");
    let OpenAIError::ApiError(ref told) = error else { panic!("{error:?}") };
    assert_eq!(told.api_error.code.as_deref(), Some("insufficient_quota"), "the body was put back");
    assert_eq!(world.counted(), [1, 1, 1, 1]);
    let refused = openai.chat().create_byot::<_, Value>(question()).await.expect_err("the pool is shut");
    let told = gave_up(&refused).expect("no answer came: the layer says why");
    assert!(told.is_refused_by_gate() && told.is_spend_limit(), "{told}");
    assert_eq!(world.emulator.counts().requests, 1);
}

#[tokio::test]
async fn a_stream_is_retried_before_its_first_byte_and_counts_until_its_end() {
    let chunk = "data: {\"choices\":[{\"delta\":{\"content\":\"Hello\"}}]}\n\n";
    let provider = Script::start(&[throttle(), stream(chunk)]).await;
    let world = World::new(provider::openai(), 4).await;
    let openai = client(config(&provider.url), http(), &world.through);
    let mut answer = openai.chat().create_stream_byot::<_, Value>(question()).await.expect("it begins");
    let first = answer.next().await.expect("more").expect("no failure");
    assert_eq!(first["choices"][0]["delta"]["content"], "Hello");
    assert_eq!((provider.answered(), world.counted()), (2, [0, 2, 2, 1]));
    assert_eq!(world.in_flight(), 1, "the call has ended, the request has not");
    drop(answer);
    freed(&world).await;
}

#[tokio::test]
async fn an_error_in_mid_stream_is_news_and_nothing_is_sent_again() {
    let error = "data: {\"error\":{\"message\":\"Rate limit reached on tokens per min (TPM)\",\"type\":\"tokens\",\"code\":\"rate_limit_exceeded\"}}\n\n";
    let provider = Script::start(&[stream(&format!("data: {{\"choices\":[]}}\n\n{error}"))]).await;
    let world = World::new(provider::openai(), 4).await;
    let openai = client(config(&provider.url), http(), &world.through);
    let mut answer = openai.chat().create_stream_byot::<_, Value>(question()).await.expect("it begins");
    while world.through.pool.snapshot().state != GateState::Shut {
        let _ = answer.next().await.expect("more");
    }
    assert_eq!((provider.answered(), world.counted()), (1, [0, 1, 1, 1]));
    drop(answer);
    freed(&world).await;
}

/// The SDK reads the stream in a task of its own, which ends a moment after its reader.
async fn freed(world: &World) {
    while world.in_flight() > 0 {
        tokio::task::yield_now().await;
    }
}
