//! Reading answers: what a table makes of one, how to ask it, and how to teach it a new word.
//!
//! Which limit was hit and how long to wait stand in different places with every provider: in one of several headers, in a
//! sentence, in a field of a nested body. A provider table knows where; reading is one function, the same for all.
//!
//! # Outside of a call
//!
//! [`Table::read`](crate::core::rule::Table::read) takes what an attempt showed and the wall time, which only dates need. It
//! never panics, takes time linear in the size of headers and body, and keeps nothing of either:
//!
//! ```
//! use std::time::Duration;
//! use forbear::core::signal::Part;
//! use forbear::{LimitClass, Observation, provider};
//! use http::HeaderMap;
//!
//! let headers = HeaderMap::new();
//! let body = br#"{"error":{"code":429,"message":"You exceeded your current quota.","status":"RESOURCE_EXHAUSTED",
//!     "details":[{"@type":"type.googleapis.com/google.rpc.QuotaFailure",
//!                 "violations":[{"quotaId":"GenerateRequestsPerDayPerProjectPerModel"}]},
//!                {"@type":"type.googleapis.com/google.rpc.RetryInfo","retryDelay":"37s"}]}}"#;
//! let observation = Observation::status(429).headers(&headers).body(body);
//! let signal = provider::gemini().read(&observation, forbear::wall_now()).signal;
//!
//! assert_eq!(signal.class, LimitClass::Daily);
//! let stated = signal.stated.expect("it says how long");
//! assert_eq!((stated.delay, stated.part), (Duration::from_secs(37), Part::Body));
//! assert_eq!(stated.place, "body.error.details[].retryDelay");
//! ```
//!
//! The same from a shell, for an answer you have at hand:
//!
//! ```sh
//! curl -si https://api.openai.com/v1/models | forbear classify --provider openai
//! ```
//!
//! # The signal
//!
//! | field | what it says |
//! |---|---|
//! | `failed` | whether the answer is an error at all; a 200 may be one |
//! | `class` | which kind of limit was hit; `none` for a failure that is no throttle, `unknown` where it was one and nothing says which |
//! | `token_kind` | the side of the tokens that were counted |
//! | `retryable` | could waiting, with the same request and nobody doing anything, help |
//! | `ambiguous` | the request may have had its effect although it failed |
//! | `stated` | the wait, how it was stated and where exactly it stood |
//! | `scope` | the level the limit belongs to: organisation, project, model, key |
//! | `unreadable` | a part that this provider normally states and that could not be read: its spelling may have changed |
//!
//! Quotas come beside it: what is granted, what is left, when it resets. They stand on successes, too.
//!
//! # Where waits stand
//!
//! A table asks in one order. A finer header beats a coarser one (`retry-after-ms` before `retry-after`); the reset of the
//! axis that is used up beats the reset of another; the body is asked where the headers are silent. A date counts from the
//! answer's own `Date`, so that two clocks that differ do not make a wait shorter. What cannot be read is as if it were not
//! there: it is never taken for zero.
//!
//! # Errors inside a success
//!
//! A stream that has begun is a 200, whatever follows. An engine that hands a stream over cannot read on; whoever consumes
//! it can, chunk by chunk:
//!
//! ```
//! use forbear::core::moment::WallTime;
//! use forbear::provider::{self, StreamReader};
//! use forbear::LimitClass;
//!
//! let mut reader = StreamReader::new(provider::openai());
//! let chunks = [&b"data: {\"choices\":[{\"delta\":{\"content\":\"Hel\"}}]}\n\n"[..],
//!               &b"data: {\"error\":{\"message\":\"Rate limit reached on tokens per min (TPM)\",\"code\":\"rate_limit_exceeded\"}}\n\n"[..]];
//! let found = chunks.iter().find_map(|chunk| reader.feed(chunk, WallTime::default()));
//! assert_eq!(found.expect("an error in mid-stream").signal.class, LimitClass::TokenThroughput);
//! ```
//!
//! # A word of your own
//!
//! A gateway of yours may use a word no table knows. Rules of the application run last and win:
//!
//! ```
//! use forbear::core::rule::verdict::{Rule, Rules};
//! use forbear::{LimitClass, Observation, provider};
//!
//! const OURS: &Rules = &Rules::of(&[&[Rule::word(&["tenant_paused"]).on(&[403]).limit(LimitClass::Spend)]]);
//!
//! let table = provider::openai().and_rules(OURS);
//! let body = br#"{"error":{"code":"tenant_paused","message":"This tenant is paused."}}"#;
//! let signal = table.read(&Observation::status(403).body(body), forbear::wall_now()).signal;
//! assert_eq!(signal.class, LimitClass::Spend);
//! assert!(!signal.retryable, "a person must act");
//! ```
//!
//! A rule holds where all it asks for is there: one of its statuses, one of its words (a whole code or type, as it is
//! spelled), one of its phrases (in a text, at the start of a word, whatever the case). General rules come first, specific ones after them,
//! the application's last; what a later rule says of the limit replaces what an earlier one said.
//!
//! # Types the engine does not know
//!
//! An operation may return anything, if the call says how to look at it:
//!
//! ```
//! # use std::time::Duration;
//! # use forbear::{Forbear, Observation, Policy, TransportFailure, provider};
//! # #[tokio::main(flavor = "current_thread", start_paused = true)] async fn main() -> Result<(), Box<dyn std::error::Error>> {
//! # let pool = Forbear::builder().build()?.pool(provider::generic(), ["files"]).build()?;
//! # let policy = Policy::interactive(Duration::from_secs(5)).build()?;
//! # #[derive(Debug)]
//! enum Failed { Status(u16), Offline }
//!
//! let call = pool.call(&policy).classify(|result: &Result<u32, Failed>| match result {
//!     Ok(_) => Observation::ok(),
//!     Err(Failed::Status(status)) => Observation::status(*status),
//!     Err(Failed::Offline) => Observation::failure(TransportFailure::Connect),
//! });
//! let sum = call.run(|attempt| async move {
//!     match attempt.number() {
//!         1 => Err(Failed::Offline),
//!         2 => Err(Failed::Status(503)),
//!         _ => Ok(42),
//!     }
//! });
//! assert_eq!(sum.await.map_err(|error| error.attempts()), Ok(42));
//! # Ok(()) }
//! ```
//!
//! A status alone is little: without headers nobody knows how long to wait, and without the body a 429 is `unknown`. Hand
//! both over where the client gives them.
//!
//! # When a provider changes its spelling
//!
//! A table says where its provider normally states delay and class. A throttle without them counts in
//! `forbear_unreadable_signals_total{part}` and is retried by the curve: the day a header is renamed is a line on a
//! dashboard, not a night of hot loops. Each table carries the page it was held against and the day that was done
//! ([`page`](crate::core::rule::Table::page), [`verified_on`](crate::core::rule::Table::verified_on)).
