//! A sink that adds up: every counter and histogram of the catalogue in memory.

use std::fmt::{self, Write};
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError, Weak};

use crate::core::moment::Moment;
use crate::event::catalogue::Metric;
pub use crate::event::exposition::Format;
use crate::event::metric::Kind;
use crate::event::names::Policies;
use crate::event::series::{Move, SeriesId, moves};
use crate::event::sink::{GaugeSource, Listener, Sink};
use crate::event::slots::Slots;
use crate::event::{Event, PoolLabels, exposition};

/// The catalogue's counters and histograms, added up from events in this process, and the engine's gauges as they are.
/// Clones share what they add up.
///
/// For the simulator, the diagnosis and tests; a service that is scraped wants the sinks of `telemetry`. Telling it an
/// event takes no lock and, once a series is known, allocates nothing.
///
/// ```
/// # use forbear::core::moment::Moment;
/// use forbear::event::{Event, PoolLabels, catalogue::Metric, sink::Sink, totals::Totals};
/// let totals = Totals::new();
/// let listener = totals.listen(&PoolLabels::new("openai", "prod/gpt"));
/// listener.hear(Moment::START, &Event::RequestSent);
/// listener.hear(Moment::START, &Event::RequestSent);
/// assert_eq!(totals.count(Metric::WireRequests, "prod/gpt", &[]), 2);
/// ```
#[derive(Clone, Default)]
pub struct Totals(Arc<Inner>);

#[derive(Default)]
struct Inner {
    policies: Policies,
    pools: Mutex<Vec<Arc<PoolTotals>>>,
    sources: Mutex<Vec<Weak<dyn GaugeSource>>>,
}

struct PoolTotals {
    labels: PoolLabels,
    totals: Slots<Total>,
}

/// One series' value. A counter uses `count` alone.
struct Total {
    count: AtomicU64,
    /// The bits of an `f64`.
    sum_seconds: AtomicU64,
    /// How many values lie at or under each bound and above the one before.
    buckets: Box<[AtomicU64]>,
}

impl Totals {
    /// Nothing added up yet.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// The sum over all series of `metric` in this pool whose labels have these values; for a histogram how many values
    /// it took.
    #[must_use]
    pub fn count(&self, metric: Metric, pool: &str, labels: &[(&str, &str)]) -> u64 {
        let mut sum = 0;
        self.visit(|found, found_pool, found_labels, total| {
            if found == metric && &*found_pool.pool == pool && labels.iter().all(|label| found_labels.contains(label)) {
                sum += total.count.load(Relaxed);
            }
        });
        sum
    }

    /// Writes everything in `format`, gauges included, families and series in a fixed order. `timestamp` goes behind
    /// every value: seconds in OpenMetrics, milliseconds in Prometheus text. The end mark of OpenMetrics is
    /// left to the caller, who may have more to write.
    ///
    /// # Errors
    /// Those of `out`.
    pub fn write(&self, out: &mut impl Write, format: Format, timestamp: Option<f64>) -> fmt::Result {
        let stamp = match (format, timestamp) {
            (_, None) => String::new(),
            (Format::OpenMetrics, Some(seconds)) => format!(" {seconds}"),
            (Format::Prometheus, Some(seconds)) => format!(" {:.0}", seconds * 1_000.0),
        };
        let mut families: Vec<Vec<String>> = vec![Vec::new(); Metric::ALL.len()];
        self.visit(|metric, pool, labels, total| {
            total.lines(metric, pool, labels, &mut |line| families[metric as usize].push(line));
        });
        let sources: Vec<_> = locked(&self.0.sources).iter().filter_map(Weak::upgrade).collect();
        for source in sources {
            source.sample(&mut |sample| families[sample.metric as usize].push(sample.to_string()));
        }
        for (metric, lines) in Metric::ALL.iter().zip(families).filter(|(_, lines)| !lines.is_empty()) {
            exposition::head(out, format, metric.row())?;
            lines.iter().try_for_each(|line| writeln!(out, "{line}{stamp}"))?;
        }
        Ok(())
    }

    /// Everything as Prometheus text.
    #[must_use]
    pub fn to_prometheus(&self) -> String {
        let mut text = String::new();
        // A string takes everything.
        let _ = self.write(&mut text, Format::Prometheus, None);
        text
    }

    fn visit(&self, mut visit: impl FnMut(Metric, &PoolLabels, &[(&'static str, &str)], &Total)) {
        let pools = locked(&self.0.pools).clone();
        for metric in Metric::ALL.iter().filter(|metric| metric.row().per_pool && metric.row().kind != Kind::Gauge) {
            for pool in &pools {
                for series in SeriesId::all(*metric) {
                    if let Some(total) = pool.totals.get(series) {
                        visit(*metric, &pool.labels, &series.labels(&self.0.policies), total);
                    }
                }
            }
        }
    }
}

impl Total {
    fn new(metric: Metric) -> Self {
        Self {
            count: AtomicU64::new(0),
            sum_seconds: AtomicU64::new(0f64.to_bits()),
            buckets: metric.row().buckets.iter().map(|_| AtomicU64::new(0)).collect(),
        }
    }

    fn take(&self, metric: Metric, seconds: f64) {
        self.count.fetch_add(1, Relaxed);
        let add = |bits: u64| Some((f64::from_bits(bits) + seconds).to_bits());
        let _ = self.sum_seconds.fetch_update(Relaxed, Relaxed, add);
        if let Some(bucket) = metric.row().buckets.iter().position(|bound| seconds <= *bound) {
            self.buckets[bucket].fetch_add(1, Relaxed);
        }
    }

    fn lines(&self, metric: Metric, pool: &PoolLabels, labels: &[(&str, &str)], tell: &mut impl FnMut(String)) {
        let row = metric.row();
        let mut tell = |suffix: &str, more: Option<(&str, &str)>, value: &dyn fmt::Display| {
            let labels: Vec<_> = labels.iter().copied().chain(more).collect();
            let mut line = String::new();
            let _ = exposition::line(&mut line, format_args!("{}{suffix}", row.prometheus), Some(pool), &labels, value);
            tell(line);
        };
        let count = self.count.load(Relaxed);
        if row.kind == Kind::Counter {
            return tell("", None, &count);
        }
        let mut at_or_under = 0;
        for (bound, bucket) in row.buckets.iter().zip(&self.buckets) {
            at_or_under += bucket.load(Relaxed);
            tell("_bucket", Some(("le", &bound.to_string())), &at_or_under);
        }
        tell("_bucket", Some(("le", "+Inf")), &count);
        tell("_sum", None, &f64::from_bits(self.sum_seconds.load(Relaxed)));
        tell("_count", None, &count);
    }
}

impl Sink for Totals {
    fn listen(&self, pool: &PoolLabels) -> Box<dyn Listener> {
        let totals = Slots::new();
        for metric in Metric::ALL.iter().filter(|metric| metric.row().from_zero) {
            for series in SeriesId::all(*metric) {
                let _: &Total = totals.place(series).get_or_init(|| Total::new(*metric));
            }
        }
        let pool = Arc::new(PoolTotals { labels: pool.clone(), totals });
        locked(&self.0.pools).push(Arc::clone(&pool));
        Box::new(Adder { inner: Arc::clone(&self.0), pool })
    }

    fn watch(&self, gauges: Weak<dyn GaugeSource>) {
        locked(&self.0.sources).push(gauges);
    }
}

impl fmt::Debug for Totals {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Totals").field("pools", &locked(&self.0.pools).len()).finish_non_exhaustive()
    }
}

struct Adder {
    inner: Arc<Inner>,
    pool: Arc<PoolTotals>,
}

impl Listener for Adder {
    fn hear(&self, _: Moment, event: &Event<'_>) {
        moves(event, &self.inner.policies, |series, by| {
            let place: &OnceLock<Total> = self.pool.totals.place(series);
            let total = place.get_or_init(|| Total::new(series.metric()));
            match by {
                Move::Rise(n) => {
                    total.count.fetch_add(n, Relaxed);
                }
                Move::Take(seconds) => total.take(series.metric(), seconds),
            }
        });
    }
}

fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
#[path = "totals_tests.rs"]
mod tests;
