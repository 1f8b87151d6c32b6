//! The time that reading an answer takes, against its size: headers and body of patterns that tempt a parser to look at
//! everything again and again. Exit status 1 if a hundred times the size takes more than two hundred times as long.
//!
//! ```sh
//! cargo run --release -p forbear-bench --bin growth
//! ```

#[path = "../../../support/tempting.rs"]
mod tempting;

use std::hint::black_box;
use std::process::ExitCode;
use std::time::Duration;

use forbear::core::moment::WallTime;
use forbear::core::observation::Observation;
use forbear::provider::{self, StreamReader};
use forbear_bench::bench::thread_cpu_time;
use tempting::{PATTERNS, Tempting};

const SMALL: usize = 10 * 1024;
const LARGE: usize = 100 * SMALL;
/// Twice what the sizes are apart. Work that grows with the square would take 10,000 times as long.
const AT_MOST: f64 = 200.0;
/// Turns of each size; the least counts: what the work itself takes.
const TURNS: usize = 9;

fn main() -> ExitCode {
    println!("reading {LARGE} bytes beside {SMALL}, least of {TURNS} turns\n");
    println!("  {:<26}  {:>12}  {:>12}  {:>8}", "repeated", "small", "large", "ratio");
    let mut missed = 0;
    for pattern in PATTERNS {
        let (small, large) = (Tempting::of(pattern, SMALL), Tempting::of(pattern, LARGE));
        let (small, large) = least(&small, &large);
        let ratio = large.as_secs_f64() / small.as_secs_f64();
        let verdict = if ratio <= AT_MOST { "pass" } else { "MISS" };
        missed += usize::from(ratio > AT_MOST);
        println!("  {pattern:<26}  {small:>12.1?}  {large:>12.1?}  {ratio:>8.1}  {verdict} at most {AT_MOST}");
    }
    println!("\ntargets: {} reached, {missed} missed", PATTERNS.len() - missed);
    if missed == 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

/// The least times of several turns of each.
fn least(small: &Tempting, large: &Tempting) -> (Duration, Duration) {
    (0..TURNS)
        .map(|_| (time_to_read(small), time_to_read(large)))
        .fold((Duration::MAX, Duration::MAX), |(a, b), (small, large)| (a.min(small), b.min(large)))
}

fn time_to_read(Tempting { headers, body }: &Tempting) -> Duration {
    let started = thread_cpu_time();
    let mut observation = Observation::status(429).headers(headers);
    // Past the bound of an excerpt: here the parsers themselves are asked.
    observation.body = Some(body);
    let _ = black_box(provider::openai().read(&observation, WallTime::default()));
    let _ = black_box(StreamReader::new(provider::openai()).feed(body, WallTime::default()));
    thread_cpu_time().saturating_sub(started)
}
