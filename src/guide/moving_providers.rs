//! Moving to another provider: how numbers that were right stop being right, and how to see it before the incident.
//!
//! A client was written against one provider with base = 1 s, factor 2, five retries, and served well for a year. Then it is
//! pointed at another. Nothing fails in the tests. The first busy minute comes, and of four calls
//! that are throttled three give up.
//!
//! Every block below is what the command in its first line prints; a test compares them. The pictures are drawn by the same
//! commands.
//!
//! # What the numbers do
//!
//! With full jitter the waits of n retries add up to base·(2ⁿ−1)/2 on average: 15.5 s for five retries from a second. The
//! new provider counts in minutes. A call that is throttled somewhere in that minute waits for up to 60 s more, 30 on
//! average, and has given up long before:
//!
//! ```text
//! $ forbear check --base 1s --factor 2 --retries 5 --window 60s --deadline 120s --plot src/guide/moving_providers/check.svg
//! base 1 s, factor 2, no cap, 6 attempts, full jitter
//! window 60 s, deadline 2 min, no wait stated
//!
//!   wasted        5.5        requests of a throttled call are refused before one can succeed, the first included
//!   gives up      73 %       of the throttled calls before the window resets; 100 % where it has just begun
//!   last request  16 s       after the first on average, 31.5 s at the latest: it cannot outlive the window
//!   together      10 %       of the callers throttled in one moment come back within 100 ms of each other
//!   requests      6          at most for one call
//!   longest call  unknown    nothing cuts the requests: no --timeout was given
//!
//! error    cannot_outlive_window
//!   the last request begins 31.5 s after the first at the latest, and the window lasts 60 s: a call that is
//!   throttled when it has just begun cannot succeed
//!   -> set base 6 s, factor 2, cap 12 s, attempts 32
//!
//! error    gives_up_before_reset
//!   73 % of the throttled calls give up before the window resets
//!   -> set base 6 s, factor 2, cap 12 s, attempts 32: then 0.1 % do
//! ```
//!
//! The exit status is 1, so the same line can stand in a CI: the numbers of a service are checked when they are changed, not
//! when they matter.
//!
#![doc = include_str!("moving_providers/check.svg")]
//!
//! The line of the numbers that were checked ends where the last attempt does. What comes after it does not happen.
//!
//! # What changed between the providers
//!
//! The headers look the same, and mean something else. Who reads `x-ratelimit-remaining-requests` as before takes what is
//! left of the day for what is left of the minute:
//!
//! ```text
//! $ forbear check --from openai --to groq
//! from openai to groq
//!
//! headers of the same name that mean something else
//!   x-ratelimit-limit-requests       limit of requests per minute -> limit of requests per day
//!   x-ratelimit-remaining-requests   left of requests per minute -> left of requests per day
//!   x-ratelimit-reset-requests       reset of requests per minute -> reset of requests per day
//!
//! quotas, and the headers that tell of them
//!   audio seconds                    no header -> x-ratelimit-{limit,remaining,reset}-audio-seconds
//!   primary window                   x-codex-primary-{used-percent,reset-after-seconds,reset-at} -> no header
//!   project tokens                   x-ratelimit-{limit,remaining,reset}-project-tokens -> no header
//!   requests per day                 no header -> x-ratelimit-{limit,remaining,reset}-requests
//!   requests per minute              x-ratelimit-{limit,remaining,reset}-requests -> no header
//!   secondary window                 x-codex-secondary-{used-percent,reset-after-seconds,reset-at} -> no header
//!   tokens per minute                x-ratelimit-{limit,remaining,reset}-tokens (the same)
//!
//! a wait is stated in     header (the same)
//! the limit is named in   body (the same)
//! levels, widest first    org, project, model (the same)
//! counted per day         requests per day -> requests per day, tokens per day
//! classes of throttles    request_rate, token_throughput, daily, overload, spend, unknown -> request_rate,
//!                         token_throughput, daily, overload, unknown
//! table checked on        2026-11-30, https://developers.openai.com/api/docs/guides/rate-limits -> 2026-11-30,
//!                         https://console.groq.com/docs/rate-limits
//! ```
//!
//! A table stands behind each name ([`provider`](crate::provider)), so nothing of this has to be known to use it: pass the
//! other table, and limits, waits and scopes are read as that provider means them. A daily limit ends a call at once there
//! as here; no curve reaches midnight.
//!
//! # Numbers that fit
//!
//! ```text
//! $ forbear suggest --window 60s --deadline 120s
//! window 60 s, deadline 2 min, no wait is stated
//!
//!   base        6 s     a tenth of the window
//!   factor      2       the usual doubling
//!   cap         12 s    a tenth of the deadline: longer waits would miss more resets, shorter ones waste
//!                       requests
//!   attempts    32      their waits add up to 3 min 6 s on average, half as much again as the deadline: it ends
//!                       the call, not the count
//!   coverage    99.9 %  the chance that an attempt comes after the window's reset and before the deadline;
//!                       99.8 % where the window has just begun
//!   wasted      6.1     requests of a throttled call are refused before that, the first one included
//!
//!   Policy::background(Duration::from_secs(120)).base(Duration::from_secs(6)).cap(Duration::from_secs(12)).attempts(32)
//! ```
//!
//! The deadline is the caller's, and no tool can suggest it. A person who waits 15 s is another call site with another
//! answer, the honest one being not to make them wait:
//!
//! ```text
//! $ forbear suggest --window 60s --deadline 15s --interactive
//! window 60 s, deadline 15 s, no wait is stated
//!
//!   attempts    1       do not retry: a window of 60 s resets within 15 s for at most 25 % of the throttled
//!                       calls, and every retry of the others would be refused. Allow a longer deadline, hand the
//!                       work to a queue, or retry only where the provider states a wait that fits
//!
//!   Policy::interactive(Duration::from_secs(15)).attempts(1)
//! ```
//!
//! Work that nobody waits for loses nothing but requests, and may take the few calls that can be saved. It gets retries as
//! far apart as saves nearly all of them, and the price is told:
//!
//! ```text
//! $ forbear suggest --window 60s --deadline 15s
//! window 60 s, deadline 15 s, no wait is stated
//!
//!   base        3.8 s   the cap: a tenth of the window is longer than that
//!   factor      2       the usual doubling
//!   cap         3.8 s   a twentieth of window and deadline together: longer waits would miss more resets,
//!                       shorter ones waste requests
//!   attempts    13      their waits add up to 24 s on average, half as much again as the deadline: it ends the
//!                       call, not the count
//!   coverage    23 %    the chance that an attempt comes after the window's reset and before the deadline; 0 %
//!                       where the window has just begun
//!   wasted      7.2     requests of a throttled call are refused before that, the first one included
//!
//!   caution     where a person waits, do not retry: a window of 60 s resets within 15 s for at most 25 % of the
//!               throttled calls, and the others would hear it after 15 s instead of at once. 27 retries are
//!               refused for each call that is saved
//!
//!   Policy::background(Duration::from_secs(15)).base(Duration::from_millis(3800)).cap(Duration::from_millis(3800)).attempts(13)
//! ```
//!
//! Most model providers state how long to wait. Then even 15 s are worth a retry, because it is made only where the stated
//! wait fits:
//!
//! ```text
//! $ forbear suggest --provider groq --deadline 15s
//! groq: window 60 s, deadline 15 s, waits are stated
//!
//!   base        1.9 s   an eighth of the deadline: the jitter on top of a stated wait
//!   factor      2       the usual doubling
//!   cap         3.8 s   a quarter of the deadline
//!   attempts    14      their waits add up to 25.05 s on average, half as much again as the deadline: it ends
//!                       the call, not the count
//!   header_cap  5 min   the longest stated wait that is waited for; one past the deadline ends the call at once
//!   coverage    23 %    where an answer states no wait: the chance that an attempt comes after the window's
//!                       reset and before the deadline; 0 % where the window has just begun
//!   wasted      7.7     requests of a throttled call are refused before that, the first one included
//!
//!   Policy::background(Duration::from_secs(15)).base(Duration::from_millis(1900)).cap(Duration::from_millis(3800)).attempts(14)
//! ```
//!
//! In code the same numbers come from the window and the deadline, and stay right when one of them changes:
//!
//! ```
//! use std::time::Duration;
//! use forbear::Policy;
//!
//! let nightly = Policy::for_window(Duration::from_secs(60)).deadline(Duration::from_secs(120)).named("nightly").build()?;
//! let check = nightly.check(Duration::from_secs(60), Duration::from_secs(120))?;
//! assert!(check.findings.is_empty() && check.gives_up() < 0.01);
//! # Ok::<(), forbear::InvalidSetting>(())
//! ```
//!
//! # What would happen
//!
//! A check knows one call. Ninety calls every three minutes, from four replicas, meet each other, and that is simulated
//! (`src/guide/moving_providers/scenario.json`):
//!
//! ```json
#![doc = include_str!("moving_providers/scenario.json")]
//! ```
//!
//! ```text
//! $ forbear what-if src/guide/moving_providers/scenario.json --plot src/guide/moving_providers/what_if.svg
//!                    success  requests a call  throttled  wait p95  gave up
//! today              67 %     2.67             900        0 s       150 attempts_exhausted
//! suggested numbers  100 %    4.15             1416       58.2 s    none
//! shared gate        100 %    1.39             175        62.9 s    none
//! twice the quota    100 %    1.00             0          0 s       none
//!
//! today:             base 1 s, cap 2 min, attempts 6
//! suggested numbers: base 6 s, cap 12 s, attempts 32
//!
//! The numbers are the trouble: with those that are suggested 100 % of the calls succeed instead of 67 %, with
//! 4.1 requests a call instead of 2.7, at the same quota.
//! ```
//!
#![doc = include_str!("moving_providers/what_if.svg")]
//!
//! Better numbers save the calls, at a price in requests: each call still has to find out for itself that the minute is not
//! over. The gate pays it once for all of them; see [`gate`](crate::guide::gate). Twice the quota also helps, and costs
//! money every month.
//!
//! # And the layer below
//!
//! The numbers are only those of the outer layer. An SDK that retries by itself, as most do unless told otherwise,
//! multiplies them:
//!
//! ```text
//! $ forbear check --base 1s --factor 2 --retries 5 --sdk-retries 2 --timeout 600s --window 60s --deadline 120s
//! base 1 s, factor 2, no cap, 6 attempts, full jitter, 10 min for a request; each attempt is made of up to 3
//! requests by the client below
//! window 60 s, deadline 2 min, no wait stated
//!
//!   wasted        15.2       requests of a throttled call are refused before one can succeed, the first included
//!   gives up      58 %       of the throttled calls before the window resets; 100 % where it has just begun
//!   last request  25.075 s   after the first on average, 41.7 s at the latest: it cannot outlive the window
//!   together      80 %       of the callers throttled in one moment come back within 100 ms of each other
//!   requests      18         at most for one call
//!   longest call  3 h        with every request cut at its end and every wait at its longest
//!
//! error    cannot_outlive_window
//!   the last request begins 41.7 s after the first at the latest, and the window lasts 60 s: a call that is
//!   throttled when it has just begun cannot succeed
//!   -> set base 6 s, factor 2, cap 12 s, attempts 32
//!
//! error    gives_up_before_reset
//!   58 % of the throttled calls give up before the window resets
//!   -> set base 6 s, factor 2, cap 12 s, attempts 32: then 0.1 % do
//!
//! error    multiplied_requests
//!   one call makes up to 18 requests: the layer below makes 3 of each of 6 attempts
//!   -> turn the retries of the layer below off: one layer retries
//!
//! error    outlasts_deadline
//!   a call can take 3 h, and its caller waits 2 min
//!   -> end the call after 2 min, and each request with the time that is left
//!
//! warning  wasted_requests
//!   15.2 requests of a throttled call are refused before one can succeed, or none can
//!   -> set base 6 s, factor 2, cap 12 s, attempts 32: then 6.1 are
//!
//! warning  synchronised
//!   80 % of the callers that are throttled in one moment come back within 100 ms of each other
//!   -> draw full jitter over a base of 6 s
//! ```
//!
//! `--like openai-python` and the other names of `forbear check --help` fill in what a library does when it is told nothing.
//!
//! # What the numbers rest on
//!
//! The check's model is one call, throttled at a random instant of a window that starts anew at its end, and no waits
//! stated; [`Reach`](crate::core::tune::Reach) says how it is computed. Against a quota that refills evenly (a token bucket)
//! calls do better than that; where answers take long beside the deadline, worse: ask with the deadline less the time of an
//! answer. `cargo run --release -p forbear-bench --bin numbers` holds both against
//! simulation: the suggested numbers against the best of a sweep, and the predictions against what happens.
