//! Anthropic's Messages API by reqwest, with the retry layer in its chain.
//!
//! Anthropic keeps no client for Rust. Those of others own their HTTP client, retry by themselves (anthropic-async 0.5 up to 20
//! times) and show no headers; the API is one POST, and this is it. Any other HTTP API goes the same way.

use forbear::layer::{ReqwestRetry, ReqwestTap};
use reqwest::Response;
use reqwest_middleware::{ClientBuilder, ClientWithMiddleware, Result};
use serde_json::Value;

use crate::Through;

/// A client whose every request is a call at a pool. `http` is to be made with `.retry(reqwest::retry::never())`: that turns
/// its own retries off.
#[must_use]
pub fn client(http: reqwest::Client, through: &Through) -> ClientWithMiddleware {
    let Through { pool, policy } = through.clone();
    ClientBuilder::new(http).with(ReqwestRetry::new(pool, policy)).with(ReqwestTap::new()).build()
}

/// Asks for a message, or for a stream of it where the question says `"stream": true`.
///
/// # Errors
/// No answer came; `GaveUp` in the error says why. An answer that is an error is an answer.
pub async fn messages(client: &ClientWithMiddleware, url: &str, key: &str, question: &Value) -> Result<Response> {
    let request = client.post(format!("{url}/v1/messages")).header("x-api-key", key);
    request.header("anthropic-version", "2023-06-01").json(question).send().await
}
