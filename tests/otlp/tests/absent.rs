//! A collector that is not there.

use forbear::otlp::{self, Config};
use forbear_otlp_tests::workload;
use tracing::info_span;

#[tokio::test(flavor = "current_thread")]
async fn what_an_absent_collector_costs_is_counted_and_the_end_says_so() {
    let nobody = std::net::TcpListener::bind("127.0.0.1:0").and_then(|listener| listener.local_addr()).expect("a port");
    let otlp = otlp::install(Config::new("checkout").endpoint(format!("http://{nobody}"))).expect("a free process");
    let sink = otlp.instruments();
    let (totals, gauges) = workload(sink);
    for _ in 0..10_000 {
        info_span!("request").in_scope(|| ());
    }
    let error = otlp.shutdown().await.expect_err("nobody took it");
    assert_eq!(error.lost().spans, 10_000, "{error}");
    assert!(!totals.to_prometheus().is_empty(), "the other sink heard everything");
    drop(gauges);
}
