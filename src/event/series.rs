//! The one place where events become numbers: which series an event moves, and by how much.
//!
//! Pure. The meters, the instruments, the simulator's dump and the diagnosis all read it, so that they cannot disagree.
//!
//! | event | moves |
//! |---|---|
//! | `CallStarted` | calls, call deadline, offered tokens; label overflows if the policy has no place |
//! | `GateWaited` | gate wait; delay with source `gate` if it let the call in after a millisecond or more |
//! | `AttemptEnded` | attempts, attempt duration |
//! | `DelayScheduled` | delay; clamped delays |
//! | `CallEnded` | call duration; give-ups, unless it succeeded or the caller went away |
//! | `GateShut` | gate shuts |
//! | `TokensUsed` | used tokens |
//! | `StoreAsked`, `NewsCame` | store answers, age of news; clamped news |
//! | `SignalUnreadable`, `HeadersHidden`, `RetriesStacked`, `RequestSent`, `CallInfeasible`, `LabelOverflowed`, `StoreDegraded`, `ShutReasserted` | one counter each |
//! | `QuotaRead`, `GateReopened`, `GateOperated`, `StoreRecovered` | nothing: the engine's gauges tell the state when they are asked |
//!
//! A series is a dense number, so that a sink finds what belongs to it by index: no map, no hash, no text.

use crate::core::call::NOTABLE;
use crate::core::decide::{CallOutcome, DelaySource};
use crate::core::signal::TokenKind;
use crate::event::catalogue::Metric;
use crate::event::metric::{Kind, Words};
use crate::event::names::Policies;
use crate::event::words::{AttemptNumber, BoundedLabel, YesNo};
use crate::event::{Event, GateResult};

/// One series of one pool, or of the process: a metric and the places of its label values, as one dense number.
///
/// The places are digits of a number whose bases are the sizes of the labels' closed sets. The names of policies are a set
/// of 17: what [`Policies`] keeps apart, and the rest.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct SeriesId {
    metric: Metric,
    place: u16,
}

impl SeriesId {
    /// How many series one pool and the process can have of all the metrics that events move. Places for them cost
    /// little until used.
    pub const COUNT: usize = OFFSETS[Metric::ALL.len()];

    /// The series of `metric` whose label values stand at `places` in their labels' words, in the row's order.
    #[inline(always)]
    fn at<const LABELS: usize>(metric: Metric, places: [usize; LABELS]) -> Self {
        let row = metric.row();
        debug_assert_eq!(LABELS, row.labels.len(), "{}", row.prometheus);
        let mut place = 0;
        for (value, label) in places.into_iter().zip(row.labels) {
            debug_assert!(value < label.values(), "{}", row.prometheus);
            place = place * label.values() + value;
        }
        Self { metric, place: place as u16 }
    }

    /// Every series of `metric` that one pool can have, or the process.
    pub fn all(metric: Metric) -> impl Iterator<Item = Self> {
        (0..metric.row().series_per_pool()).map(move |place| Self { metric, place: place as u16 })
    }

    /// The metric.
    #[must_use]
    pub const fn metric(self) -> Metric {
        self.metric
    }

    /// Where it stands among the [`SeriesId::COUNT`].
    #[must_use]
    pub const fn index(self) -> usize {
        OFFSETS[self.metric as usize] + self.place as usize
    }

    /// The index of the policy in its labels, if its metric has one; [`Policies::CAPACITY`] for those kept together.
    #[cfg_attr(not(feature = "diagnose"), expect(dead_code, reason = "only the diagnosis adds up by policy"))]
    pub(crate) fn policy(self) -> Option<usize> {
        let others = self.metric.row().series_of_one_policy()?;
        Some(usize::from(self.place) / others)
    }

    /// Where it stands among its metric's series of one policy.
    #[cfg_attr(not(feature = "diagnose"), expect(dead_code, reason = "only the diagnosis adds up by policy"))]
    pub(crate) fn place_without_policy(self) -> usize {
        let place = usize::from(self.place);
        self.metric.row().series_of_one_policy().map_or(place, |others| place % others)
    }

    /// Its labels beside those of the pool, in the row's order.
    #[must_use]
    pub fn labels(self, policies: &Policies) -> Vec<(&'static str, &str)> {
        let labels = self.metric.row().labels;
        let mut rest = usize::from(self.place);
        let mut values = Vec::with_capacity(labels.len());
        for label in labels.iter().rev() {
            let place = rest % label.values();
            rest /= label.values();
            values.push((
                label.key,
                match label.words {
                    Words::Closed(words) => words[place],
                    Words::Policies => policies.label(place),
                    Words::OfBuild => "",
                },
            ));
        }
        values.reverse();
        values
    }
}

/// Where each metric's series begin. Gauges have none: they are sampled, not moved.
const OFFSETS: [usize; Metric::ALL.len() + 1] = {
    let mut offsets = [0; Metric::ALL.len() + 1];
    let mut place = 0;
    while place < Metric::ALL.len() {
        let row = Metric::ALL[place].row();
        let series = if matches!(row.kind, Kind::Gauge) { 0 } else { row.series_per_pool() };
        assert!(series <= 1 << 16, "the place of a series must fit its number");
        offsets[place + 1] = offsets[place] + series;
        place += 1;
    }
    offsets
};

/// By how much a series moves.
#[derive(Clone, Copy, Debug, PartialEq)]
#[allow(clippy::exhaustive_enums, reason = "a sink that misses a kind of move is to fail to compile")]
pub enum Move {
    /// A counter rises.
    Rise(u64),
    /// A histogram takes a value, in seconds.
    Take(f64),
}

/// Something that is moved series by series.
pub(crate) trait Moved {
    /// A counter rises by `n`.
    fn rise(&mut self, series: SeriesId, n: u64);

    /// A histogram takes a value, in seconds.
    fn take(&mut self, series: SeriesId, seconds: f64);
}

/// Hands each move to a function.
struct Each<F>(F);

impl<F: FnMut(SeriesId, Move)> Moved for Each<F> {
    fn rise(&mut self, series: SeriesId, n: u64) {
        (self.0)(series, Move::Rise(n));
    }

    fn take(&mut self, series: SeriesId, seconds: f64) {
        (self.0)(series, Move::Take(seconds));
    }
}

/// Hands `visit` every series that `event` moves, and by how much. Names of policies get their index from `policies`.
pub fn moves(event: &Event<'_>, policies: &Policies, visit: impl FnMut(SeriesId, Move)) {
    move_all(event, policies, &mut Each(visit));
}

/// The same, inlined into a sink whose callers wait for it: nothing stands between an event and what moves then.
#[inline(always)]
pub(crate) fn move_all(event: &Event<'_>, policies: &Policies, moved: &mut impl Moved) {
    match *event {
        Event::CallStarted { policy, deadline, estimate } => {
            let policy = policies.index(policy);
            moved.rise(SeriesId::at(Metric::Calls, [policy]), 1);
            moved.take(SeriesId::at(Metric::CallDeadline, [policy]), deadline.as_secs_f64());
            if let Some(estimate) = estimate {
                let sides = [
                    (TokenKind::Input, estimate.input_tokens()),
                    (TokenKind::Output, estimate.output_tokens()),
                    (TokenKind::Total, estimate.unsided_tokens()),
                ];
                for (kind, tokens) in sides.into_iter().filter(|(_, tokens)| *tokens > 0) {
                    moved.rise(SeriesId::at(Metric::OfferedTokens, [policy, kind as usize]), tokens.into());
                }
            }
            if policy == Policies::CAPACITY {
                moved.rise(SeriesId::at(Metric::LabelOverflows, [BoundedLabel::Policy as usize]), 1);
            }
        }
        Event::GateWaited { waited, result, class: _ } => {
            moved.take(SeriesId::at(Metric::GateWait, [result as usize]), waited.as_secs_f64());
            if result == GateResult::Admitted && waited >= NOTABLE {
                moved.take(SeriesId::at(Metric::Delay, [DelaySource::Gate as usize]), waited.as_secs_f64());
            }
        }
        Event::AttemptEnded { number, delay_source, outcome, class, duration, .. } => {
            let number = AttemptNumber::from(number);
            let places = [number as usize, delay_source as usize, outcome as usize, class as usize];
            moved.rise(SeriesId::at(Metric::Attempts, places), 1);
            moved.take(SeriesId::at(Metric::AttemptDuration, []), duration.as_secs_f64());
        }
        Event::DelayScheduled { source, delay, clamped, .. } => {
            moved.take(SeriesId::at(Metric::Delay, [source as usize]), delay.as_secs_f64());
            if clamped {
                moved.rise(SeriesId::at(Metric::ClampedDelays, []), 1);
            }
        }
        Event::CallEnded { policy, outcome, class, delay_source, early, duration, .. } => {
            moved.take(SeriesId::at(Metric::CallDuration, [outcome as usize]), duration.as_secs_f64());
            if given_up(outcome) {
                let policy = policies.index(policy);
                let early = YesNo::from(early) as usize;
                let places = [policy, outcome as usize, class as usize, delay_source as usize, early];
                moved.rise(SeriesId::at(Metric::Giveups, places), 1);
            }
        }
        Event::TokensUsed { kind, tokens } => {
            moved.rise(SeriesId::at(Metric::UsedTokens, [kind as usize]), tokens);
        }
        Event::GateShut { class, told, .. } => {
            moved.rise(SeriesId::at(Metric::GateShuts, [class as usize, YesNo::from(told) as usize]), 1);
        }
        Event::SignalUnreadable { part } => moved.rise(SeriesId::at(Metric::UnreadableSignals, [part as usize]), 1),
        Event::HeadersHidden => moved.rise(SeriesId::at(Metric::HiddenHeaders, []), 1),
        Event::RetriesStacked { detector } => moved.rise(SeriesId::at(Metric::StackedRetries, [detector as usize]), 1),
        Event::RequestSent => moved.rise(SeriesId::at(Metric::WireRequests, []), 1),
        Event::CallInfeasible => moved.rise(SeriesId::at(Metric::InfeasibleCalls, []), 1),
        Event::LabelOverflowed { label } => moved.rise(SeriesId::at(Metric::LabelOverflows, [label as usize]), 1),
        Event::StoreAsked { operation, outcome, took } => {
            moved.take(SeriesId::at(Metric::StoreOp, [operation as usize, outcome as usize]), took.as_secs_f64());
        }
        Event::StoreDegraded { reason } => moved.rise(SeriesId::at(Metric::StoreDegraded, [reason as usize]), 1),
        Event::NewsCame { age, clamped } => {
            moved.take(SeriesId::at(Metric::StoreNews, []), age.as_secs_f64());
            if clamped {
                moved.rise(SeriesId::at(Metric::StoreClamped, []), 1);
            }
        }
        Event::ShutReasserted => moved.rise(SeriesId::at(Metric::StoreReasserted, []), 1),
        // What these say is a state: the engine's gauges tell it when they are asked.
        Event::QuotaRead { .. } | Event::GateReopened { .. } | Event::GateOperated { .. } | Event::StoreRecovered => {}
    }
}

/// Whether an outcome is a give-up: the engine stopped, not the caller, and there is no answer to show.
const fn given_up(outcome: CallOutcome) -> bool {
    !matches!(outcome, CallOutcome::Ok | CallOutcome::OkByFallback | CallOutcome::Cancelled)
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;
    use crate::core::decide::AttemptOutcome;
    use crate::core::estimate::Estimate;
    use crate::core::signal::{LimitClass, Part};
    use crate::event::StackedBy;
    use crate::event::words::{DegradedReason, StoreOperation, StoreOutcome};

    fn moved(events: &[Event<'_>]) -> Vec<String> {
        let policies = Policies::new();
        let mut lines = Vec::new();
        for event in events {
            moves(event, &policies, |series, by| {
                let labels: Vec<_> =
                    series.labels(&policies).iter().map(|(key, value)| format!("{key}={value}")).collect();
                lines.push(format!("{} {{{}}} {by:?}", series.metric().row().prometheus, labels.join(",")));
            });
        }
        lines
    }

    #[test]
    fn a_call_is_counted_with_its_patience_and_tokens_when_it_arrives() {
        let deadline = Duration::from_millis(1_500);
        let estimate = Some(Estimate::input(1_200).output(400));
        assert_eq!(
            moved(&[Event::CallStarted { policy: "chat", deadline, estimate }]),
            [
                "forbear_calls_total {policy=chat} Rise(1)",
                "forbear_call_deadline_seconds {policy=chat} Take(1.5)",
                "forbear_offered_tokens_total {policy=chat,token_kind=input} Rise(1200)",
                "forbear_offered_tokens_total {policy=chat,token_kind=output} Rise(400)",
            ]
        );
    }

    #[test]
    fn an_attempt_shows_number_source_outcome_and_class() {
        let event = Event::AttemptEnded {
            number: 7,
            delay_source: DelaySource::Header,
            outcome: AttemptOutcome::Throttled,
            class: LimitClass::TokenThroughput,
            token_kind: Some(TokenKind::Input),
            status: Some(429),
            duration: Duration::from_millis(250),
        };
        assert_eq!(
            moved(&[event]),
            [
                "forbear_attempts_total {attempt=4_or_more,delay_source=header,outcome=throttled,limit_class=token_throughput} Rise(1)",
                "forbear_attempt_duration_seconds {} Take(0.25)",
            ]
        );
    }

    fn ended(outcome: CallOutcome, early: bool) -> Event<'static> {
        Event::CallEnded {
            policy: "chat",
            outcome,
            class: LimitClass::Daily,
            delay_source: DelaySource::Gate,
            early,
            attempts: 2,
            duration: Duration::from_secs(3),
        }
    }

    #[test]
    fn a_give_up_tells_why_and_a_success_or_a_caller_who_left_is_none() {
        assert_eq!(
            moved(&[ended(CallOutcome::GateRefused, true)]),
            [
                "forbear_call_duration_seconds {outcome=gate_refused} Take(3.0)",
                "forbear_giveups_total {policy=chat,outcome=gate_refused,limit_class=daily,delay_source=gate,early=yes} Rise(1)",
            ]
        );
        for outcome in [CallOutcome::Ok, CallOutcome::OkByFallback, CallOutcome::Cancelled] {
            assert_eq!(
                moved(&[ended(outcome, false)]),
                [format!("forbear_call_duration_seconds {{outcome={outcome}}} Take(3.0)")]
            );
        }
    }

    #[test]
    fn a_wait_at_the_gate_is_a_delay_only_if_it_was_one_and_let_the_call_in() {
        let waited = |millis, result| {
            let waited = Duration::from_millis(millis);
            moved(&[Event::GateWaited { waited, result, class: LimitClass::RequestRate }])
        };
        assert_eq!(
            waited(2_000, GateResult::Admitted),
            [
                "forbear_gate_wait_seconds {result=admitted} Take(2.0)",
                "forbear_delay_seconds {delay_source=gate} Take(2.0)"
            ]
        );
        assert_eq!(waited(0, GateResult::Admitted), ["forbear_gate_wait_seconds {result=admitted} Take(0.0)"]);
        assert_eq!(waited(2_000, GateResult::Refused), ["forbear_gate_wait_seconds {result=refused} Take(2.0)"]);
    }

    #[test]
    fn a_clamped_delay_is_recorded_as_waited_and_counted_as_clamped() {
        let (delay, stated) = (Duration::from_secs(300), Some(Duration::from_secs(900)));
        assert_eq!(
            moved(&[Event::DelayScheduled { source: DelaySource::Header, delay, stated, clamped: true }]),
            ["forbear_delay_seconds {delay_source=header} Take(300.0)", "forbear_clamped_delays_total {} Rise(1)"]
        );
    }

    #[test]
    fn rare_things_and_the_store_move_their_own_series() {
        let rare = [
            Event::GateShut { class: LimitClass::Overload, told: false, shut_for: Duration::from_secs(2) },
            Event::SignalUnreadable { part: Part::Body },
            Event::RetriesStacked { detector: StackedBy::IncomingHeader },
            Event::RequestSent,
            Event::CallInfeasible,
            Event::LabelOverflowed { label: BoundedLabel::Pool },
            Event::TokensUsed { kind: TokenKind::Output, tokens: 17 },
            Event::StoreAsked {
                operation: StoreOperation::Report,
                outcome: StoreOutcome::Slow,
                took: Duration::from_millis(250),
            },
            Event::StoreDegraded { reason: DegradedReason::Silent },
            Event::NewsCame { age: Duration::from_millis(500), clamped: true },
            Event::ShutReasserted,
        ];
        assert_eq!(
            moved(&rare),
            [
                "forbear_gate_shuts_total {limit_class=overload,told=no} Rise(1)",
                "forbear_unreadable_signals_total {part=body} Rise(1)",
                "forbear_stacked_retries_total {detector=incoming_header} Rise(1)",
                "forbear_wire_requests_total {} Rise(1)",
                "forbear_infeasible_calls_total {} Rise(1)",
                "forbear_label_overflows_total {label=pool} Rise(1)",
                "forbear_used_tokens_total {token_kind=output} Rise(17)",
                "forbear_store_op_seconds {operation=report,outcome=slow} Take(0.25)",
                "forbear_store_degraded_total {reason=silent} Rise(1)",
                "forbear_store_news_seconds {} Take(0.5)",
                "forbear_store_clamped_total {} Rise(1)",
                "forbear_store_reasserted_total {} Rise(1)",
            ]
        );
    }

    #[test]
    fn the_seventeenth_policy_is_reported_as_other_and_counted() {
        let names: Vec<_> = (0..17).map(|n| format!("policy-{n}")).collect();
        let call = |policy| Event::CallStarted { policy, deadline: Duration::from_secs(1), estimate: None };
        let events: Vec<_> = names.iter().map(|name| call(name)).collect();
        let lines = moved(&events);
        assert_eq!(
            lines[30..32],
            [
                "forbear_calls_total {policy=policy-15} Rise(1)",
                "forbear_call_deadline_seconds {policy=policy-15} Take(1.0)"
            ]
        );
        assert_eq!(
            lines[32..],
            [
                "forbear_calls_total {policy=_OTHER} Rise(1)",
                "forbear_call_deadline_seconds {policy=_OTHER} Take(1.0)",
                "forbear_label_overflows_total {label=policy} Rise(1)",
            ]
        );
    }

    #[test]
    fn every_series_has_its_own_index() {
        let mut taken = vec![false; SeriesId::COUNT];
        let moved = |metric: &&Metric| metric.row().kind != Kind::Gauge;
        for series in Metric::ALL.iter().filter(moved).flat_map(|metric| SeriesId::all(*metric)) {
            assert!(!std::mem::replace(&mut taken[series.index()], true), "{series:?}");
        }
        assert!(taken.into_iter().all(|taken| taken));
    }
}
