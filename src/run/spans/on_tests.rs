//! The spans of hand-made calls, as a subscriber sees them.

use std::sync::LazyLock;

use std::future::Future;
use std::task::Context;

use super::*;
use crate::core::decide::DelaySource;
use crate::core::moment::Moment;
use crate::core::policy::{Policy, PolicyBuilder};
use crate::core::signal::{Part, StatedDelay};
use crate::event::{Event, GateState, PoolLabels, StackedBy};
use crate::provider;
use crate::run::about::{About, Server};
use crate::run::spans::sites::Sites;
use crate::run::spans::traced::Traced;

fn whose() -> Whose<'static> {
    static POOL: LazyLock<PoolLabels> = LazyLock::new(|| PoolLabels::new("openai", "prod/gpt"));
    static ABOUT: LazyLock<About> =
        LazyLock::new(|| About::new(&provider::openai(), &["prod".to_owned(), "gpt".to_owned()], false));
    static POLICY: LazyLock<Policy> = LazyLock::new(|| policy().named("chat").build().expect("valid"));
    Whose { pool: &POOL, about: &ABOUT, policy: &POLICY }
}

fn policy() -> PolicyBuilder {
    Policy::interactive(Duration::from_secs(15))
}

fn start() -> (Whose<'static>, CallSpans) {
    (whose(), CallSpans::start(whose(), || 0))
}

fn plan(number: u32, delay_source: DelaySource) -> AttemptPlan {
    AttemptPlan { number, cut: Moment::NEVER, delay_source }
}

fn throttle() -> Signal {
    let stated = StatedDelay::new(Duration::from_secs(2), Part::Header, "retry-after");
    let mut signal = Signal::throttle(LimitClass::RequestRate).stating(stated);
    signal.status = Some(429);
    signal
}

fn give_up(outcome: CallOutcome) -> GiveUp {
    GiveUp { outcome, class: LimitClass::RequestRate, source: DelaySource::Header, ..GiveUp::not_retryable() }
}

/// Polls a future once.
fn poll(future: impl Future) -> bool {
    std::pin::pin!(future).poll(&mut Context::from_waker(std::task::Waker::noop())).is_ready()
}

#[test]
fn steps_are_children_of_the_call_and_the_call_does_not_show_what_it_recovered_from() {
    let (traced, _guard) = Traced::here();
    let request = info_span!("request").entered();
    let (whose, mut spans) = start();
    drop(request);
    spans.attempt_begins(&plan(1, DelaySource::None));
    let http = || async { info_span!("http").in_scope(|| ()) };
    assert!(poll(spans.inside(http)));
    spans.attempt_ended(whose, AttemptOutcome::Throttled, &throttle());
    let (delay, stated) = (Duration::from_millis(2_250), Some(Duration::from_secs(2)));
    let wait = Wait { at: Moment::NEVER, delay, source: DelaySource::Header, stated, clamped: false };
    spans.delay_begins(&wait);
    spans.delay_ended(Duration::from_millis(2_251));
    spans.attempt_begins(&plan(2, DelaySource::Header));
    assert!(poll(spans.inside(http)));
    spans.attempt_ended(whose, AttemptOutcome::Ok, &Signal { status: Some(200), ..Signal::success() });
    spans.done(2);
    drop(spans);
    insta::assert_snapshot!(traced.tree(), @r"
    request
      forbear.call forbear.provider=openai forbear.pool=prod/gpt forbear.policy=chat forbear.call.outcome=ok forbear.call.attempts=2
        forbear.attempt forbear.attempt.number=1 forbear.delay.source=none forbear.attempt.outcome=throttled http.response.status_code=429 forbear.limit.class=request_rate error.type=429 otel.status_code=ERROR
          - INFO forbear.throttled message=throttled provider=openai pool=prod/gpt policy=chat limit_class=request_rate status=429 stated_seconds=2.0 stated_in=retry-after
          http
        forbear.delay forbear.delay.source=header forbear.delay.stated=2.0 forbear.delay.planned=2.25 forbear.delay.clamped=false forbear.delay.duration=2.251
        forbear.attempt forbear.attempt.number=2 forbear.delay.source=header http.request.resend_count=1 forbear.attempt.outcome=ok http.response.status_code=200
          http
    ");
}

#[test]
fn a_wait_at_the_gate_is_a_span_only_if_there_is_one() {
    let (traced, _guard) = Traced::here();
    let (whose, mut spans) = start();
    let queue = || Queue { depth: 3, stated: Some(Duration::from_secs(7)) };
    assert!(poll(spans.at_gate(std::future::ready(()), || unreachable!("nobody waits"))));
    spans.gate_waited(GateResult::Admitted, Duration::ZERO);
    assert!(!poll(spans.at_gate(std::future::pending::<()>(), queue)));
    spans.gate_waited(GateResult::Refused, Duration::from_secs(1));
    spans.gave_up(whose, &give_up(CallOutcome::GateRefused), 0);
    drop(spans);
    insta::assert_snapshot!(traced.tree(), @r"
    forbear.call forbear.provider=openai forbear.pool=prod/gpt forbear.policy=chat forbear.call.outcome=gate_refused forbear.call.attempts=0 forbear.giveup.reason=gate_refused forbear.limit.class=request_rate error.type=gate_refused otel.status_code=ERROR
      - DEBUG forbear.gave_up message=gave up provider=openai pool=prod/gpt policy=chat reason=gate_refused limit_class=request_rate delay_source=header attempts=0
      forbear.gate.wait forbear.gate.queue.depth=3 forbear.gate.wait.stated=7.0 forbear.gate.result=refused forbear.gate.wait.duration=1.0
    ");
}

#[test]
fn a_dropped_call_was_cancelled_with_the_step_it_was_in_and_is_no_error() {
    let (traced, _guard) = Traced::here();
    let (_, mut attempting) = start();
    attempting.attempt_begins(&plan(1, DelaySource::None));
    drop(attempting);
    let (_, mut waiting) = start();
    let queue = || Queue { depth: 1, stated: None };
    assert!(!poll(waiting.at_gate(std::future::pending::<()>(), queue)));
    drop(waiting);
    insta::assert_snapshot!(traced.tree(), @r"
    forbear.call forbear.provider=openai forbear.pool=prod/gpt forbear.policy=chat forbear.call.outcome=cancelled
      forbear.attempt forbear.attempt.number=1 forbear.delay.source=none forbear.attempt.outcome=cancelled
    forbear.call forbear.provider=openai forbear.pool=prod/gpt forbear.policy=chat forbear.call.outcome=cancelled
      forbear.gate.wait forbear.gate.queue.depth=1 forbear.gate.result=cancelled
    ");
}

#[test]
fn nothing_that_was_retried_is_logged_above_info_and_nothing_at_error() {
    let (traced, _guard) = Traced::here();
    for outcome in CallOutcome::ALL.iter().filter(|outcome| **outcome != CallOutcome::Ok) {
        let (whose, mut spans) = start();
        for (number, signal) in [throttle(), Signal::failure(true), Signal::failure(false)].iter().enumerate() {
            spans.attempt_begins(&plan(number as u32 + 1, DelaySource::Curve));
            spans.attempt_ended(whose, signal.into(), signal);
        }
        spans.gave_up(whose, &give_up(*outcome), 3);
    }
    let levels = traced.levels();
    assert_eq!(levels.iter().filter(|(name, _)| name == "forbear.gave_up").count(), CallOutcome::ALL.len() - 1);
    for (name, level) in levels {
        let most = if name == "forbear.gave_up" { tracing::Level::WARN } else { tracing::Level::INFO };
        assert!(level >= most, "{name} at {level}");
    }
}

#[test]
fn log_events_reach_a_subscriber_that_wants_no_spans() {
    let (traced, _guard) = Traced::events_only();
    let (whose, mut spans) = start();
    assert!(spans.0.is_none());
    spans.attempt_begins(&plan(1, DelaySource::None));
    spans.attempt_ended(whose, AttemptOutcome::Throttled, &throttle());
    spans.gave_up(whose, &give_up(CallOutcome::DeadlineExceeded), 1);
    let names: Vec<_> = traced.levels().into_iter().map(|(name, _)| name).collect();
    assert_eq!(names, ["forbear.throttled", "forbear.gave_up"]);
}

#[test]
fn spans_nobody_sees_are_one_word_and_an_attempt_grows_by_one_more() {
    assert_eq!(size_of::<CallSpans>(), size_of::<usize>());
    assert_eq!(size_of::<Inside<'_, [u8; 1024]>>(), 1024 + size_of::<usize>());
}

#[test]
fn a_call_of_a_model_is_named_and_described_by_the_conventions() {
    let (traced, _guard) = Traced::here();
    let mut about = About::new(&provider::azure_openai(), &["prod".to_owned(), "east".to_owned()], true);
    about.server.get_or_init(|| Server::new("example.openai.azure.com", 443).expect("a host"));
    let asks = policy().gen_ai_operation("chat").gen_ai_model("gpt-4o").build().expect("valid");
    let mut spans = CallSpans::start(Whose { about: &about, policy: &asks, ..whose() }, || 2);
    spans.attempt_begins(&plan(2, DelaySource::None));
    spans.requests_sent(3);
    spans.attempt_ended(whose(), AttemptOutcome::Ok, &Signal::success());
    spans.done(2);
    drop(spans);
    about.attempts_are_clients = false;
    about.model = Some("gpt-4o-mini".into());
    let asks = policy().gen_ai_operation("embeddings").build().expect("valid");
    drop(CallSpans::start(Whose { about: &about, policy: &asks, ..whose() }, || 0));
    insta::assert_snapshot!(traced.tree(), @r"
    forbear.call otel.name=chat gpt-4o otel.kind=client gen_ai.operation.name=chat gen_ai.provider.name=azure.ai.openai gen_ai.request.model=gpt-4o server.address=example.openai.azure.com server.port=443 forbear.provider=openai forbear.pool=prod/gpt forbear.policy=default forbear.nesting.depth=2 forbear.call.outcome=ok forbear.call.attempts=2
      forbear.attempt otel.kind=client server.address=example.openai.azure.com server.port=443 forbear.attempt.number=2 forbear.delay.source=none http.request.resend_count=1 forbear.attempt.requests=3 forbear.attempt.outcome=ok
    forbear.call otel.name=embeddings gpt-4o-mini otel.kind=client gen_ai.operation.name=embeddings gen_ai.provider.name=azure.ai.openai gen_ai.request.model=gpt-4o-mini server.address=example.openai.azure.com server.port=443 forbear.provider=openai forbear.pool=prod/gpt forbear.policy=default forbear.call.outcome=cancelled
    ");
}

#[test]
fn a_pool_that_changes_and_a_limit_that_does_are_logged_below_warn_unless_it_lasts() {
    let (traced, _guard) = Traced::here();
    let pool = whose().pool;
    let shut = |class| Event::GateShut { class, told: true, shut_for: Duration::from_secs(7) };
    log::transition(pool, &shut(LimitClass::RequestRate));
    log::transition(pool, &shut(LimitClass::Spend));
    log::transition(pool, &Event::GateReopened { state: GateState::Paced });
    log::transition(pool, &Event::RequestSent);
    let levels: Vec<_> = traced.levels().iter().map(|(name, level)| format!("{level} {name}")).collect();
    let expected = ["INFO forbear.gate.shut", "WARN forbear.gate.shut", "INFO forbear.gate.reopened"];
    assert_eq!(levels, expected);
}

#[cfg(feature = "redis")]
#[test]
fn a_store_that_is_not_relied_on_is_logged_with_what_it_said() {
    use crate::event::words::DegradedReason;
    use crate::store::Note;

    let (traced, _guard) = Traced::here();
    log::store(&Note::Degraded { reason: DegradedReason::Rejected, said: "NoPerm: no permissions to run 'evalsha'" });
    log::store(&Note::NoChannel { said: "NoPerm" });
    log::store(&Note::Recovered { away: Duration::from_secs(7) });
    let levels: Vec<_> = traced.levels().iter().map(|(name, level)| format!("{level} {name}")).collect();
    let expected = ["WARN forbear.store.degraded", "WARN forbear.store.no_channel", "INFO forbear.store.recovered"];
    assert_eq!(levels, expected);
    assert!(traced.log().contains("rejected") && traced.log().contains("to run 'evalsha'"), "{}", traced.log());
}

#[test]
fn a_call_site_is_warned_once_for_each_way_of_noticing_with_the_way_out() {
    let (traced, _guard) = Traced::here();
    let sites = Sites::default();
    for _ in 0..3 {
        for detector in StackedBy::ALL {
            sites.warn(whose().pool, "chat", *detector);
        }
        sites.warn(whose().pool, "nightly", StackedBy::Wire);
    }
    assert_eq!(traced.levels().len(), StackedBy::ALL.len() + 1);
    assert!(
        traced.levels().iter().all(|(name, level)| name == "forbear.stacked_retry" && *level == tracing::Level::WARN)
    );
    for setting in ["allow_nested()", "Turn its own off", "attempts(1)"] {
        assert!(traced.log().contains(setting), "{setting} in {}", traced.log());
    }
}
