//! Both roads to their ends: what a real Prometheus scrapes from a service is what a real VictoriaMetrics holds after the
//! service pushed over OTLP, metric for metric.

use std::io::Write;
use std::process::Stdio;

use forbear::otlp::{self, Config};
use forbear_otlp_tests::server::{Server, empty_folder, tool};
use forbear_otlp_tests::{assert_shows, everything_in, workload};

/// Has promtool look at a page: at its grammar, and at names and help texts.
fn assert_promtool_finds_nothing(page: &str) {
    let mut check = tool("promtool");
    let piped = check.args(["check", "metrics"]).stdin(Stdio::piped()).stderr(Stdio::piped()).stdout(Stdio::piped());
    let mut checking = piped.spawn().expect("promtool runs");
    checking.stdin.take().expect("piped").write_all(page.as_bytes()).expect("promtool reads");
    let output = checking.wait_with_output().expect("promtool ends");
    let findings = [output.stdout, output.stderr].concat();
    assert!(output.status.success() && findings.is_empty(), "{}", String::from_utf8_lossy(&findings));
}

#[tokio::test(flavor = "multi_thread")]
async fn prometheus_and_victoria_metrics_show_every_metric_with_the_same_name_labels_and_value() {
    let folder = empty_folder(env!("CARGO_TARGET_TMPDIR"), "same_numbers");
    let prometheus = forbear::prometheus::install(0).expect("a free port");
    let targets = format!("static_configs: [{{targets: ['{}']}}]", prometheus.addr());
    let scraping = Server::prometheus(&folder, &format!("[{{job_name: checkout, scrape_interval: 200ms, {targets}}}]"));
    let receiving = Server::victoria_metrics(&folder);
    let endpoint = format!("http://{}/opentelemetry", receiving.addr());
    let otlp = otlp::install(Config::new("checkout").endpoint(endpoint).own_subscriber()).expect("a free process");

    let (totals, gauges) = workload((otlp.instruments(), prometheus.meters()));
    let expected = everything_in(&totals);
    assert_promtool_finds_nothing(&prometheus.render());
    // The last push is the one at the end.
    otlp.shutdown().await.expect("VictoriaMetrics answers");

    assert_shows(&scraping, &expected, "Prometheus");
    assert_shows(&receiving, &expected, "VictoriaMetrics");
    drop((gauges, scraping, receiving));
    std::fs::remove_dir_all(&folder).expect("removed");
}
