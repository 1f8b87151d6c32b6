//! Choosing numbers: which question each number answers, and what to write where you have no answer.
//!
//! Most call sites set two things: how long an answer is worth having, and which of two characters the caller has. The rest
//! follows from the provider's window, and can be derived instead of guessed.
//!
//! # In this order
//!
//! 1. **Deadline**: after how long is the answer worth nothing? It counts everything: attempts, waits between them, waits at
//!    the gate. It has no default, since nobody but the caller knows it. Who has a deadline of their own, as a request with
//!    several calls has, ends each call by it with [`Call::deadline_at`](crate::Call::deadline_at): the earlier counts.
//! 2. **Who waits**: a person ([`Policy::interactive`](crate::Policy::interactive)) or nobody
//!    ([`Policy::background`](crate::Policy::background)). A person gets short waits and few attempts; a job may outlive a
//!    window.
//! 3. **The window**: in what time does the provider's limit come back? A minute for most model APIs, five minutes, an hour
//!    or a day for some; [`providers`](crate::guide::providers) says which. Where you know it, let it choose the rest:
//!
//! ```
//! use std::time::Duration;
//! use forbear::Policy;
//!
//! let nightly = Policy::for_window(Duration::from_secs(60)).deadline(Duration::from_secs(120)).named("nightly").build()?;
//! assert_eq!(nightly.base(), Duration::from_secs(6));
//!
//! // Too short to outlive a window, and a person waits: the honest answer is no retry.
//! let minute = Policy::for_window(Duration::from_secs(60));
//! let chat = minute.interactive(true).deadline(Duration::from_secs(15)).named("chat").build()?;
//! assert_eq!(chat.attempts(), 1);
//! # Ok::<(), forbear::InvalidSetting>(())
//! ```
//!
//! 4. **Does the provider state how long to wait?** Then a retry is made where the stated wait fits the deadline, and only
//!    there; the curve is what is left for answers that say nothing:
//!
//! ```
//! # use std::time::Duration;
//! # use forbear::{Policy, provider};
//! let minute = Policy::for_window(Duration::from_secs(60)).states_delay(provider::groq().states_delay.is_some());
//! let chat = minute.deadline(Duration::from_secs(15)).named("chat").build()?;
//! assert!(chat.attempts() > 1);
//! # Ok::<(), forbear::InvalidSetting>(())
//! ```
//!
//! # The curve
//!
//! The wait before attempt n+1 is uniform in (0, min(cap, base·factorⁿ⁻¹)]. Three rules of thumb, and what they come from:
//!
//! * **Base: a tenth of the window.** With less, most attempts meet a window that has not turned; with more, the call
//!   oversleeps the reset. At a tenth of 60 s about 6.1 requests of a throttled call are refused on
//!   average, the first included.
//! * **Cap: a tenth of the deadline**, or a twentieth of window and deadline together where the deadline is the shorter. A
//!   wait that ends after the deadline misses what the window gives back until then; a cap of this length loses one success
//!   in sixty by that where every second call is throttled, and a shorter one costs requests.
//! * **Attempts: so many that the deadline ends the call, not the count.** A count that ends a call early throws away the
//!   time the caller was willing to give. The count is a guard against loops, and the retry budget guards the provider.
//!
//! `forbear suggest --window 60s --deadline 120s` prints the numbers with the reason for each, `forbear check` does the sums
//! for numbers that are there already; [moving to another provider](crate::guide::moving_providers) shows both at work.
//!
//! # Stated waits
//!
//! * **`header_cap`** (5 min) is the longest stated wait a call of this site waits for. It is not the curve's cap: a wait of
//!   171 s that a provider states is news, one of 171 s that a curve draws is a mistake. Jobs that may wait for an hourly
//!   limit raise it; up to 26 h are allowed, since a day and a change of clocks is the longest window there is.
//! * **`on_over_cap`** stays at giving up. Cutting the wait short makes a request that is known to fail.
//!
//! # Time of one attempt
//!
//! **`attempt_timeout`** (none) cuts a single attempt, so that another can be made in the time left. It is worth setting
//! where hanging is likelier than slowness: a model that takes 40 s for a long answer is not hanging. Pass
//! [`Attempt::time_left`](crate::Attempt::time_left) to the client in any case, which then ends by itself and says why.
//!
//! # The pool
//!
//! * **[`Limit`](crate::Limit)s** are optional. What answers say beats them; they matter for providers that say nothing, and
//!   in the first seconds after a start. Give the whole pool's numbers, also where several replicas share it.
//! * **`replicas`** says how many processes share the pools, where no shared gate counts them: each then paces at its share.
//! * **`queue_limit`** (100,000) guards memory, not time: about 400 bytes a waiter. Refuse earlier where a caller who would
//!   have to wait is better served by another pool, by `.no_wait()` on the call.
//!
//! # The retry budget
//!
//! It bounds the load that retries add when a provider fails: a fifth of the calls and one retry a second, up to a hundred
//! saved. Raise the floor for services with few calls, lower the share where the provider is known to fall over. Retries
//! after a throttle do not draw on it: the gate decides who goes when.
//!
//! ```
//! use forbear::{BudgetSettings, Forbear};
//! let cautious = BudgetSettings::default().share_of_calls(0.1).floor_per_second(0.5);
//! let forbear = Forbear::builder().budget(cautious).build()?;
//! # Ok::<(), forbear::InvalidSetting>(())
//! ```
//!
//! # Signs that a number is wrong
//!
//! | what the metrics show | what it means |
//! |---|---|
//! | `forbear_giveups_total{outcome="attempts_exhausted"}` grows before the deadline | too few attempts, or a base far below the window |
//! | `early="yes"` on give-ups for want of time | a single wait did not fit: the stated wait or the cap is long beside the deadline |
//! | `outcome="stated_delay_too_long"` | waits are stated above `header_cap`: raise it, or go elsewhere |
//! | `outcome="retry_budget"` | the provider is failing: more retries would only add load |
//! | attempts 2 and later are mostly throttled | the curve is faster than the window, or there is no gate |
//! | `forbear_gate_wait_seconds` near the deadline | the demand does not fit the quota: no number of the policy helps |
