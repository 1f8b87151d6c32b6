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
use crate::event::sources::Sources;
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

/// Shared by the clones and by the listeners.
#[derive(Default)]
struct Inner {
    policies: Policies,
    pools: Mutex<Vec<Arc<PoolTotals>>>,
    sources: Sources,
}

/// What one pool added up, or the process.
struct PoolTotals {
    labels: Option<PoolLabels>,
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
    /// it took. A metric of the process is asked for with an empty name of the pool.
    #[must_use]
    pub fn count(&self, metric: Metric, pool: &str, labels: &[(&str, &str)]) -> u64 {
        let mut sum = 0;
        self.visit(|found, found_pool, found_labels, total| {
            let found_pool = found_pool.map_or("", |labels| &*labels.pool);
            if found == metric && found_pool == pool && labels.iter().all(|label| found_labels.contains(label)) {
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
        self.lines(&mut |metric, line| families[metric as usize].push(line.to_owned()));
        for (metric, series) in self.0.sources.now() {
            families[metric as usize].extend(series.into_iter().map(|(series, value)| format!("{series} {value}")));
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

    /// Every line of the text without time: `name{label="value"} value`, in the table's order.
    pub(crate) fn lines(&self, tell: &mut impl FnMut(Metric, &str)) {
        self.visit(|metric, pool, labels, total| {
            total.lines(metric, pool, labels, &mut |line| tell(metric, &line));
        });
    }

    /// Visits every series there is, in the order of the catalogue, then of the pools, then of the label values.
    fn visit(&self, mut visit: impl FnMut(Metric, Option<&PoolLabels>, &[(&'static str, &str)], &Total)) {
        let pools = locked(&self.0.pools).clone();
        for metric in Metric::ALL.iter().filter(|metric| metric.row().kind != Kind::Gauge) {
            for pool in &pools {
                for (series, total) in pool.totals.used(*metric) {
                    visit(*metric, pool.labels.as_ref(), &series.labels(&self.0.policies), total);
                }
            }
        }
    }

    /// A listener with totals of its own.
    fn adder(&self, labels: Option<PoolLabels>) -> Adder {
        let mut pools = locked(&self.0.pools);
        // The same labels are the same series: of a pool that was made again, and of those that share `_OTHER`.
        let known = pools.iter().find(|known| known.labels == labels).map(Arc::clone);
        let pool = known.unwrap_or_else(|| {
            let pool = Arc::new(PoolTotals { labels, totals: Slots::new() });
            pools.push(Arc::clone(&pool));
            pool
        });
        Adder { inner: Arc::clone(&self.0), pool }
    }
}

impl Total {
    /// Nothing added up, with the buckets of its metric.
    fn new(metric: Metric) -> Self {
        Self {
            count: AtomicU64::new(0),
            sum_seconds: AtomicU64::new(0f64.to_bits()),
            buckets: metric.row().buckets.iter().map(|_| AtomicU64::new(0)).collect(),
        }
    }

    /// Takes a value in seconds. Sum, count and bucket are moved one after another: whoever reads in between may see them
    /// differ by the value that is being taken.
    fn take(&self, metric: Metric, seconds: f64) {
        self.count.fetch_add(1, Relaxed);
        let add = |bits: u64| Some((f64::from_bits(bits) + seconds).to_bits());
        let _ = self.sum_seconds.fetch_update(Relaxed, Relaxed, add);
        if let Some(bucket) = metric.row().buckets.iter().position(|bound| seconds <= *bound) {
            self.buckets[bucket].fetch_add(1, Relaxed);
        }
    }

    /// Tells the lines of one series: one for a counter; buckets, sum and count for a histogram.
    fn lines(&self, metric: Metric, pool: Option<&PoolLabels>, labels: &[(&str, &str)], tell: &mut impl FnMut(String)) {
        let row = metric.row();
        let mut tell = |suffix: &str, more: Option<(&str, &str)>, value: &dyn fmt::Display| {
            let labels: Vec<_> = labels.iter().copied().chain(more).collect();
            let mut line = String::new();
            let _ = exposition::line(&mut line, format_args!("{}{suffix}", row.prometheus), pool, &labels, value);
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
        let adder = self.adder(Some(pool.clone()));
        for metric in Metric::ALL.iter().filter(|metric| metric.row().from_zero) {
            for series in SeriesId::all(*metric) {
                let _: &Total = adder.pool.totals.place(series).get_or_init(|| Total::new(*metric));
            }
        }
        Box::new(adder)
    }

    fn listen_to_process(&self) -> Box<dyn Listener> {
        Box::new(self.adder(None))
    }

    fn watch(&self, gauges: Weak<dyn GaugeSource>) {
        self.0.sources.watch(gauges);
    }
}

impl fmt::Debug for Totals {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Totals").field("pools", &locked(&self.0.pools).len()).finish_non_exhaustive()
    }
}

/// Adds up what it hears.
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
mod tests {
    use std::time::Duration;

    use super::*;
    use crate::core::decide::{AttemptOutcome, DelaySource};
    use crate::core::signal::LimitClass;

    fn attempt(millis: u64) -> Event<'static> {
        Event::AttemptEnded {
            number: 1,
            delay_source: DelaySource::None,
            outcome: AttemptOutcome::Ok,
            class: LimitClass::None,
            token_kind: None,
            status: Some(200),
            duration: Duration::from_millis(millis),
        }
    }

    struct OneGauge(PoolLabels);

    impl GaugeSource for OneGauge {
        fn sample(&self, visit: &mut dyn FnMut(crate::event::sink::Sample<'_>)) {
            let labels = [("mode", "local")];
            visit(crate::event::sink::Sample::new(Metric::GateInfo, Some(&self.0), &labels, 1.0));
        }
    }

    #[test]
    fn a_histogram_is_cumulative_and_a_rare_counter_is_there_from_the_start() {
        let totals = Totals::new();
        let listener = totals.listen(&PoolLabels::new("generic", "a"));
        for millis in [250, 251, 20_000, 1_000_000] {
            listener.hear(Moment::START, &attempt(millis));
        }
        let text = totals.to_prometheus();
        let lines: Vec<_> = text.lines().filter(|line| line.starts_with("forbear_attempt_duration")).collect();
        let pool = r#"provider="generic",pool="a""#;
        assert_eq!(
            lines,
            [
                format!("forbear_attempt_duration_seconds_bucket{{{pool},le=\"0.25\"}} 1"),
                format!("forbear_attempt_duration_seconds_bucket{{{pool},le=\"1\"}} 2"),
                format!("forbear_attempt_duration_seconds_bucket{{{pool},le=\"5\"}} 2"),
                format!("forbear_attempt_duration_seconds_bucket{{{pool},le=\"30\"}} 3"),
                format!("forbear_attempt_duration_seconds_bucket{{{pool},le=\"120\"}} 3"),
                format!("forbear_attempt_duration_seconds_bucket{{{pool},le=\"900\"}} 3"),
                format!("forbear_attempt_duration_seconds_bucket{{{pool},le=\"+Inf\"}} 4"),
                format!("forbear_attempt_duration_seconds_sum{{{pool}}} 1020.501"),
                format!("forbear_attempt_duration_seconds_count{{{pool}}} 4"),
            ]
        );
        assert!(text.contains(&format!("forbear_clamped_delays_total{{{pool}}} 0\n")), "{text}");
        assert_eq!(totals.count(Metric::Attempts, "a", &[("attempt", "1"), ("outcome", "ok")]), 4);
        assert_eq!(totals.count(Metric::Attempts, "b", &[]), 0);
    }

    #[test]
    fn openmetrics_names_a_counters_family_without_its_suffix_and_takes_seconds() {
        let totals = Totals::new();
        totals.listen(&PoolLabels::new("generic", "a")).hear(Moment::START, &Event::RequestSent);
        let mut text = String::new();
        totals.write(&mut text, Format::OpenMetrics, Some(1_700_000_000.5)).expect("a string takes everything");
        assert!(text.contains("# TYPE forbear_wire_requests counter\n"), "{text}");
        let line = "forbear_wire_requests_total{provider=\"generic\",pool=\"a\"} 1 1700000000.5\n";
        assert!(text.contains(line), "{text}");
    }

    #[test]
    fn gauges_are_asked_for_their_value_when_everything_is_written() {
        let totals = Totals::new();
        let source: Arc<dyn GaugeSource> = Arc::new(OneGauge(PoolLabels::new("generic", "a")));
        totals.watch(Arc::downgrade(&source));
        let line = "forbear_gate_info{provider=\"generic\",pool=\"a\",mode=\"local\"} 1\n";
        assert!(totals.to_prometheus().contains(line), "{}", totals.to_prometheus());
        drop(source);
        assert_eq!(totals.to_prometheus(), "");
    }
}
