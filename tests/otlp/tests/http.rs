//! Over HTTP, on a runtime of many threads.

use forbear::otlp::{self, Config};
use forbear_otlp_tests::{Collector, assert_pushed_as_scraped, assert_same, lines_of, workload};

#[tokio::test(flavor = "multi_thread")]
async fn every_metric_arrives_with_the_name_labels_and_value_that_a_scrape_shows() {
    let collector = Collector::start();
    let config = Config::new("checkout").endpoint(format!("http://{}", collector.http));
    let otlp = otlp::install(config).expect("a free process");
    let prometheus = forbear::prometheus::install(0).expect("a free port");
    let (totals, gauges) = workload((otlp.instruments(), prometheus.meters()));
    otlp.shutdown().await.expect("the collector answers");
    assert_pushed_as_scraped(&collector, &totals);
    assert_same(&lines_of(&prometheus.render()), &lines_of(&totals.to_prometheus()));
    assert_eq!(collector.resource("service.name")[1].as_deref(), Some("checkout"));
    drop(gauges);
}
