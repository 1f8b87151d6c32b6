//! The spans and log events of one call.
//!
//! | span | when | parent |
//! |---|---|---|
//! | `forbear.call` | the whole call | the caller's |
//! | `forbear.attempt` | each attempt; what the operation opens nests in it | the call |
//! | `forbear.delay` | each wait between attempts | the call |
//! | `forbear.gate.wait` | a wait at the gate, only if there was one | the call |
//!
//! A call at which `gen_ai_operation` is set is a CLIENT span named `{operation} {model}`, with provider and model in the
//! words of the conventions for generative AI. Attempts are INTERNAL, since the HTTP client's own span below is the CLIENT
//! one, unless the engine was told that there is none.
//!
//! Severities are promised:
//!
//! | event | level | when |
//! |---|---|---|
//! | `forbear.retried` | DEBUG | a failure that is no throttle and is retried |
//! | `forbear.throttled` | INFO | each throttle |
//! | `forbear.gave_up` | WARN | a call ended without success; DEBUG where it sent nothing that failed (the gate refused it) or waiting could not have helped |
//! | `forbear.gate.shut` | INFO | a pool went from letting calls in to shut; WARN for a daily or a spend limit |
//! | `forbear.gate.reopened` | INFO | a pool went from shut to paced, or from paced to flowing |
//! | `forbear.quota.updated` | DEBUG | an answer states another limit than was known |
//! | `forbear.gate.operated` | WARN | an operator shut, paced or reopened a pool, or turned the gate off or on |
//! | `forbear.store.degraded` | WARN | the shared store is not relied on any more, or refuses now; with what it said |
//! | `forbear.store.no_channel` | WARN | the shared store lets nobody subscribe, once until it does |
//! | `forbear.store.recovered` | INFO | the shared store is relied on again |
//! | `forbear.stacked_retry` | WARN | a second retry layer was noticed, once per call site and way of noticing |
//! | `forbear.headers_hidden` | WARN | a throttle was shown without headers, once per call site |
//!
//! Nothing is logged at ERROR: what a failure means is for the caller to say. Spans are at INFO; the target of both is
//! `forbear`.
//!
//! The call's span shows how the call ended, not the failures it recovered from: those stand on their attempts. Only a
//! call that failed has `error.type` and the status ERROR.
//!
//! Without the feature `telemetry` the same functions are there and do nothing, so that the loop that drives a call knows
//! nothing of features.

#[cfg(feature = "telemetry")]
mod futures;
#[cfg(feature = "telemetry")]
mod log;
#[cfg(not(feature = "telemetry"))]
mod off;
#[cfg(feature = "telemetry")]
mod on;
#[cfg(feature = "telemetry")]
mod sites;
#[cfg(all(test, feature = "telemetry"))]
#[path = "../../tests/support/traced.rs"]
mod traced;

#[cfg(all(feature = "telemetry", feature = "redis"))]
pub(super) use log::store;
#[cfg(feature = "telemetry")]
pub(super) use log::{quota_updated, transition};
#[cfg(all(not(feature = "telemetry"), feature = "redis"))]
pub(super) use off::store;
#[cfg(not(feature = "telemetry"))]
pub(super) use off::{CallSpans, CurrentSpan, Sites, quota_updated, transition};
#[cfg(feature = "telemetry")]
pub(super) use on::{CallSpans, CurrentSpan};
#[cfg(feature = "telemetry")]
pub(super) use sites::Sites;

use std::time::Duration;

use crate::core::policy::Policy;
use crate::event::PoolLabels;
use crate::run::about::About;

/// Whose call it is.
#[derive(Clone, Copy, Debug)]
#[cfg_attr(not(feature = "telemetry"), expect(dead_code, reason = "only spans show it"))]
pub(super) struct Whose<'a> {
    pub(super) pool: &'a PoolLabels,
    pub(super) about: &'a About,
    pub(super) policy: &'a Policy,
}

/// What a call that begins to wait at the gate can know.
#[cfg_attr(not(feature = "telemetry"), expect(dead_code, reason = "only spans show it"))]
pub(super) struct Queue {
    /// Calls that wait, this one included.
    pub(super) depth: usize,
    /// How long the pool is said to be shut.
    pub(super) stated: Option<Duration>,
}
