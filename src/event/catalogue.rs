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

/// Upper bounds of a histogram, lean and fine.
type Bounds = [&'static [f64]; 2];

/// Answers of providers take from a quarter of a second to many minutes. Few bounds: each costs a series per outcome.
const ANSWER_SECONDS: Bounds = [
    &[0.25, 1.0, 5.0, 30.0, 120.0, 900.0],
    &[0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 20.0, 30.0, 60.0, 120.0, 300.0, 900.0],
];
/// Waits begin lower: a curve may start at a tenth of a second.
const WAIT_SECONDS: Bounds = [
    &[0.1, 1.0, 5.0, 30.0, 120.0, 900.0],
    &[0.025, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0, 60.0, 120.0, 300.0, 900.0],
];
/// Its sum and count are what is read: the mean patience. One bound, the same on both roads, keeps it a histogram.
const PATIENCE_SECONDS: Bounds = [&[60.0], &[60.0]];
/// A store answers in milliseconds and is given up at a quarter of a second.
const STORE_SECONDS: Bounds =
    [&[0.001, 0.005, 0.025, 0.1, 0.25], &[0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25]];
/// News travels at once, or with the next reconcile.
const NEWS_SECONDS: Bounds = [&[0.01, 0.1, 1.0, 2.5, 15.0], &[0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 15.0]];

/// The rows: the help, which is the documentation as well; the identifier; what it is.
macro_rules! rows {
    ($(#[doc = $help:literal] $metric:ident: $row:expr,)*) => {
        /// A metric of the catalogue.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
        #[non_exhaustive]
        pub enum Metric { $(#[doc = $help] $metric,)* }

        impl Metric {
            /// Every metric, in the table's order.
            pub const ALL: &'static [Self] = &[$(Self::$metric,)*];

            /// Its row.
            ///
            /// ```
            /// use forbear::event::catalogue::Metric;
            /// let row = Metric::Attempts.row();
            /// assert_eq!((row.prometheus, row.otel), ("forbear_attempts_total", "forbear.attempts"));
            /// let keys: Vec<_> = row.labels.iter().map(|label| label.key).collect();
            /// assert_eq!(keys, ["attempt", "delay_source", "outcome", "limit_class"]);
            /// ```
            #[must_use]
            pub const fn row(self) -> &'static Row {
                const ROWS: &[Row] = &[$(Row { help: $help.trim_ascii_start(), ..$row },)*];
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
    /// Calls offered, counted when they arrive; refused ones too.
    Calls: Row::counter("forbear_calls_total", "forbear.calls", "{call}", &[POLICY]),
    /// Tokens that the calls offered were expected to use, counted when they arrive.
    OfferedTokens: Row::counter(
        "forbear_offered_tokens_total", "forbear.offered.tokens", "{token}", &[POLICY, TOKEN_KIND],
    ),
    /// Tokens that were really used.
    UsedTokens: Row::counter("forbear_used_tokens_total", "forbear.used.tokens", "{token}", &[TOKEN_KIND]),
    /// How long the calls offered may take.
    CallDeadline: Row::histogram("forbear_call_deadline_seconds", "forbear.call.deadline", &[POLICY], PATIENCE_SECONDS),
    /// How long calls took with all attempts and waits, by how they ended.
    CallDuration: Row::histogram(
        "forbear_call_duration_seconds", "forbear.call.duration", &[CALL_OUTCOME], ANSWER_SECONDS,
    ),
    /// Calls that have not ended, by what they are doing.
    CallsInFlight: Row::gauge("forbear_calls_in_flight", "forbear.calls.in_flight", "{call}", &[CALL_STATE]),
    /// Attempts that ended, by number, source of the longest wait before them, outcome and limit hit.
    Attempts: Row::counter(
        "forbear_attempts_total", "forbear.attempts", "{attempt}",
        &[ATTEMPT, DELAY_SOURCE, ATTEMPT_OUTCOME, LIMIT_CLASS],
    ),
    /// How long attempts took: the provider's latency without waits.
    AttemptDuration: Row::histogram(
        "forbear_attempt_duration_seconds", "forbear.attempt.duration", &[], ANSWER_SECONDS,
    ),
    /// Waits before an attempt, each by its own source.
    Delay: Row::histogram("forbear_delay_seconds", "forbear.delay", &[DELAY_SOURCE], WAIT_SECONDS),
    /// Stated delays that were cut to their cap.
    ClampedDelays: Row::counter(
        "forbear_clamped_delays_total", "forbear.clamped_delays", "{delay}", &[],
    )
    .starting_at_zero(),
    /// Calls that were given up: why, what stood in the way last, which wait did not fit, and whether early.
    Giveups: Row::counter(
        "forbear_giveups_total", "forbear.giveups", "{call}", &[POLICY, CALL_OUTCOME, LIMIT_CLASS, DELAY_SOURCE, EARLY],
    ),
    /// How much a quota of the whole pool grants in its window. Not to be summed over replicas.
    QuotaLimit: Row::gauge("forbear_quota_limit", "forbear.quota.limit", "{unit}", &[DIMENSION, WINDOW, ORIGIN]),
    /// How much of a quota of the whole pool is left. Not to be summed over replicas.
    QuotaRemaining: Row::gauge(
        "forbear_quota_remaining", "forbear.quota.remaining", "{unit}", &[DIMENSION, WINDOW, ORIGIN],
    ),
    /// When a quota's window resets, in seconds since 1970.
    QuotaReset: Row::gauge(
        "forbear_quota_reset_timestamp_seconds", "forbear.quota.reset.timestamp", "s", &[DIMENSION, WINDOW],
    ),
    /// When a quota was last read from an answer, in seconds since 1970.
    QuotaObserved: Row::gauge(
        "forbear_quota_observed_timestamp_seconds", "forbear.quota.observed.timestamp", "s", &[DIMENSION, WINDOW],
    ),
    /// What a policy sets; the unit is part of the parameter's word.
    PolicyParameter: Row::gauge("forbear_policy_parameter", "forbear.policy.parameter", "", &[POLICY, PARAMETER]),
    /// How the pool's gate works; always 1.
    GateInfo: Row::gauge("forbear_gate_info", "forbear.gate.info", "", &[MODE]),
    /// 1 for the state the pool's gate is in, 0 for the others.
    GateState: Row::gauge("forbear_gate_state", "forbear.gate.state", "", &[POOL_STATE]),
    /// Until when the pool is shut and why, in seconds since 1970.
    GateShutUntil: Row::gauge(
        "forbear_gate_shut_until_timestamp_seconds", "forbear.gate.shut_until.timestamp", "s", &[LIMIT_CLASS],
    ),
    /// How long calls were held at the gate, by how the wait ended.
    GateWait: Row::histogram("forbear_gate_wait_seconds", "forbear.gate.wait", &[RESULT], WAIT_SECONDS),
    /// How often the pool shut, why, and whether the provider said how long.
    GateShuts: Row::counter("forbear_gate_shuts_total", "forbear.gate.shuts", "{shut}", &[LIMIT_CLASS, TOLD]),
    /// Requests that really left inside attempts, where a tap is put; more than attempts = retries below.
    WireRequests: Row::counter("forbear_wire_requests_total", "forbear.wire.requests", "{request}", &[]),
    /// Calls at which a second retry layer was noticed.
    StackedRetries: Row::counter(
        "forbear_stacked_retries_total", "forbear.stacked_retries", "{call}", &[DETECTOR],
    )
    .starting_at_zero(),
    /// Throttles whose delay or class could not be read although this provider normally states it.
    UnreadableSignals: Row::counter(
        "forbear_unreadable_signals_total", "forbear.unreadable_signals", "{signal}", &[PART],
    )
    .starting_at_zero(),
    /// Throttles shown without headers by an operation or SDK that hides them, so that no stated wait could be read.
    HiddenHeaders: Row::counter("forbear_hidden_headers_total", "forbear.hidden_headers", "{signal}", &[]),
    /// 1 while the shared store is relied on, 0 while it is not.
    StoreUp: Row::gauge("forbear_store_up", "forbear.store.up", "", &[]).of_process(),
    /// How long the shared store took to answer.
    StoreOp: Row::histogram(
        "forbear_store_op_seconds", "forbear.store.op", &[OPERATION, STORE_OUTCOME], STORE_SECONDS,
    )
    .of_process(),
    /// How often the shared store stopped being relied on, and why.
    StoreDegraded: Row::counter(
        "forbear_store_degraded_total", "forbear.store.degraded", "{transition}", &[REASON],
    )
    .of_process(),
    /// How old news of other replicas was when it came.
    StoreNews: Row::histogram("forbear_store_news_seconds", "forbear.store.news", &[], NEWS_SECONDS).of_process(),
    /// Own shuts that the store had lost and was told again.
    StoreReasserted: Row::counter(
        "forbear_store_reasserted_total", "forbear.store.reasserted", "{shut}", &[],
    )
    .of_process(),
    /// News whose end was too far away to be believed and was cut.
    StoreClamped: Row::counter("forbear_store_clamped_total", "forbear.store.clamped", "{news}", &[]).of_process(),
    /// 1 while the pool's gate should share and does not, else 0.
    GateDegraded: Row::gauge("forbear_gate_degraded", "forbear.gate.degraded", "", &[]),
    /// How many replicas share the pools, as counted by the store or as configured.
    Replicas: Row::gauge("forbear_replicas", "forbear.replicas", "{replica}", &[]).of_process(),
    /// Calls and pools whose name came after the places for names were taken; they are reported as _OTHER.
    LabelOverflows: Row::counter("forbear_label_overflows_total", "forbear.label.overflows", "{name}", &[BOUNDED]),
    /// Calls that no pacing could have served within their deadline at the known limit.
    InfeasibleCalls: Row::counter("forbear_infeasible_calls_total", "forbear.infeasible.calls", "{call}", &[]),
    /// The version of forbear and of its metric schema; always 1.
    BuildInfo: Row::gauge("forbear_build_info", "forbear.build.info", "", &[VERSION_LABEL, SCHEMA_LABEL]).of_process(),
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;
    use crate::event::metric::Kind;

    /// The Prometheus name of an OpenTelemetry instrument, by the specification's rules
    /// (OpenTelemetry specification, "Prometheus and OpenMetrics Compatibility", metric metadata).
    fn translate(row: &Row) -> String {
        let mut name: String =
            row.otel.chars().map(|c| if c.is_ascii_alphanumeric() || c == ':' { c } else { '_' }).collect();
        while name.contains("__") {
            name = name.replace("__", "_");
        }
        let unit = match row.unit {
            "" => "",
            "s" => "seconds",
            braced if braced.starts_with('{') && braced.ends_with('}') => "",
            "1" if row.kind == Kind::Gauge => "ratio",
            other => panic!("{}: no rule for the unit {other}", row.otel),
        };
        if !unit.is_empty() && !name.ends_with(&format!("_{unit}")) {
            name = format!("{name}_{unit}");
        }
        if row.kind == Kind::Counter && !name.ends_with("_total") {
            name.push_str("_total");
        }
        name
    }

    fn rows() -> impl Iterator<Item = &'static Row> {
        Metric::ALL.iter().map(|metric| metric.row())
    }

    #[test]
    fn every_otel_name_translates_into_its_prometheus_name() {
        for row in rows() {
            assert_eq!(translate(row), row.prometheus);
        }
    }

    #[test]
    fn names_are_unique_and_follow_the_naming_rules() {
        let mut seen = HashSet::new();
        for row in rows() {
            assert!(seen.insert(row.prometheus) && seen.insert(row.otel), "{} twice", row.prometheus);
            assert!(row.prometheus.starts_with("forbear_") && row.otel.starts_with("forbear."), "{}", row.prometheus);
            assert!(row.prometheus.chars().all(|c| c.is_ascii_lowercase() || c == '_'), "{}", row.prometheus);
            assert_eq!(row.prometheus.ends_with("_total"), row.kind == Kind::Counter, "{}", row.prometheus);
            assert_eq!(row.prometheus.ends_with("_seconds"), row.unit == "s", "{}", row.prometheus);
            assert!(row.help.ends_with('.') && row.help.len() <= 120, "{}: {}", row.prometheus, row.help);
        }
    }

    #[test]
    fn a_histogram_has_rising_buckets_in_seconds_and_nothing_else_has_any() {
        for row in rows() {
            assert_eq!(row.buckets.is_empty(), row.kind != Kind::Histogram, "{}", row.prometheus);
            assert!(row.buckets.is_sorted_by(|a, b| a < b), "{}", row.prometheus);
            assert!(row.buckets.first().is_none_or(|first| *first > 0.0), "{}", row.prometheus);
            if row.kind == Kind::Histogram {
                assert_eq!(row.unit, "s", "{}", row.prometheus);
            }
        }
        for row in rows() {
            let finer = row.finer_buckets;
            assert!(finer.is_sorted_by(|a, b| a < b), "{}", row.prometheus);
            assert!(row.buckets.iter().all(|bound| finer.contains(bound)), "{}: a rule reads either", row.prometheus);
            assert!(finer.len() <= 3 * row.buckets.len(), "{}", row.prometheus);
        }
        for latency in [Metric::CallDuration, Metric::AttemptDuration, Metric::Delay, Metric::GateWait] {
            assert_eq!(latency.row().buckets.last(), Some(&900.0));
        }
    }

    #[test]
    fn label_words_are_closed_short_and_snake_case() {
        for label in rows().flat_map(|row| row.labels) {
            assert!(label.key.chars().all(|c| c.is_ascii_lowercase() || c == '_'), "{}", label.key);
            match label.words {
                Words::Closed(words) => {
                    assert_eq!(words.iter().collect::<HashSet<_>>().len(), words.len(), "{}", label.key);
                    let plain = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_';
                    assert!(
                        words.iter().all(|word| word.chars().all(plain) && (1..=24).contains(&word.len())),
                        "{words:?}"
                    );
                }
                Words::Policies => assert_eq!(label.key, "policy"),
                Words::OfBuild => assert!(["version", "schema"].contains(&label.key)),
            }
        }
    }

    #[test]
    fn no_label_key_stands_twice_in_a_row_and_none_is_in_the_name() {
        for row in rows() {
            let mut keys: HashSet<_> = row.labels.iter().map(|label| label.key).collect();
            assert_eq!(keys.len(), row.labels.len(), "{}", row.prometheus);
            assert!(keys.insert("provider") && keys.insert("pool") && !keys.contains("le"), "{}", row.prometheus);
        }
    }

    #[test]
    fn what_exists_from_zero_has_few_series() {
        for row in rows().filter(|row| row.from_zero) {
            assert!(row.kind == Kind::Counter && row.per_pool && row.series_per_pool() <= 3, "{}", row.prometheus);
        }
    }

    #[test]
    fn a_name_finds_its_metric() {
        for metric in Metric::ALL {
            assert_eq!(Metric::find(metric.row().prometheus), Some(*metric));
        }
        assert_eq!(Metric::find("forbear_nothing"), None);
    }
}
