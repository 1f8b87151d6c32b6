//! `reqwest` as it comes: its response is an outcome, its error a failure.

use bytes::Bytes;
use reqwest::ResponseBuilderExt;

use crate::core::observation::{Observation, TransportFailure};
use crate::run::outcome::{Failure, Outcome, Settle};
use crate::run::peek::peek;

impl Settle for reqwest::Response {
    type Value = Self;

    fn settle(self) -> Result<Self, Self> {
        Ok(self)
    }
}

impl Outcome for reqwest::Response {
    fn wants_peek(&self) -> bool {
        self.status().as_u16() >= 400
    }

    async fn peek(self) -> (Self, Option<Bytes>) {
        let url = self.url().clone();
        let seen = peek(http::Response::<reqwest::Body>::from(self)).await;
        let excerpt = Some(seen.body().read_ahead());
        (rebuilt(url, seen), excerpt)
    }

    fn observation<'a>(&'a self, body: Option<&'a [u8]>) -> Observation<'a> {
        let seen = Observation::status(self.status().as_u16()).headers(self.headers());
        match body {
            Some(body) => seen.body(body),
            None => seen,
        }
    }
}

/// The same response with another body, made of its own and its headers.
#[cfg(any(feature = "tower", feature = "reqwest-middleware"))]
pub(crate) fn with_body<B>(
    response: reqwest::Response,
    body: impl FnOnce(reqwest::Body, &http::HeaderMap) -> B,
) -> reqwest::Response
where
    B: http_body::Body<Data: Into<Bytes>, Error: Into<Box<dyn std::error::Error + Send + Sync>>>
        + Send
        + Sync
        + 'static,
{
    let url = response.url().clone();
    let (head, old) = http::Response::<reqwest::Body>::from(response).into_parts();
    let new = body(old, &head.headers);
    rebuilt(url, http::Response::from_parts(head, new))
}

/// A response of `reqwest` again. The conversion takes the URL from an extension only the builder can make.
fn rebuilt<B>(url: reqwest::Url, response: http::Response<B>) -> reqwest::Response
where
    B: http_body::Body<Data: Into<Bytes>, Error: Into<Box<dyn std::error::Error + Send + Sync>>>
        + Send
        + Sync
        + 'static,
{
    let (mut head, body) = response.into_parts();
    if let Ok(with_url) = http::Response::builder().url(url).body(()) {
        head.extensions.extend(with_url.into_parts().0.extensions);
    }
    http::Response::from_parts(head, reqwest::Body::wrap(body)).into()
}

impl Failure for reqwest::Error {
    fn failure(&self) -> TransportFailure {
        if self.is_connect() || self.is_builder() {
            TransportFailure::Connect
        } else if self.is_timeout() {
            TransportFailure::Timeout
        } else {
            TransportFailure::Broken
        }
    }
}
