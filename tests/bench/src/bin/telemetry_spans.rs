//! One call that succeeds at once, with its spans, batched for OTLP and pushed to a collector that takes them at once; beside
//! the same spans with the same fields written by hand.

use std::process::ExitCode;

use forbear::otlp::{self, Config};
use forbear_bench::bench::{Bench, Target, runtime};
use forbear_bench::operation::ready;
use forbear_bench::ours::Ours;
use forbear_bench::telemetry::{by_hand, quick_collector};
use forbear_bench::{peers, report, versions};
use tracing_subscriber::layer::SubscriberExt;
use tracing_subscriber::registry::Registry;

fn main() -> Result<ExitCode, Box<dyn std::error::Error>> {
    println!("{}\n", versions::of(&["forbear", "opentelemetry_sdk", "tracing", "tracing-opentelemetry"]));
    let runtime = runtime(false);
    let otlp = otlp::install(Config::new("bench").endpoint(quick_collector()).own_subscriber())?;
    // The layer alone: no filter that reads the environment.
    tracing::subscriber::set_global_default(Registry::default().with(otlp.layer()))?;
    let untold = Ours::gate_and_budget()?;

    let mut time = Bench::new("one call that succeeds at once, and its spans", &runtime);
    time.row("hand loop", || peers::hand(ready));
    time.row("hand: the same spans and fields", || by_hand("bench", ready));
    time.row_with("forbear, spans", &[Target::Time { than: "hand: the same spans and fields", at_most: 1.3 }], || {
        untold.call(ready)
    });
    Ok(report::finish(&[time.run()]))
}
