//! Every grammar against input nobody meant: mutations of real values, words of its own alphabet, plain bytes.
//!
//! 100,000 inputs each in an optimised build, as `tests/run fuzz` makes one, fewer in a debug build. Ten million, which took
//! twenty minutes on one thread of a busy machine:
//!
//! ```sh
//! FORBEAR_FUZZ_INPUTS=10000000 cargo test -p forbear --release --test grammars
//! ```
//!
//! The seeds are the files of `tests/data/corpus`; what was once found to fail is kept beside this file and tried first.

#[path = "grammars/alphabets.rs"]
mod alphabets;

use std::time::Duration;

use alphabets::{DATES, DURATIONS, FIELDS, JSON, PROTOBUF, TEXTS, TOKENS};
use forbear::core::moment::WallTime;
use forbear::core::observation::Observation;
use forbear::core::rule::header::{LONGEST, When};
use forbear::core::signal::{LimitClass, Reading};
use forbear::provider::headers::{duration, instant, number, ratelimit};
use forbear::provider::{self, StreamReader};
use http::{HeaderMap, HeaderValue};
use proptest::prelude::*;
use proptest::sample::select;
use proptest::test_runner::{FileFailurePersistence, TestCaseResult, TestRunner};

const NOW: WallTime = WallTime::since_epoch(Duration::from_secs(1_795_996_800));

/// How many inputs each grammar is given.
fn inputs() -> u32 {
    let given = std::env::var("FORBEAR_FUZZ_INPUTS").ok().and_then(|number| number.parse().ok());
    given.unwrap_or(if cfg!(debug_assertions) { 2_000 } else { 100_000 })
}

fn check<S: Strategy>(strategy: S, test: impl Fn(S::Value) -> TestCaseResult) {
    let persistence = FileFailurePersistence::WithSource("regressions");
    let config = ProptestConfig {
        cases: inputs(),
        source_file: Some(file!()),
        failure_persistence: Some(Box::new(persistence)),
        ..ProptestConfig::default()
    };
    if let Err(failure) = TestRunner::new(config).run(&strategy, test) {
        panic!("{failure}");
    }
}

fn seeds(file: &str) -> Vec<Vec<u8>> {
    file.lines().map(|line| serde_json::from_str::<String>(line).expect("a JSON string").into_bytes()).collect()
}

macro_rules! corpus {
    ($name:literal) => {
        seeds(include_str!(concat!("data/corpus/", $name, ".jsonl")))
    };
}

/// Seeds with a few places changed, words of an alphabet, or bytes.
fn hostile(seeds: Vec<Vec<u8>>, alphabet: &'static [&'static str]) -> impl Strategy<Value = Vec<u8>> {
    let change = (any::<prop::sample::Index>(), 0..4u8, any::<u8>(), select(alphabet));
    let mutated = (select(seeds), prop::collection::vec(change, 0..4)).prop_map(|(mut bytes, changes)| {
        for (place, kind, byte, word) in changes {
            let at = if bytes.is_empty() { 0 } else { place.index(bytes.len()) };
            match kind {
                0 if at < bytes.len() => bytes[at] = byte,
                1 if at < bytes.len() => drop(bytes.remove(at)),
                2 => bytes.truncate(at),
                _ => drop(bytes.splice(at..at, word.bytes())),
            }
        }
        bytes
    });
    let words = prop::collection::vec(select(alphabet), 0..12).prop_map(|words| words.concat().into_bytes());
    prop_oneof![6 => mutated, 3 => words, 1 => prop::collection::vec(any::<u8>(), 0..64)]
}

fn at_most_the_longest(when: Option<When>) -> TestCaseResult {
    prop_assert!(when.is_none_or(|when| when.from(|| NOW) <= LONGEST));
    Ok(())
}

#[test]
fn numbers() {
    check(hostile(corpus!("numbers"), DURATIONS), |bytes| {
        if let Some(value) = number::decimal(&bytes) {
            let text = std::str::from_utf8(number::trim(&bytes)).expect("digits and a point");
            prop_assert!(text.bytes().all(|byte| byte.is_ascii_digit() || byte == b'.'), "{text:?}");
            let float: f64 = text.parse().expect("a stricter grammar reads less");
            prop_assert!(value.seconds().as_secs_f64() >= float.min(LONGEST.as_secs_f64()) * (1.0 - 1e-12));
        }
        let _ = (number::amount(&bytes), number::verdict(&bytes), number::stream(&bytes), number::used_up(&bytes));
        let _ = (number::word(&bytes), number::before_colon(&bytes), number::rejected(&bytes));
        Ok(())
    });
}

#[test]
fn waits() {
    check(hostile(corpus!("waits"), DURATIONS), |bytes| {
        at_most_the_longest(duration::retry_after(&bytes))?;
        at_most_the_longest(duration::retry_after_ms(&bytes))
    });
}

#[test]
fn resets() {
    check(hostile(corpus!("resets"), DURATIONS), |bytes| {
        at_most_the_longest(duration::reset(&bytes))?;
        prop_assert!(duration::go_duration(&bytes).is_none_or(|delay| delay <= LONGEST));
        Ok(())
    });
}

#[test]
fn dates() {
    check(hostile(corpus!("dates"), DATES), |bytes| {
        at_most_the_longest(instant::http_date(&bytes).map(When::at))?;
        at_most_the_longest(instant::rfc3339(&bytes).map(When::at))
    });
}

#[test]
fn ratelimit_fields() {
    check(hostile(corpus!("ratelimit"), FIELDS), |bytes| {
        let value = HeaderValue::from_bytes(&bytes).unwrap_or(HeaderValue::from_static("?"));
        for name in ["ratelimit", "ratelimit-policy", "ratelimit-limit", "ratelimit-reset"] {
            let mut map = HeaderMap::new();
            map.append("ratelimit", HeaderValue::from_static("\"a\";r=0;t=1"));
            map.append(name, value.clone());
            for quota in ratelimit::ratelimit(&map, None).iter() {
                at_most_the_longest(quota.reset)?;
            }
            let _ = ratelimit::ratelimit(&map, Some("a"));
        }
        Ok(())
    });
}

/// What holds of every reading, whatever was read.
fn is_sound(reading: &Reading) -> TestCaseResult {
    let signal = &reading.signal;
    prop_assert!(signal.failed || !signal.retryable && signal.stated.is_none() && !signal.is_throttle());
    prop_assert!(signal.class != LimitClass::Spend || !signal.retryable);
    let counts_tokens = matches!(signal.class, LimitClass::TokenThroughput | LimitClass::Daily);
    prop_assert!(signal.token_kind.is_none() || counts_tokens);
    prop_assert!(signal.class != LimitClass::TokenThroughput || signal.token_kind.is_some());
    prop_assert!(signal.stated.is_none_or(|stated| stated.delay <= LONGEST));
    prop_assert!(reading.quotas.iter().all(|quota| quota.reset.is_none_or(|reset| reset <= LONGEST)));
    Ok(())
}

#[test]
fn bodies() {
    let statuses = select(&[200u16, 400, 402, 403, 413, 424, 429, 500, 503, 529][..]);
    let tables = select(provider::all());
    check((hostile(corpus!("bodies"), JSON), statuses, tables), |(body, status, table)| {
        is_sound(&table.read(&Observation::status(status).body(&body), NOW))
    });
}

#[test]
fn texts() {
    check(hostile(corpus!("texts"), TEXTS), |text| {
        is_sound(&provider::generic().read(&Observation::status(429).body(&text), NOW))
    });
}

#[test]
fn streams() {
    let seeds = corpus!("streams");
    check((hostile(seeds, JSON), any::<prop::sample::Index>(), select(provider::all())), |(body, cut, table)| {
        is_sound(&table.read(&Observation::ok().body(&body), NOW))?;
        let (first, second) = body.split_at(cut.index(body.len() + 1));
        let mut reader = StreamReader::new(table);
        for chunk in [first, second] {
            if let Some(reading) = reader.feed(chunk, NOW) {
                is_sound(&reading)?;
            }
        }
        reader.finish(NOW).map_or(Ok(()), |reading| is_sound(&reading))
    });
}

#[test]
fn grpc_statuses() {
    let names = select(&["grpc-status-details-bin", "grpc-message", "grpc-status", "grpc-retry-pushback-ms"][..]);
    check((hostile(corpus!("grpc"), PROTOBUF), names, -1..20i32), |(bytes, name, code)| {
        let table = provider::grpc();
        let message = String::from_utf8_lossy(&bytes);
        is_sound(&table.read(&Observation::grpc(code).body(&bytes).message(&message), NOW))?;
        let mut map = HeaderMap::new();
        map.append("grpc-status", HeaderValue::from(8));
        if let Ok(value) = HeaderValue::from_bytes(&bytes) {
            map.append(name, value);
        }
        is_sound(&table.read(&Observation::ok().headers(&map), NOW))
    });
}

#[test]
fn tokens_of_requests_and_answers() {
    check((hostile(corpus!("tokens"), TOKENS), select(provider::all())), |(body, table)| {
        let (size, used) = (table.measure(&body), table.usage(&body));
        prop_assert_eq!(usize::try_from(size.bytes).ok(), Some(body.len()));
        prop_assert!(used.sides().all(|(_, tokens)| 0 < tokens && tokens <= u64::from(u32::MAX)));
        let mut estimator = forbear::core::estimate::Estimator::default();
        let estimate = estimator.estimate(size);
        estimator.learn(&estimate, &used);
        prop_assert!(estimator.estimate(size).input_tokens() <= 2 * size.bytes);
        Ok(())
    });
}

#[test]
fn whole_answers() {
    let names: Vec<&'static str> = vec![
        "retry-after",
        "retry-after-ms",
        "x-should-retry",
        "ratelimit",
        "ratelimit-policy",
        "ratelimit-limit",
        "date",
        "x-ratelimit-limit-requests",
        "x-ratelimit-remaining-requests",
        "x-ratelimit-reset-requests",
        "x-ratelimit-remaining-tokens",
        "x-ratelimit-reset-tokens",
        "x-ratelimit-remaining",
        "x-ratelimit-reset",
        "anthropic-ratelimit-unified-status",
        "anthropic-ratelimit-unified-reset",
        "x-amzn-errortype",
        "content-type",
    ];
    let line = (select(names), hostile(corpus!("waits"), DURATIONS));
    let status = prop_oneof![4 => Just(429u16), 1 => 100..1000u16];
    let lines = prop::collection::vec(line, 0..6);
    check((lines, status, select(provider::all()), any::<u32>()), |(lines, status, table, seconds)| {
        let mut map = HeaderMap::new();
        for (name, value) in lines {
            if let Ok(value) = HeaderValue::from_bytes(&value) {
                map.append(name, value);
            }
        }
        let now = WallTime::since_epoch(Duration::from_secs(u64::from(seconds)));
        is_sound(&table.read(&Observation::status(status).headers(&map), now))
    });
}

/// A stated time, exactly: billionths of a second, and how it is written.
fn stated() -> impl Strategy<Value = (u128, String)> {
    const UNITS: &[(&str, u128)] = &[
        ("ns", 1),
        ("us", 1_000),
        ("µs", 1_000),
        ("ms", 1_000_000),
        ("s", 1_000_000_000),
        ("m", 60_000_000_000),
        ("h", 3_600_000_000_000),
        ("d", 86_400_000_000_000),
    ];
    let part = (0..1_000_000u64, 0..1_000u32, select(UNITS));
    prop::collection::vec(part, 1..4).prop_map(|parts| {
        parts.into_iter().fold((0, String::new()), |(nanos, text), (whole, thousandths, (unit, unit_nanos))| {
            let exact = (u128::from(whole) * 1_000 + u128::from(thousandths)) * unit_nanos;
            (nanos + exact.div_ceil(1_000), format!("{text}{whole}.{thousandths:03}{unit}"))
        })
    })
}

#[test]
fn no_wait_is_read_shorter_than_it_was_stated() {
    check(stated(), |(nanos, text)| {
        let floor = u64::try_from(nanos).map_or(LONGEST, Duration::from_nanos).min(LONGEST);
        prop_assert_eq!(duration::go_duration(text.as_bytes()), Some(floor));
        let body = format!("{{\"error\":{{\"message\":\"Slow down. Please try again in {text}. Thanks\"}}}}");
        let reading = provider::generic().read(&Observation::status(429).body(body.as_bytes()), NOW);
        prop_assert_eq!(reading.signal.stated.map(|stated| stated.delay), Some(floor));
        let body = format!("{{\"error\":{{\"details\":[{{\"retryDelay\":\"{text}\"}}]}}}}");
        let reading = provider::gemini().read(&Observation::status(429).body(body.as_bytes()), NOW);
        prop_assert_eq!(reading.signal.stated.map(|stated| stated.delay), Some(floor));
        Ok(())
    });
}

#[test]
fn the_largest_of_all_lines_counts_in_any_order() {
    check(prop::collection::vec(prop::collection::vec(0..1_000_000u64, 1..4), 1..4), |lines| {
        let mut map = HeaderMap::new();
        for line in &lines {
            let list: Vec<String> = line.iter().map(u64::to_string).collect();
            map.append("retry-after", HeaderValue::from_str(&list.join(", ")).expect("digits"));
        }
        let reading = provider::generic().read(&Observation::status(429).headers(&map), NOW);
        let largest = lines.iter().flatten().max().copied();
        prop_assert_eq!(reading.signal.stated.map(|stated| stated.delay.as_secs()), largest);
        Ok(())
    });
}
