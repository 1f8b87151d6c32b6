//! Answers in `tests/data`, each read by its provider's table: `vectors.jsonl` are recorded and documented ones,
//! `cases.jsonl` those written to the reading rules, each with the page or issue it follows from.

use std::fmt::Write as _;
use std::time::Duration;

use forbear::core::moment::WallTime;
use forbear::core::observation::Observation;
use forbear::core::signal::Signal;
use forbear::provider;
use http::{HeaderMap, HeaderName, HeaderValue};
use serde_json::Value;
use time::OffsetDateTime;
use time::format_description::well_known::Rfc3339;

/// A line of the file, as far as it is compared.
struct Case {
    id: String,
    provider: String,
    status: u16,
    headers: HeaderMap,
    body: Option<String>,
    now: WallTime,
    expect: Value,
    why: String,
}

fn text(value: &Value, key: &str) -> String {
    value[key].as_str().unwrap_or_else(|| panic!("{key} is no string in {value}")).to_owned()
}

fn case(line: &str) -> Case {
    let value: Value = serde_json::from_str(line).expect("one JSON object a line");
    let mut headers = HeaderMap::new();
    for (name, lines) in value["headers"].as_object().expect("headers") {
        let name = HeaderName::from_bytes(name.as_bytes()).expect("a header name");
        let lines = lines.as_array().cloned().unwrap_or_else(|| vec![lines.clone()]);
        for line in lines {
            let bytes = line.as_str().expect("a header value").as_bytes().to_vec();
            headers.append(&name, HeaderValue::from_bytes(&bytes).expect("a header value"));
        }
    }
    let now = OffsetDateTime::parse(&text(&value, "now"), &Rfc3339).expect("RFC 3339");
    Case {
        id: text(&value, "id"),
        provider: text(&value, "provider"),
        status: u16::try_from(value["status"].as_u64().expect("a status")).expect("a status"),
        headers,
        body: value["body"].as_str().map(str::to_owned),
        now: WallTime::since_epoch(Duration::from_secs(now.unix_timestamp().unsigned_abs())),
        expect: value["expect"].clone(),
        why: text(&value, "why"),
    }
}

fn read(case: &Case) -> Signal {
    let table = provider::by_id(&case.provider).unwrap_or_else(|| panic!("no table for {}", case.provider));
    let mut observation = Observation::status(case.status).headers(&case.headers);
    if let Some(body) = &case.body {
        observation = observation.body(body.as_bytes());
    }
    table.read(&observation, case.now).signal
}

/// What differs between a signal and what is expected.
fn differences(case: &Case, signal: &Signal) -> String {
    let mut report = String::new();
    let mut differ = |field: &str, got: Value| {
        if got != case.expect[field] {
            let _ = write!(report, "{field}: got {got}, want {}; ", case.expect[field]);
        }
    };
    differ("limit_class", signal.class.as_str().into());
    differ("token_kind", signal.token_kind.map(|kind| kind.as_str()).into());
    differ("retryable", signal.retryable.into());
    differ("delay_from", signal.stated.map(|stated| stated.place).into());
    let (got, want) = (signal.stated.map(|stated| stated.delay.as_secs_f64()), case.expect["delay_s"].as_f64());
    let agree = match (got, want) {
        (None, None) => true,
        (Some(got), Some(want)) => (got - want).abs() <= 0.0015 + 1e-9 * want && (got > 0.0) == (want > 0.0),
        _ => false,
    };
    if !agree {
        let _ = write!(report, "delay_s: got {got:?}, want {want:?}; ");
    }
    report
}

/// The level, where a case says which: recorded answers name it for reading only.
fn level_differs(case: &Case, signal: &Signal) -> Option<String> {
    let want = case.expect.get("scope")?;
    let got: Value = signal.scope.map(|scope| scope.as_str()).into();
    (got != *want).then(|| format!("scope: got {got}, want {want}; "))
}

fn check(file: &str, count: usize, differences: impl Fn(&Case, &Signal) -> String) {
    let cases: Vec<Case> = file.lines().filter(|line| !line.trim().is_empty()).map(case).collect();
    let mut report = String::new();
    let mut wrong = 0;
    for case in &cases {
        let found = differences(case, &read(case));
        if !found.is_empty() {
            wrong += 1;
            let _ = writeln!(report, "{} ({}): {found}({})", case.id, case.provider, case.why);
        }
    }
    assert!(wrong == 0, "{wrong} of {} differ:\n{report}", cases.len());
    assert_eq!(cases.len(), count);
}

#[test]
fn every_recorded_answer_is_read_as_expected() {
    check(include_str!("data/vectors.jsonl"), 287, differences);
}

#[test]
fn every_answer_written_to_the_rules_is_read_as_expected() {
    check(include_str!("data/cases.jsonl"), 1_094, |case, signal| {
        differences(case, signal) + &level_differs(case, signal).unwrap_or_default()
    });
}
