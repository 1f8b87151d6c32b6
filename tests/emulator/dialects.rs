//! What the emulator says in a provider's words is what the provider's table reads: for each provider, and each class it
//! can express.

use std::time::Duration;

use bytes::Bytes;
use forbear::core::dice::SeededDice;
use forbear::core::moment::{Moment, WallTime};
use forbear::core::observation::Observation;
use forbear::core::rule::{Answer, Table};
use forbear::core::signal::{LimitClass, QuotaWindow, Quotas, Reading, TokenKind};
use forbear::emulator::dialect::Dialect;
use forbear::emulator::limits::{Cost, FailureKind, Limits, Meter, Period, RetryAfter, Verdict};
use http::Response;

const SECOND: Duration = Duration::from_secs(1);
/// Just before the second ends, where rounding shows most.
const WALL: WallTime = WallTime::since_epoch(Duration::from_millis(1_796_000_000_990));
/// When the requests come: not on a round second either.
const NOW: Moment = Moment::since_start(Duration::from_millis(12_345));

/// Limits under which the second of two requests of 60 and 40 tokens is refused with this class and side.
fn refusing(class: LimitClass, kind: Option<TokenKind>) -> Option<Limits> {
    let limits = Limits::new().requests_per_minute(1_000);
    Some(match (class, kind) {
        (LimitClass::RequestRate | LimitClass::Unknown, _) => limits.requests_per_minute(1),
        (LimitClass::TokenThroughput, Some(TokenKind::Input)) => limits.input_tokens_per_minute(61),
        (LimitClass::TokenThroughput, Some(TokenKind::Output)) => limits.output_tokens_per_minute(41),
        (LimitClass::TokenThroughput, _) => limits.tokens_per_minute(101),
        (LimitClass::Daily, None) => limits.requests_per_day(1),
        (LimitClass::Daily, Some(_)) => limits.tokens_per_day(101),
        (LimitClass::Concurrency, _) => limits.concurrency(1),
        (LimitClass::Overload, _) => limits.overload(Period::ALWAYS, 1.0),
        (LimitClass::Spend, _) => limits.spend(Period::ALWAYS),
        (LimitClass::None, _) => return None,
    })
}

/// The verdict on the second request, its answer, and what the table reads of it.
fn second(dialect: &Dialect, limits: Limits) -> (Verdict, Response<Bytes>, Reading) {
    let (mut meter, mut dice, cost) = (Meter::new(limits).unwrap(), SeededDice::new(1), Cost::tokens(60, 40));
    meter.admit(NOW, cost, &mut dice);
    let verdict = meter.admit(NOW, cost, &mut dice);
    let answer = dialect.answer(&verdict, cost, &meter.quotas(NOW), WALL).unwrap();
    let reading = read(&dialect.table, &answer);
    (verdict, answer, reading)
}

fn read(table: &Table, answer: &Response<Bytes>) -> Reading {
    let observation = Observation::status(answer.status().as_u16()).headers(answer.headers()).body(answer.body());
    table.read(&observation, WALL)
}

/// Each provider's table with each of its answers to a refusal.
fn refusals() -> Vec<(Table, &'static Answer)> {
    let mut refusals = Vec::new();
    for table in forbear::provider::all() {
        let answers = table.answers.iter().filter(|answer| answer.class != LimitClass::None);
        refusals.extend(answers.map(|answer| (*table, answer)));
    }
    refusals
}

/// Whether this answer has a place for a stated wait.
fn states_waits(answer: &Answer) -> bool {
    answer.body.contains("{wait.") || answer.headers.iter().any(|(_, template)| template.contains("{wait."))
}

#[test]
fn each_provider_can_express_something() {
    assert!(refusals().len() >= forbear::provider::all().len());
}

#[test]
fn what_is_said_is_what_is_read() {
    let mut waits = 0;
    for (table, answer) in refusals() {
        let Some(limits) = refusing(answer.class, answer.token_kind) else { continue };
        let mut dialect = Dialect::of(table);
        // Quota headers would name the limit that the answer does not.
        dialect.quota_headers = answer.class != LimitClass::Unknown;
        dialect.class_readable = answer.class != LimitClass::Unknown;
        let (verdict, response, reading) = second(&dialect, limits);
        let said = format!("{} {:?}: {response:?}", table.id, answer.class);
        let Verdict::Throttled(throttle) = verdict else { panic!("{said}: {verdict:?}") };
        assert_eq!(response.status().as_u16(), answer.status, "{said}");
        assert_eq!(reading.signal.class, answer.class, "{said}");
        assert_eq!(reading.signal.token_kind, answer.token_kind, "{said}");
        assert!(reading.signal.failed && !reading.signal.larger_than_limit, "{said}");
        assert_eq!(reading.signal.retryable, answer.class != LimitClass::Spend, "{said}");
        if let Some(wait) = throttle.wait.filter(|_| states_waits(answer)) {
            let stated = reading.signal.stated.map(|stated| stated.delay);
            waits += 1;
            // Whole seconds, and the second that an instant may lie after the answer's own date.
            assert!(stated.is_some_and(|stated| wait <= stated && stated <= wait + 2 * SECOND), "{wait:?} in {said}");
        }
    }
    assert!(waits >= 10, "{waits} waits were said");
}

#[test]
fn where_no_wait_is_said_none_is_read() {
    for (table, answer) in refusals() {
        let Some(limits) = refusing(answer.class, answer.token_kind) else { continue };
        let mut dialect = Dialect::of(table);
        (dialect.retry_after, dialect.quota_headers) = (RetryAfter::None, false);
        dialect.class_readable = answer.class != LimitClass::Unknown;
        let (_, response, reading) = second(&dialect, limits);
        assert_eq!(reading.signal.stated, None, "{} {:?}: {response:?}", table.id, answer.class);
        // An IETF `RateLimit` field says both how long and which quota: without the one the other is not said either.
        let one_field = answer
            .headers
            .iter()
            .any(|(name, value)| name.eq_ignore_ascii_case("ratelimit") && value.contains("{wait"));
        let read = reading.signal.class;
        let untold = one_field && read == LimitClass::Unknown;
        assert!(read == answer.class || untold, "{}: {read} for {}: {response:?}", table.id, answer.class);
    }
}

#[test]
fn an_exact_wait_is_never_read_shorter() {
    for (table, answer) in refusals().into_iter().filter(|(_, answer)| states_waits(answer)) {
        let Some(limits) = refusing(answer.class, answer.token_kind) else { continue };
        let mut dialect = Dialect::of(table);
        dialect.retry_after = RetryAfter::Exact;
        for window in [1, 43, 999, 1_000, 1_001, 59_999, 3_600_001].map(Duration::from_millis) {
            let (verdict, response, reading) = second(&dialect, limits.clone().window(window));
            let Verdict::Throttled(throttle) = verdict else { panic!("{verdict:?}") };
            let stated = reading.signal.stated.map(|stated| stated.delay);
            if let (Some(wait), Some(stated)) = (throttle.wait, stated) {
                assert!(wait <= stated, "{wait:?} read as {stated:?} by {}: {response:?}", table.id);
            }
        }
    }
}

#[test]
fn where_only_resets_tell_the_wait_they_are_read() {
    let mut resets = 0;
    for (table, answer) in refusals() {
        let tells = |part: &str| answer.headers.iter().any(|(_, template)| template.contains(part));
        if answer.class != LimitClass::RequestRate || !tells("{requests.reset.") {
            continue;
        }
        let mut dialect = Dialect::of(table);
        dialect.retry_after = RetryAfter::ResetOnly;
        let (verdict, response, reading) = second(&dialect, Limits::new().requests_per_minute(3).burst(20 * SECOND));
        let Verdict::Throttled(throttle) = verdict else { panic!("{verdict:?}") };
        let (whole, stated) = (throttle.replenished.unwrap(), reading.signal.stated.map(|stated| stated.delay));
        assert!(
            stated.is_some_and(|stated| whole <= stated && stated <= whole + 2 * SECOND),
            "{response:?}: {stated:?}"
        );
        resets += 1;
    }
    assert!(resets >= 2, "{resets} providers tell a reset");
}

#[test]
fn a_request_too_large_for_the_quota_is_read_as_one_that_no_wait_helps() {
    let dialect = Dialect::of(forbear::provider::openai());
    let (_, response, reading) = second(&dialect, Limits::new().tokens_per_minute(99));
    assert!(reading.signal.larger_than_limit && !reading.signal.retryable, "{response:?}");
    assert_eq!(reading.signal.stated, None);
}

#[test]
fn failures_are_read_as_failures_and_no_limits() {
    for table in forbear::provider::all() {
        for kind in FailureKind::ALL.iter().copied() {
            let verdict = Verdict::Failed(kind);
            let answer = Dialect::of(*table).answer(&verdict, Cost::request(), &Quotas::default(), WALL);
            let Some(answer) = answer else { continue };
            let signal = read(table, &answer).signal;
            assert!(signal.failed && signal.class == LimitClass::None, "{} {kind}: {signal:?}", table.id);
            assert_eq!(signal.retryable, kind != FailureKind::Auth, "{} {kind}: {signal:?}", table.id);
        }
    }
}

#[test]
fn quota_headers_are_read_as_they_were_meant() {
    let limits = Limits::new()
        .requests_per_minute(60)
        .tokens_per_minute(60_000)
        .input_tokens_per_minute(40_000)
        .output_tokens_per_minute(20_000)
        .requests_per_day(5_000)
        .tokens_per_day(900_000);
    let mut providers = 0;
    for table in forbear::provider::all() {
        let dialect = Dialect::of(*table);
        let (mut meter, mut dice) = (Meter::new(limits.clone()).unwrap(), SeededDice::new(1));
        let cost = Cost::tokens(3_000, 1_000);
        let verdict = meter.admit(NOW, cost, &mut dice);
        let meant = meter.quotas(NOW);
        let answer = dialect.answer(&verdict, cost, &meant, WALL).unwrap();
        let reading = read(&dialect.table, &answer);
        assert!(!reading.signal.failed, "{}: {answer:?}", table.id);
        providers += u32::from(!reading.quotas.is_empty());
        for read in reading.quotas.iter().filter(|read| read.window != QuotaWindow::Other) {
            let meant = meant.iter().find(|meant| (meant.dimension, meant.window) == (read.dimension, read.window));
            let meant = meant.unwrap_or_else(|| panic!("{}: {read:?} was not meant: {answer:?}", table.id));
            assert!(read.limit.is_none_or(|limit| meant.limit == Some(limit)), "{}: {read:?} {meant:?}", table.id);
            let remaining = read.remaining.is_none_or(|remaining| meant.remaining == Some(remaining));
            assert!(remaining, "{}: {read:?} {meant:?}", table.id);
            let reset = read
                .reset
                .is_none_or(|reset| meant.reset.is_some_and(|meant| meant <= reset && reset <= meant + 2 * SECOND));
            assert!(reset, "{}: {read:?} {meant:?}", table.id);
        }
    }
    assert!(providers >= 3, "{providers} providers with quota headers");
}

#[test]
fn the_tokens_a_success_says_were_used_are_read() {
    let mut providers = 0;
    for table in forbear::provider::all().iter().filter(|table| !table.tokens.answer.is_empty()) {
        let (mut meter, mut dice) = (Meter::new(Limits::new()).unwrap(), SeededDice::new(1));
        let cost = Cost::tokens(3_210, 987);
        let verdict = meter.admit(NOW, cost, &mut dice);
        let answer = Dialect::of(*table).answer(&verdict, cost, &Quotas::default(), WALL).unwrap();
        let used = read(table, &answer).used;
        assert_eq!(used, table.usage(answer.body()), "{}", table.id);
        let said: u64 = used.sides().map(|(_, tokens)| tokens).sum();
        // A text generation server tells of what it generated only; embeddings have no sides.
        let expected = if table.id == "huggingface" { 987 } else { 3_210 + 987 };
        assert_eq!(said, expected, "{}: {answer:?}", table.id);
        let sides: Vec<_> = used.sides().map(|(kind, _)| kind).collect();
        let whole = sides == [TokenKind::Input, TokenKind::Output] || matches!(table.id, "huggingface" | "voyage");
        assert!(whole, "{}: {sides:?}", table.id);
        providers += 1;
    }
    assert!(providers >= 20, "{providers} providers say what was used");
}
