//! The spans and log events of one call.
//!
//! | span | when | parent |
//! |---|---|---|
//! | `forbear.call` | the whole call | the caller's |
//! | `forbear.attempt` | each attempt; what the operation opens nests in it | the call |
//! | `forbear.delay` | each wait between attempts | the call |
//! | `forbear.gate.wait` | a wait at the gate, only if there was one | the call |
//!
//! Severities are promised. A throttle is logged at INFO (`forbear.throttled`), another failure that is retried at DEBUG
//! (`forbear.retried`), the end of a call that was given up at WARN (`forbear.gave_up`), at DEBUG where no request of this
//! call failed (the gate refused it) or waiting would not have helped. Nothing is logged at ERROR: what the failure means
//! is for the caller to say. Spans are at INFO, target `forbear`.
//!
//! The call's span shows how the call ended, not the failures it recovered from: those stand on their attempts. Only a
//! call that failed has `error.type` and the status ERROR.
//!
//! Without the feature `telemetry` the same functions are there and do nothing, so that the loop that drives a call knows
//! nothing of features.

#[cfg(not(feature = "telemetry"))]
mod off;
#[cfg(feature = "telemetry")]
mod on;
#[cfg(all(test, feature = "telemetry"))]
#[path = "../../../tests/support/traced.rs"]
mod traced;

#[cfg(not(feature = "telemetry"))]
pub(super) use off::CallSpans;
#[cfg(feature = "telemetry")]
pub(super) use on::CallSpans;

use std::time::Duration;

use crate::event::PoolLabels;

/// Whose call it is.
#[derive(Clone, Copy, Debug)]
#[cfg_attr(not(feature = "telemetry"), expect(dead_code, reason = "only spans show it"))]
pub(super) struct Whose<'a> {
    pub(super) pool: &'a PoolLabels,
    /// The policy's name.
    pub(super) policy: &'a str,
}

/// What a call that begins to wait at the gate can know.
#[cfg_attr(not(feature = "telemetry"), expect(dead_code, reason = "only spans show it"))]
pub(super) struct Queue {
    /// Calls that wait, this one included.
    pub(super) depth: usize,
    /// How long the pool is said to be shut.
    pub(super) stated: Option<Duration>,
}
