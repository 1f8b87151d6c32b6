//! async-openai: the retry layer in place of its own.
//!
//! A closure around `client.chat().create(…)` would see an `OpenAIError`, which has neither headers nor the stated wait. So
//! the layer goes below the SDK, where it sends: answers are read there, and reach the SDK whole, so that its own error
//! still says what the provider said.

use async_openai::Client;
use async_openai::config::OpenAIConfig;
use async_openai::error::OpenAIError;
use async_openai::middleware::{HttpRequestFactory, ReqwestService};
use forbear::layer::{Cloned, GaveUp, RetryLayer, WireTapLayer};
use tower::{ServiceBuilder, ServiceExt, service_fn};

use crate::Through;

/// A client whose every request is a call at a pool.
///
/// `with_http_service` replaces the SDK's service with the three retries in it: that turns them off. `http` is to be made
/// with `.retry(reqwest::retry::never())`. The request is built once: tokens are estimated from its body, and an argument the
/// SDK refuses is refused without an attempt.
#[must_use]
pub fn client(config: OpenAIConfig, http: reqwest::Client, through: &Through) -> Client<OpenAIConfig> {
    let Through { pool, policy } = through.clone();
    let send = ServiceBuilder::new().layer(RetryLayer::new(pool, policy)).layer(WireTapLayer::new()).service(http);
    let service = service_fn(move |request: HttpRequestFactory| {
        let send = send.clone();
        async move { send.oneshot(request.build().await?).await.map_err(OpenAIError::Boxed) }
    });
    Client::with_config(config).with_http_service(service)
}

/// The same for uploads: the SDK makes each attempt's request anew, so that a file is sent again, too. Tokens are not estimated:
/// the layer sees no body.
#[must_use]
pub fn uploading_client(config: OpenAIConfig, http: reqwest::Client, through: &Through) -> Client<OpenAIConfig> {
    let Through { pool, policy } = through.clone();
    let service = ServiceBuilder::new()
        .map_request(Cloned)
        .layer(RetryLayer::new(pool, policy))
        .layer(WireTapLayer::new())
        .service(ReqwestService::new(http));
    Client::with_config(config).with_http_service(service)
}

/// What the layer says of a call that brought no answer: refused by the gate, out of time, no connection. Where the provider
/// answered, the SDK's own error says what.
#[must_use]
pub fn gave_up(error: &OpenAIError) -> Option<&GaveUp> {
    match error {
        OpenAIError::Boxed(error) => error.downcast_ref(),
        _ => None,
    }
}
