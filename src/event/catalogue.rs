//! The one table of metrics. Sinks, the guide's table, dashboards and tests read it; nothing else names a metric.
//!
//! Three labels answer three questions everywhere: `outcome` how it ended, `limit_class` which limit was hit,
//! `delay_source` where a wait came from.

use crate::core::decide::{AttemptOutcome, CallOutcome, DelaySource};
use crate::core::signal::{Dimension, LimitClass, Part, QuotaWindow, TokenKind};
use crate::event::metric::{Label, Row, Words};
use crate::event::words::{
    AttemptNumber, BoundedLabel, CallState, DegradedReason, GateMode, PolicyParameter, QuotaOrigin, StoreOperation,
    StoreOutcome, YesNo,
};
use crate::event::{GateResult, GateState, StackedBy};

/// Rises when a name or a label set of the catalogue changes.
pub const SCHEMA: &str = "1";

/// The version of this crate.
pub const VERSION: &str = env!("CARGO_PKG_VERSION");

/// Labels of closed words: the constant's name, the label's key, the enum that spells it.
macro_rules! labels {
    ($($name:ident $key:literal $words:ident,)*) => {
        $(const $name: Label = Label::closed($key, {
            const WORDS: [&str; $words::ALL.len()] = {
                let mut words = [""; $words::ALL.len()];
                let mut place = 0;
                while place < words.len() {
                    words[place] = $words::ALL[place].as_str();
                    place += 1;
                }
                words
            };
            &WORDS
        });)*
    };
}

labels! {
    ATTEMPT "attempt" AttemptNumber,
    DELAY_SOURCE "delay_source" DelaySource,
    LIMIT_CLASS "limit_class" LimitClass,
    ATTEMPT_OUTCOME "outcome" AttemptOutcome,
    CALL_OUTCOME "outcome" CallOutcome,
    TOKEN_KIND "token_kind" TokenKind,
    EARLY "early" YesNo,
    TOLD "told" YesNo,
    RESULT "result" GateResult,
    POOL_STATE "state" GateState,
    CALL_STATE "state" CallState,
    DETECTOR "detector" StackedBy,
    PART "part" Part,
    BOUNDED "label" BoundedLabel,
    DIMENSION "dimension" Dimension,
    WINDOW "window" QuotaWindow,
    ORIGIN "origin" QuotaOrigin,
    MODE "mode" GateMode,
    PARAMETER "parameter" PolicyParameter,
    OPERATION "operation" StoreOperation,
    STORE_OUTCOME "outcome" StoreOutcome,
    REASON "reason" DegradedReason,
}

const POLICY: Label = Label { key: "policy", words: Words::Policies };
const VERSION_LABEL: Label = Label { key: "version", words: Words::OfBuild };
const SCHEMA_LABEL: Label = Label { key: "schema", words: Words::OfBuild };

/// Answers of providers take from a quarter of a second to many minutes. Few bounds: each costs a series per outcome.
const ANSWER_SECONDS: &[f64] = &[0.25, 1.0, 5.0, 30.0, 120.0, 900.0];
/// Waits begin lower: a curve may start at a tenth of a second.
const WAIT_SECONDS: &[f64] = &[0.1, 1.0, 5.0, 30.0, 120.0, 900.0];
/// Its sum and count are what is read: the mean patience. One bound, the same on both roads, keeps it a histogram.
const PATIENCE_SECONDS: &[f64] = &[60.0];
/// A store answers in milliseconds and is given up at a quarter of a second.
const STORE_SECONDS: &[f64] = &[0.001, 0.005, 0.025, 0.1, 0.25];
/// News travels at once, or with the next reconcile.
const NEWS_SECONDS: &[f64] = &[0.01, 0.1, 1.0, 2.5, 15.0];

/// The rows: identifier, help, what it is.
macro_rules! rows {
    ($($metric:ident $help:literal $row:expr,)*) => {
        /// A metric of the catalogue.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
        #[non_exhaustive]
        pub enum Metric { $(#[doc = $help] $metric,)* }

        impl Metric {
            /// Every metric, in the table's order.
            pub const ALL: &'static [Self] = &[$(Self::$metric,)*];

            /// Its row.
            #[must_use]
            pub const fn row(self) -> &'static Row {
                const ROWS: &[Row] = &[$(Row { help: $help, ..$row },)*];
                &ROWS[self as usize]
            }

            /// The metric of this Prometheus name.
            #[must_use]
            pub fn find(prometheus: &str) -> Option<Self> {
                Self::ALL.iter().copied().find(|metric| metric.row().prometheus == prometheus)
            }
        }
    };
}

rows! {
    Calls "Calls offered, counted when they arrive; refused ones too."
        Row::counter("forbear_calls_total", "forbear.calls", "{call}", &[POLICY]),
    OfferedTokens "Tokens that the calls offered were expected to use, counted when they arrive."
        Row::counter("forbear_offered_tokens_total", "forbear.offered.tokens", "{token}", &[POLICY, TOKEN_KIND]),
    UsedTokens "Tokens that were really used."
        Row::counter("forbear_used_tokens_total", "forbear.used.tokens", "{token}", &[TOKEN_KIND]),
    CallDeadline "How long the calls offered may take."
        Row::histogram("forbear_call_deadline_seconds", "forbear.call.deadline", &[POLICY], PATIENCE_SECONDS),
    CallDuration "How long calls took with all attempts and waits, by how they ended."
        Row::histogram("forbear_call_duration_seconds", "forbear.call.duration", &[CALL_OUTCOME], ANSWER_SECONDS),
    CallsInFlight "Calls that have not ended, by what they are doing."
        Row::gauge("forbear_calls_in_flight", "forbear.calls.in_flight", "{call}", &[CALL_STATE]),
    Attempts "Attempts that ended, by number, source of the longest wait before them, outcome and limit hit."
        Row::counter(
            "forbear_attempts_total",
            "forbear.attempts",
            "{attempt}",
            &[ATTEMPT, DELAY_SOURCE, ATTEMPT_OUTCOME, LIMIT_CLASS],
        ),
    AttemptDuration "How long attempts took: the provider's latency without waits."
        Row::histogram("forbear_attempt_duration_seconds", "forbear.attempt.duration", &[], ANSWER_SECONDS),
    Delay "Waits before an attempt, each by its own source."
        Row::histogram("forbear_delay_seconds", "forbear.delay", &[DELAY_SOURCE], WAIT_SECONDS),
    ClampedDelays "Stated delays that were cut to their cap."
        Row::counter("forbear_clamped_delays_total", "forbear.clamped_delays", "{delay}", &[]).starting_at_zero(),
    Giveups "Calls that were given up: why, what stood in the way last, which wait did not fit, and whether early."
        Row::counter(
            "forbear_giveups_total",
            "forbear.giveups",
            "{call}",
            &[POLICY, CALL_OUTCOME, LIMIT_CLASS, DELAY_SOURCE, EARLY],
        ),
    QuotaLimit "How much a quota of the whole pool grants in its window. Not to be summed over replicas."
        Row::gauge("forbear_quota_limit", "forbear.quota.limit", "{unit}", &[DIMENSION, WINDOW, ORIGIN]),
    QuotaRemaining "How much of a quota of the whole pool is left. Not to be summed over replicas."
        Row::gauge("forbear_quota_remaining", "forbear.quota.remaining", "{unit}", &[DIMENSION, WINDOW, ORIGIN]),
    QuotaReset "When a quota's window resets, in seconds since 1970."
        Row::gauge(
            "forbear_quota_reset_timestamp_seconds",
            "forbear.quota.reset.timestamp",
            "s",
            &[DIMENSION, WINDOW],
        ),
    QuotaObserved "When a quota was last read from an answer, in seconds since 1970."
        Row::gauge(
            "forbear_quota_observed_timestamp_seconds",
            "forbear.quota.observed.timestamp",
            "s",
            &[DIMENSION, WINDOW],
        ),
    PolicyParameter "What a policy sets; the unit is part of the parameter's word."
        Row::gauge("forbear_policy_parameter", "forbear.policy.parameter", "", &[POLICY, PARAMETER]),
    GateInfo "How the pool's gate works; always 1."
        Row::gauge("forbear_gate_info", "forbear.gate.info", "", &[MODE]),
    GateState "1 for the state the pool's gate is in, 0 for the others."
        Row::gauge("forbear_gate_state", "forbear.gate.state", "", &[POOL_STATE]),
    GateShutUntil "Until when the pool is shut and why, in seconds since 1970."
        Row::gauge(
            "forbear_gate_shut_until_timestamp_seconds",
            "forbear.gate.shut_until.timestamp",
            "s",
            &[LIMIT_CLASS],
        ),
    GateWait "How long calls were held at the gate, by how the wait ended."
        Row::histogram("forbear_gate_wait_seconds", "forbear.gate.wait", &[RESULT], WAIT_SECONDS),
    GateShuts "How often the pool shut, why, and whether the provider said how long."
        Row::counter("forbear_gate_shuts_total", "forbear.gate.shuts", "{shut}", &[LIMIT_CLASS, TOLD]),
    WireRequests "Requests that really left inside attempts, where a tap is put; more than attempts = retries below."
        Row::counter("forbear_wire_requests_total", "forbear.wire.requests", "{request}", &[]),
    StackedRetries "Calls at which a second retry layer was noticed."
        Row::counter("forbear_stacked_retries_total", "forbear.stacked_retries", "{call}", &[DETECTOR]).starting_at_zero(),
    UnreadableSignals "Throttles whose delay or class could not be read although this provider normally states it."
        Row::counter("forbear_unreadable_signals_total", "forbear.unreadable_signals", "{signal}", &[PART])
            .starting_at_zero(),
    StoreUp "1 while the shared store is relied on, 0 while it is not."
        Row::gauge("forbear_store_up", "forbear.store.up", "", &[]).of_process(),
    StoreOp "How long the shared store took to answer."
        Row::histogram(
            "forbear_store_op_seconds",
            "forbear.store.op",
            &[OPERATION, STORE_OUTCOME],
            STORE_SECONDS,
        )
        .of_process(),
    StoreDegraded "How often the shared store stopped being relied on, and why."
        Row::counter("forbear_store_degraded_total", "forbear.store.degraded", "{transition}", &[REASON])
            .of_process(),
    StoreNews "How old news of other replicas was when it came."
        Row::histogram("forbear_store_news_seconds", "forbear.store.news", &[], NEWS_SECONDS).of_process(),
    StoreReasserted "Own shuts that the store had lost and was told again."
        Row::counter("forbear_store_reasserted_total", "forbear.store.reasserted", "{shut}", &[]).of_process(),
    StoreClamped "News whose end was too far away to be believed and was cut."
        Row::counter("forbear_store_clamped_total", "forbear.store.clamped", "{news}", &[]).of_process(),
    GateDegraded "1 while the pool's gate should share and does not, else 0."
        Row::gauge("forbear_gate_degraded", "forbear.gate.degraded", "", &[]),
    Replicas "How many replicas share the pools, as counted by the store or as configured."
        Row::gauge("forbear_replicas", "forbear.replicas", "{replica}", &[]).of_process(),
    LabelOverflows "Calls and pools whose name came after the places for names were taken; they are reported as _OTHER."
        Row::counter("forbear_label_overflows_total", "forbear.label.overflows", "{name}", &[BOUNDED]),
    InfeasibleCalls "Calls that no pacing could have served within their deadline at the known limit."
        Row::counter("forbear_infeasible_calls_total", "forbear.infeasible.calls", "{call}", &[]),
    BuildInfo "The version of forbear and of its metric schema; always 1."
        Row::gauge("forbear_build_info", "forbear.build.info", "", &[VERSION_LABEL, SCHEMA_LABEL]).of_process(),
}

#[cfg(test)]
#[path = "catalogue_tests.rs"]
mod tests;
