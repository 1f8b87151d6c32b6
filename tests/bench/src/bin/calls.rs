//! So many calls of one row and nothing else, for a profiler, or to be compared with another build of itself.
//!
//! ```sh
//! cargo build --release -p forbear-bench --bin calls
//! valgrind --tool=callgrind target/release/calls forbear 10000
//! ```
//!
//! Rows: `hand`, `forbear`, `forbear-gate` succeed at once; `hand-paused` and `forbear-paused` fail three times first, in
//! paused time. With the feature `telemetry` also `hand-meters`, `forbear-meters` and `forbear-paused-meters`. Prints the
//! CPU time of a call.

use std::cell::Cell;
use std::error::Error;
use std::future::Future;

use forbear_bench::bench::{runtime, thread_cpu_time};
use forbear_bench::operation::{flaky, ready};
use forbear_bench::ours::Ours;
use forbear_bench::peers;
#[cfg(feature = "telemetry")]
use forbear_bench::telemetry;

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<_> = std::env::args().skip(1).collect();
    let [row, calls] = &arguments[..] else { return Err("calls ROW NUMBER".into()) };
    let calls: u64 = calls.parse()?;
    let runtime = runtime(row.contains("paused"));
    let _inside = runtime.enter();
    let tried = Cell::new(0);
    #[cfg(feature = "telemetry")]
    let prometheus = forbear::prometheus::install(0)?;
    let started = thread_cpu_time();
    runtime.block_on(async {
        match row.as_str() {
            "hand" => repeat(calls, || peers::hand(ready)).await,
            "hand-paused" => repeat(calls, || peers::hand(|| flaky(&tried))).await,
            "forbear" => of(calls, Ours::deadline_only()?).await,
            "forbear-gate" => of(calls, Ours::gate_and_budget()?).await,
            "forbear-paused" => paused(calls, Ours::deadline_only()?, &tried).await,
            #[cfg(feature = "telemetry")]
            "hand-meters" => {
                let meters = telemetry::Meters::default();
                repeat(calls, || meters.call(ready)).await;
            }
            #[cfg(feature = "telemetry")]
            "forbear-meters" => of(calls, Ours::told(prometheus.meters())?).await,
            #[cfg(feature = "telemetry")]
            "forbear-paused-meters" => paused(calls, Ours::told_deadline_only(prometheus.meters())?, &tried).await,
            _ => return Err(format!("no row {row:?}").into()),
        }
        Ok::<_, Box<dyn Error>>(())
    })?;
    println!("{:.2} ns a call", (thread_cpu_time() - started).as_nanos() as f64 / calls as f64);
    Ok(())
}

async fn of(calls: u64, ours: Ours) {
    repeat(calls, || ours.call(ready)).await;
}

async fn paused(calls: u64, ours: Ours, tried: &Cell<u32>) {
    repeat(calls, || ours.call(|| flaky(tried))).await;
}

async fn repeat<F: Future<Output = Result<u64, E>>, E>(calls: u64, mut call: impl FnMut() -> F) {
    for _ in 0..calls {
        assert!(std::hint::black_box(call().await).is_ok(), "a call failed");
    }
}
