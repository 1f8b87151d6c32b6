//! Storms: what it costs when many callers meet a small quota.
//!
//! 100, 1,000 and 10,000 callers come within two seconds, against a fifth of their number of requests a minute; nobody has a
//! deadline, so the question is what it takes until all are served. Everything runs in virtual time, against the emulator's
//! model of a provider's limits, four times with other seeds:
//!
//! ```sh
//! cargo run --release -p forbear-bench --bin storm > src/guide/storm.md      # the tables below; some minutes
//! cargo run --release -p forbear-bench --bin storm -- --ours --section 3     # a part of it, in seconds
//! cargo run --release -p forbear-bench --bin storm -- --plot src/guide/reopening.svg
//! ```
//!
//! # What comes after a reopening
//!
#![doc = include_str!("reopening.svg")]
//!
//! # How to read the tables
//!
//! Each entry is *requests for each call / the drain as a multiple of the ideal / the most requests in any 100 ms after a
//! reopening*. In brackets: the drain of the slowest seed, where it is much slower than the average. **Bold** misses a
//! target.
//!
//! * **floor**: requests for each call that nobody can spare who hears of a limit by its first refusal: what was sent before
//!   that refusal came back.
//! * **ideal**: knows the provider's own count, serves first come, first served at the first instant the quota allows.
//! * **limit**: a window that starts anew each minute, a window that slides, a bucket that holds a minute's quota, a bucket
//!   that holds a second's.
//! * **refusals**: whether refused requests count against the quota.
//! * **headers**: refusals state a wait in whole seconds and all answers tell limit, rest and reset; or nothing is told.
//! * **cold start**: the quota is configured and the pool paced from the start.
//! * Peers' rules come from their crates; none of them looks at headers by itself but the last two, which are what
//!   applications write. "% served" is where more than a hundred requests for each call, or twenty times the ideal, did not
//!   serve everybody.
//!
//! With ten processes each has its own gate, knows only that there are ten, and gets a random tenth of the callers.
//!
//! # What is missed, and why
//!
//! * **A sliding window that counts refusals, without headers.** Before the gate knows the window it asks a few times too
//!   early, and each refused request takes a place of the next minute. There are exactly five times as many callers as
//!   places in a minute, so the last few wait for a sixth.
//! * **Ten processes and a hundred callers.** A share is two requests a minute, and callers fall on processes by chance:
//!   one has five, another fifteen. Those with more have to find out that the others are done, and answers that take half a
//!   minute tell it late.
//! * **Ten processes at a bucket that holds one request, or three.** Requests that meet are refused, and nobody knows when
//!   the others send. Where refusals count, too, each puts the next slot off: who cannot hear the others on one channel
//!   uses at most 1/e of it, as in slotted ALOHA (Roberts, 1975).
//! * **Ten processes at a sliding window that counts refusals, with long answers.** To ask for what others left costs a
//!   place where nothing was left.
//! * **Cold start.** It is paced evenly until an answer shows that the limit is a window: never without headers, and half a
//!   minute late where answers take that long. What it saves is the refusals.
//!
//! A [shared gate](crate::guide::gate#replicas) has none of the troubles of ten processes.
//!
#![doc = include_str!("storm.md")]
