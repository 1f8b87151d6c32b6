//! Two threads at one pool: whether the second one helps.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use crate::bench::{median, runtime, thread_cpu_time};
use crate::gate::ours::Ours;
use crate::gate::verdict::Verdict;
use crate::operation::ready;

/// Calls of one thread in one turn: about a millisecond, so that a busy machine leaves it alone now and then.
const CALLS: u32 = 20_000;
/// Pairs of turns that count.
const PAIRS: usize = 25;
/// Pairs that are tried for that.
const TRIES: usize = 20_000;
/// A turn counts if its threads had this part of the time a core of their own: threads that take turns on one core do not
/// meet at the pool.
const OWN_CORE: f64 = 0.97;

/// Measures calls a second of one thread and of two. `None` where the machine was too busy to run two at the same time.
///
/// # Panics
/// When a call fails.
#[must_use]
pub fn run(ours: &Ours) -> Option<Verdict> {
    let mut ratios = Vec::new();
    for _ in 0..TRIES {
        if let (Some(alone), Some(together)) = (per_second(ours, 1), per_second(ours, 2)) {
            ratios.push(together / alone);
        }
        if ratios.len() == PAIRS {
            break;
        }
    }
    (ratios.len() >= PAIRS / 2).then(|| {
        let what = format!("x the throughput of one thread on two, at one pool; {} pairs of turns", ratios.len());
        Verdict::at_least(median(ratios), 1.1, &what)
    })
}

/// Calls a second of so many threads together, if each had a core of its own.
fn per_second(ours: &Ours, threads: usize) -> Option<f64> {
    let arrived = AtomicUsize::new(0);
    let turns: Vec<(Duration, Duration)> = std::thread::scope(|scope| {
        let threads: Vec<_> = (0..threads).map(|_| scope.spawn(|| turn(ours, &arrived, threads))).collect();
        threads.into_iter().map(|thread| thread.join().unwrap_or_else(|_| panic!("a call failed"))).collect()
    });
    let own_core = turns.iter().all(|(wall, cpu)| cpu.as_secs_f64() >= OWN_CORE * wall.as_secs_f64());
    own_core.then(|| turns.iter().map(|(wall, _)| f64::from(CALLS) / wall.as_secs_f64()).sum())
}

/// The time on the wall, and on the core, that one of so many threads takes. They begin together: who comes first stays on
/// its core until the others are on theirs.
fn turn(ours: &Ours, arrived: &AtomicUsize, threads: usize) -> (Duration, Duration) {
    runtime(false).block_on(async {
        arrived.fetch_add(1, Ordering::AcqRel);
        while arrived.load(Ordering::Acquire) < threads {
            std::hint::spin_loop();
        }
        let (wall, cpu) = (Instant::now(), thread_cpu_time());
        for _ in 0..CALLS {
            assert!(std::hint::black_box(ours.call(ready).await).is_ok());
        }
        (wall.elapsed(), thread_cpu_time().saturating_sub(cpu))
    })
}
