//! The AWS SDK through one retry layer.

mod support;

use aws_sdk_bedrockruntime::Client;
use aws_sdk_bedrockruntime::config::{BehaviorVersion, Config, Credentials, Region};
use aws_sdk_bedrockruntime::error::ProvideErrorMetadata;
use aws_sdk_bedrockruntime::primitives::Blob;
use forbear::layer::GaveUp;
use forbear::provider;
use forbear_sdk_examples::bedrock::set_up;
use support::{S, World};

fn client(world: &World) -> Client {
    let config = Config::builder()
        .behavior_version(BehaviorVersion::latest())
        .region(Region::new("us-east-1"))
        .credentials_provider(Credentials::new("none", "none", None, None, "test"))
        .endpoint_url(world.emulator.url());
    Client::from_conf(set_up(config, &world.through).build())
}

#[tokio::test]
async fn exactly_one_layer_retries() {
    let world = World::new(provider::bedrock(), 4).await;
    world.emulator.shut_for(S / 4);
    let asked = client(&world).invoke_model().model_id("model").body(Blob::new("{\"max_tokens\":16}")).send().await;
    assert!(!asked.expect("an answer").body.into_inner().is_empty());
    let [requests, wire, attempts, calls] = world.counted();
    assert!(requests > 1, "the first is throttled");
    assert_eq!([wire, attempts, calls], [requests, requests, 1]);
}

#[tokio::test]
async fn the_providers_error_reaches_the_application_as_the_sdks_own() {
    let world = World::new(provider::bedrock(), 2).await;
    world.emulator.shut_for(60 * S);
    let asked = client(&world).invoke_model().model_id("model").body(Blob::new("{}")).send().await;
    let error = asked.expect_err("it is throttled");
    let raw = error.raw_response().expect("an answer");
    assert_eq!(raw.status().as_u16(), 429);
    assert_eq!(error.code(), Some("ThrottlingException"), "headers and body were put back");
    let [requests, wire, attempts, calls] = world.counted();
    assert_eq!([wire, attempts, calls], [requests, requests, 1]);
}

#[tokio::test]
async fn a_refusal_by_the_gate_is_an_error_of_the_connector() {
    let world = World::new(provider::bedrock(), 1).await;
    world.emulator.shut_for(60 * S);
    let client = client(&world);
    let ask = || client.invoke_model().model_id("model").body(Blob::new("{}")).send();
    assert!(ask().await.is_err());
    world.through.pool.shut(60 * S, "an operator's hand").expect("shut");
    let refused = ask().await.expect_err("the gate is shut");
    let mut cause: Option<&dyn std::error::Error> = Some(&refused);
    let gave_up = std::iter::from_fn(|| {
        let error = cause?;
        cause = error.source();
        Some(error)
    });
    let gave_up = gave_up.filter_map(|error| error.downcast_ref::<GaveUp>()).next().expect("the layer's own error");
    assert!(gave_up.is_refused_by_gate(), "{gave_up}");
    assert_eq!(world.emulator.counts().requests, 1);
}
