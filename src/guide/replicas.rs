//! Several replicas, one quota: what a shared gate adds, what it costs, and when something else is the better answer.
//!
//! A provider counts an account, not a process. With a gate in each process every replica has to meet the limit by itself;
//! with a shared one the first 429 holds back all of them. The gates stay where they were, in the processes: what is shared
//! is news, over Redis or Valkey, and no call ever waits for it.
//!
#![cfg_attr(feature = "redis", doc = "```")]
#![cfg_attr(not(feature = "redis"), doc = "```ignore")]
//! use forbear::{Forbear, Gate, RedisOptions};
//! # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<(), forbear::InvalidSetting> {
//! // The namespace keeps staging from throttling production; the replica's name is what operators read.
//! let options = RedisOptions::new("redis://127.0.0.1:6379", "prod").replica("checkout-7");
//! let forbear = Forbear::builder().gate(Gate::redis(options)).build()?;
//! # drop(forbear);
//! # Ok(()) }
//! ```
//!
//! # What it saves
//!
//! `cargo run --example replicas --features redis,reqwest,emulator` starts eight processes against one emulated provider
//! that shuts for ten seconds and says so: with local gates, with a Redis between them, and with one
//! [pace](#one-pace) for all besides:
//!
//! ```text
//! 8 replicas with 20 callers each, who ask every 5s; the provider shuts for 10s and says so
//!
//!                                          local gates     shared gate  paced together
//! requests the provider got                        384             382             357
//! 429 in the first 100 ms of the shut                3               1               1
//! 429 after that                                     5               0               0
//! calls that were answered                         376             381             356
//! calls that failed                                  0               0               0
//! ```
//!
//! With local gates each replica pays one 429 for every shut; with the shared one the first pays, and those whose request
//! was on its way. The more replicas there are, and the shorter the provider's windows, the more that is. Who paces together
//! comes back more slowly where nobody knows the limit, as here: one probe for all, then four calls a second for all and twice
//! as many each second, instead of as many for each replica. Callers who ask again when they were answered ask less often then.
//!
//! # What travels
//!
//! - **A shut**: until when, why, and whether the provider said so. It is told in the moment it is found, and all replicas
//!   hold their calls from then on. A shorter shut never shortens a longer one; what the provider stated beats what
//!   somebody guessed.
//! - **A strike**: a burst of throttles that many replicas meet at once is one burst, so waits do not grow with the number
//!   of replicas.
//! - **A reopening**: one whose probe went well, or an operator's word.
//! - **A sign of life** every 15 s: the number of live replicas is known, and divides limits and pace. Without a store
//!   [`ForbearBuilder::replicas`](crate::ForbearBuilder::replicas) says it.
//!
//! Durations travel, clocks do not: a replica whose clock is an hour off hears the same. Pools are named by a hash; of
//! requests and answers nothing travels but the class of a limit. A pool's entry expires ten minutes after its shut ended.
//!
//! # One pace
//!
//! With news alone each replica paces its own part of what comes back: an even share, whoever needs it.
//! [`RedisOptions::paced`](crate::RedisOptions::paced) shares the pace too:
//!
//! - **One probe.** When the shut's end has come, one request of the whole fleet goes first. The others wait until it went
//!   well, or was not throttled for 1.5 s. Of a shut longer than a minute one probe goes each five minutes, not one from each
//!   replica.
//! - **One row of slots.** A waiter asks for a few slots at a time (its part of the waiting, at most four), and they lie one
//!   after another for all replicas, as far apart as the whole pool's limit says. A replica that knows the limit, from
//!   headers, is believed by those that only guess.
//!
//! A pool that flows asks nobody, so it costs nothing until something is throttled; then one trip for up to four calls, made
//! by the task that carries news while the calls wait for their slots anyway. Where no answer comes within 100 ms, or the
//! store is away, each replica goes on with its part of the same pace, from a moment of its own within its first interval:
//! all together are no faster than before. When the store is back all who found it within three seconds begin with it in one
//! moment, so that nobody takes from the whole while others still go on with their parts: there is no step.
//!
//! A limit that nobody knows is found out by going ever faster until it throttles. With the store one throttle stops all;
//! without it each meets its own. So replicas that are alone begin together as one would, and each tries more as many times as
//! seldom as there are replicas: eight are twice as fast each eight seconds, not each second.
//!
//! What is not shared, on purpose:
//!
//! - **Windows.** A limit that comes back all at once is divided among the replicas in either mode: an even share each, near
//!   the window's beginning. Who needs more hears from answers (limit and remaining) what others left, and takes it in the
//!   same window; where answers tell nothing it is left. To hand out a window's slots one by one would make each of its calls
//!   wait for the store, and what replicas take within two seconds of a reopening is what a store is slowest at.
//! - **Pools that [start cold](super::gate#from-the-start).** They are paced as long as they live, so each of their calls
//!   would have to ask: the store would stand in front of every call, which it never does.
//!
//! # When the store is away
//!
//! It may be absent at the start, slow, frozen, restarted empty, or refuse what it is asked: gates go on as
//! [`Gate::local`](crate::Gate::local) would, and keep what they know. It is asked again after one second, then every
//! two, after a refusal every 30 s; what could not be told is told then, as long as it is still true, and what the store lost
//! is told again. Each change is one event, whatever the number of calls: `forbear_store_up` falls to 0, and
//! `forbear_store_degraded_total` says why ([catalogue](super::events_and_metrics#every-metric)). An answer is waited for
//! at most a quarter of a second, and only by the task that carries news.
//!
//! | what the log says (`forbear.store.degraded`, WARN, once) | what happens | what to do |
//! |---|---|---|
//! | a command without permission (`NoPerm`), a password that failed | asked again every 30 s | the [rights](#rights) below; the password |
//! | `OOM` | the same; relied on again when it takes what it is told, not when it can be read | give it memory: an entry takes a third of a kilobyte |
//! | a server that may only be read (`ReadOnly`) | another server has taken over: asked again every two seconds, on a new connection | a name or proxy that leads to the one that writes |
//! | a key that moved (`Moved`) | asked again every 30 s | a cluster of several nodes needs a proxy; all keys of a pool lie in one slot |
//! | `forbear.store.no_channel` | news is read every two seconds instead of heard | `+subscribe`, and the channels of the rights |
//!
//! What is read of it is not trusted, since others may write there. A line that is none is no news; a number that is none, or
//! too large, makes its entry one that is not there, and the next report writes it anew; no end is believed beyond an hour (26
//! for a daily limit), and no slot further ahead than a second and one interval. Where somebody has put something else under a
//! pool's key, that pool goes on alone, and all others are shared. A pool that is shut only because another replica said so is
//! probed after a minute: news may be wrong.
//!
//! # What it costs
//!
//! `cargo run --release -p forbear-bench --features fleet --bin fleet`, a Redis 7.0 on the same two busy cores:
//!
//! | | |
//! |---|---|
//! | a throttled call, p99, by state of the store: none, healthy, frozen, killed, a second slow | 1.7, 3.2, 3.5, 3.7, 2.9 µs |
//! | commands during 100000 calls that pass; in as long a time without calls | 1; 1 |
//! | from one replica's throttle to another's shut gate, p99: loopback; 50 ms each way; where no channel brings it | 42 ms; 117 ms; 1.5 s |
//! | by how much a shut ends later in the replica that only heard of it, p50, p99: loopback, the server's clock right or an hour off | 1.2, 8.4 ms |
//! | the same at the end of a way of 50 ms each way, the server's clock an hour ahead | 103, 143 ms |
//! | a call that passes, beside a gate of this process alone | 0.99 x, no allocation |
//! | eight replicas on their way back at a shared pace of 20 a second | 1.006 of it, one probe |
//! | the same for 30 s without the store | 0.993 of it, no call failed, relied on again after 1.5 s |
//! | the most in any second, over both changes | 23 |
//! | 10000 pools that are shut, in the server; a replica that has 10000 in use and is idle | 3.5 MB; 0.29 % of a core |
//!
//! No end is ever earlier in a replica that only heard of it: what is not known of the server's clock, a trip at most, is added.
//! Of 200 ends 1 in 100 was later by more than the report's own trip and 5 ms, at the end of the way of 50 ms 7 in 100: a busy
//! machine hears late. In another run, with twenty programs waiting for the two cores instead of ten, news over loopback took
//! 51 ms at p99, the ends on loopback 15 to 25 ms, and the most in any second was 27: slots that are taken late come together.
//! In virtual time it is never more than the pace and a batch, 24 (`cargo test -p forbear --features redis --lib gate::slots`).
//!
//! # An operator's lever
//!
//! One command holds a pool in every replica, within a second, without a build and without a list of hosts:
//!
//! ```text
//! $ export FORBEAR_REDIS_URL=rediss://forbear@cache.internal FORBEAR_REDIS_NAMESPACE=prod
//! $ export FORBEAR_REDIS_PASSWORD_FILE=/run/secrets/redis
//! $ forbear gate shut openai/prod/gpt-4o --for 30m --reason 'the export needs the quota'
//! shut for 1800s by alice: 8 replicas were told
//! $ forbear gate list
//! wq7rvank2qsanmy5  openai/prod: not held
//! ejhy3gdbbq6igrwg  openai/prod/gpt-4o: shut by hand of alice (the export needs the quota), 1794.2s left
//! ```
//!
//! | verb | what every replica does | ends |
//! |---|---|---|
//! | `shut POOL --for` | lets nobody pass, no probe either; who cannot wait so long is refused as `by_hand` | by itself, at most 26 h later |
//! | `pace POOL --every --for` | lets its part of one call per `--every` pass, the whole fleet together that many | the same |
//! | `reopen POOL` | forgets the shut, the provider's or an operator's; calls come back one after another | |
//! | `list`, `show POOL` | nothing: they read | |
//!
//! A pool is named by provider and path, as the application built it; a path that is cut short holds all pools below it. The
//! later order takes the place of the earlier. It stands beside what the provider said and is not mixed with it: a throttle
//! changes nothing about an order, and when the order ends, a provider's shut that still runs holds on. A replica that starts
//! later obeys too, and a store that lost an order is told again by whoever obeys it. Where no store is up, nobody hears.
//!
//! Each order is an event in every replica (`gate_operated`), logged at WARN as `forbear.gate.operated` with the reason and
//! the name behind it. The password is read from the environment or from a file it names, and refused in an argument, which
//! everybody on the machine can read. An operator needs the rights below and `+zrange`. All replicas of the namespace hear an
//! order, whichever pools they have: the command says so where none has used a pool of that name of late. A page of one's own
//! is made of
//! [`Operator`](crate::Operator), which the command is made of as well; [`layer::gate_routes`](crate::layer::gate_routes)
//! (feature `axum`) are the levers of one process.
//!
//! # Rights
//!
//! `rediss://` beyond this machine, or [`allow_plaintext`](crate::RedisOptions::allow_plaintext). With `rediss://` the
//! application installs rustls' provider (`rustls::crypto::ring::default_provider().install_default()`), unless its build has
//! exactly one; without any the engine is refused when it is built. The server's certificate is held against the machine's
//! authorities, or against those in the file that `SSL_CERT_FILE` names. The least rights:
//!
//! ```text
//! ACL SETUSER forbear on >PASSWORD resetkeys ~fb:1:* resetchannels &fb:1:* -@all +evalsha +script|load +hmget +hset +pexpire
//!   +zadd +zremrangebyscore +zcard +publish +subscribe +time
//! ```
//!
//! `+ping` and, from Redis 7.2 on, `+client|setinfo` keep refusals out of the server's `ACL LOG`; nothing depends on them. A
//! URL that names a database other than 0 needs `+select`; channels are the same in all of a server's databases, so fleets are
//! told apart by their namespaces.
//!
//! # When a queue is the better answer
//!
//! A gate is for callers who wait now. Work that may wait for minutes and must survive a restart belongs into a queue, and a
//! queue that bounds what is out at the same time over *all* consumers is a harder bound than any gate: NATS JetStream's
//! `MaxAckPending`, or rows of a database that a fixed number of workers lock. RabbitMQ's prefetch is no such bound: it
//! counts each consumer apart. Throttles still come; inside the worker this crate waits for them, and the queue waits for
//! the worker:
//!
//! ```
//! use std::time::Duration;
//! use forbear::{Policy, Pool};
//! use tokio::sync::mpsc::Receiver;
//!
//! /// Takes one job after another; run as many of these as requests may be out at the same time.
//! async fn work(pool: Pool, mut jobs: Receiver<String>) -> Result<(), Box<dyn std::error::Error>> {
//!     // As long as the queue lets a job be out before it gives it to somebody else, less a margin to say so.
//!     let policy = Policy::background(Duration::from_secs(25 * 60)).named("summaries").build()?;
//!     while let Some(job) = jobs.recv().await {
//!         match pool.call(&policy).run(|_| send(&job)).await {
//!             Ok(_answer) => { /* acknowledge */ }
//!             Err(error) if error.is_refused_by_gate() => { /* give it back, to come again at error.retry_at() */ }
//!             Err(_failed) => { /* give it back, or set it aside after so many times */ }
//!         }
//!     }
//!     Ok(())
//! }
//! # async fn send(_job: &str) -> Result<http::Response<()>, std::io::Error> { Ok(http::Response::new(())) }
//! # #[tokio::main(flavor = "current_thread", start_paused = true)] async fn main() -> Result<(), Box<dyn std::error::Error>> {
//! # let forbear = forbear::Forbear::builder().build()?;
//! # let pool = forbear.pool(forbear::provider::generic(), ["account"]).build()?;
//! # let (jobs, queue) = tokio::sync::mpsc::channel(1);
//! # jobs.send("a job".to_owned()).await?;
//! # drop(jobs);
//! # work(pool, queue).await
//! # }
//! ```
