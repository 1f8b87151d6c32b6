//! Events in, series out.

use super::*;
use crate::core::decide::AttemptOutcome;
use crate::core::estimate::Estimate;
use crate::core::signal::{LimitClass, Part};
use crate::event::StackedBy;

fn moved(events: &[Event<'_>]) -> Vec<String> {
    let policies = Policies::new();
    let mut lines = Vec::new();
    for event in events {
        moves(event, &policies, |series, by| {
            let labels: Vec<_> = series.labels(&policies).iter().map(|(key, value)| format!("{key}={value}")).collect();
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
fn rare_things_move_one_counter_each() {
    let rare = [
        Event::GateShut { class: LimitClass::Overload, told: false, shut_for: Duration::from_secs(2) },
        Event::SignalUnreadable { part: Part::Body },
        Event::RetriesStacked { detector: StackedBy::IncomingHeader },
        Event::RequestSent,
        Event::CallInfeasible,
        Event::LabelOverflowed { label: BoundedLabel::Pool },
        Event::TokensUsed { kind: TokenKind::Output, tokens: 17 },
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
fn every_series_of_a_pool_has_its_own_index() {
    let mut taken = vec![false; SeriesId::PER_POOL];
    let moved = |metric: &&Metric| metric.row().per_pool && metric.row().kind != crate::event::metric::Kind::Gauge;
    for series in Metric::ALL.iter().filter(moved).flat_map(|metric| SeriesId::all(*metric)) {
        assert!(!std::mem::replace(&mut taken[series.index()], true), "{series:?}");
    }
    assert!(taken.into_iter().all(|taken| taken));
}
