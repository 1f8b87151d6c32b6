//! The first call.
//!
//! # Three things to make
//!
//! An **engine**, once per process; a **pool** for each thing that shares one quota, named by the path to it, widest name
//! first; a **policy** for each call site. Calls go through a pool under a policy:
//!
//! ```
//! use std::time::Duration;
//! use forbear::{Forbear, Limit, Policy, provider};
//!
//! # #[tokio::main(flavor = "current_thread", start_paused = true)]
//! # async fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let forbear = Forbear::builder().build()?;
//! let sonnet = forbear
//!     .pool(provider::anthropic(), ["prod-account", "claude-sonnet"])
//!     .limit(Limit::requests_per_minute(1_000))
//!     .build()?;
//! let chat = Policy::interactive(Duration::from_secs(15)).named("chat").build()?;
//!
//! let mut answers = [429, 200].into_iter();
//! let answer = sonnet
//!     .call(&chat)
//!     .run(|_attempt| {
//!         // Here stands the request; this provider throttles the first.
//!         let answer = http::Response::builder().status(answers.next().unwrap_or(200)).body("{}".to_owned());
//!         async move { answer.map_err(|error| std::io::Error::other(error)) }
//!     })
//!     .await?;
//! assert_eq!(answer.status(), 200);
//! # Ok(()) }
//! ```
//!
//! # What a call site must decide
//!
//! Only how long an answer is worth having: the deadline bounds everything, attempts, waits and the gate.
//! [`Policy::interactive`](crate::Policy::interactive) is for callers who wait, [`Policy::background`](crate::Policy::background)
//! for work nobody waits for; every other number has a default with a reason in
//! [`how_it_works`](crate::guide::how_it_works#every-default), and [`choosing_numbers`](crate::guide::choosing_numbers) says
//! when to set one.
//!
//! # What a pool must be
//!
//! What shares one quota, and nothing else: the same provider and path anywhere in the process is the same pool, with one
//! gate, one budget and one set of quotas. The path's levels are the provider's, widest first; which those are stands in
//! [`providers`](crate::guide::providers). A key of a customer's own is a level of its own: one customer's empty balance must
//! not shut the others' pool.
//!
//! ```
//! # use forbear::{Forbear, provider};
//! # let forbear = Forbear::builder().build()?;
//! let theirs = forbear.pool(provider::openai(), ["customer-17", "gpt-4o"]).build()?;
//! let ours = forbear.pool(provider::openai(), ["ours", "gpt-4o"]).build()?;
//! assert_ne!(theirs.labels().pool, ours.labels().pool);
//! # Ok::<(), forbear::InvalidSetting>(())
//! ```
//!
//! Turn the retries of the HTTP client or SDK below **off**: one layer retries, and this is it.
//!
//! # What the operation may return
//!
//! `reqwest::Response` (feature `reqwest`), `http::Response<B>`, `Result`s of them; anything else by
//! [`classify`](crate::Call::classify). On a status of 400 and above up to 64 KiB of the body are read, put back and
//! classified.
//!
//! # When a call fails
//!
//! The [`Error`](crate::Error) answers questions and gives the last outcome back, also an exhausted `Ok(429)`:
//!
//! ```
//! # use std::time::Duration;
//! # use forbear::{Forbear, Policy, provider};
//! # #[tokio::main(flavor = "current_thread", start_paused = true)]
//! # async fn main() -> Result<(), Box<dyn std::error::Error>> {
//! # let pool = Forbear::builder().build()?.pool(provider::generic(), ["search"]).build()?;
//! # let policy = Policy::interactive(Duration::from_secs(15)).attempts(2).build()?;
//! # let throttled = || http::Response::builder().status(429).header("retry-after", "1").body("busy".to_owned());
//! let error = pool.call(&policy).run(|_| async { throttled().map_err(|_| std::io::Error::other("")) }).await.unwrap_err();
//! assert!(error.is_exhausted() && !error.is_daily_limit());
//! assert_eq!(error.attempts(), 2);
//! assert!(error.retry_after().is_some(), "when another call makes sense");
//! let last = error.into_last().expect("an answer came").expect("and it was one");
//! assert_eq!((last.status().as_u16(), last.body().as_str()), (429, "busy"));
//! # Ok(()) }
//! ```
//!
//! # To see it
//!
//! With feature `prometheus`, one line serves `/metrics` on loopback and gives the engine its sink:
//!
#![cfg_attr(feature = "prometheus", doc = "```")]
#![cfg_attr(not(feature = "prometheus"), doc = "```ignore")]
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let prometheus = forbear::prometheus::install(0)?; // any free port; 9464 is usual
//! let forbear = forbear::Forbear::builder().sink(prometheus.meters()).build()?;
//! # Ok(()) }
//! ```
//!
//! Pushed instead, or both: [`telemetry`](crate::guide::telemetry). What is then told stands in [`events_and_metrics`](crate::guide::events_and_metrics), what a trace shows in
//! [`spans`](crate::guide::spans). To look before switching on,
//! [`observe_only`](crate::ForbearBuilder::observe_only) classifies and counts, and changes nothing: no retry, no wait, no
//! attempt cut.
//!
//! # To test it
//!
//! Against a provider that throttles, on your own machine, without a key: [`testing_clients`](crate::guide::testing_clients).
