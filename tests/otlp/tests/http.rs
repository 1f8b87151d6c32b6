//! Over HTTP, on a runtime of many threads.

use std::time::Duration;

use forbear::otlp::{self, Config};
use forbear_otlp_tests::{
    Collector, assert_pushed_as_scraped, assert_same, assert_traced_call_arrived, lines_of, traced_call, workload,
};

#[tokio::test(flavor = "multi_thread")]
async fn every_metric_arrives_with_the_name_labels_and_value_that_a_scrape_shows() {
    let collector = Collector::start();
    let push_every = Duration::from_millis(50);
    let config = Config::new("checkout").endpoint(format!("http://{}", collector.http)).push_every(push_every);
    let otlp = otlp::install(config).expect("a free process");
    let prometheus = forbear::prometheus::install(0).expect("a free port");
    let (totals, gauges) = workload((otlp.instruments(), prometheus.meters()));
    // Once for a push that had begun, once for the next.
    for _ in 0..2 {
        collector.next_push_of_metrics().await;
    }
    assert_pushed_as_scraped(&collector, &totals);
    let with_gauges = lines_of(&prometheus.render());
    assert_same(&with_gauges, &lines_of(&totals.to_prometheus()));
    assert_eq!(collector.resource("service.name")[1].as_deref(), Some("checkout"));

    traced_call().await;
    drop(gauges);
    otlp.shutdown().await.expect("the collector answers");
    assert_pushed_as_scraped(&collector, &totals);
    assert_traced_call_arrived(&collector);
    let without = lines_of(&prometheus.render());
    assert_same(&without, &lines_of(&totals.to_prometheus()));
    assert!(without.len() < with_gauges.len(), "a gauge that has gone is shown on neither road");
}
