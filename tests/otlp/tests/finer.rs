//! Finer histograms: the same on both roads.

use forbear::event::catalogue::Metric;
use forbear::otlp::{self, Config};
use forbear::prometheus;
use forbear_otlp_tests::{Collector, assert_same, lines_of, translate, workload};

#[tokio::test]
async fn finer_histograms_have_the_same_buckets_and_counts_on_both_roads() {
    let collector = Collector::start();
    let config = Config::new("checkout").endpoint(format!("http://{}", collector.http)).own_subscriber();
    let otlp = otlp::install(config.finer_histograms()).expect("a free process");
    let endpoint = prometheus::install(prometheus::Config::from(0).finer_histograms()).expect("a free port");
    let (_totals, _gauges) = workload((otlp.instruments(), endpoint.meters()));
    otlp.shutdown().await.expect("the collector answers");

    let scraped = lines_of(&endpoint.render());
    assert_same(&collector.lines(translate), &scraped);
    for row in Metric::ALL.iter().map(|metric| metric.row()) {
        for bound in row.finer_buckets {
            let bucket = format!("{}_bucket{{", row.prometheus);
            let found =
                scraped.iter().any(|line| line.starts_with(&bucket) && line.contains(&format!("le=\"{bound}\"")));
            assert!(found, "{} up to {bound}", row.prometheus);
        }
    }
}
