//! What is retried, what never is, and why in this order.
//!
//! Two words are kept apart everywhere. A *signal* says what the provider said: could waiting, with the same request and
//! nobody doing anything, help? A *decision* says what this call does about it: there may be no time left, or no attempt.
//!
//! # The order
//!
//! 1. **A success ends the call.** So does a 3xx. An error inside a 200 is an error; see
//!    [how it works](crate::guide::how_it_works).
//! 2. **An attempt that was cut at the deadline ends it** as `deadline_exceeded`, whatever else could be said of it.
//! 3. **A spend limit ends it at once.** Credit, balance, budget: a person must act, and every further request only makes
//!    the page later.
//! 4. **A request larger than the limit ends it at once.** "Limit 30000, Requested 61337" is a 429 like any other, and no
//!    wait makes the request smaller.
//! 5. **A daily limit ends it at once**, with the reset time if it was stated. A caller who waits now cannot wait until
//!    midnight, and a worker should hand the work to another pool.
//! 6. **What the provider calls final ends it**: other 4xx, `x-should-retry: false`, a limit of zero.
//! 7. **An ambiguous failure ends it if the policy says so** (`on_ambiguous`): the request may have had its effect.
//! 8. **The attempts are counted**, the one just made included.
//! 9. **The stated wait is compared with the header cap**, raw: jitter first would let a huge wait slip under the cap now
//!    and then.
//! 10. **The wait is drawn and compared with the deadline before anybody sleeps.** A wait that ends at or after the
//!     deadline is not begun: the caller hears now what it would have heard then.
//! 11. **The retry budget is asked last**, and only for transient failures, so that nothing is taken from it in vain.
//!
//! # Class by class
//!
//! | what came | class | what happens |
//! |---|---|---|
//! | 429 for requests or tokens per minute | `request_rate`, `token_throughput` | again, when told; else by the curve |
//! | 429 that names no axis | `unknown` | as above: many real answers say no more |
//! | 429 for requests or tokens per day | `daily` | given up at once |
//! | too many in flight | `concurrency` | again |
//! | 503, 529, 498 | `overload` | again, like a 429; it never marks a quota as used up |
//! | 402, "insufficient quota", "credit balance" | `spend` | given up at once |
//! | 500, 502, 504 | none, ambiguous | again, unless `on_ambiguous` says stop |
//! | 408 | none | again |
//! | no connection | none | again: the request was certainly not sent |
//! | connection broke, or no answer in time | none, ambiguous | again, unless `on_ambiguous` says stop |
//! | other 4xx | none | never, unless the signal says that waiting helps |
//!
//! Some providers throttle under 400, 402, 403, 413 or 424. That is why the class is read from headers and body by the
//! provider's table and not from the status: see [`crate::provider`].
//!
//! # How long
//!
//! * **A stated wait is a floor.** Nobody retries earlier than told (RFC 9110, section 10.2.3). Behind a gate the pacing of
//!   the pool is the jitter; without one a uniform draw up to the curve's bound is added, never subtracted, and never more
//!   than half of what the deadline leaves: the rest is for the answer.
//! * **No stated wait: full jitter**, uniform in (0, min(cap, base·factor^(n−1))]
//!   (<https://aws.amazon.com/blogs/architecture/exponential-backoff-and-jitter/>).
//! * **Unreadable is not "now".** A wait that cannot be read is as if it were not there: the curve decides, and
//!   `forbear_unreadable_signals_total` counts it where this provider normally states one.
//! * **A date in the past is zero**, and a wait is never zero: then the curve is drawn.
//! * **Above the header cap** the call gives up (`stated_delay_too_long`), since a retry before the stated end is known to
//!   fail. `OnOverCap::Clamp` waits the cap instead, is counted in `forbear_clamped_delays_total`, and works only without a
//!   gate: behind one it would send into a shut pool.
//!
//! # What an error answers
//!
//! | question | true when |
//! |---|---|
//! | `is_deadline` | the deadline came, in an attempt or in the gate's queue, or the next wait would have passed it |
//! | `is_daily_limit`, `is_spend_limit` | the provider said so, or the gate that had heard it |
//! | `is_refused_by_gate` | the gate said no while there was time left: shut past the deadline, its turn too late, its queue full; no request was sent since, and [`refusal`](crate::Error::refusal) says which |
//! | `is_exhausted` | every attempt was used |
//! | `is_not_retryable` | waiting does not help |
//!
//! [`crate::Error`] also gives the attempts, the time, the class, where the last stated delay stood, when another call
//! makes sense, and the last outcome whole: an exhausted `Ok(429)` comes back with its body unread by anybody else.
//!
//! # Ambiguity
//!
//! A timeout, a broken connection and a plain 5xx leave open whether the request had its effect. Model calls have none but
//! their price, so the default is to try again. Where a second execution costs more than a failure (a payment, a message
//! to a person), say so at the call site:
//!
//! ```
//! use std::time::Duration;
//! use forbear::{OnAmbiguous, Policy};
//!
//! let send = Policy::interactive(Duration::from_secs(10)).named("send").on_ambiguous(OnAmbiguous::Stop).build()?;
//! assert_eq!(send.on_ambiguous(), OnAmbiguous::Stop);
//! # Ok::<(), forbear::InvalidSetting>(())
//! ```
//!
//! # Budget
//!
//! When everything fails, a number of attempts multiplies the load by that number; a budget adds a share of it and no more
//! (<https://sre.google/sre-book/handling-overload/>). A pool's budget grants a fifth of its calls and one a second, and
//! saves up to a hundred. Retries after a throttle do not draw on it: there the gate decides who goes when.
