//! The tap for chains of `reqwest-middleware`.

use http::Extensions;
use reqwest::{Request, Response};
use reqwest_middleware::{Middleware, Next, Result};

/// A middleware that counts each request that passes as sent in the attempt that is being polled.
///
/// It goes last in the chain, below everything that may retry: `ClientBuilder::new(client).with(others)
/// .with(ReqwestTap::new())`. What `reqwest` does below it stays unseen: turn its own retries off with
/// `reqwest::ClientBuilder::retry(reqwest::retry::never())`.
#[derive(Clone, Copy, Debug, Default)]
#[non_exhaustive]
pub struct ReqwestTap;

impl ReqwestTap {
    /// The middleware; it has nothing to set.
    #[must_use]
    pub const fn new() -> Self {
        Self
    }
}

#[async_trait::async_trait]
impl Middleware for ReqwestTap {
    async fn handle(&self, request: Request, extensions: &mut Extensions, next: Next<'_>) -> Result<Response> {
        crate::layer::request_sent();
        next.run(request, extensions).await
    }
}
