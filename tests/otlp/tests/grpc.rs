//! Over gRPC, on a runtime of one thread: where a flush that waits for its own runtime would wait for ever.

use forbear::otlp::{self, Config, Protocol};
use forbear_otlp_tests::{Collector, assert_pushed_as_scraped, assert_traced_call_arrived, traced_call, workload};

#[tokio::test(flavor = "current_thread")]
async fn dropping_the_guard_pushes_what_is_left_without_help_from_the_runtime() {
    let collector = Collector::start();
    let config = Config::new("checkout").protocol(Protocol::Grpc).endpoint(format!("http://{}", collector.grpc));
    let otlp = otlp::install(config).expect("a free process");
    let (totals, gauges) = workload(otlp.instruments());
    traced_call().await;
    drop(otlp);

    assert_pushed_as_scraped(&collector, &totals);
    drop(gauges);
    assert_traced_call_arrived(&collector);
    let instances = collector.resource("service.instance.id");
    assert!(instances[0].is_some() && instances[0] == instances[1], "{instances:?}");
}
