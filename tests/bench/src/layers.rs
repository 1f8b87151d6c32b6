//! Calls over HTTP, through the layers and through their peers.
//!
//! The provider is the emulator, on a thread of its own: what it costs is not counted. A row reads its answer to the end, so
//! that connections are used again.

use std::error::Error;
use std::future::{Ready, ready};
use std::rc::Rc;
use std::sync::mpsc;

use bytes::Bytes;
use forbear::emulator::Emulator;
use forbear::layer::{KeptBody, ReqwestRetry, Retry, RetryLayer};
use forbear::{Forbear, Policy, Pool, provider};
use http::{Request, Response};
use http_body_util::{BodyExt, Full};
use hyper_util::client::legacy::Client;
use hyper_util::client::legacy::connect::HttpConnector;
use hyper_util::rt::TokioExecutor;
use reqwest_middleware::{ClientBuilder, ClientWithMiddleware};
use reqwest_retry::RetryTransientMiddleware;
use reqwest_retry::policies::ExponentialBackoff;
use tokio::runtime::Runtime;
use tower::{ServiceBuilder, ServiceExt};

/// What came of a call: the length of its answer.
pub type Read = Result<u64, Box<dyn Error + Send + Sync>>;

/// Packages whose versions belong to the figures.
pub const PACKAGES: &[&str] =
    &["forbear", "tokio", "tower", "hyper-util", "reqwest", "reqwest-middleware", "reqwest-retry"];

/// The most attempts of every row.
const ATTEMPTS: u32 = 4;

/// A question of half a kibibyte, as a chat's are at least.
const QUESTION: &[u8] = &[b' '; 512];

type Hyper<B> = Client<HttpConnector, B>;

/// The clients, all asking the same provider.
#[derive(Debug)]
#[non_exhaustive]
pub struct Clients {
    url: String,
    pool: Pool,
    policy: Policy,
    bare: Hyper<Full<Bytes>>,
    layered: Retry<Hyper<KeptBody<Full<Bytes>>>>,
    towered: tower::retry::Retry<Times, Hyper<Full<Bytes>>>,
    reqwest: ClientWithMiddleware,
    ours: ClientWithMiddleware,
    theirs: ClientWithMiddleware,
}

impl Clients {
    /// Starts a provider that answers everything, and makes a client for each row.
    ///
    /// # Panics
    /// Where 127.0.0.1 has no port to give.
    #[must_use]
    pub fn start() -> Self {
        let url = provider_on_its_own_thread();
        let forbear = Forbear::builder().build().expect("valid settings");
        let pool = forbear.pool(provider::openai(), ["ours", "gpt"]).build().expect("a valid pool");
        let deadline = std::time::Duration::from_secs(60);
        let policy = Policy::interactive(deadline).attempts(ATTEMPTS).build().expect("a valid policy");
        let layer = RetryLayer::new(pool.clone(), policy.clone());
        let http = reqwest::Client::builder().no_proxy().build().expect("a client without TLS needs nothing");
        let chain = || ClientBuilder::new(http.clone());
        let backoff = ExponentialBackoff::builder().build_with_max_retries(ATTEMPTS - 1);
        Self {
            bare: hyper(),
            layered: ServiceBuilder::new().layer(layer).service(hyper()),
            towered: ServiceBuilder::new().retry(Times(ATTEMPTS - 1)).service(hyper()),
            reqwest: chain().build(),
            ours: chain().with(ReqwestRetry::new(pool.clone(), policy.clone())).build(),
            theirs: chain().with(RetryTransientMiddleware::new_with_policy(backoff)).build(),
            url,
            pool,
            policy,
        }
    }

    /// hyper's client, asked directly.
    pub async fn direct(&self) -> Read {
        read(self.bare.request(self.request()).await?).await
    }

    /// The same in a closure.
    pub async fn closure(&self) -> Read {
        let call = self.pool.call(&self.policy).classify(|answer: &Result<Response<_>, _>| match answer {
            Ok(answer) => forbear::Observation::status(answer.status().as_u16()).headers(answer.headers()),
            Err(_) => forbear::Observation::failure(forbear::TransportFailure::Broken),
        });
        let answer = call.run(|_| self.bare.request(self.request())).await;
        read(answer.map_err(|error| error.to_string())?).await
    }

    /// hyper's client below our layer.
    pub async fn layer(&self) -> Read {
        read(self.layered.clone().oneshot(self.request()).await?).await
    }

    /// hyper's client below tower's own retries.
    pub async fn tower(&self) -> Read {
        read(self.towered.clone().oneshot(self.request()).await?).await
    }

    /// A chain without a retry layer.
    pub async fn chain(&self) -> Read {
        self.post(&self.reqwest).await
    }

    /// A chain with ours.
    pub async fn our_middleware(&self) -> Read {
        self.post(&self.ours).await
    }

    /// A chain with `reqwest-retry`.
    pub async fn reqwest_retry(&self) -> Read {
        self.post(&self.theirs).await
    }

    fn request(&self) -> Request<Full<Bytes>> {
        Request::post(&self.url).body(Full::new(Bytes::from_static(QUESTION))).expect("a request")
    }

    async fn post(&self, client: &ClientWithMiddleware) -> Read {
        let answer = client.post(&self.url).body(QUESTION).send().await?;
        if answer.status() != 200 {
            return Err(answer.status().to_string().into());
        }
        Ok(answer.bytes().await?.len() as u64)
    }
}

/// A runtime with sockets: one thread, so that its CPU time is all there is to measure.
///
/// # Panics
/// Where none can be made.
#[must_use]
pub fn runtime() -> Rc<Runtime> {
    Rc::new(tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime"))
}

fn hyper<B>() -> Hyper<B>
where
    B: http_body::Body<Data: Send, Error: Into<Box<dyn Error + Send + Sync>>> + Send + 'static,
{
    Client::builder(TokioExecutor::new()).build_http()
}

async fn read<B: http_body::Body<Error: Error + Send + Sync + 'static>>(answer: Response<B>) -> Read {
    if answer.status() != 200 {
        return Err(answer.status().to_string().into());
    }
    Ok(answer.into_body().collect().await?.to_bytes().len() as u64)
}

/// Its address. It ends with the process.
fn provider_on_its_own_thread() -> String {
    let (tell, told) = mpsc::channel();
    std::thread::spawn(move || {
        runtime().block_on(async {
            let emulator = Emulator::builder().speaks(provider::openai()).start().await.expect("a free port");
            tell.send(emulator.url()).expect("somebody asked");
            std::future::pending::<()>().await;
        });
    });
    told.recv().expect("the emulator starts")
}

/// tower's own: so many times more, at once.
#[derive(Clone, Debug)]
pub struct Times(u32);

impl<B, E> tower::retry::Policy<Request<Full<Bytes>>, Response<B>, E> for Times {
    type Future = Ready<()>;

    fn retry(&mut self, _: &mut Request<Full<Bytes>>, answer: &mut Result<Response<B>, E>) -> Option<Ready<()>> {
        let failed = answer.as_ref().map_or(true, |answer| answer.status().as_u16() >= 400);
        self.0 = self.0.checked_sub(u32::from(failed))?;
        failed.then(|| ready(()))
    }

    fn clone_request(&mut self, request: &Request<Full<Bytes>>) -> Option<Request<Full<Bytes>>> {
        Some(request.clone())
    }
}
