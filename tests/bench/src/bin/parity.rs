//! The rules for each scrape interval in a real Prometheus, beside the verdicts of the process itself.

use std::process::ExitCode;
use std::time::Duration;

use forbear_bench::parity::compare;

const HELP: &str = "\
Runs random scenarios, lets a real Prometheus take them in and evaluate the rules, and compares the verdicts.

  cargo run --release -p forbear-bench --bin parity -- --scenarios 100

  --seed N        other scenarios [1001]
  --scenarios N   so many for each scrape interval [100]
  --every S       this scrape interval in seconds, instead of 15, 30 and 60

Needs prometheus and promtool: tests/tools/bring prometheus promtool. Exit status 1 when a cause differs.";

fn main() -> ExitCode {
    let arguments: Vec<_> = std::env::args().skip(1).collect();
    let value = |name: &str, usual: u64| {
        let place = arguments.iter().position(|argument| argument == name);
        place.and_then(|place| arguments.get(place + 1)?.parse().ok()).unwrap_or(usual)
    };
    if arguments.iter().any(|argument| argument == "--help") {
        println!("{HELP}");
        return ExitCode::SUCCESS;
    }
    let intervals = match value("--every", 0) {
        0 => vec![15, 30, 60],
        every => vec![every],
    };
    let mut same = true;
    for every in intervals {
        let every = Duration::from_secs(every);
        let found = compare(value("--seed", 1_001), value("--scenarios", 100) as usize, every, &std::env::temp_dir());
        let agree = found.iter().filter(|compared| compared.agrees()).count();
        let certain = found.iter().filter(|compared| compared.agrees() && compared.agrees_in_certainty()).count();
        println!(
            "scraped every {every:?}: {agree} of {} causes are the same, {certain} with the same certainty",
            found.len()
        );
        for compared in found.iter().filter(|compared| !compared.agrees()) {
            let verdict = &compared.case.verdict;
            println!(
                "  scenario {}: {} here, {:?} in Prometheus; horizon load {:?}",
                compared.case.number,
                verdict.cause.as_str(),
                compared.said,
                verdict.horizon_load
            );
        }
        same &= agree == found.len();
    }
    if same { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}
