//! Twenty thousand come at once; twenty thousand a second may go.

use std::rc::Rc;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use forbear::InvalidSetting;
use tokio::runtime::Runtime;
use tokio::sync::Semaphore;

use crate::bench::process_cpu_time;
use crate::gate::peers::limiter;
use crate::gate::verdict::Verdict;
use crate::gate::waiters::{Drain, drain};

/// How many come, and how many a second may go.
const BURST: u32 = 20_000;

/// A peer's burst.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct Burst {
    /// The process's CPU time for each.
    pub cpu: Duration,
    /// From the first to the last.
    pub drain: Duration,
}

/// Everybody asks governor until it says yes.
#[must_use]
pub fn governor(runtime: &Rc<Runtime>) -> Burst {
    let limiter = Arc::new(limiter(BURST, 1));
    burst(runtime, || {
        let limiter = Arc::clone(&limiter);
        async move { limiter.until_ready().await }
    })
}

/// What one writes by hand: a semaphore, and a task that adds what is due each millisecond.
#[must_use]
pub fn semaphore_and_pacer(runtime: &Rc<Runtime>) -> Burst {
    let semaphore = Arc::new(Semaphore::new(0));
    let given = Arc::new(AtomicU64::new(0));
    let pacer = {
        let (semaphore, started) = (Arc::clone(&semaphore), Instant::now());
        runtime.spawn(async move {
            let mut tick = tokio::time::interval(Duration::from_millis(1));
            loop {
                tick.tick().await;
                let due = (started.elapsed().as_secs_f64() * f64::from(BURST)) as u64;
                let more = due - given.swap(due, Ordering::Relaxed);
                semaphore.add_permits(usize::try_from(more).unwrap_or(0));
            }
        })
    };
    let burst = burst(runtime, || {
        let semaphore = Arc::clone(&semaphore);
        async move {
            if let Ok(permit) = semaphore.acquire().await {
                permit.forget();
            }
        }
    });
    pacer.abort();
    burst
}

fn burst<F: Future<Output = ()> + Send + 'static>(runtime: &Rc<Runtime>, task: impl Fn() -> F) -> Burst {
    let (cpu, started) = (process_cpu_time(), Instant::now());
    let tasks: Vec<_> = (0..BURST).map(|_| runtime.spawn(task())).collect();
    runtime.block_on(async {
        for task in tasks {
            drop(task.await);
        }
    });
    Burst { cpu: process_cpu_time().saturating_sub(cpu) / BURST, drain: started.elapsed() }
}

/// Measures ours and the peers'.
///
/// # Errors
/// A setting out of its range.
///
/// # Panics
/// When a call fails.
pub fn run(runtime: &Rc<Runtime>) -> Result<(String, Vec<Verdict>), InvalidSetting> {
    let (governor, by_hand) = (governor(runtime), semaphore_and_pacer(runtime));
    let ours = drain(runtime, BURST as usize, BURST)?;
    let Drain { cpu, of_the_pace, .. } = ours;
    let shown = format!(
        "  governor until_ready      {:>8.2} us CPU each, drained in {:>6.0} ms\n  \
         Semaphore + 1 ms pacer    {:>8.2} us CPU each, drained in {:>6.0} ms\n  \
         forbear, a paced pool     {:>8.2} us CPU each, drained in {:>6.0} ms\n",
        governor.cpu.as_secs_f64() * 1e6,
        governor.drain.as_secs_f64() * 1e3,
        by_hand.cpu.as_secs_f64() * 1e6,
        by_hand.drain.as_secs_f64() * 1e3,
        cpu.as_secs_f64() * 1e6,
        of_the_pace * 1e3,
    );
    let ratio = cpu.as_secs_f64() / governor.cpu.as_secs_f64();
    let mut verdicts = vec![Verdict::at_most(ratio, 0.02, "x governor's CPU time each")];
    verdicts.extend(ours.verdicts());
    Ok((shown, verdicts))
}
