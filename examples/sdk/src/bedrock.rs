//! The AWS SDK, here for Amazon Bedrock: the retry layer in the SDK's HTTP client.
//!
//! Around `client.invoke_model().send()` a closure sees an `SdkError`, with the raw answer in some of its kinds. Below the SDK
//! the layer sees every answer, and the SDK's error is as it was. The SDK signs a request before it comes here, so all attempts
//! carry one signature: it holds for five minutes, which the policy's deadline must not exceed.

use aws_sdk_bedrockruntime::config::Builder;
use aws_sdk_bedrockruntime::config::retry::RetryConfig;
use aws_smithy_runtime_api::client::http::{HttpConnector, HttpConnectorFuture, SharedHttpConnector, http_client_fn};
use aws_smithy_runtime_api::client::orchestrator::HttpRequest;
use aws_smithy_runtime_api::client::result::ConnectorError;
use aws_smithy_runtime_api::http::Response;
use aws_smithy_types::body::SdkBody;
use forbear::layer::{KeptBody, Retry, RetryLayer, WireTap, WireTapLayer};
use hyper_util::client::legacy::Client;
use hyper_util::client::legacy::connect::HttpConnector as Tcp;
use hyper_util::rt::TokioExecutor;
use tower::{ServiceBuilder, ServiceExt};

use crate::Through;

/// Sets a client up so that its every request is a call at a pool. `RetryConfig::disabled()` turns the SDK's own two retries
/// off. The emulator speaks plain HTTP; against AWS the connector is `hyper_rustls`'s.
#[must_use]
pub fn set_up(config: Builder, through: &Through) -> Builder {
    let Through { pool, policy } = through.clone();
    let client = Client::builder(TokioExecutor::new()).retry_canceled_requests(false).build_http();
    let send = ServiceBuilder::new().layer(RetryLayer::new(pool, policy)).layer(WireTapLayer::new()).service(client);
    let connector = SharedHttpConnector::new(Connector { send });
    config.retry_config(RetryConfig::disabled()).http_client(http_client_fn(move |_, _| connector.clone()))
}

/// Sends what the SDK gives it through the retry layer.
#[derive(Clone, Debug)]
struct Connector {
    send: Retry<WireTap<Client<Tcp, KeptBody<SdkBody>>>>,
}

impl HttpConnector for Connector {
    fn call(&self, request: HttpRequest) -> HttpConnectorFuture {
        let send = self.send.clone();
        HttpConnectorFuture::new(async move {
            let request = request.try_into_http1x().map_err(|error| ConnectorError::user(error.into()))?;
            let answer = send.oneshot(request).await.map_err(|error| ConnectorError::other(error, None))?;
            let answer = answer.map(SdkBody::from_body_1_x);
            Response::try_from(answer).map_err(|error| ConnectorError::other(error.into(), None))
        })
    }
}
