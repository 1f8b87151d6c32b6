//! What an attempt showed, before anybody says what it means.

use std::fmt;

use http::HeaderMap;

/// How much of a body is read for classification: 64 KiB. Errors are far smaller; more is hostile or not an error.
pub const BODY_EXCERPT_BYTES: usize = 64 * 1024;

/// How an attempt failed when no answer came back.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum TransportFailure {
    /// No connection was made: the request was certainly not sent.
    Connect,
    /// The connection broke, or the answer could not be read, after the request may have been sent.
    Broken,
    /// No answer within the attempt's time.
    Timeout,
}

/// What one attempt showed: an HTTP answer, or the way it failed.
///
/// Everything is borrowed; nothing is copied to look at it. Debug shows how much there is of headers and body, not what
/// stands in them: both may hold keys.
///
/// ```
/// use forbear::Observation;
/// use http::HeaderMap;
///
/// let mut headers = HeaderMap::new();
/// headers.insert("retry-after", "2".parse()?);
/// let seen = Observation::status(429).headers(&headers).body(b"{\"error\":\"slow down\"}");
/// assert_eq!(seen.status, Some(429));
/// assert!(!format!("{seen:?}").contains("slow down"), "what bodies say is not printed");
/// # Ok::<(), http::header::InvalidHeaderValue>(())
/// ```
#[derive(Clone, Copy, Default)]
#[non_exhaustive]
pub struct Observation<'a> {
    /// The HTTP status, if an answer came.
    pub status: Option<u16>,
    /// The answer's headers.
    pub headers: Option<&'a HeaderMap>,
    /// The first bytes of the body, at most [`BODY_EXCERPT_BYTES`]; `None` when the body was not looked at.
    pub body: Option<&'a [u8]>,
    /// The error's text for people, where it does not stand in the body (`grpc-message`).
    pub message: Option<&'a str>,
    /// How the attempt failed, if no answer came.
    pub failure: Option<TransportFailure>,
    /// Whether the body was complete and belongs to a stream that began before its error: then the headers were sent
    /// before the error and say nothing of it.
    pub in_stream: bool,
}

impl fmt::Debug for Observation<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Observation")
            .field("status", &self.status)
            .field("headers", &self.headers.map(HeaderMap::len))
            .field("body_bytes", &self.body.map(<[u8]>::len))
            .field("failure", &self.failure)
            .field("in_stream", &self.in_stream)
            .finish()
    }
}

impl<'a> Observation<'a> {
    /// An answer with this status and nothing else known.
    ///
    /// A success below 400, an error from there on. With nothing beside it a 429 is a throttle of an unknown limit.
    #[inline]
    #[must_use]
    pub fn status(status: u16) -> Self {
        Self { status: Some(status), ..Self::default() }
    }

    /// What a gRPC call returned, by its status code: as the HTTP status that Google's APIs send for it, 200 for `OK` (0).
    /// A code without a name counts as `UNKNOWN`.
    ///
    /// | code | HTTP | code | HTTP |
    /// |---|---|---|---|
    /// | 1 `CANCELLED` | 499 | 9 `FAILED_PRECONDITION` | 400 |
    /// | 2 `UNKNOWN` | 500 | 10 `ABORTED` | 409 |
    /// | 3 `INVALID_ARGUMENT` | 400 | 11 `OUT_OF_RANGE` | 400 |
    /// | 4 `DEADLINE_EXCEEDED` | 504 | 12 `UNIMPLEMENTED` | 501 |
    /// | 5 `NOT_FOUND` | 404 | 13 `INTERNAL` | 500 |
    /// | 6 `ALREADY_EXISTS` | 409 | 14 `UNAVAILABLE` | 503 |
    /// | 7 `PERMISSION_DENIED` | 403 | 15 `DATA_LOSS` | 500 |
    /// | 8 `RESOURCE_EXHAUSTED` | 429 | 16 `UNAUTHENTICATED` | 401 |
    ///
    /// Source: [`google/rpc/code.proto`](https://github.com/googleapis/googleapis/blob/master/google/rpc/code.proto). To be
    /// read by [`provider::grpc`](crate::provider::grpc), which shows it with a client of `tonic`.
    #[must_use]
    pub fn grpc(code: i32) -> Self {
        Self::status(http_of_grpc(code))
    }

    /// A success that shows nothing but itself.
    #[inline]
    #[must_use]
    pub fn ok() -> Self {
        Self::status(200)
    }

    /// An attempt that ended without an answer.
    ///
    /// It is retried: at once by the curve where no connection was made, as the policy says of ambiguous failures otherwise.
    #[inline]
    #[must_use]
    pub fn failure(failure: TransportFailure) -> Self {
        Self { failure: Some(failure), ..Self::default() }
    }

    /// The same with these headers.
    ///
    /// Hand all of them over: which are read is the table's affair, and reading is one pass.
    #[inline]
    #[must_use]
    pub fn headers(mut self, headers: &'a HeaderMap) -> Self {
        self.headers = Some(headers);
        self
    }

    /// The same with this body; only its first [`BODY_EXCERPT_BYTES`] are looked at.
    #[inline]
    #[must_use]
    pub fn body(mut self, body: &'a [u8]) -> Self {
        self.body = Some(&body[..body.len().min(BODY_EXCERPT_BYTES)]);
        self
    }

    /// The same with this message, where it does not stand in the body.
    #[inline]
    #[must_use]
    pub fn message(mut self, message: &'a str) -> Self {
        self.message = Some(message);
        self
    }

    /// Whether there is nothing to read beside the status: no header, no body.
    #[inline]
    pub(crate) fn is_bare(&self) -> bool {
        self.body.is_none() && self.message.is_none() && self.headers.is_none_or(HeaderMap::is_empty) && !self.in_stream
    }

    /// Whether it is a success beside which there is nothing to read.
    #[inline]
    pub(crate) fn is_bare_success(&self) -> bool {
        self.failure.is_none() && self.status.is_none_or(|status| status < 400) && self.is_bare()
    }

    /// Marks the body as an error that arrived inside a stream which had begun as a success.
    ///
    /// For whoever consumes a stream and finds an error in it: the headers in hand were sent before the error and tell nothing of
    /// it, not even how long to wait.
    #[must_use]
    pub fn in_stream(mut self) -> Self {
        self.in_stream = true;
        self
    }
}

/// The HTTP status that stands for a gRPC status code.
pub(crate) const fn http_of_grpc(code: i32) -> u16 {
    match code {
        0 => 200,
        1 => 499,
        3 | 9 | 11 => 400,
        4 => 504,
        5 => 404,
        6 | 10 => 409,
        7 => 403,
        8 => 429,
        12 => 501,
        14 => 503,
        16 => 401,
        _ => 500,
    }
}
