//! The gate: what a permit costs, what a waiter costs, and how they come back. Never pauses time.

use std::process::ExitCode;

use forbear::InvalidSetting;
use forbear_bench::bench::runtime;
use forbear_bench::gate::ours::Ours;
use forbear_bench::gate::verdict::Verdict;
use forbear_bench::gate::waiters::{WAITERS, bytes, drain};
use forbear_bench::gate::{self, burst, grant, threads};
use forbear_bench::versions;

/// How many a second leave a pool of a hundred thousand.
const PACE: u32 = 20_000;

fn main() -> Result<ExitCode, InvalidSetting> {
    println!("{}\n", versions::of(gate::PACKAGES));
    let runtime = runtime(false);
    let grant = grant::run(&runtime)?;
    println!("{grant}");
    let mut passed = vec![grant.passed()];
    let mut show = |title: &str, verdicts: Vec<Verdict>| {
        println!("{title}\n");
        verdicts.iter().for_each(|verdict| println!("{verdict}"));
        println!();
        passed.extend(verdicts.iter().map(|verdict| verdict.passed));
    };

    let two_threads = threads::run(&Ours::flowing()?);
    let too_busy = || Verdict::holds(false, "the machine never ran two threads at the same time");
    show("two threads at one pool", vec![two_threads.unwrap_or_else(too_busy)]);

    show(&format!("{WAITERS} waiters"), vec![bytes(&runtime)?]);
    let title = format!("{WAITERS} waiters leave, {PACE} a second");
    show(&title, drain(&runtime, WAITERS, PACE)?.verdicts());

    let (shown, verdicts) = burst::run(&runtime)?;
    show(&format!("20000 come at once, 20000 a second may go\n\n{shown}"), verdicts);

    let missed = passed.iter().filter(|passed| !**passed).count();
    println!("{} of {} reached", passed.len() - missed, passed.len());
    Ok(if missed == 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}
