//! The gate that replicas share, over a real Redis: cost, news, clocks, and half a minute without it. Takes four minutes.
//!
//! ```sh
//! cargo run --release -p forbear-bench --features fleet --bin fleet
//! ```

use std::process::ExitCode;
use std::rc::Rc;

use forbear::{InvalidSetting, RedisOptions};
use forbear_bench::bench::{Bench, Target};
use forbear_bench::fleet::{Finding, clocks, happy, many_pools, news, outage, reports};
use forbear_bench::operation::ready;
use forbear_bench::ours::Ours;
use forbear_bench::report;

fn main() -> Result<ExitCode, InvalidSetting> {
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build();
    let runtime = runtime.expect("two threads");
    let mut missed = 0;
    let mut show = |title: &str, findings: Vec<Finding>| {
        println!("{title}\n");
        for finding in findings {
            println!("{finding}");
            missed += usize::from(!finding.met);
        }
        println!();
    };
    show("a throttle is told", runtime.block_on(reports()));
    show("calls that pass", runtime.block_on(happy()));
    show("from one replica to another", runtime.block_on(news()));
    show("one shut's end in two replicas", runtime.block_on(clocks()));
    show("8 replicas, 20 requests a second, 30 s without the store", runtime.block_on(outage()));
    show("many pools", runtime.block_on(many_pools()));
    drop(runtime);

    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    let runtime = Rc::new(runtime.expect("a runtime"));
    let local = Ours::gate_and_budget()?;
    let server = forbear_bench::fleet::server();
    let shared = {
        let _in_it = runtime.enter();
        Ours::shared(RedisOptions::new(format!("redis://{}", server.addr()), "bench"))?
    };
    let mut time = Bench::new("one call that succeeds at once", &runtime);
    time.row("a gate of this process", || local.call(ready));
    let targets = [Target::Time { than: "a gate of this process", at_most: 1.1 }, Target::NoAllocation];
    time.row_with("a gate that is shared", &targets, || shared.call(ready));
    let finished = report::finish(&[time.run()]);
    println!("{missed} of the others missed");
    Ok(if missed == 0 { finished } else { ExitCode::FAILURE })
}
