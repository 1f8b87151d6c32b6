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
        let (mut parts, body) = seen.into_parts();
        // The conversion from an http response takes the URL from an extension only the builder can make.
        if let Ok(with_url) = http::Response::builder().url(url).body(()) {
            parts.extensions.extend(with_url.into_parts().0.extensions);
        }
        (Self::from(http::Response::from_parts(parts, reqwest::Body::wrap(body))), excerpt)
    }

    fn observation<'a>(&'a self, body: Option<&'a [u8]>) -> Observation<'a> {
        let seen = Observation::status(self.status().as_u16()).headers(self.headers());
        match body {
            Some(body) => seen.body(body),
            None => seen,
        }
    }
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
