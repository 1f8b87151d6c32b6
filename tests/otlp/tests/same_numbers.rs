//! Both roads to their ends: what a real Prometheus scrapes from a service is what a real VictoriaMetrics holds after the
//! service pushed over OTLP, metric for metric.

use forbear::otlp::{self, Config};
use forbear_otlp_tests::server::{Server, empty_folder, promtool_finds_nothing_in};
use forbear_otlp_tests::{assert_shows, everything_in, workload};

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
    promtool_finds_nothing_in(&prometheus.render());
    // The last push is the one at the end.
    otlp.shutdown().await.expect("VictoriaMetrics answers");

    assert_shows(&scraping, &expected, "Prometheus");
    assert_shows(&receiving, &expected, "VictoriaMetrics");
    drop((gauges, scraping, receiving));
    std::fs::remove_dir_all(&folder).expect("removed");
}
