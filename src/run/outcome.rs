//! What an operation may return, and how it is observed.

use std::convert::Infallible;
use std::future::Future;

use bytes::Bytes;

use crate::core::observation::{Observation, TransportFailure};

/// What the caller gets back: the value of a success, or the outcome whole.
///
/// A [`Result`] gives its value away; an `http::Response` is its own value, whatever its status: which statuses are errors is
/// for the table to say. What holds no value after a success was observed comes back in [`Error::last`](crate::Error::last).
#[diagnostic::on_unimplemented(
    message = "an operation cannot return `{Self}` by itself",
    note = "let it return a `Result`, as by `Ok(…)`, or an `http::Response`; a type of your own may implement `forbear::Settle`"
)]
pub trait Settle: Sized {
    /// What a success is unwrapped to.
    type Value;

    /// The value, or the outcome as it was.
    ///
    /// # Errors
    /// The outcome holds no value.
    fn settle(self) -> Result<Self::Value, Self>;
}

impl<T, E> Settle for Result<T, E> {
    type Value = T;

    fn settle(self) -> Result<T, Self> {
        self.map_err(Err)
    }
}

impl<B> Settle for http::Response<B> {
    type Value = Self;

    fn settle(self) -> Result<Self, Self> {
        Ok(self)
    }
}

/// An outcome the engine can observe by itself.
///
/// Ready for `http::Response<B>` with `B:` [`PeekBody`], for `reqwest::Response` (feature `reqwest`), and for
/// `Result<T, E>` of those with `E:` [`Failure`]. For anything else see [`Call::classify`](crate::Call::classify).
///
/// For a type of your own, if more than one call site returns it:
///
/// ```
/// use forbear::{Observation, Outcome, Settle};
///
/// struct Reply { status: u16, text: String }
///
/// impl Settle for Reply {
///     type Value = String;
///
///     fn settle(self) -> Result<String, Self> {
///         Ok(self.text)
///     }
/// }
///
/// impl Outcome for Reply {
///     fn observation<'a>(&'a self, _: Option<&'a [u8]>) -> Observation<'a> {
///         Observation::status(self.status).body(self.text.as_bytes())
///     }
/// }
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` is no outcome that can be read without being told how",
    note = "`http::Response` is one, and with forbear's feature `reqwest` so is `reqwest::Response`",
    note = "for any other say how to look at it: `.call(…).classify(|outcome| …).run(…)`"
)]
pub trait Outcome: Settle {
    /// Whether [`Outcome::peek`] must run before the outcome is classified.
    fn wants_peek(&self) -> bool {
        false
    }

    /// Reads the first [`BODY_EXCERPT_BYTES`](crate::core::observation::BODY_EXCERPT_BYTES) of the body and puts them
    /// back. Cut at the attempt's deadline.
    fn peek(self) -> impl Future<Output = (Self, Option<Bytes>)> {
        std::future::ready((self, None))
    }

    /// What the outcome shows; `body` is what [`Outcome::peek`] read.
    fn observation<'a>(&'a self, body: Option<&'a [u8]>) -> Observation<'a>;
}

/// A body whose first bytes can be looked at.
///
/// Implemented for bodies that are in memory, and for [`Peek`](crate::Peek), which [`peek`](crate::peek()) makes of any other by
/// reading its beginning.
pub trait PeekBody {
    /// The first bytes, if they are there.
    fn excerpt(&self) -> Option<&[u8]>;
}

impl PeekBody for () {
    fn excerpt(&self) -> Option<&[u8]> {
        None
    }
}

impl PeekBody for Bytes {
    fn excerpt(&self) -> Option<&[u8]> {
        Some(self)
    }
}

impl PeekBody for Vec<u8> {
    fn excerpt(&self) -> Option<&[u8]> {
        Some(self)
    }
}

impl PeekBody for String {
    fn excerpt(&self) -> Option<&[u8]> {
        Some(self.as_bytes())
    }
}

impl<B: PeekBody> Outcome for http::Response<B> {
    fn observation<'a>(&'a self, body: Option<&'a [u8]>) -> Observation<'a> {
        let seen = Observation::status(self.status().as_u16()).headers(self.headers());
        match body.or_else(|| self.body().excerpt()) {
            Some(body) => seen.body(body),
            None => seen,
        }
    }
}

/// An error of a client, as far as the engine needs to know it: was the request sent?
///
/// The answer decides whether a failure is ambiguous: a connection that was never made is retried whatever the policy says of
/// ambiguous failures, one that broke later is not.
///
/// ```
/// use std::io::{Error, ErrorKind};
/// use forbear::{Failure, TransportFailure};
/// assert_eq!(Error::from(ErrorKind::ConnectionRefused).failure(), TransportFailure::Connect);
/// assert_eq!(Error::from(ErrorKind::TimedOut).failure(), TransportFailure::Timeout);
/// assert_eq!(Error::from(ErrorKind::UnexpectedEof).failure(), TransportFailure::Broken);
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` is no error that can be read without being told how",
    note = "`std::io::Error` is one, and with forbear's feature `reqwest` so is `reqwest::Error`",
    note = "so is `Box<dyn std::error::Error + Send + Sync>`, which any error becomes by `.into()`, anyhow's too",
    note = "for any other say how to look at it: `.call(…).classify(|outcome| …).run(…)`, or implement `forbear::Failure`"
)]
pub trait Failure {
    /// How the attempt failed.
    fn failure(&self) -> TransportFailure;
}

impl Failure for Infallible {
    fn failure(&self) -> TransportFailure {
        match *self {}
    }
}

impl Failure for std::io::Error {
    fn failure(&self) -> TransportFailure {
        use std::io::ErrorKind::{AddrNotAvailable, ConnectionRefused, HostUnreachable, NetworkUnreachable, TimedOut};
        match self.kind() {
            ConnectionRefused | HostUnreachable | NetworkUnreachable | AddrNotAvailable => TransportFailure::Connect,
            TimedOut => TransportFailure::Timeout,
            _ => TransportFailure::Broken,
        }
    }
}

/// Read by the first error in its chain that tells how the transport failed; where none does, the request may have been sent.
impl Failure for Box<dyn std::error::Error + Send + Sync> {
    fn failure(&self) -> TransportFailure {
        read_chain(&**self).unwrap_or(TransportFailure::Broken)
    }
}

/// How a request failed, if one of the errors in the chain tells: a client of HTTP speaks for all below it, of several of the
/// system's the innermost counts.
pub(crate) fn read_chain(error: &(dyn std::error::Error + 'static)) -> Option<TransportFailure> {
    let mut told = None;
    let mut next = Some(error);
    while let Some(error) = next {
        #[cfg(feature = "reqwest")]
        if let Some(error) = error.downcast_ref::<reqwest::Error>() {
            return Some(error.failure());
        }
        told = error.downcast_ref::<std::io::Error>().map(Failure::failure).or(told);
        next = error.source();
    }
    told
}

impl<T: Outcome, E: Failure> Outcome for Result<T, E> {
    fn wants_peek(&self) -> bool {
        self.as_ref().is_ok_and(Outcome::wants_peek)
    }

    async fn peek(self) -> (Self, Option<Bytes>) {
        match self {
            Ok(outcome) => {
                let (outcome, body) = outcome.peek().await;
                (Ok(outcome), body)
            }
            Err(error) => (Err(error), None),
        }
    }

    fn observation<'a>(&'a self, body: Option<&'a [u8]>) -> Observation<'a> {
        match self {
            Ok(outcome) => outcome.observation(body),
            Err(error) => Observation::failure(error.failure()),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::io::{Error, ErrorKind};

    use super::*;

    /// An error of an application around one of its client.
    #[derive(Debug)]
    struct Around(Error);

    impl std::fmt::Display for Around {
        fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
            f.write_str("the answer could not be had")
        }
    }

    impl std::error::Error for Around {
        fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
            Some(&self.0)
        }
    }

    #[test]
    fn an_error_in_a_box_is_read_by_what_it_came_from() {
        let of = |error: Box<dyn std::error::Error + Send + Sync>| error.failure();
        let refused = || Error::from(ErrorKind::ConnectionRefused);
        assert_eq!(of(Box::new(refused())), TransportFailure::Connect);
        assert_eq!(of(Box::new(Around(refused()))), TransportFailure::Connect);
        assert_eq!(of(Box::new(Around(ErrorKind::TimedOut.into()))), TransportFailure::Timeout);
        assert_eq!(of("something".into()), TransportFailure::Broken);
    }
}
