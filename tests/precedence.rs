//! The order in which headers are believed, and what exhausted axes amount to, written a second time without tables: random
//! answers are read by both, and both must agree.

use std::time::Duration;

use forbear::core::moment::WallTime;
use forbear::core::observation::Observation;
use forbear::core::signal::{LimitClass, TokenKind};
use forbear::provider;
use http::{HeaderMap, HeaderName, HeaderValue};
use proptest::option::weighted;
use proptest::prelude::*;
use proptest::sample::select;

/// Monday, 30 November 2026, midnight.
const NOW: WallTime = WallTime::since_epoch(Duration::from_secs(1_795_996_800));
const LONGEST: f64 = 2_147_483_648.0;

/// Values as providers and their proxies write them, each with what it means.
type Meaning<T> = (&'static str, Option<T>);

const WAITS: &[Meaning<f64>] = &[
    ("5", Some(5.0)),
    ("0", Some(0.0)),
    ("0.5", Some(0.5)),
    (" 7 ", Some(7.0)),
    ("0030", Some(30.0)),
    ("7,9", Some(9.0)),
    ("soon, 8", Some(8.0)),
    ("Mon, 30 Nov 2026 00:01:00 GMT", Some(60.0)),
    ("Monday, 30-Nov-26 00:01:30 GMT", Some(90.0)),
    ("Mon Nov 30 00:02:00 2026", Some(120.0)),
    ("Sun, 29 Nov 2026 00:00:00 GMT", Some(0.0)),
    ("Mon, 01 Jan 0001 00:00:00 GMT", Some(0.0)),
    ("Mon, 30 Nov 2026 00:01:00 GMT, 90", Some(90.0)),
    ("99999999999999999999", Some(LONGEST)),
    ("-1", None),
    ("+5", None),
    ("1e3", None),
    ("5s", None),
    ("NaN", None),
    ("", None),
    ("Mon, 30 Nov", None),
];

const FINER_WAITS: &[Meaning<f64>] = &[
    ("250", Some(0.25)),
    ("43.7", Some(0.0437)),
    ("0, 90", Some(0.09)),
    ("0", Some(0.0)),
    ("0.0", Some(0.0)),
    ("-1", None),
    ("250ms", None),
    ("", None),
];

const RESETS: &[Meaning<f64>] = &[
    ("12", Some(12.0)),
    ("11.382867", Some(11.382_867)),
    ("6m0s", Some(360.0)),
    ("1h2m3.5s", Some(3_723.5)),
    ("20ms", Some(0.02)),
    ("1d", Some(86_400.0)),
    ("0s", Some(0.0)),
    ("1795996830", Some(30.0)),
    ("1795996830250", Some(30.25)),
    ("1700000000", Some(0.0)),
    ("2026-11-30T01:00:45+01:00", Some(45.0)),
    ("Mon, 30 Nov 2026 00:00:50 GMT", Some(50.0)),
    ("99999999999999999h", Some(LONGEST)),
    ("1m30", None),
    ("-5s", None),
    ("2026-11-30T00:00:30", None),
    ("", None),
];

const AMOUNTS: &[Meaning<u64>] = &[
    ("0", Some(0)),
    ("0.0", Some(0)),
    ("00", Some(0)),
    ("0.2", Some(1)),
    ("59", Some(59)),
    ("-1", None),
    ("?", None),
    ("", None),
];

const VERDICTS: &[Meaning<bool>] =
    &[("true", Some(true)), ("False", Some(false)), ("\tfalse ", Some(false)), ("maybe", None), ("", None)];

/// An axis: which limit it is, and the names of its headers for limit, remaining and reset.
type Axis = (LimitClass, Option<TokenKind>, [&'static str; 3]);

const REQUESTS: Axis = (
    LimitClass::RequestRate,
    None,
    ["x-ratelimit-limit-requests", "x-ratelimit-remaining-requests", "x-ratelimit-reset-requests"],
);
const TOKENS: Axis = (
    LimitClass::TokenThroughput,
    Some(TokenKind::Total),
    ["x-ratelimit-limit-tokens", "x-ratelimit-remaining-tokens", "x-ratelimit-reset-tokens"],
);

/// Providers and their axes.
const PROVIDERS: &[(&str, &[Axis])] = &[
    ("generic", &[REQUESTS, TOKENS]),
    ("openai", &[REQUESTS, TOKENS]),
    ("azure-openai", &[REQUESTS, TOKENS]),
    ("xai", &[REQUESTS, TOKENS]),
    ("groq", &[(LimitClass::Daily, None, REQUESTS.2), TOKENS]),
    (
        "cerebras",
        &[
            (
                LimitClass::Daily,
                None,
                [
                    "x-ratelimit-limit-requests-day",
                    "x-ratelimit-remaining-requests-day",
                    "x-ratelimit-reset-requests-day",
                ],
            ),
            (
                LimitClass::RequestRate,
                None,
                [
                    "x-ratelimit-limit-requests-minute",
                    "x-ratelimit-remaining-requests-minute",
                    "x-ratelimit-reset-requests-minute",
                ],
            ),
            (
                LimitClass::TokenThroughput,
                Some(TokenKind::Total),
                [
                    "x-ratelimit-limit-tokens-minute",
                    "x-ratelimit-remaining-tokens-minute",
                    "x-ratelimit-reset-tokens-minute",
                ],
            ),
        ],
    ),
    (
        "anthropic",
        &[
            (
                LimitClass::RequestRate,
                None,
                [
                    "anthropic-ratelimit-requests-limit",
                    "anthropic-ratelimit-requests-remaining",
                    "anthropic-ratelimit-requests-reset",
                ],
            ),
            (
                LimitClass::TokenThroughput,
                Some(TokenKind::Total),
                [
                    "anthropic-ratelimit-tokens-limit",
                    "anthropic-ratelimit-tokens-remaining",
                    "anthropic-ratelimit-tokens-reset",
                ],
            ),
            (
                LimitClass::TokenThroughput,
                Some(TokenKind::Input),
                [
                    "anthropic-ratelimit-input-tokens-limit",
                    "anthropic-ratelimit-input-tokens-remaining",
                    "anthropic-ratelimit-input-tokens-reset",
                ],
            ),
            (
                LimitClass::TokenThroughput,
                Some(TokenKind::Output),
                [
                    "anthropic-ratelimit-output-tokens-limit",
                    "anthropic-ratelimit-output-tokens-remaining",
                    "anthropic-ratelimit-output-tokens-reset",
                ],
            ),
            (
                LimitClass::TokenThroughput,
                Some(TokenKind::Output),
                [
                    "anthropic-fast-output-tokens-limit",
                    "anthropic-fast-output-tokens-remaining",
                    "anthropic-fast-output-tokens-reset",
                ],
            ),
        ],
    ),
];

/// What one axis' headers hold: limit, remaining, reset.
type Told = (Option<Meaning<u64>>, Option<Meaning<u64>>, Option<Meaning<f64>>);

/// An answer without a body.
#[derive(Clone, Debug)]
struct Answer {
    provider: (&'static str, &'static [Axis]),
    status: u16,
    finer: Option<Meaning<f64>>,
    wait: Option<Meaning<f64>>,
    verdict: Option<Meaning<bool>>,
    axes: Vec<Told>,
}

fn answers() -> impl Strategy<Value = Answer> {
    let told = (weighted(0.3, select(AMOUNTS)), weighted(0.6, select(AMOUNTS)), weighted(0.6, select(RESETS)));
    let statuses = prop_oneof![4 => Just(429u16), 1 => select(&[200u16, 400, 402, 500, 503, 529][..])];
    (
        select(PROVIDERS),
        statuses,
        weighted(0.2, select(FINER_WAITS)),
        weighted(0.3, select(WAITS)),
        weighted(0.2, select(VERDICTS)),
        prop::collection::vec(told, 5),
    )
        .prop_map(|(provider, status, finer, wait, verdict, axes)| Answer {
            provider,
            status,
            finer,
            wait,
            verdict,
            axes,
        })
}

impl Answer {
    /// The axes with what is told of them.
    fn axes(&self) -> impl Iterator<Item = (&'static Axis, &Told)> {
        self.provider.1.iter().zip(&self.axes)
    }

    fn headers(&self) -> HeaderMap {
        let mut map = HeaderMap::new();
        let mut add = |name: &'static str, value: Option<&'static str>| {
            if let Some(value) = value {
                map.append(HeaderName::from_static(name), HeaderValue::from_static(value));
            }
        };
        add("retry-after-ms", self.finer.map(|told| told.0));
        add("retry-after", self.wait.map(|told| told.0));
        add("x-should-retry", self.verdict.map(|told| told.0));
        for ((_, _, names), (limit, remaining, reset)) in self.axes() {
            add(names[0], limit.map(|told| told.0));
            add(names[1], remaining.map(|told| told.0));
            add(names[2], reset.map(|told| told.0));
        }
        map
    }

    fn exhausted(&self) -> impl Iterator<Item = (&'static Axis, &Told)> {
        self.axes().filter(|(_, told)| told.1.is_some_and(|(_, remaining)| remaining == Some(0)))
    }

    /// Class and side: a day before a minute; two sides are the total, a side beside the total is that side.
    fn limit(&self) -> (LimitClass, Option<TokenKind>) {
        match self.status {
            429 => {}
            503 | 529 => return (LimitClass::Overload, None),
            402 => return (LimitClass::Spend, None),
            _ => return (LimitClass::None, None),
        }
        let is_daily = |axis: &Axis| axis.0 == LimitClass::Daily;
        let any_day = self.exhausted().any(|(axis, _)| is_daily(axis));
        let hit: Vec<&Axis> = self.exhausted().map(|(axis, _)| axis).filter(|axis| is_daily(axis) == any_day).collect();
        let Some(first) = hit.first() else { return (LimitClass::Unknown, None) };
        if hit.iter().any(|axis| axis.0 != first.0) {
            return (LimitClass::Unknown, None);
        }
        let side = |kind| hit.iter().any(|axis| axis.1 == Some(kind));
        let kind = match (side(TokenKind::Input), side(TokenKind::Output), side(TokenKind::Total)) {
            (true, false, _) => Some(TokenKind::Input),
            (false, true, _) => Some(TokenKind::Output),
            (false, false, false) => None,
            _ => Some(TokenKind::Total),
        };
        (first.0, kind)
    }

    fn retryable(&self, class: LimitClass) -> bool {
        if self.status < 400 || class == LimitClass::Spend {
            return false;
        }
        let grants_nothing = self.axes().any(|(_, told)| told.0.is_some_and(|(_, limit)| limit == Some(0)));
        let by_class = match class {
            LimitClass::None => self.status == 500,
            _ => !grants_nothing,
        };
        self.verdict.and_then(|(_, verdict)| verdict).unwrap_or(by_class)
    }

    /// The wait and the names of the headers that may have told it: of equal waits any.
    fn wait(&self) -> Option<(f64, Vec<&'static str>)> {
        if self.status < 400 {
            return None;
        }
        if let Some(wait) = self.finer.and_then(|(_, wait)| wait).filter(|wait| *wait > 0.0) {
            return Some((wait, vec!["retry-after-ms"]));
        }
        if let Some(wait) = self.wait.and_then(|(_, wait)| wait) {
            return Some((wait, vec!["retry-after"]));
        }
        let resets: Vec<(f64, &'static str)> =
            self.exhausted().filter_map(|(axis, told)| Some((told.2?.1?, axis.2[2]))).collect();
        let longest = resets.iter().map(|(wait, _)| *wait).reduce(f64::max)?;
        Some((longest, resets.iter().filter(|(wait, _)| *wait == longest).map(|(_, name)| *name).collect()))
    }
}

/// How many answers are read.
fn cases() -> u32 {
    let given = std::env::var("FORBEAR_FUZZ_INPUTS").ok().and_then(|number| number.parse().ok());
    given.unwrap_or(if cfg!(debug_assertions) { 3_000 } else { 100_000 })
}

#[test]
fn headers_are_believed_in_the_order_the_rules_say() {
    let config = ProptestConfig { cases: cases(), failure_persistence: None, ..ProptestConfig::default() };
    proptest!(config, |(answer in answers())| {
        let table = provider::by_id(answer.provider.0).expect("a table");
        let headers = answer.headers();
        let signal = table.read(&Observation::status(answer.status).headers(&headers), NOW).signal;
        let (class, kind) = answer.limit();
        prop_assert_eq!((signal.class, signal.token_kind), (class, kind));
        prop_assert_eq!(signal.retryable, answer.retryable(class));
        match (signal.stated, answer.wait()) {
            (None, None) => {}
            (Some(stated), Some((wait, names))) => {
                prop_assert!((stated.delay.as_secs_f64() - wait).abs() < 1e-6, "{:?} for {}", stated, wait);
                prop_assert!(names.contains(&stated.place), "{:?} for {:?}", stated, names);
            }
            (got, wanted) => prop_assert!(false, "{:?} for {:?}", got, wanted),
        }
    });
}
