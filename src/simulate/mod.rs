//! The world in virtual time: a scenario in, what became of its calls out.
//!
//! The engine's own state machines ([`core::call`](crate::core::call), [`core::gate`](crate::core::gate)) meet the
//! emulator's [limits](crate::emulator::limits) in a world where nothing takes time: an hour of calls is simulated in
//! milliseconds, and the same seed gives the same result. What is found out here about a gate or a policy is found out about
//! the engine itself, not about a model of it.
//!
//! ```
//! use forbear::simulate::{Scenario, simulate};
//!
//! // A thousand calls within two seconds, at a provider that grants 200 a minute.
//! let scenario: Scenario = r#"{
//!     "provider": {"requests_per_minute": 200, "algorithm": "fixed_window"},
//!     "callers": {"arrivals": {"burst": {"size": 1000, "within_s": 2}}}
//! }"#.parse()?;
//! let result = simulate(&scenario)?;
//! assert_eq!((result.calls, result.succeeded), (1000, 1000));
//!
//! // The same calls without a gate: each on its own.
//! let mut alone = scenario.clone();
//! alone.gate = Some(forbear::simulate::GateMode::None);
//! assert!(simulate(&alone)?.attempts > result.attempts);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # What the world is
//!
//! A request reaches the provider at once and is judged then; its answer comes after the service time, or after the time a
//! refusal takes. A wait that a refusal states is counted from the answer on. Others who use the same quotas never retry.
//! Chance comes from the seed, in a stream of its own for each purpose: a scenario that differs only in policy, gate or
//! engine meets the same calls at the same instants with the same sizes.
//!
//! # What it is not
//!
//! There is no network, no connection and no body; answers are read as a provider's table would have read them. `shared` is
//! one gate for all replicas, without the store that a fleet would need for it; `news` travels for a millisecond and is never
//! lost. A retry budget is each process's own, with its default settings.
//!
//! # How it is made
//!
//! | file | job |
//! |---|---|
//! | `scenario`, `plan` | what is simulated, as a user writes it; the same with its defaults, checked |
//! | `arrivals`, `sizes`, `calendar`, `chance` | when calls come, how large they are, what happens next, dice for each purpose |
//! | `provider`, `world`, `pacer` | who judges requests; the engine among its callers; the ideal engine |
//! | `run`, `lines`, `what_if` | one run, watched; many, a line each; the same traffic with one thing changed |
//! | `tally`, `waits`, `timeline`, `plot` | what became of the calls: sums, percentiles, a course of time, a picture |
//! | `watch`, `judge`, `scrape` | who looks on: the diagnosis, verdicts on the way, a scrape of the metrics |

mod arrivals;
mod calendar;
mod chance;
mod judge;
mod lines;
mod pacer;
mod plan;
mod plot;
mod provider;
mod run;
mod scenario;
mod scrape;
mod sizes;
mod tally;
mod timeline;
mod waits;
mod watch;
mod what_if;
mod world;

pub use judge::Judging;
pub use lines::{LinesError, simulate_lines};
pub use run::{Run, Simulation, simulate};
pub use scenario::*;
pub use scrape::{Scrape, Scraped};
pub use tally::Outcome;
pub use timeline::Request;
pub use waits::Percentiles;
pub use what_if::{Change, Row, WhatIf, what_if};

#[cfg(test)]
mod differential_tests;
