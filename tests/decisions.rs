//! The rows of the decision table through the real engine: requests counted, virtual time read.
#![allow(clippy::disallowed_methods, reason = "tests read the paused clock")]

#[path = "support/scene.rs"]
mod scene;

use std::io::ErrorKind;
use std::time::Duration;

use forbear::core::rule::Table;
use forbear::core::signal::Part;
use forbear::{CallOutcome, Error, Forbear, Gate, LimitClass, OnAmbiguous, OnOverCap, Policy, PolicyBuilder, provider};
use scene::{
    Answer, Provider, S, Step, Tried, answer, daily, spent, throttle, throttle_in_body, throttle_inside_a_success,
    too_large, with_body, with_header,
};
use tokio::time::Instant;

/// What the curve draws at most after the first attempt.
const CURVE: Duration = Duration::from_millis(500);
/// What the runtime's timer rounds up by.
const TICK: Duration = Duration::from_millis(1);

fn minute() -> PolicyBuilder {
    Policy::interactive(60 * S).named("chat")
}

/// A call that has ended.
struct Ended {
    result: Result<Answer, Error<Tried>>,
    requests: Vec<Duration>,
    elapsed: Duration,
}

impl Ended {
    fn error(self) -> Error<Tried> {
        self.result.expect_err("the call fails")
    }

    /// Succeeded with a second request, sent no earlier and no later than this after the first.
    fn retried_after(self, least: Duration, most: Duration) {
        assert_eq!(self.result.expect("the second attempt succeeds").status(), 200);
        assert_eq!(self.requests.len(), 2);
        let waited = self.requests[1] - self.requests[0];
        assert!(waited > least && waited <= most + TICK, "waited {waited:?}, not {least:?} to {most:?}");
    }

    /// Failed with the only request, without waiting.
    fn given_up_at_once(self) -> Error<Tried> {
        assert_eq!((self.requests.len(), self.elapsed), (1, Duration::ZERO));
        let error = self.error();
        assert_eq!((error.attempts(), error.elapsed()), (1, Duration::ZERO));
        error
    }
}

async fn call_at<T: Into<Step>>(
    gate: Gate,
    table: Table,
    policy: PolicyBuilder,
    steps: impl IntoIterator<Item = T>,
) -> Ended {
    let policy = policy.build().expect("a valid policy");
    let forbear = Forbear::builder().gate(gate).seed(7).build().expect("valid settings");
    let pool = forbear.pool(table, ["account", "model"]).build().expect("a valid pool");
    let (provider, start) = (Provider::new(steps), Instant::now());
    let result = pool.call(&policy).run(|_| provider.ask()).await;
    Ended { result, requests: provider.requests(), elapsed: start.elapsed() }
}

/// A call without a gate at a provider of no particular dialect.
async fn call<T: Into<Step>>(policy: PolicyBuilder, steps: impl IntoIterator<Item = T>) -> Ended {
    call_at(Gate::off(), provider::generic(), policy, steps).await
}

async fn call_openai(answer: Answer) -> Ended {
    call_at(Gate::off(), provider::openai(), minute(), [answer]).await
}

// -------------------------------------------------------------------------------------------------------- retried

#[tokio::test(start_paused = true)]
async fn a_stated_delay_is_waited_for_and_the_jitter_only_adds() {
    call(minute(), [throttle(2)]).await.retried_after(2 * S, 2 * S + CURVE);
    call(minute(), [throttle_in_body(3)]).await.retried_after(3 * S, 3 * S + CURVE);
    call(minute(), [with_header(answer(503), "retry-after", "4")]).await.retried_after(4 * S, 4 * S + CURVE);
}

#[tokio::test(start_paused = true)]
async fn failures_that_waiting_may_cure_are_retried_on_the_curve() {
    for status in [429, 503, 529, 408, 500, 502, 504] {
        call(minute(), [answer(status)]).await.retried_after(Duration::ZERO, CURVE);
    }
    for kind in [ErrorKind::ConnectionRefused, ErrorKind::ConnectionReset, ErrorKind::TimedOut] {
        call(minute(), [kind]).await.retried_after(Duration::ZERO, CURVE);
    }
}

#[tokio::test(start_paused = true)]
async fn an_unreadable_stated_delay_is_the_curve_and_not_now() {
    for nonsense in ["soon", "-1", "1e9", "NaN", "", "0x10", "9 9", "Mon, 30 Feb 2026 00:01:00 GMT"] {
        let unreadable = with_header(answer(429), "retry-after", nonsense);
        call(minute(), [unreadable]).await.retried_after(Duration::ZERO, CURVE);
    }
}

#[tokio::test(start_paused = true)]
async fn a_stated_zero_is_a_wait_all_the_same() {
    call(minute(), [throttle(0)]).await.retried_after(Duration::ZERO, CURVE);
}

#[tokio::test(start_paused = true)]
async fn ambiguous_failures_are_retried_as_set_and_sure_ones_anyway() {
    let strict = || minute().on_ambiguous(OnAmbiguous::Stop);
    let ambiguous: [Step; 4] =
        [answer(500).into(), answer(502).into(), ErrorKind::ConnectionReset.into(), ErrorKind::TimedOut.into()];
    for step in ambiguous {
        let error = call(strict(), [step]).await.given_up_at_once();
        assert!(error.is_not_retryable());
    }
    for step in [Step::from(answer(503)), answer(529).into(), ErrorKind::ConnectionRefused.into()] {
        call(strict(), [step]).await.retried_after(Duration::ZERO, CURVE);
    }
}

#[tokio::test(start_paused = true)]
async fn an_error_inside_a_200_is_an_error() {
    let answers = [throttle_inside_a_success()];
    call_at(Gate::off(), provider::openai(), minute(), answers).await.retried_after(Duration::ZERO, CURVE);

    let twice = [throttle_inside_a_success(), throttle_inside_a_success()];
    let ended = call_at(Gate::off(), provider::openai(), minute().attempts(2), twice).await;
    assert_eq!(ended.requests.len(), 2);
    let error = ended.error();
    assert_eq!((error.outcome(), error.limit_class()), (CallOutcome::AttemptsExhausted, LimitClass::TokenThroughput));
    let last = error.into_last().expect("kept").expect("an answer came");
    assert_eq!((last.status().as_u16(), last.body().contains("TPM")), (200, true));
}

// ----------------------------------------------------------------------------------------------- given up at once

#[tokio::test(start_paused = true)]
async fn other_4xx_are_never_retried_and_given_back_whole() {
    for status in [400, 401, 403, 404, 409, 413, 418, 422] {
        let refused = with_body(with_header(answer(status), "x-request-id", "r1"), "the whole body");
        let error = call(minute(), [refused]).await.given_up_at_once();
        assert!(error.is_not_retryable() && !error.is_deadline() && !error.is_exhausted(), "{status}");
        assert_eq!(error.limit_class(), LimitClass::None, "{status}");
        let last = error.into_last().expect("kept").expect("an answer came");
        assert_eq!((last.status().as_u16(), last.body().as_str()), (status, "the whole body"));
        assert_eq!(last.headers()["x-request-id"], "r1");
    }
}

#[tokio::test(start_paused = true)]
async fn a_throttle_the_provider_calls_not_retryable_is_not_retried() {
    let error = call(minute(), [with_header(throttle(1), "x-should-retry", "false")]).await.given_up_at_once();
    assert!(error.is_not_retryable());
    assert_eq!(error.limit_class(), LimitClass::Unknown);
}

#[tokio::test(start_paused = true)]
async fn a_daily_limit_is_given_up_at_once_with_class_and_reset_time() {
    let error = call_openai(daily(600)).await.given_up_at_once();
    assert!(error.is_daily_limit() && !error.is_spend_limit() && !error.is_refused_by_gate());
    assert_eq!((error.outcome(), error.retry_after()), (CallOutcome::DailyLimit, Some(600 * S)));
    assert_eq!(error.retry_at(), Some(Instant::now() + 600 * S));
    let signal = error.signal().expect("the last failed attempt's");
    assert_eq!((signal.class, signal.stated.map(|stated| stated.part)), (LimitClass::Daily, Some(Part::Header)));
}

#[tokio::test(start_paused = true)]
async fn a_spend_limit_is_given_up_at_once_in_every_spelling() {
    let error = call_openai(spent()).await.given_up_at_once();
    assert!(error.is_spend_limit() && !error.is_daily_limit());
    assert_eq!((error.outcome(), error.limit_class()), (CallOutcome::SpendLimit, LimitClass::Spend));
    assert!(call(minute(), [answer(402)]).await.given_up_at_once().is_spend_limit());
}

#[tokio::test(start_paused = true)]
async fn a_request_larger_than_the_limit_is_given_up_at_once() {
    let error = call_openai(too_large()).await.given_up_at_once();
    assert!(error.is_not_retryable());
    assert_eq!(error.limit_class(), LimitClass::TokenThroughput);
    assert!(error.signal().is_some_and(|signal| signal.larger_than_limit));
}

#[tokio::test(start_paused = true)]
async fn a_stated_delay_that_reaches_the_deadline_is_given_up_now_without_another_request() {
    for gate in [Gate::off(), Gate::local()] {
        for seconds in [60, 200] {
            let ended = call_at(gate.clone(), provider::generic(), minute(), [throttle(seconds)]).await;
            let error = ended.given_up_at_once();
            assert!(error.is_deadline() && !error.is_refused_by_gate());
            assert_eq!(error.retry_after(), Some(Duration::from_secs(seconds)));
            assert_eq!(error.into_last().expect("kept").expect("an answer came").status(), 429);
        }
    }
}

#[tokio::test(start_paused = true)]
async fn a_stated_delay_over_the_header_cap_is_given_up_now_or_clamped_by_choice() {
    let hour = || Policy::background(3_600 * S).header_cap(30 * S);
    for gate in [Gate::off(), Gate::local()] {
        let error = call_at(gate, provider::generic(), hour(), [throttle(31)]).await.given_up_at_once();
        assert_eq!((error.outcome(), error.retry_after()), (CallOutcome::StatedDelayTooLong, Some(31 * S)));
    }
    let clamping = || hour().on_over_cap(OnOverCap::Clamp);
    call(clamping(), [throttle(900)]).await.retried_after(30 * S, 36 * S);
    let behind_a_gate = call_at(Gate::local(), provider::generic(), clamping(), [throttle(900)]).await;
    assert_eq!(behind_a_gate.given_up_at_once().outcome(), CallOutcome::StatedDelayTooLong);
}

#[tokio::test(start_paused = true)]
async fn hostile_numbers_are_neither_a_panic_nor_a_retry_now() {
    for hostile in ["2147483648", "18446744073709551616", "999999999999999999999999", "Fri, 31 Dec 9999 23:59:59 GMT"] {
        let error = call(minute(), [with_header(answer(429), "retry-after", hostile)]).await.given_up_at_once();
        assert_eq!(error.outcome(), CallOutcome::StatedDelayTooLong, "{hostile}");
    }
}

// ------------------------------------------------------------------------------------------------ time and numbers

#[tokio::test(start_paused = true)]
async fn after_the_last_attempt_the_last_answer_is_given_back_whole() {
    let last = with_body(with_header(throttle(1), "x-request-id", "r4"), r#"{"detail":"the fourth"}"#);
    let ended = call(minute(), [throttle(1), throttle(1), throttle(1), last]).await;
    assert_eq!(ended.requests.len(), 4);
    assert!(ended.elapsed >= 3 * S && ended.elapsed <= 3 * S + CURVE * 7 + 3 * TICK, "{:?}", ended.elapsed);
    let error = ended.error();
    assert!(error.is_exhausted() && !error.is_deadline());
    assert_eq!(
        error.last().and_then(|last| last.as_ref().ok()).map(Answer::status),
        Some(http::StatusCode::TOO_MANY_REQUESTS)
    );
    let last = error.into_last().expect("kept").expect("an answer came");
    assert_eq!(
        (last.headers()["x-request-id"].as_bytes(), last.body().as_str()),
        (&b"r4"[..], r#"{"detail":"the fourth"}"#)
    );
}

#[tokio::test(start_paused = true)]
async fn a_transport_error_is_given_back_too() {
    let error = call(minute().attempts(1), [ErrorKind::ConnectionReset]).await.given_up_at_once();
    let last = error.into_last().expect("kept").expect_err("no answer came");
    assert_eq!(last.kind(), ErrorKind::ConnectionReset);
}

#[tokio::test(start_paused = true)]
async fn an_attempt_in_flight_is_cut_at_the_deadline() {
    let ended = call(minute(), [Step::Hangs]).await;
    assert_eq!(ended.requests.len(), 1);
    assert!(ended.elapsed >= 60 * S && ended.elapsed <= 60 * S + TICK, "{:?}", ended.elapsed);
    let error = ended.error();
    assert!(error.is_deadline());
    assert_eq!((error.attempts(), error.last().is_none()), (1, true));
}

#[tokio::test(start_paused = true)]
async fn an_attempt_that_hangs_is_cut_by_its_own_timeout_and_retried() {
    call(minute().attempt_timeout(2 * S), [Step::Hangs]).await.retried_after(2 * S, 2 * S + CURVE + TICK);
    let ended = call(minute().attempt_timeout(2 * S), [Step::Hangs, Step::Hangs, Step::Hangs, Step::Hangs]).await;
    assert_eq!(ended.requests.len(), 4);
    let error = ended.error();
    assert!(error.is_exhausted() && error.last().is_none());
    assert!(error.signal().is_some_and(|signal| signal.timed_out));
}

#[tokio::test(start_paused = true)]
async fn no_request_leaves_at_or_after_the_deadline() {
    // Whatever is drawn: the waits are of the size of what is left.
    for milliseconds in 1..120 {
        let deadline = Duration::from_millis(milliseconds * 10);
        let policy = Policy::interactive(deadline).attempts(100).base(Duration::from_millis(40));
        let ended = call(policy, vec![answer(503); 100]).await;
        assert!(ended.requests.iter().all(|at| *at < deadline), "{deadline:?}: {:?}", ended.requests);
        assert!(ended.elapsed <= deadline + TICK);
        assert!(ended.error().is_deadline());
    }
}

#[tokio::test(start_paused = true)]
async fn an_operation_knows_its_number_its_time_and_what_came_before() {
    let policy = minute().attempt_timeout(20 * S).build().expect("a valid policy");
    let forbear = Forbear::builder().gate(Gate::off()).seed(7).build().expect("valid settings");
    let pool = forbear.pool(provider::generic(), ["files"]).build().expect("a valid pool");
    let provider = Provider::new([throttle(50)]);
    let mut seen = Vec::new();
    let call = pool.call(&policy).run(|attempt| {
        let before = attempt.previous().map(|signal| (signal.status, signal.class));
        seen.push((attempt.number(), attempt.time_left().as_secs(), before, attempt.delay_source().as_str()));
        provider.ask()
    });
    call.await.expect("the second attempt succeeds");
    let before = Some((Some(429), LimitClass::Unknown));
    assert_eq!(seen, [(1, 20, None, "none"), (2, 9, before, "header")]);
}

// ------------------------------------------------------------------------------------------------------ in words

#[tokio::test(start_paused = true)]
async fn an_error_says_what_happened_what_was_done_and_what_is_next() {
    let exhausted = call(minute().attempts(2), [throttle(2), throttle(2)]).await.error();
    let text = exhausted.to_string();
    for part in ["generic account/model", "attempts_exhausted", "2 attempts", "limit class unknown", "status 429"] {
        assert!(text.contains(part), "{part:?} is not in {text:?}");
    }
    assert!(text.contains("stated delay 2.0s in header retry-after") && text.contains("; next: "), "{text}");

    let too_late = call(minute(), [throttle(90)]).await.error().to_string();
    for part in
        ["deadline_exceeded", "1 attempt in", "came from: header", "retry makes sense in 90.0s", "longer deadline"]
    {
        assert!(too_late.contains(part), "{part:?} is not in {too_late:?}");
    }
    let spent = call_openai(spent()).await.error().to_string();
    assert!(spent.contains("spend_limit") && spent.contains("a person must raise the budget"), "{spent}");
}

#[tokio::test(start_paused = true)]
async fn an_error_prints_nothing_of_request_or_answer() {
    let body = r#"{"error":{"message":"key sk-SECRET of user@example.com"}}"#;
    let secrets = with_header(with_body(throttle(90), body), "x-api-key", "sk-SECRET");
    let error = call(minute(), [secrets]).await.error();
    let text = format!("{error} {error:?} {error:#?}");
    assert!(!text.contains("SECRET") && !text.contains("example.com"), "{text}");
    assert!(std::error::Error::source(&error).is_none());
}
