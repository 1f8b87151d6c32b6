//! The gate: one caller's throttle is news for everybody in the pool.
//!
//! # Why
//!
//! A policy stops one call from looping. It cannot stop a thousand calls from each finding out by themselves that the pool
//! is shut, and from coming back in the same instant when it reopens. Callers who cannot see each other need somebody who
//! tells them: that is the gate. It is on unless told otherwise.
//!
//! # States
//!
//! * **Flowing**: a call passes at once. It looks at one flag and adds to one counter; no lock, no allocation.
//! * **Shut**: nobody passes before the end. A call whose deadline comes first is refused at once and told when to come back.
//! * **Paced**: calls pass one slot after another, in the order in which they arrived.
//!
//! Never "open": to readers of circuit breakers that means tripped.
//!
//! # What shuts what
//!
//! | class | how long | how it ends |
//! |---|---|---|
//! | `request_rate`, `token_throughput`, `unknown` | as stated, at least 1 s, at most 1 h; else a guess from 1 s, doubling with each strike, to 60 s | paced |
//! | `overload` | as stated; else a guess to at most 30 s | paced |
//! | `concurrency` | a guess from 1 s | paced |
//! | `daily` | as stated, at most 26 h; else 26 h | a probe, or the end |
//! | `spend` | as stated; else 1 h, renewed by each throttled probe | a probe |
//! | none, or a request larger than the limit | not at all | |
//!
//! The least time is the provider table's floor. A bucket states the time until its *next* request, which is milliseconds
//! at a large quota: reopening for everybody then would be a storm.
//!
//! # Told and guessed
//!
//! What the provider stated beats what we guess, even if it is shorter; a guess never moves a stated end. Among equals the
//! later end wins and brings its class. One burst is one strike: a request that was sent before the pool last shut adds
//! nothing. The table of all cases is in [`crate::core::merge`], and a test walks it row by row.
//!
//! # Levels
//!
//! A pool is a path of names, widest first: account, project, model. A limit belongs to one level, which the answer or the
//! provider's table names, and shuts that level and everything under it. Nothing beside it: one customer's spend limit
//! never shuts another customer's pool, as long as each has a name of his own at that level.
//!
//! # Probes
//!
//! Any shut longer than a minute lets one request through every five minutes. If it is not throttled for 1.5 s the pool
//! reopens: throttles answer fast, answers may take a minute. So a raised quota, a paid bill or a hostile "come back in a
//! year" never needs a restart. A probe that was dropped, or failed in another way, is given back at once.
//!
//! # How calls come back
//!
//! Never all at once, and as fast as the limit comes back:
//!
//! * **It refills evenly** (a token bucket): one slot per interval of the known limit.
//! * **It refills at once** (a fixed or sliding window): what the window grants, spread over two seconds at its beginning,
//!   then none until the next. Pacing evenly here would leave most of the window unused.
//! * **Nothing is known**: four a second, doubling each second. When that throttles, the next time begins at nine tenths of
//!   the rate reached and grows by 4 % a second.
//!
//! Which of the first two it is shows in one throttled answer. A bucket has its next request long before it is whole
//! again; a window is whole when it has its next request. Success answers correct it: a window that ends sooner than its
//! length says, or a quota of which much is left although calls come one by one.
//!
//! Pacing is over when a slot stays untaken for a second: then nobody waits.
//!
//! # Fairness
//!
//! First come, first served inside a pool, by the time the *call* arrived: a throttled call keeps its place before those
//! who came later. The waiter at the head is polled when its slot comes; the others sleep. A head that is woken and not
//! polled (a branch of a `select!` that runs no more) keeps its place until its deadline, and then loses it; those behind
//! it are let go by their own deadlines in any case.
//!
//! # A queue that is full, a call that does not wait
//!
//! A pool's queue holds at most `queue_limit` calls; the next is refused at once. The limit guards memory. How long a call
//! waits is its deadline's affair: one whose turn cannot come in time is refused as soon as that is known. A call that
//! comes back from an attempt was let in before and is not refused for a full queue.
//!
//! `.no_wait()` on a call asks for an answer now: it passes where nobody has to wait and is refused elsewhere.
//!
//! Every refusal says why ([`Refusal`](crate::Refusal)) and, where it is known, when to come back:
//!
//! ```
//! # use std::time::Duration;
//! # use forbear::{Error, Forbear, Policy, Refusal, provider};
//! # #[tokio::main(flavor = "current_thread", start_paused = true)] async fn main() -> Result<(), Box<dyn std::error::Error>> {
//! # let forbear = Forbear::builder().build()?;
//! let search = forbear.pool(provider::generic(), ["search"]).queue_limit(200).build()?;
//! let policy = Policy::interactive(Duration::from_secs(5)).build()?;
//! let call = search.call(&policy).no_wait();
//! # let throttled = |_: forbear::Attempt<'_>| async { Ok::<_, std::io::Error>(http::Response::builder().status(429).body(()).unwrap()) };
//! # let once = Policy::interactive(Duration::from_secs(5)).attempts(1).build()?;
//! # search.call(&once).run(throttled).await.expect_err("throttled");
//! # let send = throttled;
//! if let Err(error) = call.run(send).await {
//!     match error.refusal() {
//!         Some(Refusal::NoWait | Refusal::QueueFull) => println!("busy, again in {:?}", error.retry_after()),
//!         Some(Refusal::Draining) => println!("this process is about to end"),
//!         _ => println!("{error}"),
//!     }
//! }
//! # Ok(()) }
//! ```
//!
//! # The end of a process
//!
//! [`Forbear::drain`](crate::Forbear::drain) lets no further request leave: new calls, waiting calls and calls that sleep
//! before another attempt are refused at once, and requests under way are waited for, streams that hold their
//! `attempt.permit()` included.
//!
//! # Cancel safety
//!
//! A call may be dropped at any await point. A waiter that is dropped leaves the queue and takes no slot with it; the next
//! one is seen to at once. A throttle whose headers were seen is reported even if the call is dropped while the body is
//! still being read; an operation that wants to be sure earlier calls `attempt.saw(&parts)`. A drain that is dropped leaves
//! the engine closed; called again it goes on waiting.
//!
//! # Replicas
//!
//! A gate of this process sees what this process saw. Where several processes share a pool and nothing tells them of each
//! other, `.replicas(n)` divides the known limit among them, with 5 % to spare for slots that meet by chance.
//!
//! ```
//! use forbear::{Forbear, Gate};
//!
//! let forbear = Forbear::builder().gate(Gate::local()).replicas(12).build()?;
//! # let _ = forbear;
//! # Ok::<(), forbear::InvalidSetting>(())
//! ```
//!
//! # Levers without a deploy
//!
//! Read when the engine is built, so a restart is enough:
//!
//! * `FORBEAR_GATE=off` lets every call through; each then waits by itself.
//! * `FORBEAR_OBSERVE_ONLY=1` classifies and counts, and neither retries nor holds.
//!
//! Any other value is refused with its name: a lever that does nothing is worse than none.
//!
//! # What it does not do
//!
//! It does not count what other tenants of the same quota use, and it does not know of other processes. It does not limit
//! the number in flight after a concurrency throttle yet: it shuts the pool for a guess. It does not pace by tokens yet.
