//! Requests that can be sent more than once.

use http_body::Body;

use crate::core::estimate::Estimate;
use crate::core::policy::Policy;
use crate::layer::retry::gave_up::{BoxError, Once};
use crate::layer::retry::kept_body::KeptBody;
use crate::run::Pool;

/// A request that [`Retry`](crate::layer::Retry) can send more than once.
///
/// | request | what is sent | how it is kept |
/// |---|---|---|
/// | `http::Request<B>`, `B` any body | `http::Request<`[`KeptBody<B>`]`>` | what is in memory at once, the rest as it is read, up to the bound |
/// | `reqwest::Request` (feature `reqwest`) | itself | `try_clone`: a body in memory is shared, a stream is sent once |
/// | [`Cloned<R>`], `R: Clone` | `R` | as a clone |
pub trait Replay {
    /// What the service inside is given.
    type Sent;
    /// What is kept for the attempts to come.
    type Kept: Kept<Sent = Self::Sent>;

    /// Keeps it; of its body at most `most_bytes`.
    fn keep(self, most_bytes: usize) -> Self::Kept;
}

/// A request that is kept while its attempts are made.
pub trait Kept {
    /// What the service inside is given.
    type Sent;

    /// The request for the next attempt; `None` when it can be sent no more.
    fn next(&mut self) -> Option<Self::Sent>;

    /// Why it cannot be sent again, if it cannot.
    fn once(&self) -> Option<Once>;

    /// Shows its body, where all of it is there: for the estimate of its tokens.
    fn show_body(&self, to: &mut dyn FnMut(&[u8])) {
        let _ = to;
    }

    /// What was put into it for this layer: it goes through another pool than the layer's, under another policy, or with
    /// another estimate.
    fn chosen(&self) -> Option<Box<Chosen>> {
        None
    }
}

/// What a request chose for itself, by its extensions.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct Chosen {
    /// The pool it goes through.
    pub pool: Option<Pool>,
    /// The policy it is retried under.
    pub policy: Option<Policy>,
    /// The tokens it is expected to use.
    pub estimate: Option<Estimate>,
}

impl Chosen {
    /// What stands in the extensions of a request.
    pub(super) fn of(extensions: &http::Extensions) -> Option<Box<Self>> {
        if extensions.is_empty() {
            return None;
        }
        let (pool, policy) = (extensions.get().cloned(), extensions.get().cloned());
        Some(Box::new(Self { pool, policy, estimate: extensions.get().copied() }))
    }
}

/// A request of a type of somebody else's that is sent again as a clone: an SDK's, whose service takes what makes requests.
///
/// ```
/// use forbear::layer::Cloned;
/// # use forbear::layer::{Kept, Replay};
/// let mut kept = Cloned("GET /").keep(0);
/// assert_eq!((kept.next(), kept.next()), (Some("GET /"), Some("GET /")));
/// ```
///
/// `ServiceBuilder::new().map_request(Cloned).layer(retry)` makes one of each request on its way.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(clippy::exhaustive_structs, reason = "made by whoever has the request")]
pub struct Cloned<R>(pub R);

impl<R: Clone> Replay for Cloned<R> {
    type Sent = R;
    type Kept = Self;

    fn keep(self, _: usize) -> Self {
        self
    }
}

impl<R: Clone> Kept for Cloned<R> {
    type Sent = R;

    fn next(&mut self) -> Option<R> {
        Some(self.0.clone())
    }

    fn once(&self) -> Option<Once> {
        None
    }
}

impl<B: Body<Error: Into<BoxError>>> Replay for http::Request<B> {
    type Sent = http::Request<KeptBody<B>>;
    type Kept = KeptRequest<B>;

    fn keep(self, most_bytes: usize) -> KeptRequest<B> {
        let (head, body) = self.into_parts();
        KeptRequest { head, body: KeptBody::new(body, most_bytes), sent: false }
    }
}

/// A kept `http::Request`.
#[derive(Debug)]
pub struct KeptRequest<B> {
    head: http::request::Parts,
    body: KeptBody<B>,
    sent: bool,
}

impl<B: Body<Error: Into<BoxError>>> Kept for KeptRequest<B> {
    type Sent = http::Request<KeptBody<B>>;

    fn next(&mut self) -> Option<Self::Sent> {
        if self.sent && self.once().is_some() {
            return None;
        }
        self.sent = true;
        Some(http::Request::from_parts(self.head.clone(), self.body.again()))
    }

    fn once(&self) -> Option<Once> {
        self.body.once()
    }

    fn show_body(&self, to: &mut dyn FnMut(&[u8])) {
        if let Some(body) = self.body.whole() {
            to(&body);
        }
    }

    fn chosen(&self) -> Option<Box<Chosen>> {
        Chosen::of(&self.head.extensions)
    }
}

#[cfg(feature = "reqwest")]
impl Replay for reqwest::Request {
    type Sent = Self;
    type Kept = KeptByReqwest;

    fn keep(self, _: usize) -> KeptByReqwest {
        // What `try_clone` asks of a body.
        let can_repeat = self.body().is_none_or(|body| body.as_bytes().is_some());
        KeptByReqwest { request: Some(self), can_repeat }
    }
}

/// A kept `reqwest::Request`.
#[cfg(feature = "reqwest")]
#[derive(Debug)]
pub struct KeptByReqwest {
    request: Option<reqwest::Request>,
    can_repeat: bool,
}

#[cfg(feature = "reqwest")]
impl Kept for KeptByReqwest {
    type Sent = reqwest::Request;

    fn next(&mut self) -> Option<reqwest::Request> {
        if self.can_repeat { self.request.as_ref()?.try_clone() } else { self.request.take() }
    }

    fn once(&self) -> Option<Once> {
        (!self.can_repeat).then_some(Once::Stream)
    }

    fn show_body(&self, to: &mut dyn FnMut(&[u8])) {
        if let Some(body) = self.request.as_ref().and_then(|request| request.body()?.as_bytes()) {
            to(body);
        }
    }
}
