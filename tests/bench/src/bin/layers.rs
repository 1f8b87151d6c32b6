//! One call that succeeds at once over HTTP: what the layers cost a service that has a client already.

use std::process::ExitCode;

use forbear_bench::bench::{Bench, Target};
use forbear_bench::layers::{Clients, PACKAGES, runtime};
use forbear_bench::{report, versions};

fn main() -> ExitCode {
    println!("{}\n", versions::of(PACKAGES));
    let (runtime, clients) = (runtime(), Clients::start());

    let mut tower = Bench::new("one call over HTTP by hyper's client", &runtime);
    tower.row("direct", || clients.direct());
    tower.row("tower, Retry", || clients.tower());
    tower.row("forbear, closure", || clients.closure());
    tower.row_with("forbear, RetryLayer", &[Target::Time { than: "direct", at_most: 1.2 }], || clients.layer());

    let mut reqwest = Bench::new("one call over HTTP by reqwest", &runtime);
    reqwest.row("a chain without a retry layer", || clients.chain());
    reqwest.row("reqwest-retry", || clients.reqwest_retry());
    let target = [Target::Time { than: "reqwest-retry", at_most: 1.0 }];
    reqwest.row_with("forbear, ReqwestRetry", &target, || clients.our_middleware());

    report::finish(&[tower.run(), reqwest.run()])
}
