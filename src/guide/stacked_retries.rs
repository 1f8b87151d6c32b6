//! One retry layer: how a second one is noticed, and where to turn it off.
//!
//! Two layers multiply. Four attempts here over an SDK's three requests are twelve requests, eleven of them against a
//! provider that has just said "later", and the eleven are invisible to whoever looks at attempts. So there is one
//! layer: this one. It knows the deadline, the pool's gate and what the provider said; the others know neither.
//!
//! # What is noticed, and what it counts as
//!
//! `forbear_stacked_retries_total` counts calls at which a second layer was noticed, by `detector`. Each call site (a
//! policy's name) is warned once per detector, in the log event `forbear.stacked_retry`, with the way out.
//!
//! | detector | what was seen | what happens |
//! |---|---|---|
//! | `nested` | a call inside an attempt of another call at the same pool | the inner call runs once, without asking the gate again and without counting as demand: the outer call's policy owns the retries. A policy with [`allow_nested`](crate::PolicyBuilder::allow_nested) retries all the same and is not counted |
//! | `wire` | more than one request left inside one attempt, seen by a tap | counted; `forbear_wire_requests_total` against `forbear_attempts_total` says how many times too many |
//! | `incoming_header` | the request your service is working on says that it is a retry | counted; the call goes on |
//!
//! What is inside an attempt is what runs while its operation is polled, over every `.await` of it. A task the operation
//! spawns is not, unless it is [scoped](crate::Attempt::scope). A call at *another* pool inside an attempt is a call of its
//! own, and retries.
//!
//! # Taps
//!
//! A tap counts what passes it. It goes below every layer that may retry and right above the client; see
//! [`layer`](crate::layer) for the ready ones and [`layer::request_sent`](crate::layer::request_sent) for a client of your
//! own. What a tap cannot see is said in the table below.
//!
//! # Incoming requests
//!
//! A service that is called with retries, and retries itself, multiplies too. [`Call::incoming`](crate::Call::incoming)
//! looks at the headers of the request being served:
//!
//! | header | who sends it | first attempt |
//! |---|---|---|
//! | `x-stainless-retry-count` | clients made by Stainless: OpenAI's and Anthropic's for Python, TypeScript, Java, Go | `0` |
//! | `x-envoy-attempt-count` | Envoy, where `include_request_attempt_count` is set on the virtual host, and Istio | `1` |
//! | `grpc-previous-rpc-attempts` | gRPC clients with a retry policy ([gRFC A6](https://github.com/grpc/proposal/blob/master/A6-client-retries.md)) | absent |
//! | `amz-sdk-request` | AWS SDKs | `attempt=1` |
//!
//! ```
//! # use std::time::Duration;
//! # use forbear::event::{catalogue::Metric, totals::Totals};
//! # use forbear::{Forbear, Policy, provider};
//! # #[tokio::main(flavor = "current_thread", start_paused = true)] async fn main() -> Result<(), Box<dyn std::error::Error>> {
//! # let totals = Totals::new();
//! # let pool = Forbear::builder().sink(totals.clone()).build()?.pool(provider::generic(), ["search"]).build()?;
//! # let policy = Policy::interactive(Duration::from_secs(5)).build()?;
//! # let mut request = http::Request::new(());
//! # request.headers_mut().insert("x-envoy-attempt-count", "2".parse()?);
//! # let send = || async { http::Response::new(()) };
//! pool.call(&policy).incoming(request.headers()).run(|_| send()).await?;
//! assert_eq!(totals.count(Metric::StackedRetries, "search", &[("detector", "incoming_header")]), 1);
//! # Ok(()) }
//! ```
//!
//! # Who retries, and how to turn it off
//!
//! As of the versions named; the numbers are retries on top of the first request. "Headers" says whether the provider's
//! answer, and with it the stated delay, reaches the operation.
//!
//! | client | retries by default | turned off by | a tap can be put | headers |
//! |---|---|---|---|---|
//! | reqwest 0.13 | 2 for requests that HTTP/2 refused before they were processed, within a budget of 20 %, at once | `ClientBuilder::retry(reqwest::retry::never())` | above it only: its own retries and redirects sit below every tap | yes |
//! | reqwest-middleware 0.5 | 0; the middleware `reqwest-retry` as many as its policy says | leave that middleware out | yes: `ReqwestTap` last in the chain | yes |
//! | tower 0.5 `Retry` | as its policy says | leave the layer out | yes: `WireTapLayer` below it | yes |
//! | hyper-util 1 `legacy::Client` | a request that a pooled connection had not begun to send goes out again on a new one | `Builder::retry_canceled_requests(false)` | above it only | yes |
//! | async-openai 0.43 | 3 on 429, 5xx and failed connections, honouring whole seconds of `retry-after`; always on with its own executor | feature `middleware` and `Client::with_http_service` with a service that has no retry layer, such as its `ReqwestService` | yes: around that service | not in its errors; in that service yes |
//! | anthropic-async 0.5 | 20 on 408, 409, 429 and 5xx, from 0.5 s to 8 s; none for streams | `Client::with_backoff(ExponentialBuilder::default().with_max_times(0))` | no: it owns its client | `retry-after` only, within its error |
//! | OpenAI's and Anthropic's clients in other languages | 2 on 408, 409, 429, 5xx and failed connections | `max_retries=0` (Python), `maxRetries: 0` (TypeScript) | – | they send `x-stainless-retry-count` |
//! | AWS SDK for Rust | 2 (3 attempts), mode standard | `RetryConfig::disabled()`, or `AWS_MAX_ATTEMPTS=1` | around its `HttpClient`, with [`layer::request_sent`](crate::layer::request_sent) | in the raw response of its errors |
//! | google-cloud-rust (`google-cloud-gax` 1) | up to 9 within 60 s, only where the call is idempotent and the answer is UNAVAILABLE | `with_retry_policy(NeverRetry)` on the client's builder or the request | no: it owns its client | in the error's `http_headers()` |
//! | Envoy | 0; 1 where a route has a retry policy that does not say how many | leave `retry_policy` out, `x-envoy-max-retries: 0` | – : it is another process | `x-envoy-attempt-count` upstream where `include_request_attempt_count` is set |
//! | Istio | 2 on failed connections, refused streams, 503 | `retries: { attempts: 0 }` in the VirtualService | – | sets `x-envoy-attempt-count` |
//!
//! An SDK that owns its client and cannot be told to stop retrying is best replaced by its plain HTTP call; until then give
//! the policy `attempts(1)`, so that at least only one of the two retries, and know that neither deadline nor gate is
//! asked by the other.
