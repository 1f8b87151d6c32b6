//! Three failures, then success, in paused time, told to the meters with a Prometheus recorder. Nobody subscribes to spans.

use std::cell::Cell;
use std::process::ExitCode;
use std::time::Duration;

use forbear_bench::bench::{Bench, Target, runtime};
use forbear_bench::operation::flaky;
use forbear_bench::ours::Ours;
use forbear_bench::{peers, report, versions};

fn main() -> Result<ExitCode, Box<dyn std::error::Error>> {
    println!("{}\n", versions::of(&["forbear", "tokio", "metrics-exporter-prometheus", "tracing"]));
    let runtime = runtime(true);
    let prometheus = forbear::prometheus::install(0)?;
    let _in_paused_time = runtime.enter();
    let (untold, metered) = (Ours::deadline_only()?, Ours::told_deadline_only(prometheus.meters())?);
    std::thread::spawn(move || {
        loop {
            std::thread::sleep(Duration::from_millis(50));
            let _ = prometheus.render();
        }
    });
    // A counter per row: a call ends after four attempts, so each starts where the one before ended.
    let counters: [Cell<u32>; 3] = Default::default();
    let [hand, ours, ours_metered] = &counters;

    let mut time = Bench::new("three failures, then success, and what it tells; waits in paused time", &runtime);
    time.row("hand loop", || peers::hand(|| flaky(hand)));
    time.row("forbear, no sink", || untold.call(|| flaky(ours)));
    time.row_with("forbear, meters", &[Target::Time { than: "hand loop", at_most: 1.25 }], || {
        metered.call(|| flaky(ours_metered))
    });
    Ok(report::finish(&[time.run()]))
}
