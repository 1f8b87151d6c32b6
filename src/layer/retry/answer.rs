//! Answers a layer can look into and hand on.

use std::future::Future;

use bytes::Bytes;
use http::{Extensions, HeaderMap};

use crate::core::observation::BODY_EXCERPT_BYTES;
use crate::layer::retry::answer_body::AnswerBody;
use crate::run::InFlight;
#[cfg(feature = "reqwest")]
use crate::run::Outcome;

/// An answer of a service: `http::Response` of any body, or `reqwest::Response` (feature `reqwest`).
///
/// Not to be implemented elsewhere: what a service of another kind answers is mapped to one of these below the layer.
pub trait Answer: sealed::Sealed + Sized {
    /// What the caller is given.
    type Given: Send;

    /// What the caller is given, before anything was read of it.
    #[doc(hidden)]
    fn given(self) -> Self::Given;

    /// Status and headers.
    #[doc(hidden)]
    fn head(given: &Self::Given) -> (u16, &HeaderMap);

    /// Whether its body is short and of a known length: then it was there when its head was sent.
    #[doc(hidden)]
    fn comes_with_its_head(given: &Self::Given) -> bool;

    /// Reads the beginning of the body, and puts it back.
    #[doc(hidden)]
    fn peek(given: Self::Given) -> impl Future<Output = (Self::Given, Option<Bytes>)> + Send;

    /// Counts the request until the body was read.
    #[doc(hidden)]
    fn watched(given: Self::Given, in_flight: InFlight) -> Self::Given;

    /// What goes with it.
    #[doc(hidden)]
    fn extensions(given: &mut Self::Given) -> &mut Extensions;
}

/// Whether a body of this length goes out in one piece: up to 64 KiB. What is longer, or of no known length, may be a stream.
fn is_short(bytes: Option<u64>) -> bool {
    bytes.is_some_and(|bytes| bytes <= BODY_EXCERPT_BYTES as u64)
}

mod sealed {
    pub trait Sealed {}
}

#[cfg(feature = "tower")]
impl<B> sealed::Sealed for http::Response<B> {}

#[cfg(feature = "tower")]
impl<B: http_body::Body<Data: Send, Error: Into<super::gave_up::BoxError> + Send> + Send + Unpin> Answer
    for http::Response<B>
{
    type Given = http::Response<AnswerBody<B>>;

    fn given(self) -> Self::Given {
        self.map(AnswerBody::unread)
    }

    fn head(given: &Self::Given) -> (u16, &HeaderMap) {
        (given.status().as_u16(), given.headers())
    }

    fn comes_with_its_head(given: &Self::Given) -> bool {
        is_short(http_body::Body::size_hint(given.body()).exact())
    }

    async fn peek(mut given: Self::Given) -> (Self::Given, Option<Bytes>) {
        let excerpt = given.body_mut().peek().await;
        (given, Some(excerpt))
    }

    fn watched(given: Self::Given, in_flight: InFlight) -> Self::Given {
        let (head, mut body) = given.into_parts();
        body.watched(in_flight, &head.headers);
        http::Response::from_parts(head, body)
    }

    fn extensions(given: &mut Self::Given) -> &mut Extensions {
        given.extensions_mut()
    }
}

#[cfg(feature = "reqwest")]
impl sealed::Sealed for reqwest::Response {}

#[cfg(feature = "reqwest")]
impl Answer for reqwest::Response {
    type Given = Self;

    fn given(self) -> Self {
        self
    }

    fn head(given: &Self) -> (u16, &HeaderMap) {
        (given.status().as_u16(), given.headers())
    }

    fn comes_with_its_head(given: &Self) -> bool {
        is_short(given.content_length())
    }

    fn peek(given: Self) -> impl Future<Output = (Self, Option<Bytes>)> + Send {
        Outcome::peek(given)
    }

    fn watched(given: Self, in_flight: InFlight) -> Self {
        crate::run::with_body(given, |body, headers| {
            let mut body = AnswerBody::unread(body);
            body.watched(in_flight, headers);
            body
        })
    }

    fn extensions(given: &mut Self) -> &mut Extensions {
        given.extensions_mut()
    }
}
