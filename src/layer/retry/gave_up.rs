//! How a layer's call ended where it did not end well.

use std::error::Error as StdError;
use std::fmt;
use std::ops::Deref;
use std::sync::Arc;

use crate::error::Error;

/// A call through a layer that ended without success: what its [`Error`] can be asked, and why no further request was sent
/// where the request itself stood in the way.
///
/// Where the last attempt brought an answer, the answer is given back as it came, and this stands in its extensions: an SDK
/// reads its provider's error as it always does. Where none came, this is the error.
///
/// Like [`Error`] it prints nothing of request or answer, and `source()` is `None`: transport errors of common clients print
/// URLs, and URLs may hold keys. Whoever needs it asks [`GaveUp::transport_error`].
///
/// ```
/// # use forbear::layer::GaveUp;
/// fn tell<B>(answer: &http::Response<B>) {
///     if let Some(gave_up) = answer.extensions().get::<GaveUp>() {
///         println!("{} attempts, again in {:?}: {gave_up}", gave_up.attempts(), gave_up.retry_after());
///     }
/// }
/// # tell(&http::Response::new(()));
/// ```
#[derive(Clone)]
pub struct GaveUp {
    inner: Arc<Inner>,
}

struct Inner {
    error: Error<()>,
    once: Option<Once>,
    transport: Option<BoxError>,
}

/// An error of a service, as `tower` boxes them.
pub(super) type BoxError = Box<dyn StdError + Send + Sync>;

/// Why a request could be sent only once.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Once {
    /// Its body is a stream that cannot be read again.
    Stream,
    /// Its body is longer than what the layer keeps.
    TooLong {
        /// How much that is.
        most_bytes: usize,
    },
}

impl fmt::Display for Once {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Stream => f.write_str(
                "its body is a stream, which cannot be sent again; give it a body in memory to have it retried",
            ),
            Self::TooLong { most_bytes } => {
                write!(
                    f,
                    "its body is longer than the {most_bytes} bytes that are kept; raise max_body_bytes to have it retried"
                )
            }
        }
    }
}

impl GaveUp {
    pub(super) fn new(error: Error<()>, once: Option<Once>, transport: Option<BoxError>) -> Self {
        Self { inner: Arc::new(Inner { error, once, transport }) }
    }

    /// Why the request was sent only once although its policy allows more attempts; `None` where that was not the reason.
    #[must_use]
    pub fn sent_once(&self) -> Option<Once> {
        self.inner.once
    }

    /// The error of the service inside, if the last attempt ended with one. It may print URLs.
    #[must_use]
    pub fn transport_error(&self) -> Option<&(dyn StdError + Send + Sync + 'static)> {
        self.inner.transport.as_deref()
    }
}

/// Its questions are those of [`Error`].
impl Deref for GaveUp {
    type Target = Error<()>;

    fn deref(&self) -> &Error<()> {
        &self.inner.error
    }
}

impl fmt::Display for GaveUp {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.inner.error.fmt(f)?;
        match self.inner.once {
            Some(once) => write!(f, "; the request was sent only once: {once}"),
            None => Ok(()),
        }
    }
}

impl fmt::Debug for GaveUp {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("GaveUp")
            .field("error", &self.inner.error)
            .field("once", &self.inner.once)
            .finish_non_exhaustive()
    }
}

impl StdError for GaveUp {}
