//! The handbook.
//!
//! - [`start`]: the first call, what to set, and how to see it.
//! - [`how_it_works`]: the way of one call, what a throttle does to a pool, every default with its reason.
//! - [`decisions`]: what is retried, what never is, and why in this order.
//! - [`gate`]: who is held, for how long, and how calls come back.
//! - [`choosing_numbers`]: which question each number answers, and what to write without an answer.
//! - [`replicas`]: several processes, one quota: what a shared gate adds, and when a queue is better.
//! - [`providers`]: what each provider says of its limits, where, and on which page.
//! - [`reading_answers`]: what a table makes of an answer, outside of a call too, and how to teach it a word.
//! - [`moving_providers`]: numbers that stop being right with another provider, and how to find those that are.
//! - [`storm`]: what many callers against a small quota cost, with and without it.
//! - [`adding_a_provider`]: a table for one that is not there yet, and how to judge what its page leaves open.
//! - [`mistakes`]: what not to do, why, and what instead.
//! - [`integrations`]: tower, reqwest, SDKs, streams, fallback, blocking callers.
//! - [`stacked_retries`]: one retry layer, how a second one is noticed, where to turn it off.
//! - [`spans`]: what one call looks like in a trace and in the log.
//! - [`telemetry`]: metrics that are scraped, metrics and traces that are pushed, and how to set either up.
//! - [`events_and_metrics`]: what is told, and under which names.
//! - [`verdict`]: quota, backoff or pacing: how to read what is wrong with a pool, and how good that is.
//! - [`dashboards`]: boards for Grafana, and how to read their first row.
//! - [`importing`]: boards, rules and alerts in the stack you have, and whether they get what they need.
//! - [`runbooks`]: what to do about each alert.
//! - [`testing_clients`]: a provider that throttles, in your own tests.
//! - [`peers`]: what other crates do, as facts, and when one of them fits better.
//! - [`promises`]: what you may rely on, and how a change is announced.
//!
//! Examples are compiled and, where nothing outside is needed, run. Tables are held against the code by tests.

pub mod adding_a_provider;
pub mod choosing_numbers;
pub mod dashboards;
pub mod decisions;
pub mod events_and_metrics;
pub mod gate;
pub mod how_it_works;
pub mod importing;
pub mod integrations;
pub mod mistakes;
pub mod moving_providers;
pub mod peers;
pub mod promises;
pub mod providers;
pub mod reading_answers;
pub mod replicas;
pub mod runbooks;
pub mod spans;
pub mod stacked_retries;
pub mod start;
pub mod storm;
pub mod telemetry;
pub mod testing_clients;
pub mod verdict;
