//! One call that succeeds at once: what a retry engine costs when nothing goes wrong. Never pauses time.

use std::process::ExitCode;

use forbear::InvalidSetting;
use forbear_bench::bench::{Bench, Target, runtime};
use forbear_bench::operation::{holds_a_kibibyte, ready};
use forbear_bench::ours::Ours;
use forbear_bench::{peers, report, versions};

fn main() -> Result<ExitCode, InvalidSetting> {
    println!("{}\n", versions::of(peers::PACKAGES));
    let runtime = runtime(false);
    let deadline_only = Ours::deadline_only()?;
    let gate_and_budget = Ours::gate_and_budget()?;

    let mut time = Bench::new("one call that succeeds at once", &runtime);
    time.row("bare await", ready);
    time.row("hand loop", || peers::hand(ready));
    time.row("hand loop + deadline", || peers::hand_with_deadline(peers::CAP, ready));
    time.row("tokio-retry", || peers::tokio_retry(ready));
    time.row("backon", || peers::backon(ready));
    time.service("tower, no delay, no budget", peers::tower_minimal(ready));
    time.service("tower, TpsBudget", peers::tower_budget(ready));
    time.service("tower-resilience", peers::tower_resilience(ready));
    time.row_with("forbear, deadline", &[Target::Time { than: "backon", at_most: 1.05 }, Target::NoAllocation], || {
        deadline_only.call(ready)
    });
    time.row_with(
        "forbear, deadline + budget + flowing gate",
        &[
            Target::Time { than: "backon", at_most: 1.6 },
            Target::Time { than: "tower, TpsBudget", at_most: 0.99 },
            Target::NoAllocation,
        ],
        || gate_and_budget.call(ready),
    );

    let mut size = Bench::new("the future of a call whose operation holds 1 KiB", &runtime);
    size.row("bare await", holds_a_kibibyte);
    size.row("hand loop", || peers::hand(holds_a_kibibyte));
    size.row("tokio-retry", || peers::tokio_retry(holds_a_kibibyte));
    size.row("backon", || peers::backon(holds_a_kibibyte));
    size.service("tower, TpsBudget", peers::tower_budget(holds_a_kibibyte));
    size.row_with(
        "forbear, deadline + budget + flowing gate",
        &[Target::FutureSize { than: "bare await", at_most: 1.2 }],
        || gate_and_budget.call(holds_a_kibibyte),
    );

    Ok(report::finish(&[time.run(), size.sizes()]))
}
