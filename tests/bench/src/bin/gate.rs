//! The gate: what a permit costs, what a waiter costs, and how they come back. Never pauses time.
//!
//! All topics, or those that are named: `gate waiters drain`.

use std::process::ExitCode;

use forbear::InvalidSetting;
use forbear_bench::bench::runtime;
use forbear_bench::gate::ours::Ours;
use forbear_bench::gate::pools::POOLS;
use forbear_bench::gate::verdict::Verdict;
use forbear_bench::gate::waiters::{WAITERS, bytes, drain};
use forbear_bench::gate::{self, burst, grant, pools, threads};
use forbear_bench::versions;

/// How many a second leave a pool of a hundred thousand.
const PACE: u32 = 20_000;

/// The topics, in their order.
const TOPICS: [&str; 6] = ["grant", "threads", "pools", "waiters", "drain", "burst"];

fn main() -> Result<ExitCode, InvalidSetting> {
    let wanted: Vec<String> = std::env::args().skip(1).collect();
    if let Some(unknown) = wanted.iter().find(|topic| !TOPICS.contains(&topic.as_str())) {
        eprintln!("gate: unknown topic {unknown:?}; there are {}", TOPICS.join(", "));
        return Ok(ExitCode::from(2));
    }
    println!("{}\n", versions::of(gate::PACKAGES));
    let runtime = runtime(false);
    let mut passed = Vec::new();
    for topic in TOPICS.into_iter().filter(|topic| wanted.is_empty() || wanted.iter().any(|wanted| wanted == topic)) {
        if topic == "grant" {
            let grant = grant::run(&runtime)?;
            println!("{grant}");
            passed.push(grant.passed());
            continue;
        }
        let (title, verdicts) = match topic {
            "threads" => {
                let too_busy = || Verdict::holds(false, "the machine never ran two threads at the same time");
                let verdict = threads::run(&Ours::flowing()?).unwrap_or_else(too_busy);
                ("two threads at one pool".to_owned(), vec![verdict])
            }
            "pools" => {
                let (shown, verdicts) = pools::run()?;
                (format!("{POOLS} pools that nobody uses\n\n{shown}"), verdicts)
            }
            "waiters" => {
                let (shown, verdicts) = bytes(&runtime)?;
                (format!("{WAITERS} waiters\n\n{shown}"), verdicts)
            }
            "drain" => {
                let verdicts = drain(&runtime, WAITERS, PACE)?.verdicts();
                (format!("{WAITERS} waiters leave, {PACE} a second"), verdicts)
            }
            _ => {
                let (shown, verdicts) = burst::run(&runtime)?;
                (format!("20000 come at once, 20000 a second may go\n\n{shown}"), verdicts)
            }
        };
        println!("{title}\n");
        verdicts.iter().for_each(|verdict| println!("{verdict}"));
        println!();
        passed.extend(verdicts.iter().map(|verdict| verdict.passed));
    }
    let missed = passed.iter().filter(|passed| !**passed).count();
    println!("{} of {} reached", passed.len() - missed, passed.len());
    Ok(if missed == 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}
