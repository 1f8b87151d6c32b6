//! A collector that takes connections and never answers.

use std::time::Duration;

use forbear::otlp::{self, Config};
use forbear::{Forbear, Observation, Policy, provider};

#[tokio::test(flavor = "current_thread")]
async fn calls_go_on_beside_a_frozen_collector_and_what_it_did_not_take_is_counted() {
    let frozen = std::net::TcpListener::bind("127.0.0.1:0").expect("a free port");
    let endpoint = format!("http://{}", frozen.local_addr().expect("an address"));
    let push_every = Duration::from_millis(20);
    let otlp =
        otlp::install(Config::new("checkout").endpoint(endpoint).push_every(push_every)).expect("a free process");
    let forbear = Forbear::builder().sink(otlp.instruments()).build().expect("valid settings");
    let pool = forbear.pool(provider::generic(), ["search"]).build().expect("a valid pool");
    let policy = Policy::interactive(Duration::from_secs(15)).build().expect("a valid policy");

    for _ in 0..5_000 {
        let call = pool.call(&policy).classify(|_: &Result<(), ()>| Observation::ok());
        call.run(|_| async { Ok(()) }).await.expect("a success");
    }
    let error = otlp.shutdown().await.expect_err("nobody took it");
    // A call and an attempt each.
    assert_eq!(error.lost().spans, 10_000, "{error}");
}
