//! Temporary.
use forbear_bench::bench::runtime;
use forbear_bench::operation::{flaky, ready};
use forbear_bench::ours::Ours;
use forbear_bench::peers;
use forbear_bench::telemetry::Meters;
use std::cell::Cell;

fn main() {
    let args: Vec<String> = std::env::args().collect();
    let n: u64 = args[2].parse().unwrap();
    let prometheus = forbear::prometheus::install(0).unwrap();
    let paused = args[1].starts_with("paused");
    let runtime = runtime(paused);
    let cell = Cell::new(0);
    let _g = runtime.enter();
    runtime.block_on(async {
        match &*args[1] {
            "floor" => {
                let m = Meters::default();
                for _ in 0..n {
                    let _ = m.call(ready).await;
                }
            }
            "hand" => {
                for _ in 0..n {
                    let _ = peers::hand(ready).await;
                }
            }
            "untold" => {
                let o = Ours::gate_and_budget().unwrap();
                for _ in 0..n {
                    let _ = o.call(ready).await;
                }
            }
            "deaf" => {
                let o = Ours::told(()).unwrap();
                for _ in 0..n {
                    let _ = o.call(ready).await;
                }
            }
            "metered" => {
                let o = Ours::told(prometheus.meters()).unwrap();
                for _ in 0..n {
                    let _ = o.call(ready).await;
                }
            }
            "paused_hand" => {
                for _ in 0..n {
                    let _ = peers::hand(|| flaky(&cell)).await;
                }
            }
            "paused_untold" => {
                let o = Ours::deadline_only().unwrap();
                for _ in 0..n {
                    let _ = o.call(|| flaky(&cell)).await;
                }
            }
            "paused_deaf" => {
                let o = Ours::told_deadline_only(()).unwrap();
                for _ in 0..n {
                    let _ = o.call(|| flaky(&cell)).await;
                }
            }
            "paused_metered" => {
                let o = Ours::told_deadline_only(prometheus.meters()).unwrap();
                for _ in 0..n {
                    let _ = o.call(|| flaky(&cell)).await;
                }
            }
            _ => panic!(),
        }
    });
}
