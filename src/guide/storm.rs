//! Storms: what it costs when many callers meet a small quota.
//!
//! 100, 1,000 and 10,000 callers come within two seconds, against a fifth of their number of requests a minute; nobody has a
//! deadline, so the question is what it takes until all are served. Everything runs in virtual time, against the emulator's
//! model of a provider's limits, four times with other seeds:
//!
//! ```sh
//! cargo run --release -p forbear-bench --bin storm          # the tables below
//! cargo run --release -p forbear-bench --bin storm -- --plot reopening.svg
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
#![doc = include_str!("storm.md")]
