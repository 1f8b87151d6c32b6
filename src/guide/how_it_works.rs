//! The way of one call, what a throttle does to a pool, and every default.
//!
//! # The way of one call
//!
//! 1. **Call.** Demand is counted here, whatever becomes of the call.
//! 2. **Gate.** *Flowing*: a permit at once. *Paced*: a permit at its slot. *Shut*: wait for the reopening. A call whose
//!    turn cannot come in time is refused at once and told when to come back: because the deadline comes first, because
//!    too many wait before it, or because less time would be left than most attempts take. So is one that finds the
//!    queue full, and one that said it does not wait.
//! 3. **Attempt.** The operation runs for at most the attempt's timeout or the time left, whichever is less; at the
//!    deadline it is cut.
//! 4. **Classify.** The provider's table reads status, headers and body: which limit, how long to wait, how much quota is
//!    left. Successes are read too: quota headers come with them, and errors come inside 200s.
//! 5. **Report.** A throttle is told to the pool of its scope in a plain function call that is never awaited, so a
//!    dropped call cannot lose it.
//! 6. **Decide.** Pure: daily limit, spend limit, or a request larger than the limit give up at once. Otherwise attempts,
//!    budget and deadline are asked; a stated delay beats the curve.
//! 7. **Delay.** Sleep, then back to 2 with the old place in the queue.
//!
//! Each step hands one event to the sink, if there is one. Without a sink nothing is built and nothing is paid.
//!
//! Two words are never mixed: a signal is *retryable* when waiting could help, which is what the provider said; the
//! *decision* is what this call does about it.
//!
//! # What a throttle does to a pool
//!
//! | limit class | effect | end |
//! |---|---|---|
//! | `request_rate`, `token_throughput`, `unknown` | shut | as stated, at least 1 s; not stated: a guess that doubles with each throttled round, at most 60 s and not past the minute in which the limit was used up; then paced |
//! | `overload` | shut | as stated; guessed at most 30 s; then paced |
//! | `concurrency` | not shut: fewer requests may be under way, and the next leaves when one comes back | one more is tried after 5 s, then half as often each time that is in vain |
//! | `daily` | shut; later calls fail at once without a request | as stated, at most 26 h; else 26 h |
//! | `spend` | shut, likewise | as stated; else looked at again after 1 h |
//! | a request larger than the limit | none | |
//!
//! A shut longer than a minute is tested by one request every 5 minutes, so that a raised quota or a paid bill needs no
//! restart. What the provider told beats what was guessed; of two of a kind the later end wins. After a shut calls come
//! back one slot after another, as fast as what is known of the limit allows: see [the gate](crate::guide::gate).
//!
//! # Which pool a throttle shuts
//!
//! A pool's path names the levels of its provider, widest first. A throttle that names its scope shuts that level, and
//! with it every pool below; one that does not shuts the caller's own pool alone.
//!
//! # What is retried
//!
//! | what came | what is done |
//! |---|---|
//! | throttle by rate, tokens, concurrency, overload | again, after the stated delay or the curve |
//! | 503, 529, 408, no connection | again |
//! | other 5xx, timeout, broken connection | as the policy's `on_ambiguous` says |
//! | daily limit, spend limit, request larger than the limit | given up at once |
//! | a stated delay past the deadline, or above `header_cap` | given up at once, without another request |
//! | other 4xx | given up, unless the provider's table knows it as a throttle |
//! | an error inside a 200 | as the error it is |
//!
//! # Every default
//!
//! A policy, one per call site ([`Policy`](crate::Policy)):
//!
//! | field | `interactive` | `background` | why |
//! |---|---|---|---|
//! | `deadline` | required | required | only the caller knows how long an answer is worth having |
//! | `base` | 500ms | 6s | a person waits; against a quota per minute a job should start at a tenth of it |
//! | `factor` | 2 | 2 | the usual doubling |
//! | `cap` | 8s | 120s | two windows are enough for a job; a person waits no longer than this at once |
//! | `header_cap` | 300s | 300s | waits of a minute or two are real, hours are somebody else's affair |
//! | `on_over_cap` | GiveUp | GiveUp | a retry before the stated end is known to fail |
//! | `attempts` | 4 | 10 | the deadline is the limit that counts; this one stops loops |
//! | `attempt_timeout` | none | none | the deadline cuts the attempt in any case |
//! | `on_ambiguous` | Retry | Retry | a model call has no side effect but its price |
//! | `allow_nested` | no | no | two layers multiply: a call inside an attempt at the same pool runs once |
//! | `gen_ai_operation`, `gen_ai_model` | none | none | only the call site knows what it asks for; spans alone show it |
//!
//! The retry budget of a pool, for failures that are no throttles ([`BudgetSettings`](crate::BudgetSettings)):
//!
//! | field | default | why |
//! |---|---|---|
//! | `share_of_calls` | 0.2 | a fault is survived, a storm is not fed |
//! | `floor_per_second` | 1 | services with little traffic must be able to retry at all |
//! | `burst` | 100 | what may be saved up |
//!
//! The engine ([`ForbearBuilder`](crate::ForbearBuilder)):
//!
//! | field | default | why |
//! |---|---|---|
//! | `gate` | local | one caller's throttle is news for every caller of the pool |
//! | `sink` | none | without one nothing is built and nothing is paid |
//! | `observe_only` | off | who only wants to look first says so |
//! | `replicas` | unknown | only where no shared gate knows it |
//! | `shadow_pacer` | off | a process sees only its share of the demand |
//! | `client_attempts` | off | the HTTP client's span below an attempt is the CLIENT one |
//! | `queue_limit` | 100000 | a guard of memory, about 40 MB; how long a call waits is its deadline's affair |
//! | `diagnosable` | off | it remembers 60 kB of each pool |
//! | `seed` | from the operating system | waits nobody can foresee do not meet |
//!
//! At 3 am: [`Forbear::turn_gate_off`](crate::Forbear::turn_gate_off), [`Pool::shut`](crate::Pool::shut) and
//! [`Pool::reopen`](crate::Pool::reopen) work at run time; `FORBEAR_GATE=off` turns the gate off and
//! `FORBEAR_OBSERVE_ONLY=1` stops retrying at the next start, without a build.

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use crate::core::policy::Policy;
    use crate::{BudgetSettings, PolicyBuilder};

    const PAGE: &str = include_str!("how_it_works.rs");

    fn assert_row(row: &str) {
        assert!(PAGE.contains(&format!("\n//! {row}")), "no row begins with {row}");
    }

    #[test]
    fn the_table_of_policies_says_what_the_presets_set() {
        let built = |policy: PolicyBuilder| policy.build().expect("the preset is valid");
        let minute = Duration::from_secs(60);
        let (a, b) = (built(Policy::interactive(minute)), built(Policy::background(minute)));
        assert_row(&format!("| `base` | {:?} | {:?} |", a.base(), b.base()));
        assert_row(&format!("| `factor` | {} | {} |", a.factor(), b.factor()));
        assert_row(&format!("| `cap` | {:?} | {:?} |", a.cap(), b.cap()));
        assert_row(&format!("| `header_cap` | {:?} | {:?} |", a.header_cap(), b.header_cap()));
        assert_row(&format!("| `on_over_cap` | {:?} | {:?} |", a.on_over_cap(), b.on_over_cap()));
        assert_row(&format!("| `attempts` | {} | {} |", a.attempts(), b.attempts()));
        assert_row(&format!("| `on_ambiguous` | {:?} | {:?} |", a.on_ambiguous(), b.on_ambiguous()));
        assert_eq!((a.attempt_timeout(), b.attempt_timeout()), (None, None));
    }

    #[test]
    fn the_table_of_the_budget_says_what_its_default_is() {
        let BudgetSettings { share_of_calls, floor_per_second, burst } = BudgetSettings::default();
        assert_row(&format!("| `share_of_calls` | {share_of_calls} |"));
        assert_row(&format!("| `floor_per_second` | {floor_per_second} |"));
        assert_row(&format!("| `burst` | {burst} |"));
    }
}
