//! Three failures, then success, in paused time: what a retry engine costs when it has work to do. The waits cost no
//! time, but each registers a timer, as it would.

use std::cell::Cell;
use std::process::ExitCode;
use std::sync::atomic::{AtomicU32, Ordering};

use forbear::InvalidSetting;
use forbear_bench::bench::{Bench, Target, runtime};
use forbear_bench::operation::{Answer, FAILURES, Failure, flaky};
use forbear_bench::ours::Ours;
use forbear_bench::{peers, report, versions};

fn main() -> Result<ExitCode, InvalidSetting> {
    println!("{}\n", versions::of(peers::PACKAGES));
    let runtime = runtime(true);
    let _in_paused_time = runtime.enter();
    let deadline_only = Ours::deadline_only()?;
    let with_gate = Ours::gate_without_budget()?;
    // A counter per row: a call ends after four attempts, so each starts where the one before ended.
    let counters: [Cell<u32>; 7] = Default::default();
    let [hand, tokio_retry, backon, minimal, budget, ours, ours_with_gate] = &counters;

    let mut time = Bench::new("three failures, then success; waits in paused time", &runtime);
    time.row("hand loop", || peers::hand(|| flaky(hand)));
    time.row("tokio-retry", || peers::tokio_retry(|| flaky(tokio_retry)));
    time.row("backon", || peers::backon(|| flaky(backon)));
    time.service("tower, no delay, no budget", peers::tower_minimal(|| flaky(minimal)));
    time.service("tower, TpsBudget", peers::tower_budget(|| flaky(budget)));
    time.service("tower-resilience", peers::tower_resilience(flaky_and_sent));
    time.row_with("forbear, deadline", &[Target::Time { than: "hand loop", at_most: 1.08 }], || {
        deadline_only.call(|| flaky(ours))
    });
    time.row("forbear, deadline + flowing gate", || with_gate.call(|| flaky(ours_with_gate)));
    Ok(report::finish(&[time.run()]))
}

/// The flaky operation for a peer that asks for one that may be sent between threads.
async fn flaky_and_sent() -> Answer {
    static ATTEMPTS: AtomicU32 = AtomicU32::new(0);
    let attempt = ATTEMPTS.fetch_add(1, Ordering::Relaxed) % (FAILURES + 1);
    if attempt < FAILURES { Err(Failure::default()) } else { Ok(1) }
}
