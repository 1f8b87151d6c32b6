//! No spans: the feature is off.

use std::time::Duration;

use crate::core::call::AttemptPlan;
use crate::core::decide::{AttemptOutcome, GiveUp, Wait};
use crate::core::signal::{QuotaReading, Signal};
use crate::event::{Event, GateResult, PoolLabels, StackedBy};
use crate::run::spans::{Queue, Whose};

/// The spans of one call; there are none.
pub(in crate::run) struct CallSpans;

impl CallSpans {
    /// Whether failures are logged even where no span is open.
    pub(in crate::run) const LOG: bool = false;

    #[inline(always)]
    pub(in crate::run) fn none() -> Self {
        Self
    }

    #[inline(always)]
    pub(in crate::run) fn start(_: Whose<'_>, _: impl FnOnce() -> usize) -> Self {
        Self
    }

    #[inline(always)]
    pub(in crate::run) fn are_open(&self) -> bool {
        false
    }

    #[inline(always)]
    pub(in crate::run) fn enter(&self) -> NoSpan {
        NoSpan
    }

    #[inline(always)]
    pub(in crate::run) fn at_gate<F>(&mut self, turn: F, _: impl FnOnce() -> Queue) -> F {
        turn
    }

    #[inline(always)]
    pub(in crate::run) fn gate_waited(&mut self, _: GateResult, _: Duration) {}

    #[inline(always)]
    pub(in crate::run) fn attempt_begins(&mut self, _: &AttemptPlan) {}

    #[inline(always)]
    pub(in crate::run) fn inside<F>(&self, future: impl FnOnce() -> F) -> F {
        future()
    }

    pub(in crate::run) fn inside_call<F>(&self, future: impl FnOnce() -> F) -> F {
        future()
    }

    #[inline(always)]
    pub(in crate::run) fn attempt_ended(&mut self, _: Whose<'_>, _: AttemptOutcome, _: &Signal) {}

    #[inline(always)]
    pub(in crate::run) fn delay_begins(&mut self, _: &Wait) {}

    #[inline(always)]
    pub(in crate::run) fn delay_ended(&mut self, _: Duration) {}

    #[inline(always)]
    pub(in crate::run) fn requests_sent(&self, _: u32) {}

    #[inline(always)]
    pub(in crate::run) fn done(&mut self, _: u32) {}

    pub(in crate::run) fn done_by_fallback(&mut self, _: u32) {}

    #[inline(always)]
    pub(in crate::run) fn gave_up(&mut self, _: Whose<'_>, _: &GiveUp, _: u32) {}
}

/// The guard of a span that is none.
pub(in crate::run) struct NoSpan;

/// The span that was current somewhere else; there is none.
pub(in crate::run) struct CurrentSpan;

impl CurrentSpan {
    #[inline(always)]
    pub(in crate::run) fn take() -> Self {
        Self
    }

    #[inline(always)]
    pub(in crate::run) fn enter(&self) -> NoSpan {
        NoSpan
    }
}

/// The call sites that were warned; none is.
#[derive(Debug, Default)]
pub(in crate::run) struct Sites(());

impl Sites {
    #[inline(always)]
    pub(in crate::run) fn warn(&self, _: &PoolLabels, _: &str, _: StackedBy) {}

    #[inline(always)]
    pub(in crate::run) fn warn_of_hidden_headers(&self, _: &PoolLabels, _: &str) {}
}

#[inline(always)]
pub(in crate::run) fn transition(_: &PoolLabels, _: &Event<'_>) {}

#[cfg(feature = "redis")]
pub(in crate::run) fn store(_: &crate::store::Note<'_>) {}

#[inline(always)]
pub(in crate::run) fn quota_updated(_: &PoolLabels, _: &QuotaReading, _: Option<u64>) {}
