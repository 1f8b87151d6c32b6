//! The retry layer for services of `tower`.

use std::future::{Future, poll_fn};
use std::pin::Pin;
use std::sync::{Arc, Mutex};
use std::task::{Context, Poll};

use tower_layer::Layer;
use tower_service::Service;

use crate::core::policy::Policy;
use crate::layer::retry::answer::Answer;
use crate::layer::retry::carry::{Failed, Settings, carry_out, lock};
use crate::layer::retry::gave_up::BoxError;
use crate::layer::retry::replay::Replay;
use crate::run::Pool;

/// Puts [`Retry`] around a service. Goes above the client and everything that shall act on each attempt (a concurrency limit, a
/// [`WireTapLayer`](crate::layer::WireTapLayer), tracing of single requests), and is the only layer that retries.
#[derive(Clone, Debug)]
pub struct RetryLayer {
    settings: Arc<Settings>,
}

impl RetryLayer {
    /// A layer whose calls go through `pool` under `policy`. A request chooses otherwise by a [`Pool`], a [`Policy`] or an
    /// [`Estimate`](crate::Estimate) in its extensions.
    #[must_use]
    pub fn new(pool: Pool, policy: Policy) -> Self {
        Self { settings: Arc::new(Settings::new(pool, policy)) }
    }

    /// How many bytes of a request's body are kept for another attempt: 4 MiB unless set. A longer one is sent once, and
    /// [`GaveUp`](crate::layer::GaveUp) says so. What is kept of a body in memory is shared with it, not copied.
    #[must_use]
    pub fn max_body_bytes(mut self, most: usize) -> Self {
        Arc::make_mut(&mut self.settings).max_body_bytes = most;
        self
    }
}

impl<S> Layer<S> for RetryLayer {
    type Service = Retry<S>;

    fn layer(&self, service: S) -> Retry<S> {
        Retry { service, settings: Arc::clone(&self.settings) }
    }
}

/// A service whose requests are calls at a pool: they ask its gate, are retried under a policy, and read what the provider
/// answers. Cheap to clone: a clone of the service inside and one more reference.
///
/// # What goes in and comes out
///
/// Any request that is [`Replay`]; `http::Request<B>` of any body reaches the service inside as
/// `http::Request<`[`KeptBody<B>`](crate::layer::KeptBody)`>`. An `http::Response<B>` comes out with
/// [`AnswerBody<B>`](crate::layer::AnswerBody), a `reqwest::Response` as one.
///
/// The last answer is handed on as it came, body included, also where it is an error: whoever stands above reads the
/// provider's error. Its extensions then hold [`GaveUp`](crate::layer::GaveUp). Where no answer came (the gate refused, the
/// deadline, the connection), the error is a `GaveUp` in a box.
///
/// # Readiness
///
/// Ready when the service inside is. The service that was made ready makes the first attempt, and its place is used, not
/// leaked; where the pool holds calls back, that place is given up while the call waits and asked for again. Each later attempt
/// waits until a clone is ready, which counts as part of the attempt: towards its timeout and the deadline. Nothing of the
/// service is held between attempts, so a concurrency limit inside counts requests, one outside counts calls.
///
/// # Errors
///
/// An error of the service inside counts as a connection that was never made where it, or what it came from, is an
/// [`std::io::Error`] that says so (or a `reqwest::Error`, feature `reqwest`); a timeout likewise; any other counts as
/// ambiguous, for the policy to decide.
///
/// # Cancel safety
///
/// As of [`Call::run`](crate::Call::run): the future may be dropped at any await point.
///
/// ```
/// # use std::convert::Infallible;
/// # use std::time::Duration;
/// # use forbear::{Forbear, Policy, layer::RetryLayer, provider};
/// # use tower::{ServiceBuilder, ServiceExt, service_fn};
/// # #[tokio::main(flavor = "current_thread", start_paused = true)] async fn main() -> Result<(), Box<dyn std::error::Error + Send + Sync>> {
/// # let pool = Forbear::builder().build()?.pool(provider::openai(), ["ours", "gpt"]).build()?;
/// # let policy = Policy::interactive(Duration::from_secs(15)).build()?;
/// # let client = service_fn(move |_: http::Request<_>| async { Ok::<_, Infallible>(http::Response::new(String::new())) });
/// // hyper_util::client::legacy::Client, a tonic channel, reqwest::Client, a stack of layers above one of these
/// let client = ServiceBuilder::new().layer(RetryLayer::new(pool, policy)).service(client);
/// let answer = client.clone().oneshot(http::Request::new(String::from("{}"))).await?;
/// assert_eq!(answer.status(), 200);
/// # Ok(()) }
/// ```
#[derive(Clone, Debug)]
pub struct Retry<S> {
    service: S,
    settings: Arc<Settings>,
}

impl<S> Retry<S> {
    /// The service inside.
    #[must_use]
    pub const fn get_ref(&self) -> &S {
        &self.service
    }
}

impl<R, S> Service<R> for Retry<S>
where
    R: Replay<Sent: Send, Kept: Send + 'static>,
    S: Service<R::Sent, Response: Answer + Send, Error: Into<BoxError> + Send, Future: Send> + Clone + Send + 'static,
{
    type Response = <S::Response as Answer>::Given;
    type Error = BoxError;
    type Future = Pin<Box<dyn Future<Output = Result<Self::Response, BoxError>> + Send>>;

    fn poll_ready(&mut self, cx: &mut Context<'_>) -> Poll<Result<(), BoxError>> {
        self.service.poll_ready(cx).map_err(Into::into)
    }

    fn call(&mut self, request: R) -> Self::Future {
        // The clone is not ready; the one that is makes the first attempt.
        let clone = self.service.clone();
        let ready = std::mem::replace(&mut self.service, clone);
        let settings = Arc::clone(&self.settings);
        let kept = Mutex::new(request.keep(settings.max_body_bytes));
        Box::pin(async move {
            let clients = Mutex::new(Clients::new(ready, &settings.pool));
            let send = |request| {
                let sending = lock(&clients).send(request);
                async move { sending.carried_out().await.map_err(|error| Failed::of(error.into())) }
            };
            carry_out::<S::Response, _, _, _>(&settings, &kept, &send).await.map_err(Into::into)
        })
    }
}

/// The service inside, for one attempt after another.
struct Clients<S> {
    service: S,
    /// Whether it was made ready and has not been called since.
    is_ready: bool,
}

impl<S: Clone> Clients<S> {
    /// Where a call at `pool` has to wait for its first attempt, the place it was given is for somebody else meanwhile.
    fn new(ready: S, pool: &Pool) -> Self {
        let is_ready = pool.is_flowing();
        Self { service: if is_ready { ready } else { ready.clone() }, is_ready }
    }

    /// Sends at once where it is ready; else as soon as a clone is.
    fn send<R>(&mut self, request: R) -> Sending<S, R>
    where
        S: Service<R>,
    {
        if std::mem::take(&mut self.is_ready) {
            Sending::AtOnce(self.service.call(request))
        } else {
            Sending::WhenReady(Box::new((self.service.clone(), request)))
        }
    }
}

/// A request on its way to the service inside.
enum Sending<S: Service<R>, R> {
    AtOnce(S::Future),
    /// Boxed: it belongs to a call that waits anyway.
    WhenReady(Box<(S, R)>),
}

impl<S: Service<R>, R> Sending<S, R> {
    async fn carried_out(self) -> Result<S::Response, S::Error> {
        match self {
            Self::AtOnce(answer) => answer.await,
            Self::WhenReady(held) => {
                let (mut service, request) = *held;
                poll_fn(|cx| service.poll_ready(cx)).await?;
                service.call(request).await
            }
        }
    }
}
