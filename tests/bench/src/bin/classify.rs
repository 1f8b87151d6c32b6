//! Reading an answer: its headers alone, and with an error's body.

use std::convert::Infallible;
use std::future::{Ready, ready};
use std::hint::black_box;
use std::process::ExitCode;

use forbear::Observation;
use forbear::core::moment::WallTime;
use forbear::core::rule::Table;
use forbear::core::signal::LimitClass;
use forbear::provider;
use forbear_bench::bench::{Bench, Target, runtime};
use forbear_bench::look_ups::{six_look_ups, twenty_headers};
use forbear_bench::{report, versions};
use http::HeaderMap;

/// The 429 Gemini answers: 600 bytes.
const BODY: &str = include_str!("../gemini_429.json");

fn main() -> ExitCode {
    println!("{}\n", versions::of(&["http", "serde_json"]));
    let runtime = runtime(false);
    let headers = twenty_headers();
    let openai = provider::openai();
    let mut exhausted = headers.clone();
    exhausted.insert("x-ratelimit-remaining-tokens", http::HeaderValue::from_static("0"));

    let mut by_headers = Bench::new("an answer of 20 headers, its body not looked at", &runtime);
    by_headers.row("six static look-ups with their parses", || {
        done(six_look_ups(black_box(&headers)).remaining[0].unwrap_or_default())
    });
    let targets = [Target::Time { than: "six static look-ups with their parses", at_most: 0.6 }, Target::NoAllocation];
    by_headers.row_with("forbear, a success", &targets, || done(read(&openai, 200, &headers, None)));
    by_headers.row_with("forbear, a throttle", &targets, || done(read(&openai, 429, &exhausted, None)));

    let gemini = provider::gemini();
    let none = HeaderMap::new();
    let mut by_body = Bench::new("an error whose JSON body has 600 bytes", &runtime);
    by_body.row("serde_json::Value", || {
        let value: serde_json::Value = serde_json::from_slice(black_box(BODY.as_bytes())).unwrap_or_default();
        done(value["error"]["code"].as_u64().unwrap_or_default())
    });
    let targets = [Target::Time { than: "serde_json::Value", at_most: 0.5 }];
    by_body.row_with("forbear", &targets, || done(read(&gemini, 429, &none, Some(BODY.as_bytes()))));

    report::finish(&[by_headers.run(), by_body.run()])
}

/// Reads an answer, and says a number of what was found so that none of it can be left out.
fn read(table: &Table, status: u16, headers: &HeaderMap, body: Option<&[u8]>) -> u64 {
    let observation = Observation::status(status).headers(headers);
    let observation = match body {
        Some(body) => observation.body(body),
        None => observation,
    };
    let reading = black_box(table.read_at(black_box(&observation), &|| WallTime::default()));
    u64::from(reading.signal.class != LimitClass::Unknown)
}

fn done(number: u64) -> Ready<Result<u64, Infallible>> {
    ready(Ok(number))
}
