//! Peers: what other crates and libraries do, as facts, and when one of them is the better choice.
//!
//! Read in their sources and documentation in the autumn of 2026, at these versions: backon 1.6, tower 0.5, reqwest-retry
//! 0.9, aws-smithy-runtime 1.16, google-cloud-gax 1.15, governor 0.10, tower-resilience 0.13, throttle-net 2.0, Polly 8,
//! LiteLLM 1.110. What they have gained since is not here.
//!
//! # Take another
//!
//! | you want | take |
//! |---|---|
//! | to retry anything, also without a runtime, in a `no_std` build or in a browser, and nobody throttles you | backon |
//! | a limit on what *your* callers may send to *you*, or a fixed rate that you know | governor |
//! | a circuit breaker, hedged requests, bulkheads | tower-resilience, failsafe; Polly on .NET, resilience4j on the JVM |
//! | to call AWS and nothing else | the retries of the AWS SDK, in adaptive mode: they know its error codes, and slow the client down |
//! | to call Google Cloud's APIs and nothing else | google-cloud-gax: it checks the deadline before it sleeps, and cuts an attempt to what is left |
//! | a proxy that picks among models and keys for programs in any language | a gateway: LiteLLM, Envoy AI Gateway |
//! | work to wait for hours | a queue with a bound on what is taken from it: [replicas](crate::guide::replicas) says how |
//!
//! # Beside each other
//!
//! | | forbear | backon | tower | reqwest-retry | aws-smithy | gax | throttle-net | Polly | LiteLLM |
//! |---|---|---|---|---|---|---|---|---|---|
//! | the deadline is checked before a sleep | yes | the curve's delays only | no | no | the timeout cuts the sleep | yes | if asked for | no | in part |
//! | full jitter | yes | adds to the delay, off unless asked for | adds, in whole seconds | yes | yes | yes | yes | decorrelated | adds up to 0.75 s |
//! | a stated delay beats the curve | yes, in every form | by a closure | by your policy | cannot: it never sees the answer | one header of AWS | no | three forms | yes | up to 60 s, else the curve |
//! | a stated delay has a cap | yes, and `on_over_cap` | no | no | no | yes | no | gives up above 5 min | no | ignored above |
//! | which limit it was | six kinds, from headers and body | no | no | no | throttling or not | no | requests or tokens | no | of its own limits |
//! | a spent day fails at once | yes | no | no | no | no | no | above its cap | no | no |
//! | retry budget | of transient failures | no | yes | no | yes | adaptive | yes | no | no |
//! | one throttle holds every caller of the pool | yes | no | no | no | adaptive mode | no | by hand | circuit breaker | a deployment cools down |
//! | … in every replica | Redis, Valkey | no | no | no | no | no | no | no | Redis |
//! | waiters come back one by one | yes | no | no | no | a ramp | no | all at once | one probe | all at once |
//! | a second retry layer is noticed | yes | no | no | no | tells the server | no | no | no | no |
//! | spans of attempts, waits, delays | yes | no | no | no | yes | yes | no | no | yes |
//! | metrics of retries | yes | no | no | no | yes | no | yes | yes | cooldowns only |
//! | where a delay came from | header, body, curve, gate | no | no | no | no | no | no | no | no |
//! | boards, alert rules, runbooks in the box | yes | no | no | no | no | no | no | no | boards |
//! | tells a small quota from bad retries | yes | no | no | no | no | no | no | no | no |
//! | hedging, circuit breaker | no | no | hedging | no | no | no | breaker | both | fallbacks |
//! | without tokio, `no_std`, wasm | no | yes | no | wasm | wasm | no | no | | |
//!
//! Envoy has a metric of its own for delays that came from an answer, beside those of its backoff
//! (`upstream_rq_retry_backoff_ratelimited` and `…_exponential`): the one peer in which the source of a delay shows.
//!
//! # Speed beside them
//!
//! `cargo run --release -p forbear-bench --bin overhead` runs one call through each in one process and prints their versions
//! with the ratios; `overhead_paused`, `telemetry` and `gate` do the same for retries, telemetry and the gate.
//!
//! # Coming from one of them
//!
//! A policy of backon or tower translates number by number: base, factor 2, cap, attempts. `forbear check` takes the old
//! numbers, with the defaults of eight libraries by name, and says what they do against a provider's window;
//! [moving providers](crate::guide::moving_providers) shows it. What has no counterpart there is the deadline: set it first.
//!
//! ```
//! use std::time::Duration;
//! use forbear::Policy;
//!
//! // ExponentialBuilder::default().with_min_delay(1 s).with_max_delay(30 s).with_max_times(5).with_jitter()
//! let policy = Policy::interactive(Duration::from_secs(120)) // what the old one did not have
//!     .base(Duration::from_secs(1))
//!     .cap(Duration::from_secs(30))
//!     .attempts(6) // five retries are six attempts
//!     .build()?;
//! assert_eq!(policy.attempts(), 6);
//! # Ok::<_, forbear::InvalidSetting>(())
//! ```
