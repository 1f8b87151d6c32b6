//! What is pushed, searched for the secrets of a service.

#[path = "../../support/secrets.rs"]
mod secrets;

use std::time::Duration;

use forbear::otlp::{self, Config};
use forbear::{Forbear, Gate};
use forbear_otlp_tests::Collector;
use secrets::{MARK, Said, live};

#[tokio::test(flavor = "multi_thread")]
async fn nothing_of_request_or_answer_is_pushed() {
    let collector = Collector::start();
    let config = Config::new("checkout").endpoint(format!("http://{}", collector.http));
    let otlp = otlp::install(config).expect("a free process");
    let forbear = Forbear::builder().gate(Gate::off()).no_budget().sink(otlp.instruments()).build().expect("valid");
    // Short, as time is real here: most calls are given up instead of waiting.
    let pools = live(&forbear, Duration::from_millis(100), &Said::default()).await;
    otlp.shutdown().await.expect("the collector answers");
    drop(pools);
    let pushed = collector.everything();
    assert!(!pushed.contains(MARK), "a secret was pushed");
    // That the search would find one: what should be there is.
    for holds in ["forbear.attempt", "chat gpt-0", "gen_ai.provider.name", "forbear.wire.requests", "not_retryable"] {
        assert!(pushed.contains(holds), "{holds} should be pushed");
    }
}
