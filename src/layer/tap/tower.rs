//! The tap for services of `tower`.

use std::task::{Context, Poll};

use tower_layer::Layer;
use tower_service::Service;

/// Puts a [`WireTap`] around a service. Goes below every retry layer and above the client:
/// `ServiceBuilder::new().retry(policy).layer(WireTapLayer::new()).service(client)`.
#[derive(Clone, Copy, Debug, Default)]
#[non_exhaustive]
pub struct WireTapLayer;

impl WireTapLayer {
    /// The layer; it has nothing to set.
    #[must_use]
    pub const fn new() -> Self {
        Self
    }
}

impl<S> Layer<S> for WireTapLayer {
    type Service = WireTap<S>;

    fn layer(&self, client: S) -> WireTap<S> {
        WireTap::new(client)
    }
}

/// A service that counts each request it hands on as sent in the attempt that is being polled. It changes nothing else:
/// readiness, response, error and future are those of the service inside.
///
/// ```
/// # use std::convert::Infallible;
/// # use std::time::Duration;
/// # use forbear::event::{catalogue::Metric, totals::Totals};
/// # use forbear::{Forbear, Policy, layer::WireTap, provider};
/// # use tower::{Service, ServiceExt, service_fn};
/// # #[tokio::main(flavor = "current_thread", start_paused = true)] async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// # let totals = Totals::new();
/// # let pool = Forbear::builder().sink(totals.clone()).build()?.pool(provider::generic(), ["files"]).build()?;
/// # let policy = Policy::interactive(Duration::from_secs(5)).build()?;
/// # let client = service_fn(|_: http::Request<()>| async { Ok::<_, Infallible>(http::Response::new(())) });
/// let client = WireTap::new(client); // hyper_util::client::legacy::Client, reqwest::Client, a tonic channel
/// pool.call(&policy).run(|_| client.clone().oneshot(http::Request::new(()))).await?;
/// assert_eq!(totals.count(Metric::WireRequests, "files", &[]), 1);
/// # Ok(()) }
/// ```
#[derive(Clone, Copy, Debug)]
pub struct WireTap<S> {
    client: S,
}

impl<S> WireTap<S> {
    /// A tap around `client`.
    #[must_use]
    pub const fn new(client: S) -> Self {
        Self { client }
    }
}

impl<R, S: Service<R>> Service<R> for WireTap<S> {
    type Response = S::Response;
    type Error = S::Error;
    type Future = S::Future;

    #[inline]
    fn poll_ready(&mut self, cx: &mut Context<'_>) -> Poll<Result<(), S::Error>> {
        self.client.poll_ready(cx)
    }

    #[inline]
    fn call(&mut self, request: R) -> S::Future {
        crate::layer::request_sent();
        self.client.call(request)
    }
}
