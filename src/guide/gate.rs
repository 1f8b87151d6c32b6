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
//! Beside them a pool may have learned how many requests may be under way: then the next passes when one comes back.
//!
//! Never "open": to readers of circuit breakers that means tripped.
//!
#![doc = include_str!("gate_states.svg")]
//!
//! # What shuts what
//!
//! | class | how long | how it ends |
//! |---|---|---|
//! | `request_rate`, `token_throughput`, `unknown` | as stated, at least 1 s, at most 1 h; else a guess from 1 s, doubling with each strike, to 60 s, and not past the minute in which the limit was used up | paced |
//! | `overload` | as stated; else a guess to at most 30 s | paced |
//! | `concurrency` | not at all: fewer may be under way | their number grows back |
//! | `daily` | as stated, at most 26 h; else 26 h | a probe, or the end |
//! | `spend` | as stated; else 1 h, renewed by each throttled probe | a probe |
//! | none, or a request larger than the limit | not at all | |
//! | (an operator's hand) | as said, 1 ms to 365 days; no probe goes through | its end, or an operator |
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
//! never shuts another customer's pool, as long as each has a name of its own at that level.
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
//! * **Nothing is known**: four a second, doubling each second, or from the known limit where that is slower. What is found
//!   teaches: between two moments at which a limit was used up it served so many requests. Had it nothing at all for half a
//!   minute and then many at once, it is a window, and the next is met with that number; else it is a rate, and the next
//!   time begins a little below it and grows by little with each slot.
//!
//! Which of the first two a known limit is shows in one throttled answer. A bucket has its next request long before it is
//! whole again; a window is whole when it has its next request. Success answers correct it: a window that ends sooner than
//! its length says, or a quota of which much is left although calls come one by one. A window that slides looks like a
//! bucket for the moments in which its first requests leave it; but no bucket ever states a wait of many intervals, so
//! whoever heard one goes on with the rest of the window a moment later.
//!
//! Pacing is over when a slot stays untaken for a second: then nobody waits. How long answers take does not matter: a call
//! that was not throttled for 1.5 s counts as let in, though its answer may take a minute.
//!
//! # Too many under way
//!
//! A `concurrency` throttle shuts nothing. It says that with so many others under way this one was too much, so that many
//! may be under way from now on; the last throttle of a burst tells the limit itself. After five seconds one more is tried,
//! and half as often each time that is in vain. A stream that outlives its call is counted as long as its
//! `attempt.permit()` lives. What held nobody for five minutes is forgotten.
//!
//! # Tokens
//!
//! A paced pool whose limit on tokens is known, from headers or from `.limit(..)`, is paced by tokens as well: a call takes
//! its estimate (`.tokens(..)`) when it passes, input and output apart, and the next passes when that has been paid for.
//! `attempt.used_tokens(..)` settles the difference. Without an estimate a call pays afterwards.
//!
//! # From the start
//!
//! A pool flows until something is throttled: the first storm finds out about the limit. Where that must not happen,
//! `.limit(..).cold_start()` paces the pool from the start by the limits it is told. Slots of a second that nobody took are
//! saved up. It costs each call a question at the gate, and where the limit is a window it costs time: see the table of
//! [storms](crate::guide::storm).
//!
//! # Too late to begin
//!
//! Under a load that lasts, calls reach the head of the queue with little of their time left. One that has less left than
//! most attempts lately took would fail at its deadline and cost somebody else the slot. So it is refused instead; and one
//! that finds so many before it that its turn comes too late is refused as it arrives, and told when to come back. A call
//! is never held to more than half of the time it was given. At twice the load a quota can serve, with deadlines of 15 s
//! and answers of 1 to 3 s, this is the difference between 3 % and 49 % of all calls served at 60 requests a minute.
//!
//! # Fairness
//!
//! First come, first served inside a pool, by the time the *call* arrived: a throttled call keeps its place before those
//! who came later. The waiter at the head is polled when its slot comes; the others sleep. A head that is woken and not
//! polled (a branch of a `select!` that runs no more) keeps its place until its deadline, and then loses it; those behind
//! it are let go by their own deadlines in any case.
//!
//! Pools below one level that is paced take its slots as they come: between them no order is promised.
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
//! # Operators
//!
//! What a pool does now, until when and why, who waits and what is known of its limits is plain data
//! ([`PoolSnapshot`](crate::PoolSnapshot)), and one line of text:
//!
//! ```
//! # use std::time::Duration;
//! # use forbear::{Forbear, GateState, provider};
//! # let forbear = Forbear::builder().build()?;
//! let pool = forbear.pool(provider::openai(), ["prod", "gpt"]).build()?;
//! pool.shut(Duration::from_secs(3_600), "the nightly export needs the quota")?;
//! let lines: Vec<String> = forbear.pools().iter().map(ToString::to_string).collect();
//! assert_eq!(
//!     lines,
//!     ["openai prod/gpt: shut by hand (the nightly export needs the quota), reopens in 3600.0s (told), \
//!       0 waiting, 0 in flight"]
//! );
//! # Ok::<(), forbear::InvalidSetting>(())
//! ```
//!
//! * [`Pool::shut`](crate::Pool::shut) shuts a pool and all below it for a time, whatever the provider says. It stands
//!   beside what the provider said: when it ends, a provider's shut that still runs holds on.
//! * [`Pool::pace`](crate::Pool::pace) lets one call pass per slot for a time, on top of the gate's own pace.
//! * [`Pool::reopen`](crate::Pool::reopen) reopens it, whoever shut it: a quota was raised, a bill was paid, and the next
//!   probe is minutes away. Calls come back one after another, as after any shut.
//! * [`Forbear::turn_gate_off`](crate::Forbear::turn_gate_off) lets everybody through until
//!   [`turn_gate_on`](crate::Forbear::turn_gate_on); pools are then as shut as they were.
//!
//! Each takes a reason. It is told as the event `gate_operated` and logged at WARN as `forbear.gate.operated`, so that
//! whoever looks at the graph later finds who did what and why. They hold in this process. Feature `axum` makes
//! routes of them ([`layer::gate_routes`](crate::layer::gate_routes)); for all replicas of a shared gate there is
//! [`forbear gate`](super::replicas#an-operators-lever).
//!
//! A pool is kept as long as somebody holds a handle of it, a request or a stream of it is under way, or it does not flow,
//! and ten minutes longer. A service whose customers bring keys of their own may make a handle for each request.
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
//! other, `.replicas(n)` divides the known limit among them, with 5 % to spare for slots that meet by chance. Where answers
//! tell how much is left, those who still wait take over what the others leave: of a window as much more as is left of it,
//! and where something was left of the last one they ask for more without waiting for answers; of a bucket all but three
//! requests, which are there for those that meet by chance.
//!
//! What this cannot do: a bucket that holds a single request has no room for chance. Ten processes that do not hear of each
//! other use little more than a third of its slots where refusals are counted, as radio stations on one channel do. The
//! tables of [storms](crate::guide::storm) show it; a shared gate has no such limit.
//!
//! ```
//! use forbear::{Forbear, Gate};
//!
//! let forbear = Forbear::builder().gate(Gate::local()).replicas(12).build()?;
//! # let _ = forbear;
//! # Ok::<(), forbear::InvalidSetting>(())
//! ```
//!
//! # Levers without a build
//!
//! Read when the engine is built, so a restart is enough ([at run time](#operators) there are more):
//!
//! * `FORBEAR_GATE=off` lets every call through; each then waits by itself.
//! * `FORBEAR_OBSERVE_ONLY=1` classifies and counts, and neither retries nor holds.
//!
//! Any other value is refused with its name: a lever that does nothing is worse than none.
//!
//! # What it does not do
//!
//! It does not count what other tenants of the same quota use, and it does not know of other processes but by what answers
//! tell: a window's share is extended by what others leave of it, an even share by what is left in the bucket.
