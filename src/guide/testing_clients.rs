//! Testing your own client: a provider that throttles, on your machine, in your test.
//!
//! A client that was never throttled in a test is throttled for the first time in production. The [`emulator`](crate::emulator)
//! (feature `emulator`, for `[dev-dependencies]`) is a real HTTP server on 127.0.0.1 that keeps limits and answers in a
//! provider's own words. Nothing leaves the machine, and no key is needed. It serves any client, whether it uses this crate
//! or not.
//!
//! # The first test
//!
//! Start one, point the client at its URL, and ask it afterwards what it saw:
//!
#![cfg_attr(all(feature = "emulator", feature = "reqwest"), doc = "```")]
#![cfg_attr(not(all(feature = "emulator", feature = "reqwest")), doc = "```ignore")]
//! use std::time::Duration;
//! use forbear::emulator::Emulator;
//! use forbear::{Forbear, Policy, provider};
//!
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() -> Result<(), Box<dyn std::error::Error>> {
//! // Two requests in a "minute" of half a second.
//! let emulator = Emulator::builder()
//!     .speaks(provider::openai())
//!     .requests_per_minute(2)
//!     .window(Duration::from_millis(500))
//!     // They name an amount a minute, and cannot say that this minute is short.
//!     .quota_headers(false)
//!     .start()
//!     .await?;
//!
//! let pool = Forbear::builder().build()?.pool(provider::openai(), ["test", "gpt"]).build()?;
//! let policy = Policy::background(Duration::from_secs(30)).build()?;
//! let client = reqwest::Client::builder().no_proxy().build()?;
//! for _ in 0..3 {
//!     pool.call(&policy).run(|_| client.post(emulator.url()).body("{}").send()).await?;
//! }
//!
//! let counts = emulator.counts();
//! assert_eq!(counts.admitted, 3);
//! assert_eq!(counts.requests, 3 + counts.throttled, "nothing was sent that nobody asked for");
//! # Ok(()) }
//! ```
//!
//! # What to test for
//!
//! | question | setting | what to assert |
//! |---|---|---|
//! | does it wait as long as told? | `shut_for(2 s)` on the running emulator | no [`arrival`](crate::emulator::Emulator::arrivals) between throttle and reopening |
//! | does it survive a burst above the quota? | `requests_per_minute(20)`, `window(2 s)` | every call ends well; few throttles |
//! | does it stop at a spent day? | `requests_per_day(3)` | one request after the last good one, then none |
//! | does it stop when the bill is not paid? | `spend(true)` on the running emulator | no retry at all |
//! | does it live with a provider that says nothing? | `retry_after(RetryAfter::None)`, `quota_headers(false)` | waits grow by the curve |
//! | does it live with a wrong wait? | the other words of [`RetryAfter`](crate::emulator::limits::RetryAfter) | it never loops |
//! | are two retry layers at work? | `shut_for`, one call, `attempts(1)` | `counts().requests == 1` |
//! | does a dropped call free its place? | `concurrency(1)`, `service_time(60 s)` | the next is admitted |
//! | does it notice an error inside a 200? | `failure(FailureKind::ErrorInSuccess, …)` | it is retried, and counted |
//!
//! The row on two layers finds out whether an SDK still retries by itself without reading how it is told not to.
//!
//! # Time
//!
//! Three ways, from the most real to the fastest:
//!
//! * **Real time with a short window.** A "minute" of two seconds makes a test of a per-minute quota take seconds. Waits that
//!   a provider states are rounded up to whole seconds, as real ones are: a window of half a second is stated as one second.
//!   Quota headers name amounts a minute and cannot say that this minute is short: with a small quota and a short window
//!   switch them off (`quota_headers(false)`), else the gate paces by the real minute.
//! * **Paused time.** The emulator reads tokio's clock, so `#[tokio::test(start_paused = true)]` works, and a wait of five
//!   minutes takes none. Tokio lets time run ahead whenever nothing but sockets is waited for; so keep it still while a
//!   request is under way, by a blocking task that ends with it:
//!
#![cfg_attr(all(feature = "emulator", feature = "reqwest"), doc = "```")]
#![cfg_attr(not(all(feature = "emulator", feature = "reqwest")), doc = "```ignore")]
//! # use std::time::Duration;
//! # use forbear::emulator::Emulator;
//! # use forbear::{Forbear, Policy, provider};
//! /// The paused clock stands still as long as a blocking task runs.
//! async fn standing_still<F: Future>(exchange: F) -> F::Output {
//!     let (ended, end) = std::sync::mpsc::channel::<()>();
//!     let _running = tokio::task::spawn_blocking(move || end.recv());
//!     let output = exchange.await;
//!     drop(ended);
//!     output
//! }
//!
//! # let runtime = tokio::runtime::Builder::new_current_thread().enable_all().start_paused(true).build()?;
//! # runtime.block_on(async {
//! let emulator = Emulator::builder().speaks(provider::openai()).requests_per_minute(1).start().await?;
//! let pool = Forbear::builder().build()?.pool(provider::openai(), ["test", "gpt"]).build()?;
//! let policy = Policy::background(Duration::from_secs(600)).build()?;
//! let client = reqwest::Client::builder().no_proxy().build()?;
//! for _ in 0..3 {
//!     pool.call(&policy).run(|_| standing_still(client.post(emulator.url()).send())).await?;
//! }
//! // Two windows went by, in a moment.
//! assert!(emulator.elapsed() >= Duration::from_secs(120));
//! # Ok::<_, Box<dyn std::error::Error>>(()) })?;
//! # Ok::<_, Box<dyn std::error::Error>>(())
//! ```
//!
//! * **No sockets at all.** The limits are a value of their own, [`Meter`](crate::emulator::limits::Meter), with the time as
//!   an argument; a whole fleet over an hour is the simulator's affair (feature `simulate`, `forbear simulate`).
//!
//! # Asserting what was told
//!
//! Not only requests can be counted, but also what the engine said of them. A [`Recorder`](crate::event::recorder::Recorder)
//! keeps the events; each prints as one line, so a test can hold the whole story against what is expected:
//!
//! ```
//! use std::time::Duration;
//! use forbear::event::Event;
//! use forbear::event::recorder::Recorder;
//! use forbear::{DelaySource, Forbear, Policy, provider};
//!
//! # #[tokio::main(flavor = "current_thread", start_paused = true)]
//! # async fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let recorder = Recorder::new();
//! let forbear = Forbear::builder().sink(recorder.clone()).seed(7).build()?;
//! let pool = forbear.pool(provider::generic(), ["search"]).build()?;
//! let policy = Policy::interactive(Duration::from_secs(15)).build()?;
//!
//! let mut statuses = [429, 200].into_iter();
//! let answer = || http::Response::builder().status(statuses.next().unwrap_or(200)).header("retry-after", "2").body(());
//! # let mut answer = answer;
//! pool.call(&policy).run(|_| std::future::ready(answer().map_err(std::io::Error::other))).await?;
//!
//! let told = recorder.count(|event| matches!(event, Event::DelayScheduled { source: DelaySource::Header, .. }));
//! assert_eq!(told, 1, "one wait, and the provider's word for it");
//! # Ok(()) }
//! ```
//!
//! The same [`seed`](crate::ForbearBuilder::seed) draws the same waits: a story that repeats can be a snapshot.
//!
//! # The answers themselves
//!
//! Each table holds the answers its provider sends, one for each class
//! ([`Table::answers`](crate::core::rule::Table::answers)); the emulator fills them in. They are what the table was written
//! against, so a client that reads them rightly reads the provider rightly, as far as anybody knows: each table says on which
//! day it was last held against the provider's page.
