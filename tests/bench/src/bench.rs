//! The harness: rows that are measured in turns.

use std::future::Future;
use std::hint::black_box;
use std::rc::Rc;
use std::time::Duration;

use nix::time::{ClockId, clock_gettime};
use tokio::runtime::Runtime;
use tower::Service;

use crate::report::{Figures, Report};

/// Turns each row gets. Odd, so that the median is one of them.
const ROUNDS: usize = 101;
/// CPU time one turn takes.
const TURN: Duration = Duration::from_millis(3);
/// Calls over which allocations are counted.
const COUNTED_CALLS: u64 = 1_000;

/// A topic: rows doing the same job, measured in one process.
///
/// Each round gives every row one turn, starting with another row each time, and a turn's cost is the thread's CPU time
/// over its calls. Figures are medians over the rounds; a ratio is the median of the ratios within the rounds, so that a
/// machine that slows down for a while slows both sides.
pub struct Bench<'a> {
    title: &'static str,
    runtime: Rc<Runtime>,
    rows: Vec<Row<'a>>,
}

struct Row<'a> {
    name: &'static str,
    /// Carries out this many calls and says whether all succeeded.
    run: Box<dyn FnMut(u64) -> bool + 'a>,
    future_bytes: usize,
    targets: Vec<Target>,
}

/// What a row has to reach.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub enum Target {
    /// At most this many times as much CPU time as another row.
    Time {
        /// The other row.
        than: &'static str,
        /// The largest ratio that passes.
        at_most: f64,
    },
    /// What a row takes more than the row `beyond`, at most this many times what `floor` takes more than `bare`.
    Added {
        /// The same without what is measured.
        beyond: &'static str,
        /// What is measured, done by hand.
        floor: &'static str,
        /// The same without it.
        bare: &'static str,
        /// The largest ratio that passes.
        at_most: f64,
    },
    /// No heap allocation.
    NoAllocation,
    /// At most this many heap allocations a call, once warm.
    Allocations {
        /// The largest number that passes.
        at_most: f64,
    },
    /// A future at most this many times as large as that of the row `than`.
    FutureSize {
        /// The other row.
        than: &'static str,
        /// The largest ratio that passes.
        at_most: f64,
    },
}

impl<'a> Bench<'a> {
    /// A topic without rows, on this runtime.
    #[must_use]
    pub fn new(title: &'static str, runtime: &Rc<Runtime>) -> Self {
        Self { title, runtime: Rc::clone(runtime), rows: Vec::new() }
    }

    /// Adds a row: `call` makes the future of one call.
    ///
    /// # Panics
    /// When a call fails: a row that does not do the job is not measured.
    pub fn row<Fut, E>(&mut self, name: &'static str, call: impl FnMut() -> Fut + 'a)
    where
        Fut: Future<Output = Result<u64, E>>,
    {
        self.row_with(name, &[], call);
    }

    /// Adds a row whose calls are those of a service that is always ready.
    ///
    /// # Panics
    /// As [`Bench::row`].
    pub fn service<S: Service<(), Response = u64> + 'a>(&mut self, name: &'static str, mut service: S) {
        self.row(name, move || service.call(()));
    }

    /// Adds a row that has targets to reach.
    ///
    /// # Panics
    /// As [`Bench::row`].
    pub fn row_with<Fut, E>(&mut self, name: &'static str, targets: &[Target], mut call: impl FnMut() -> Fut + 'a)
    where
        Fut: Future<Output = Result<u64, E>>,
    {
        let future = call();
        let future_bytes = size_of_val(&future);
        assert!(self.runtime.block_on(future).is_ok(), "{}: {name:?} does not succeed", self.title);
        let runtime = Rc::clone(&self.runtime);
        let run = Box::new(move |calls| {
            runtime.block_on(async {
                let mut succeeded = true;
                for _ in 0..calls {
                    succeeded &= black_box(&call().await).is_ok();
                }
                succeeded
            })
        });
        self.rows.push(Row { name, run, future_bytes, targets: targets.to_vec() });
    }

    /// Measures all rows.
    #[must_use]
    pub fn run(mut self) -> Report {
        let calls: Vec<u64> = self.rows.iter_mut().map(calls_per_turn).collect();
        let allocations: Vec<f64> = self.rows.iter_mut().map(allocations_per_call).collect();
        let mut turns: Vec<Vec<f64>> = vec![Vec::with_capacity(ROUNDS); self.rows.len()];
        for round in 0..ROUNDS {
            for turn in 0..self.rows.len() {
                let row = (round + turn) % self.rows.len();
                let spent = self.rows[row].cpu_time(calls[row]);
                turns[row].push(spent.as_nanos() as f64 / calls[row] as f64);
            }
        }
        let rows = self.rows.into_iter().zip(turns).zip(allocations).map(|((row, nanos), allocations)| {
            (row.name, Figures { nanos, allocations, future_bytes: row.future_bytes, targets: row.targets })
        });
        Report { title: self.title, rows: rows.collect() }
    }

    /// Looks at the rows' futures only.
    #[must_use]
    pub fn sizes(self) -> Report {
        let rows = self.rows.into_iter().map(|row| {
            let Row { name, future_bytes, targets, .. } = row;
            (name, Figures { nanos: Vec::new(), allocations: 0.0, future_bytes, targets })
        });
        Report { title: self.title, rows: rows.collect() }
    }
}

impl Row<'_> {
    /// The CPU time this thread spends on so many calls.
    fn cpu_time(&mut self, calls: u64) -> Duration {
        let started = thread_cpu_time();
        let succeeded = (self.run)(calls);
        let spent = thread_cpu_time().saturating_sub(started);
        assert!(succeeded, "{:?}: a call failed", self.name);
        spent
    }
}

/// Doubles the number of calls until they fill a turn. Warms the row up on the way.
fn calls_per_turn(row: &mut Row<'_>) -> u64 {
    let mut calls = 1;
    while row.cpu_time(calls) < TURN && calls < 1 << 30 {
        calls *= 2;
    }
    calls
}

/// The difference between two lengths, so that what starting the runtime allocates does not count.
fn allocations_per_call(row: &mut Row<'_>) -> f64 {
    let mut count = |calls| allocation_counter::measure(|| assert!((row.run)(calls))).count_total as f64;
    (count(2 * COUNTED_CALLS) - count(COUNTED_CALLS)) / COUNTED_CALLS as f64
}

/// The CPU time this thread has spent so far.
///
/// # Panics
/// Where the system has no such clock.
#[must_use]
pub fn thread_cpu_time() -> Duration {
    clock_gettime(ClockId::CLOCK_THREAD_CPUTIME_ID).expect("every Unix this runs on has the clock").into()
}

/// The CPU time all threads of this process have spent so far.
pub(crate) fn process_cpu_time() -> Duration {
    clock_gettime(ClockId::CLOCK_PROCESS_CPUTIME_ID).expect("every Unix this runs on has the clock").into()
}

/// A runtime as a call sees it in a service: one thread, so that its CPU time is all there is to measure.
///
/// # Panics
/// Where no runtime can be made.
#[must_use]
pub fn runtime(paused: bool) -> Rc<Runtime> {
    let built = tokio::runtime::Builder::new_current_thread().enable_time().start_paused(paused).build();
    Rc::new(built.expect("a runtime without I/O needs nothing from the system"))
}

/// The middle of an odd number of figures.
pub(crate) fn median(figures: impl IntoIterator<Item = f64>) -> f64 {
    let mut sorted: Vec<f64> = figures.into_iter().collect();
    sorted.sort_by(f64::total_cmp);
    sorted.get(sorted.len() / 2).copied().unwrap_or(f64::NAN)
}
