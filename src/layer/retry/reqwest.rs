//! The retry layer for chains of `reqwest-middleware`.

use std::sync::{Mutex, PoisonError};

use http::Extensions;
use reqwest::{Request, Response};
use reqwest_middleware::{Error, Middleware, Next, Result};

use crate::core::policy::Policy;
use crate::layer::retry::carry::{Failed, Settings, carry_out, lock};
use crate::layer::retry::gave_up::Once;
use crate::layer::retry::replay::{Chosen, Kept, KeptByReqwest, Replay};
use crate::run::Pool;

/// A middleware that makes each request a call at a pool: it asks the pool's gate, is retried under a policy, and reads what
/// the provider answers. It is the only layer that retries, and stands above what shall act on each attempt:
/// `ClientBuilder::new(client).with(ReqwestRetry::new(pool, policy)).with(ReqwestTap::new())`.
///
/// A request is retried only when its body can be sent again: a body in memory, or none. One with a streaming body is sent once,
/// and [`GaveUp::sent_once`](crate::layer::GaveUp::sent_once) says so. What becomes of failures that may have had an effect,
/// the policy says.
///
/// The last answer is handed on as it came, body included, also where it is an error; its extensions then hold
/// [`GaveUp`](crate::layer::GaveUp). Where no answer came, the error is `Error::Middleware` with a `GaveUp` inside. An error
/// that another middleware made, and that names no transport, is not retried.
///
/// A request chooses another pool, policy or estimate by `RequestBuilder::with_extension`.
///
/// Turn `reqwest`'s own retries off: `reqwest::ClientBuilder::retry(reqwest::retry::never())`.
///
/// ```
/// # use std::time::Duration;
/// # use forbear::{Forbear, Policy, layer::{GaveUp, ReqwestRetry}, provider};
/// # use reqwest_middleware::ClientBuilder;
/// # #[tokio::main(flavor = "current_thread", start_paused = true)] async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// # let pool = Forbear::builder().build()?.pool(provider::openai(), ["ours", "gpt"]).build()?;
/// # let policy = Policy::interactive(Duration::from_secs(15)).attempts(2).build()?;
/// let client = reqwest::Client::builder().retry(reqwest::retry::never()).build()?;
/// let client = ClientBuilder::new(client).with(ReqwestRetry::new(pool, policy)).build();
/// let error = client.get("http://127.0.0.1:1/").send().await.expect_err("nobody listens there");
/// let reqwest_middleware::Error::Middleware(error) = error else { panic!("{error}") };
/// assert_eq!(error.downcast_ref::<GaveUp>().expect("made by the layer").attempts(), 2);
/// # Ok(()) }
/// ```
#[derive(Clone, Debug)]
pub struct ReqwestRetry {
    settings: Settings,
}

impl ReqwestRetry {
    /// A middleware whose calls go through `pool` under `policy`.
    #[must_use]
    pub const fn new(pool: Pool, policy: Policy) -> Self {
        Self { settings: Settings::new(pool, policy) }
    }
}

#[async_trait::async_trait]
impl Middleware for ReqwestRetry {
    async fn handle(&self, request: Request, extensions: &mut Extensions, next: Next<'_>) -> Result<Response> {
        let kept = Chain { kept: request.keep(self.settings.max_body_bytes), chosen: Chosen::of(extensions) };
        let kept = Mutex::new(kept);
        // Each attempt has its own; those of the last are given back. What a middleware below wrote is the caller's to see.
        let written = Mutex::new(None);
        let before = &*extensions;
        let send = |request| {
            let (next, written, mut extensions) = (next.clone(), &written, before.clone());
            async move {
                let answer = next.run(request, &mut extensions).await;
                *lock(written) = Some(extensions);
                answer.map_err(|error| match error {
                    Error::Reqwest(error) => Failed::of(error.into()),
                    Error::Middleware(error) => Failed::on_the_way(error.into()),
                })
            }
        };
        let ended = carry_out::<Response, _, _, _>(&self.settings, &kept, &send).await;
        if let Some(written) = written.into_inner().unwrap_or_else(PoisonError::into_inner) {
            *extensions = written;
        }
        ended.map_err(Error::middleware)
    }
}

/// A kept request, and what was put into its extensions for this layer.
struct Chain {
    kept: KeptByReqwest,
    chosen: Option<Box<Chosen>>,
}

impl Kept for Chain {
    type Sent = Request;

    fn next(&mut self) -> Option<Request> {
        self.kept.next()
    }

    fn once(&self) -> Option<Once> {
        self.kept.once()
    }

    fn show_body(&self, to: &mut dyn FnMut(&[u8])) {
        self.kept.show_body(to);
    }

    fn chosen(&self) -> Option<Box<Chosen>> {
        self.chosen.clone()
    }
}
