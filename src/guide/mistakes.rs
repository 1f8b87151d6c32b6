//! Mistakes that look like diligence.
//!
//! Each of them was made in production by people who knew better in general. Don't, why, do.
//!
//! # Two retry layers
//!
//! **Don't** wrap an SDK that retries by itself. **Why:** three attempts around three attempts are nine requests, of which
//! your log shows three; the inner layer neither asks the gate nor knows the deadline. **Do** turn the inner layer off:
//! one layer retries, and it is the one that can be seen. [`stacked_retries`](crate::guide::stacked_retries) says how a
//! second one is noticed and where each client turns its own off.
//!
//! # Numbers copied from another provider
//!
//! **Don't** carry base = 1 s, factor 2, five retries to a provider with per-minute windows. **Why:** the waits of full
//! jitter add up to base·(2ⁿ−1)/2 on the average: 15.5 s for five. The window resets after up to 60 s. The call gives up
//! before the first attempt that could have succeeded. **Do** start at about a tenth of the window:
//! [moving to another provider](crate::guide::moving_providers) walks through it.
//!
//! # A deadline shorter than the window
//!
//! **Don't** expect retries to save a 10 s call from a 60 s window. **Why:** at best they save one in six of those that
//! were throttled, and the others hear "busy" ten seconds later. **Do** set `attempts(1)` where a person waits, or give the
//! work to a queue, which may retry a few times, far apart. No retry is an honest answer.
//!
//! # Retrying other 4xx
//!
//! **Don't** retry a 400 because "it may work the second time". **Why:** the request is what is wrong. **Do** fix it; where
//! a provider throttles under such a status its table knows the words.
//!
//! # An unreadable wait taken for zero
//!
//! **Don't** write `parse().unwrap_or(0)`. **Why:** `Retry-After` may be a date; zero is a hot loop against a provider that
//! just asked for less. **Do** fall back to the curve, and count it.
//!
//! # Jitter below the stated wait
//!
//! **Don't** multiply a stated wait by a random factor below one. **Why:** whoever comes earlier than told is throttled
//! again, and with some providers the attempt counts. **Do** add, never subtract.
//!
//! # Cutting a stated wait
//!
//! **Don't** clamp "171 seconds" to 60. **Why:** the retry after 60 is known to fail. **Do** wait it out if the deadline
//! allows, else give up now. `OnOverCap::Clamp` exists, is off, and is counted.
//!
//! # Capping the jittered value
//!
//! **Don't** compare the cap with the wait after the dice. **Why:** now and then a huge wait slips under it. **Do** compare
//! the raw value, then draw.
//!
//! # One pool for all customers' keys
//!
//! **Don't** let customers' own keys share a pool's name. **Why:** one empty balance shuts all of them. **Do** give each key
//! a level of its own. Labels stay bounded: beyond 64 pairs of provider and pool they are shown as `_OTHER`.
//!
//! # One pool per request
//!
//! **Don't** put a request id into a pool's name. **Why:** nobody shares its news. **Do** name what shares one quota.
//!
//! # A queue without a deadline
//!
//! **Don't** time only the attempts. **Why:** a call that waits nine minutes at a limiter and then times out after ten
//! seconds was not a ten-second call. **Do** let the deadline count the waits: here it cannot be otherwise.
//!
//! # Retrying a spent day
//!
//! **Don't** back off from a daily limit. **Why:** a limit that ends at midnight outlives every curve; a night of half-hour
//! retries is a night without an answer. **Do** give up at once and degrade.
//!
//! # Alerting on what is left
//!
//! **Don't** page on `forbear_quota_remaining` near zero. **Why:** a well-used quota is near zero all the time. **Do** page
//! on failing calls, and look at demand against what the limit can serve within the deadline.
//!
//! # Telling quota from backoff by the throttle rate
//!
//! **Don't** buy quota because a third of the attempts are throttled. **Why:** a badly tuned curve throttles as much at
//! half the demand. **Do** compare the demand offered with the limit, in windows as long as the deadline.
//!
//! # Holding the answer while sleeping
//!
//! **Don't** keep a throttled response until its retry. **Why:** its connection is held for minutes. Here it is dropped
//! before the call sleeps; an operation that stores it elsewhere undoes that.
//!
//! # Summaries where histograms are read
//!
//! **Don't** install a bare Prometheus builder. **Why:** without buckets it makes summaries, and every panel that asks for a
//! quantile is empty. **Do** use `forbear::prometheus::install`, or its `buckets` with a builder of your own.
//!
//! # A wrapped operation that never ends
//!
//! **Don't** rely on the client's default timeout. **Why:** many have none. **Do** pass `attempt.time_left()` on: the attempt
//! is cut in any case, but a client that knows ends by itself and can say why.
