//! The longer way: a service pushes over gRPC to a collector, which pushes to VictoriaMetrics. Prints what arrived, and
//! fails unless it is what a scrape would have shown.
//!
//! ```sh
//! cargo run -p forbear-otlp-tests --bin over_rotel
//! ```
//!
//! The collector is an alpha, which is why no test depends on it.

use forbear::event::catalogue::Metric;
use forbear::otlp::{self, Config, Protocol};
use forbear_otlp_tests::server::{Server, empty_folder, free_addr, tool};
use forbear_otlp_tests::{assert_shows, everything_in, workload};

#[tokio::main]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let target = concat!(env!("CARGO_MANIFEST_DIR"), "/../../target/tmp");
    let folder = empty_folder(target, "over_rotel");
    let receiving = Server::victoria_metrics(&folder);
    let (grpc, http) = (free_addr(), free_addr());
    let to_victoria = format!("http://{}/opentelemetry", receiving.addr());
    let mut collector = tool("rotel-agent");
    collector
        .args(["start", "--exporters", "vm:otlp,drop:blackhole", "--exporters-metrics", "vm"])
        .args(["--exporters-traces", "drop", "--exporters-logs", "drop"])
        .arg(format!("--pid-file={}", folder.join("rotel.pid").display()))
        .arg(format!("--otlp-grpc-endpoint={grpc}"))
        .arg(format!("--otlp-http-endpoint={http}"))
        .env("ROTEL_EXPORTER_VM_METRICS_ENDPOINT", format!("{to_victoria}/v1/metrics"))
        .env("ROTEL_EXPORTER_VM_ENDPOINT", to_victoria)
        .env("ROTEL_EXPORTER_VM_PROTOCOL", "http");
    let collector = Server::listening(collector, grpc);

    let config = Config::new("checkout").protocol(Protocol::Grpc).endpoint(format!("http://{grpc}"));
    let otlp = otlp::install(config.own_subscriber())?;
    let (totals, gauges) = workload(otlp.instruments());
    let expected = everything_in(&totals);
    otlp.shutdown().await?;
    assert_shows(&receiving, &expected, "VictoriaMetrics behind the collector");
    println!("{} series of {} metrics arrived as a scrape would have shown them", expected.len(), Metric::ALL.len());
    drop((gauges, collector, receiving));
    std::fs::remove_dir_all(&folder)?;
    Ok(())
}
