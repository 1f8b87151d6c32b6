//! One call that succeeds at once, told to the meters with a Prometheus recorder, and to OpenTelemetry's instruments; beside
//! the same increments and records by hand. Nobody subscribes to spans.

use std::process::ExitCode;
use std::time::Duration;

use forbear::otlp::{self, Config};
use forbear_bench::bench::{Bench, Target, runtime};
use forbear_bench::operation::ready;
use forbear_bench::ours::Ours;
use forbear_bench::telemetry::{Instruments, Meters, quick_collector};
use forbear_bench::{peers, report, versions};

fn main() -> Result<ExitCode, Box<dyn std::error::Error>> {
    let packages = [peers::PACKAGES, &["metrics-exporter-prometheus", "opentelemetry_sdk", "tracing"]].concat();
    println!("{}\n", versions::of(&packages));
    let runtime = runtime(false);
    let prometheus = forbear::prometheus::install(0)?;
    let otlp = otlp::install(Config::new("bench").endpoint(quick_collector()).own_subscriber())?;
    let (meters, instruments) = (Meters::default(), Instruments::default());
    let untold = Ours::gate_and_budget()?;
    let (metered, measured) = (Ours::told(prometheus.meters())?, Ours::told(otlp.instruments())?);
    // A service is scraped now and then; here a second's calls are those of an hour.
    std::thread::spawn(move || {
        loop {
            std::thread::sleep(Duration::from_millis(50));
            let _ = prometheus.render();
        }
    });

    let mut time = Bench::new("one call that succeeds at once, and what it tells", &runtime);
    time.row("hand loop", || peers::hand(ready));
    time.row("hand: 2 increments, 3 records", || meters.call(ready));
    time.row("hand: the same, OpenTelemetry", || instruments.call(ready));
    time.service("tower-resilience, metrics + tracing", peers::tower_resilience(ready));
    time.row("forbear, no sink", || untold.call(ready));
    time.row_with(
        "forbear, meters",
        &[
            Target::Added {
                beyond: "forbear, no sink",
                floor: "hand: 2 increments, 3 records",
                bare: "hand loop",
                at_most: 1.5,
            },
            Target::Time { than: "tower-resilience, metrics + tracing", at_most: 0.6 },
            Target::Allocations { at_most: 0.1 },
        ],
        || metered.call(ready),
    );
    time.row_with("forbear, instruments", &[Target::Allocations { at_most: 0.1 }], || measured.call(ready));
    Ok(report::finish(&[time.run()]))
}
