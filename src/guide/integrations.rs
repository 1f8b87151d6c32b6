//! Integrations: tower, reqwest, the SDKs people use, streams, fallback, blocking callers.
//!
//! The engine needs one thing of whoever sends: the answer, with its headers, before anybody else makes something of it.
//! There are three places to stand, the best first:
//!
//! | where | what it sees | when |
//! |---|---|---|
//! | a layer below the SDK | every answer whole: status, headers, body, stream | the SDK takes a service, a middleware or an HTTP client |
//! | a closure around the HTTP call | the same | the call site sends by itself |
//! | a closure around an SDK's call | what the SDK's error keeps, often a status and a text | the SDK lets nobody in |
//!
//! In the third place the engine retries by guess: the stated wait stood in a header. The first such throttle of a call site
//! is logged as `forbear.headers_hidden` ("headers are invisible here"), with the way out, and each is counted in
//! `forbear_hidden_headers_total`.
//!
//! # tower
//!
//! Feature `tower`. `RetryLayer` goes around any service that speaks HTTP; it is the only layer that retries.
//!
#![cfg_attr(feature = "tower", doc = "```")]
#![cfg_attr(not(feature = "tower"), doc = "```ignore")]
//! # use std::convert::Infallible;
//! use std::time::Duration;
//! use forbear::layer::{RetryLayer, WireTapLayer};
//! use forbear::{Forbear, Policy, provider};
//! use tower::{ServiceBuilder, ServiceExt};
//!
//! # #[tokio::main(flavor = "current_thread", start_paused = true)]
//! # async fn main() -> Result<(), Box<dyn std::error::Error + Send + Sync>> {
//! # let client = tower::service_fn(|_: http::Request<_>| async { Ok::<_, Infallible>(http::Response::new(String::from("{}"))) });
//! let pool = Forbear::builder().build()?.pool(provider::openai(), ["prod", "gpt-4o"]).build()?;
//! let policy = Policy::interactive(Duration::from_secs(15)).named("chat").build()?;
//!
//! let client = ServiceBuilder::new()
//!     .layer(RetryLayer::new(pool, policy)) // one call at the pool per request
//!     .layer(WireTapLayer::new())           // counts what really leaves
//!     .service(client);                     // hyper's client, a tonic channel, …
//! let answer = client.clone().oneshot(http::Request::new(String::from("{}"))).await?;
//! assert_eq!(answer.status(), 200);
//! # Ok(()) }
//! ```
//!
//! - **What can be sent again.** A body in memory is shared, not copied. One that arrives in pieces is kept as it passes; nobody
//!   waits for it, so a sender that waits for the answer is safe. At most 4 MiB are kept
//!   (`RetryLayer::max_body_bytes`); a longer body is sent once, and the outcome says so.
//! - **What the service below gets** of an `http::Request<B>` is an `http::Request<`[`KeptBody<B>`](crate::layer::KeptBody)`>`, whose
//!   body is an `http_body::Body` as any other: hyper's client, reqwest's and tonic's channel take it; a `service_fn` of your own
//!   names that type, or leaves it to be inferred: `|request: http::Request<_>|`. As more than one kind of request can be
//!   sent again, `ready()` has to be told of which: `ServiceExt::<http::Request<String>>::ready(&mut client)`; `oneshot` knows.
//! - **What comes out.** The last answer, body included, also where it is an error: whoever stands above reads the provider's
//!   own words. Its extensions then hold a `GaveUp`, which can be asked what an [`Error`](crate::Error) can
//!   (`is_daily_limit`, `retry_after`, …). Where no answer came, the `GaveUp` is the error.
//! - **Limits and order.** A concurrency limit *below* the layer counts requests, and its place is free while a call sleeps or
//!   waits at the gate; *above* it counts calls. A timeout below cuts attempts and shows as an ambiguous failure; the policy's
//!   deadline does both without it.
//! - **One request, another pool.** A `Pool`, a `Policy` or an `Estimate` in a request's extensions takes precedence: one client
//!   for several models.
//! - **Tokens** are estimated from the body where it is in memory, and settled by what a JSON answer or a stream says it used.
//!
//! # reqwest
//!
//! By a closure with feature `reqwest`, as [`start`](crate::guide::start) shows; by a chain with `reqwest-middleware`:
//!
#![cfg_attr(all(feature = "reqwest-middleware", feature = "emulator"), doc = "```")]
#![cfg_attr(not(all(feature = "reqwest-middleware", feature = "emulator")), doc = "```ignore")]
//! use std::time::Duration;
//! use forbear::emulator::Emulator;
//! use forbear::layer::{GaveUp, ReqwestRetry, ReqwestTap};
//! use forbear::{Forbear, Policy, provider};
//! use reqwest_middleware::ClientBuilder;
//!
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() -> Result<(), Box<dyn std::error::Error>> {
//! # let emulator = Emulator::builder().speaks(provider::openai()).start().await?;
//! let pool = Forbear::builder().build()?.pool(provider::openai(), ["prod", "gpt-4o"]).build()?;
//! let policy = Policy::interactive(Duration::from_secs(15)).named("chat").build()?;
//!
//! let http = reqwest::Client::builder().retry(reqwest::retry::never()) // reqwest's own retries off
//! #     .no_proxy()
//!     .build()?;
//! let client = ClientBuilder::new(http)
//!     .with(ReqwestRetry::new(pool, policy))
//!     .with(ReqwestTap::new())
//!     .build();
//!
//! emulator.spend(true); // nobody paid the bill
//! let answer = client.post(emulator.url()).body("{}").send().await?;
//! let gave_up = answer.extensions().get::<GaveUp>().expect("a 429 that no wait cures");
//! assert!(gave_up.is_spend_limit() && gave_up.attempts() == 1);
//! assert!(answer.text().await?.contains("insufficient_quota"), "the body is there");
//! # Ok(()) }
//! ```
//!
//! A request is sent again only where `Request::try_clone` can: with a body in memory, or none. One with a streaming body is sent
//! once; `GaveUp::sent_once` and the error's text say so.
//!
//! # SDKs
//!
//! `examples/sdk/` in the repository holds each as a function to copy, with the test that proves that one layer retries: the
//! requests at the emulator are the attempts, and the SDK's own error reaches the application. Who retries how often is
//! listed in [`stacked_retries`](crate::guide::stacked_retries).
//!
//! | SDK | where the layer goes | its own retries are off by |
//! |---|---|---|
//! | async-openai 0.43 | `Client::with_http_service` (feature `middleware`): a service that builds the request and sends it through `RetryLayer` over `reqwest::Client` | the same: its retries are part of the service that is replaced |
//! | Anthropic's API | `ReqwestRetry`, or a closure. There is no client by Anthropic for Rust; those of others own their HTTP client and hide headers | `reqwest::retry::never()` |
//! | aws-sdk-bedrockruntime 1.153 | `RetryLayer` in the `HttpConnector` of its configuration. The signature is made above it and holds five minutes: keep deadlines below that | `RetryConfig::disabled()` |
//! | tonic 0.14 | `RetryLayer` around the channel, with `map_request` to tonic's body type | nothing: it has none |
//! | reqwest 0.13 | a closure, or `ReqwestRetry` | `reqwest::retry::never()` |
//!
//! An SDK whose requests are of a type of its own goes above `layer::Cloned`:
//! `ServiceBuilder::new().map_request(Cloned).layer(retry)`. The layer then sees no body: tokens are not estimated.
//!
//! Where an SDK lets nobody in, hand over what its error keeps. [`Observation`](crate::Observation) takes status, headers, body and
//! message, each where there is one:
//!
//! ```
//! # use std::time::Duration;
//! # use forbear::event::{catalogue::Metric, totals::Totals};
//! use forbear::{Forbear, Observation, Policy, provider};
//! # struct SdkError { status: u16, body: String }
//! # #[tokio::main(flavor = "current_thread", start_paused = true)]
//! # async fn main() -> Result<(), Box<dyn std::error::Error>> {
//! # let totals = Totals::new();
//! # let pool = Forbear::builder().sink(totals.clone()).build()?.pool(provider::openai(), ["prod", "gpt-4o"]).build()?;
//! # let policy = Policy::interactive(Duration::from_secs(15)).build()?;
//! # let ask = |number| async move {
//! #     let body = r#"{"error":{"type":"requests","code":"rate_limit_exceeded","message":"Rate limit reached on requests per min (RPM)"}}"#;
//! #     if number == 1 { Err(SdkError { status: 429, body: body.to_owned() }) } else { Ok("Hello!") }
//! # };
//! let answer = pool
//!     .call(&policy)
//!     .classify(|asked: &Result<&str, SdkError>| match asked {
//!         Ok(_) => Observation::ok(),
//!         Err(error) => Observation::status(error.status).body(error.body.as_bytes()),
//!     })
//!     .run(|attempt| ask(attempt.number()))
//!     .await
//!     .map_err(|error| error.to_string())?;
//! assert_eq!(answer, "Hello!");
//! // The class stood in the body; the wait stood in a header that nobody saw.
//! assert_eq!(totals.count(Metric::HiddenHeaders, "prod/gpt-4o", &[]), 1);
//! # Ok(()) }
//! ```
//!
//! # Streams
//!
//! A call ends when its answer's head is there; the stream goes on. Three things follow:
//!
//! - **A throttle before the first byte** is an answer like any other, and is retried.
//! - **The request counts as in flight until the stream's end.** The layers see to it. In a closure, move
//!   [`Attempt::permit`](crate::Attempt::permit) into whoever reads.
//! - **An error event in mid-stream** is not retried: half of the answer has been read by somebody. Its news belongs to the
//!   pool all the same. The layers tell it; in a closure, feed chunks to a [`StreamReader`](crate::provider::StreamReader) and hand
//!   the `signal` of what it finds to [`InFlight::saw`](crate::InFlight::saw); [`InFlight`](crate::InFlight) shows both.
//!
//! The deadline holds for the stream's beginning. An attempt's timeout given to the client (`.timeout(attempt.time_left())` of
//! reqwest) would cut the stream as well: leave it out there.
//!
//! # Fallback
//!
//! Where a day's quota or the credit is used up, no wait helps; another model may. [`Call::fallback`](crate::Call::fallback) names
//! the pools to go on at, in order:
//!
//! ```
//! # use std::time::Duration;
//! use forbear::{Forbear, Policy, provider};
//! # #[tokio::main(flavor = "current_thread", start_paused = true)]
//! # async fn main() -> Result<(), Box<dyn std::error::Error>> {
//! # let policy = Policy::interactive(Duration::from_secs(15)).build()?;
//! # let send = |provider: &'static str, _model: &'static str| async move {
//! #     let busy = http::Response::builder().status(429).header("retry-after", "40").body(String::new());
//! #     let answer = if provider == "openai" { busy } else { Ok(http::Response::new(String::from("Hello!"))) };
//! #     answer.map_err(std::io::Error::other)
//! # };
//! let forbear = Forbear::builder().build()?;
//! let first = forbear.pool(provider::openai(), ["prod", "gpt-4o"]).build()?;
//! let second = forbear.pool(provider::anthropic(), ["prod", "claude-sonnet"]).build()?;
//!
//! let answer = first
//!     .call(&policy)
//!     .fallback(&second)
//!     .run(|attempt| match attempt.choice() {
//!         0 => send("openai", "gpt-4o"),
//!         _ => send("anthropic", "claude-sonnet"),
//!     })
//!     .await?; // the first said 40 s, which the deadline of 15 s has no room for
//! assert_eq!(answer.body(), "Hello!");
//! # Ok(()) }
//! ```
//!
//! It is one call under one deadline. On the first pool it counts as `ok_by_fallback`, which is a success; on the second as a
//! call like any other. So a first pool that is out of service shows as a share of `ok_by_fallback`, not as failures, and its
//! own limit still shows in its attempts and shuts. [`FallbackCall`](crate::FallbackCall) says when the next pool is asked.
//! A credit is mostly a whole account's: after that only another account or provider can help, and a pool below the same name
//! refuses at once. Check that the second has room for what the first sends it: a fallback that is too small throttles in its turn.
//!
//! # Blocking callers
//!
//! A thread without a runtime lets a small one drive the call. One worker thread is enough for any number of callers: it only
//! keeps the time; each operation runs on its caller's own thread, which it may block.
//!
//! ```
//! use std::time::Duration;
//! use forbear::{Forbear, Policy, provider};
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error + Send + Sync>> {
//! # let blocking_post = |number: u32, _timeout: Duration| {
//! #     let (status, wait) = if number == 1 { (429, "1") } else { (200, "0") };
//! #     http::Response::builder().status(status).header("retry-after", wait).body(String::from("{}")).map_err(std::io::Error::other)
//! # };
//! // once per process
//! let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_time().build()?;
//! let pool = Forbear::builder().build()?.pool(provider::openai(), ["prod", "gpt-4o"]).build()?;
//! let policy = Policy::background(Duration::from_secs(60)).build()?;
//!
//! std::thread::scope(|threads| {
//!     let workers = [(); 4].map(|()| {
//!         threads.spawn(|| {
//!             let call = pool.call(&policy).run(|attempt| async move {
//!                 // ureq, a driver, a file: whatever blocks. Nobody can cut it from outside, so tell it when to stop.
//!                 blocking_post(attempt.number(), attempt.time_left())
//!             });
//!             runtime.block_on(call).map(|answer| answer.status())
//!         })
//!     });
//!     for worker in workers {
//!         assert_eq!(worker.join().expect("no panic")?, 200);
//!     }
//!     Ok(())
//! })
//! # }
//! ```
//!
//! `Runtime::block_on` may be called from many threads at once. It panics on a thread that is inside a runtime already: there the
//! call is awaited, and what blocks goes into `tokio::task::spawn_blocking` inside the operation.
