//! A hundred thousand who wait at one pool.

use std::future::{Future, poll_fn};
use std::pin::pin;
use std::rc::Rc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use forbear::InvalidSetting;
use tokio::runtime::Runtime;
use tokio::sync::Semaphore;

use crate::gate::ours::{DEADLINE, Ours};
use crate::gate::verdict::Verdict;
use crate::operation::ready;

/// How many wait.
pub const WAITERS: usize = 100_000;

/// Heap bytes each waiter takes, its task included.
///
/// Ours waits for its turn, at most until its deadline, and then runs its operation. Beside it: a task that does the same
/// with a semaphore, and one that only waits for it, without deadline and operation.
///
/// # Errors
/// A setting out of its range.
pub fn bytes(runtime: &Rc<Runtime>) -> Result<(String, Vec<Verdict>), InvalidSetting> {
    let semaphore = Arc::new(Semaphore::new(0));
    let bare = parked(runtime, || {
        let semaphore = Arc::clone(&semaphore);
        async move { drop(semaphore.acquire().await) }
    });
    let theirs = parked(runtime, || {
        let semaphore = Arc::clone(&semaphore);
        async move {
            if let Ok(Ok(permit)) = tokio::time::timeout(DEADLINE, semaphore.acquire()).await {
                let _ = ready().await;
                drop(permit);
            }
        }
    });
    semaphore.close();
    runtime.block_on(settled());
    let ours = Arc::new(Ours::flowing()?);
    runtime.block_on(ours.shut(500, 60));
    let mine = parked(runtime, || {
        let ours = Arc::clone(&ours);
        async move { drop(ours.call(ready).await) }
    });
    let shown = format!(
        "  Semaphore acquire                       {bare:>4.0} bytes\n  \
           Semaphore acquire, deadline, operation  {theirs:>4.0} bytes\n  \
           forbear, a call                         {mine:>4.0} bytes, {:.2} x the bare acquire\n",
        mine / bare
    );
    Ok((shown, vec![Verdict::at_most(mine / theirs, 1.1, "x the bytes of a Semaphore waiter with a deadline")]))
}

/// Bytes on the heap for each of so many tasks that wait.
fn parked<F: Future<Output = ()> + Send + 'static>(runtime: &Rc<Runtime>, task: impl Fn() -> F) -> f64 {
    let counted = allocation_counter::measure(|| {
        for _ in 0..WAITERS {
            drop(runtime.spawn(task()));
        }
        runtime.block_on(settled());
    });
    counted.bytes_current as f64 / WAITERS as f64
}

/// Lets every task have its turn.
async fn settled() {
    for _ in 0..WAITERS / 16 {
        tokio::task::yield_now().await;
    }
}

/// What a drain showed.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Drain {
    /// Polls of each call, on the average.
    pub polls: f64,
    /// Whether they left in the order in which they came.
    pub in_order: bool,
    /// How long it took, as a multiple of what the pace allows.
    pub of_the_pace: f64,
    /// How many left before their slot.
    pub early: usize,
    /// The process's CPU time for each, from its arrival to its end.
    pub cpu: Duration,
}

/// Lets so many wait at a pool of ours that reopens and then lets so many in per second, little by little.
///
/// # Errors
/// A setting out of its range.
///
/// # Panics
/// When a call fails.
pub fn drain(runtime: &Rc<Runtime>, waiters: usize, per_second: u32) -> Result<Drain, InvalidSetting> {
    /// Long enough for all to arrive.
    const SHUT_FOR: u32 = 2;
    let ours = Arc::new(Ours::flowing()?);
    let (polls, left) = (Arc::new(AtomicU64::new(0)), Arc::new(Mutex::new(Vec::with_capacity(waiters))));
    let started = Instant::now();
    runtime.block_on(ours.shut(SHUT_FOR, per_second * 60));
    let cpu = crate::bench::process_cpu_time();
    let tasks: Vec<_> = (0..waiters)
        .map(|number| {
            let (ours, polls, left) = (Arc::clone(&ours), Arc::clone(&polls), Arc::clone(&left));
            runtime.spawn(async move {
                let call = ours.call(|| {
                    left.lock().unwrap_or_else(|_| panic!("a call failed")).push((number, started.elapsed()));
                    ready()
                });
                let mut call = pin!(call);
                let counted = poll_fn(|cx| {
                    polls.fetch_add(1, Ordering::Relaxed);
                    call.as_mut().poll(cx)
                });
                assert!(counted.await.is_ok());
            })
        })
        .collect();
    runtime.block_on(async {
        for task in tasks {
            assert!(task.await.is_ok(), "a call failed");
        }
    });
    let cpu = (crate::bench::process_cpu_time().saturating_sub(cpu)) / u32::try_from(waiters).unwrap_or(u32::MAX);
    let left = left.lock().unwrap_or_else(|_| panic!("a call failed"));
    let (opened, step) = (Duration::from_secs(SHUT_FOR.into()), Duration::from_secs(1) / per_second);
    let slot = |number: usize| opened + step * u32::try_from(number).unwrap_or(u32::MAX);
    let last = left.last().map_or(Duration::ZERO, |(_, at)| *at);
    Ok(Drain {
        polls: polls.load(Ordering::Relaxed) as f64 / waiters as f64,
        in_order: left.iter().enumerate().all(|(place, (number, _))| place == *number),
        of_the_pace: (last.saturating_sub(opened)).as_secs_f64() / (slot(waiters) - opened).as_secs_f64(),
        early: left.iter().enumerate().filter(|(place, (_, at))| *at < slot(*place)).count(),
        cpu,
    })
}

impl Drain {
    /// How it stands to its targets.
    #[must_use]
    pub fn verdicts(&self) -> Vec<Verdict> {
        vec![
            Verdict::at_most(self.polls, 2.1, "polls a waiter"),
            Verdict::holds(self.in_order, "they leave in the order in which they came"),
            Verdict::holds(self.early == 0, &format!("{} of them before their slot", self.early)),
            Verdict::at_least(self.of_the_pace, 1.0, "x the time the pace allows"),
            Verdict::at_most(self.of_the_pace, 1.01, "x the time the pace allows"),
        ]
    }
}
