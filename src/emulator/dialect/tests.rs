//! Which answer is chosen, and what it tells.

use std::time::Duration;

use bytes::Bytes;
use http::Response;

use super::{Dialect, plain};
use crate::core::dice::SeededDice;
use crate::core::moment::{Moment, WallTime};
use crate::core::rule::{Answer, Table};
use crate::core::signal::{LimitClass, TokenKind};
use crate::emulator::limits::{Cost, FailureKind, Limits, Meter, RetryAfter, Verdict};

const fn answer(class: LimitClass, token_kind: Option<TokenKind>, body: &'static str) -> Answer {
    const HEADERS: &[(&str, &str)] = &[
        ("retry-after", "{wait.s}"),
        ("x-limit-requests", "{requests.limit}"),
        ("x-remaining-tokens", "{tokens.remaining}"),
        ("x-reset-tokens", "{tokens.reset.go}"),
    ];
    let status = if matches!(class, LimitClass::None) { 200 } else { 429 };
    Answer { class, token_kind, status, headers: HEADERS, body }
}

/// A provider that tells request rates from tokens, and input tokens from others.
static WORDY: Table = Table {
    id: "wordy",
    answers: &[
        answer(LimitClass::None, None, "{}"),
        answer(LimitClass::RequestRate, None, "requests: {limit}"),
        answer(LimitClass::TokenThroughput, Some(TokenKind::Input), "input"),
        answer(LimitClass::TokenThroughput, Some(TokenKind::Total), "total"),
        answer(LimitClass::Unknown, None, "unknown"),
    ],
    ..plain::TABLE
};

/// What two requests of 6 and 4 tokens are answered, the second of which is refused.
fn second(limits: Limits, dialect: Dialect) -> Response<Bytes> {
    let (mut meter, mut dice, cost) = (Meter::new(limits).unwrap(), SeededDice::new(1), Cost::tokens(6, 4));
    meter.admit(Moment::START, cost, &mut dice);
    let verdict = meter.admit(Moment::START, cost, &mut dice);
    dialect.answer(&verdict, cost, &meter.quotas(Moment::START), WallTime::default()).unwrap()
}

fn header<'a>(response: &'a Response<Bytes>, name: &str) -> Option<&'a str> {
    response.headers().get(name).and_then(|value| value.to_str().ok())
}

#[test]
fn the_answer_of_the_class_and_the_nearest_side_is_sent() {
    let body = |limits: Limits| second(limits, Dialect::of(&WORDY)).into_body();
    assert_eq!(body(Limits::new().requests_per_minute(1)), "requests: 1");
    assert_eq!(body(Limits::new().input_tokens_per_minute(6)), "input");
    assert_eq!(body(Limits::new().tokens_per_minute(10)), "total");
    assert_eq!(body(Limits::new().output_tokens_per_minute(4)), "total");
    assert_eq!(body(Limits::new().requests_per_day(1)), "unknown");
}

#[test]
fn an_unreadable_class_is_sent_as_unknown_with_its_wait() {
    let dialect = Dialect { class_readable: false, ..Dialect::of(&WORDY) };
    let response = second(Limits::new().requests_per_minute(1), dialect);
    assert_eq!((response.body().as_ref(), header(&response, "retry-after")), (&b"unknown"[..], Some("60")));
}

#[test]
fn headers_tell_the_quotas_there_are_and_nothing_when_switched_off() {
    let limits = || Limits::new().tokens_per_minute(15);
    let shown = second(limits(), Dialect::of(&WORDY));
    assert_eq!(header(&shown, "x-remaining-tokens"), Some("5"));
    assert_eq!(header(&shown, "x-reset-tokens"), Some("40s"));
    assert_eq!(header(&shown, "x-limit-requests"), None);
    let hidden = second(limits(), Dialect { quota_headers: false, ..Dialect::of(&WORDY) });
    assert_eq!((header(&hidden, "x-remaining-tokens"), header(&hidden, "retry-after")), (None, Some("20")));
}

#[test]
fn where_only_resets_tell_the_wait_the_spent_quota_is_shown_as_spent() {
    let dialect = Dialect { retry_after: RetryAfter::ResetOnly, ..Dialect::of(&WORDY) };
    let response = second(Limits::new().tokens_per_minute(15), dialect);
    assert_eq!(header(&response, "retry-after"), None);
    assert_eq!(
        (header(&response, "x-remaining-tokens"), header(&response, "x-reset-tokens")),
        (Some("0"), Some("40s"))
    );
}

#[test]
fn too_large_a_request_is_told_the_numbers_and_no_wait() {
    let response = second(Limits::new().tokens_per_minute(9), Dialect::of(&WORDY));
    assert_eq!((response.status().as_u16(), header(&response, "retry-after")), (429, None));
    assert!(response.body().as_ref().windows(22).any(|text| text == b"Limit 9, Requested 10\""));
}

#[test]
fn failures_without_an_answer_have_none_and_the_others_their_status() {
    let status = |kind| {
        let verdict = Verdict::Failed(kind);
        let answer = Dialect::of(&WORDY).answer(&verdict, Cost::request(), &Default::default(), WallTime::default());
        answer.map(|response| response.status().as_u16())
    };
    let expected = [Some(500), None, Some(401), None, Some(200)];
    assert_eq!(FailureKind::ALL.iter().copied().map(status).collect::<Vec<_>>(), expected);
}

#[test]
fn every_answer_is_dated_by_the_clock_that_states_its_waits() {
    let wall = WallTime::since_epoch(Duration::from_millis(1_700_000_000_900));
    let answer = Dialect::of(&WORDY).answer(&Verdict::Admitted, Cost::request(), &Default::default(), wall).unwrap();
    assert_eq!(header(&answer, "date"), Some("Tue, 14 Nov 2023 22:13:20 GMT"));
    assert_eq!(header(&answer, "content-type"), Some("application/json"));
}
