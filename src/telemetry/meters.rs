//! The sink over the `metrics` facade, under the final Prometheus names.
//!
//! The facade hands out handles that stay bound to the recorder they came from. One made while no recorder is installed is
//! dead for ever, so each is made on the first event of its series after there is one, and kept in an array by the
//! series' number.
//!
//! A call that succeeds at once moves five series: two counters rise, three histograms take a value. Beside what the
//! recorder does for each, an event costs a jump and two loads a series.

use std::fmt;
use std::mem::size_of_val;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::sync::{Arc, Weak};

use metrics::{Counter, Histogram, Key, KeyName, Label, Level, Metadata, Recorder, Unit};

use crate::core::moment::Moment;
use crate::event::catalogue::Metric;
use crate::event::metric::Kind;
use crate::event::names::Policies;
use crate::event::series::{Moved, SeriesId, move_all};
use crate::event::sink::{GaugeSource, Listener, Sink};
use crate::event::slots::Slots;
use crate::event::sources::Sources;
use crate::event::{Event, PoolLabels};

const METADATA: Metadata<'static> = Metadata::new("forbear", Level::INFO, None);

/// A sink that counts through the `metrics` facade, into whatever recorder the application installs.
///
/// The names are final (`forbear_attempts_total`): a Prometheus builder with recommended naming or without gives the
/// same. A builder of your own needs the buckets of `forbear::prometheus::buckets`, else
/// histograms become summaries, and [`Meters::sample`] before each scrape. A gauge that has gone (the end of a shut pool,
/// a pool that was dropped) keeps its last value in a recorder of your own, since the facade cannot take one back.
#[must_use]
pub fn meters() -> Meters {
    Meters::default()
}

/// The sink [`meters`] makes. Clones are the same sink.
///
/// ```
/// use forbear::{Forbear, telemetry};
/// let meters = telemetry::meters();
/// let forbear = Forbear::builder().sink(meters.clone()).build()?;
/// // A recorder may be installed before or after; then, before each scrape:
/// meters.sample();
/// # Ok::<_, forbear::InvalidSetting>(())
/// ```
///
/// Each series is resolved with the recorder once, on its first event after a recorder was installed; from then on an
/// event takes no lock, no look-up and no allocation. A recorder is taken for missing while it has no state of its own
/// (as the facade's own no-op has none): events are then handed on one by one, and one warning is logged.
#[derive(Clone, Default)]
pub struct Meters(Arc<Inner>);

#[derive(Default)]
struct Inner {
    policies: Policies,
    sources: Sources,
    gauges_are_served: bool,
    described: AtomicBool,
    warned: AtomicBool,
}

impl Meters {
    /// Sets every gauge to its value now. Wanted before each scrape of a recorder of your own. Those of
    /// `forbear::prometheus::install` need it not, and it does nothing: that endpoint asks the engine while it is scraped.
    pub fn sample(&self) {
        if self.0.gauges_are_served {
            return;
        }
        metrics::with_recorder(|recorder| {
            self.0.greet(recorder);
            self.0.sources.sample(&mut |sample| {
                let key = key(sample.metric, sample.pool, sample.labels);
                recorder.register_gauge(&key, &METADATA).set(sample.value);
            });
        });
    }
}

impl Meters {
    /// The same for an endpoint that serves the gauges itself, by [`Meters::write_gauges`].
    #[cfg(feature = "prometheus")]
    pub(crate) fn with_served_gauges() -> Self {
        Self(Arc::new(Inner { gauges_are_served: true, ..Inner::default() }))
    }

    /// The engine's gauges as they are now, as Prometheus text. A series that has gone is not there, as on the other road.
    #[cfg(feature = "prometheus")]
    pub(crate) fn write_gauges(&self, out: &mut String) {
        // A string takes everything.
        let _ = self.0.sources.write(out);
    }

    fn of(&self, pool: Option<PoolLabels>) -> PoolMeters {
        PoolMeters {
            inner: Arc::clone(&self.0),
            pool,
            counters: Slots::new(),
            histograms: Slots::new(),
            begun: AtomicBool::new(false),
        }
    }
}

impl fmt::Debug for Meters {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Meters").finish_non_exhaustive()
    }
}

impl Sink for Meters {
    fn listen(&self, pool: &PoolLabels) -> Box<dyn Listener> {
        Box::new(self.of(Some(pool.clone())))
    }

    fn listen_to_process(&self) -> Box<dyn Listener> {
        Box::new(self.of(None))
    }

    fn watch(&self, gauges: Weak<dyn GaugeSource>) {
        self.0.sources.watch(gauges);
    }
}

impl Inner {
    /// Describes the catalogue to a recorder, once; warns, once, if there is none. Says whether handles of this recorder
    /// may be kept.
    fn greet(&self, recorder: &dyn Recorder) -> bool {
        // The facade does not tell whether a recorder is its no-op one, but that one has no state. A handle of it would
        // stay dead for ever, so none is kept.
        let has_state = size_of_val(recorder) > 0;
        if !has_state && !self.warned.swap(true, Relaxed) {
            tracing::warn!(
                name: "forbear.no_recorder",
                target: "forbear",
                "forbear's meters are on, but no metrics recorder is installed: nothing is counted until one is \
                 (forbear::prometheus::install, or one of your own)",
            );
        }
        if has_state && !self.described.swap(true, Relaxed) {
            describe(recorder);
        }
        has_state
    }
}

/// Tells a recorder help and unit of every metric. It has to happen before the first value, as some recorders take the
/// unit from then.
fn describe(recorder: &dyn Recorder) {
    for row in Metric::ALL.iter().map(|metric| metric.row()) {
        let name = KeyName::from_const_str(row.prometheus);
        let unit = match row.unit {
            "" => None,
            "s" => Some(Unit::Seconds),
            _ => Some(Unit::Count),
        };
        match row.kind {
            Kind::Counter => recorder.describe_counter(name, unit, row.help.into()),
            Kind::Gauge => recorder.describe_gauge(name, unit, row.help.into()),
            Kind::Histogram => recorder.describe_histogram(name, unit, row.help.into()),
        }
    }
}

/// The facade's key of a series: pool first, then the labels in the catalogue's order.
fn key(metric: Metric, pool: Option<&PoolLabels>, labels: &[(&'static str, &str)]) -> Key {
    let of_pool = pool.map(|pool| {
        let name = metrics::SharedString::from(Arc::clone(&pool.pool));
        [Label::from_static_parts("provider", pool.provider), Label::new("pool", name)]
    });
    let own = labels.iter().map(|(key, word)| Label::new(*key, (*word).to_owned()));
    Key::from_parts(metric.row().prometheus, of_pool.into_iter().flatten().chain(own).collect::<Vec<_>>())
}

/// Counts what one pool's calls tell, or what is told of the process.
struct PoolMeters {
    inner: Arc<Inner>,
    pool: Option<PoolLabels>,
    /// What the recorder gave for the series that rise.
    counters: Slots<Counter>,
    /// What it gave for those that take values.
    histograms: Slots<Histogram>,
    /// Whether the series that exist from zero do.
    begun: AtomicBool,
}

impl Listener for PoolMeters {
    fn hear(&self, _: Moment, event: &Event<'_>) {
        move_all(event, &self.inner.policies, &mut &*self);
    }
}

/// Inlined into each place that moves a series: which one it is, is then known, and where its handle stands.
impl Moved for &PoolMeters {
    #[inline(always)]
    fn rise(&mut self, series: SeriesId, n: u64) {
        match self.counters.get(series) {
            Some(counter) => counter.increment(n),
            None => self.first_rise(series, n),
        }
    }

    #[inline(always)]
    fn take(&mut self, series: SeriesId, seconds: f64) {
        match self.histograms.get(series) {
            Some(histogram) => histogram.record(seconds),
            None => self.first_value(series, seconds),
        }
    }
}

impl PoolMeters {
    /// The first rise of a series since a recorder is there.
    #[cold]
    fn first_rise(&self, series: SeriesId, n: u64) {
        self.first(series, &self.counters, |recorder, key| {
            let counter = recorder.register_counter(key, &METADATA);
            counter.increment(n);
            counter
        });
    }

    /// The first value of a series since a recorder is there.
    #[cold]
    fn first_value(&self, series: SeriesId, seconds: f64) {
        self.first(series, &self.histograms, |recorder, key| {
            let histogram = recorder.register_histogram(key, &METADATA);
            histogram.record(seconds);
            histogram
        });
    }

    /// Has the recorder `make` the handle of a series, and the series with it if it is new; keeps the handle if the
    /// recorder is one.
    fn first<H>(&self, series: SeriesId, handles: &Slots<H>, make: impl FnOnce(&dyn Recorder, &Key) -> H) {
        metrics::with_recorder(|recorder| {
            let keep = self.inner.greet(recorder);
            if keep && self.pool.is_some() && !self.begun.swap(true, Relaxed) {
                for metric in Metric::ALL.iter().filter(|metric| metric.row().from_zero) {
                    for series in SeriesId::all(*metric) {
                        recorder.register_counter(&self.key(series), &METADATA).increment(0);
                    }
                }
            }
            let handle = make(recorder, &self.key(series));
            if keep {
                // Lost only to another thread's handle of the same series.
                let _ = handles.place(series).set(handle);
            }
        });
    }

    fn key(&self, series: SeriesId) -> Key {
        key(series.metric(), self.pool.as_ref(), &series.labels(&self.inner.policies))
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;
    use std::sync::atomic::AtomicUsize;
    use std::time::Duration;

    use metrics_util::debugging::{DebugValue, DebuggingRecorder, Snapshotter};

    use super::*;
    use crate::core::decide::{AttemptOutcome, CallOutcome, DelaySource};
    use crate::core::estimate::Estimate;
    use crate::core::signal::LimitClass;
    use crate::event::sink::Sample;

    /// What a recorder holds, as `name{label=value,…}` and value.
    fn read(snapshotter: &Snapshotter) -> BTreeMap<String, String> {
        let snapshot = snapshotter.snapshot().into_vec().into_iter();
        let line = |(key, _, _, value): (metrics_util::CompositeKey, _, _, DebugValue)| {
            let key = key.key();
            let labels: Vec<_> = key.labels().map(|label| format!("{}={}", label.key(), label.value())).collect();
            let value = match value {
                DebugValue::Counter(n) => n.to_string(),
                DebugValue::Gauge(value) => format!("{}", value.into_inner()),
                DebugValue::Histogram(values) => {
                    format!("{:?}", values.iter().map(|v| v.into_inner()).collect::<Vec<_>>())
                }
            };
            (format!("{}{{{}}}", key.name(), labels.join(",")), value)
        };
        snapshot.map(line).collect()
    }

    fn call(policy: &str) -> Event<'_> {
        let estimate = Some(Estimate::input(1_200).output(400));
        Event::CallStarted { policy, deadline: Duration::from_secs(15), estimate }
    }

    fn attempt(number: u32) -> Event<'static> {
        Event::AttemptEnded {
            number,
            delay_source: DelaySource::Header,
            outcome: AttemptOutcome::Throttled,
            class: LimitClass::RequestRate,
            token_kind: None,
            status: Some(429),
            duration: Duration::from_millis(250),
        }
    }

    fn pool() -> PoolLabels {
        PoolLabels::new("openai", "prod/gpt")
    }

    #[test]
    fn events_become_series_under_their_final_names() {
        let recorder = DebuggingRecorder::new();
        let snapshotter = recorder.snapshotter();
        let listener = meters().listen(&pool());
        metrics::with_local_recorder(&recorder, || {
            for event in [call("chat"), attempt(1), attempt(1), attempt(2)] {
                listener.hear(Moment::START, &event);
            }
            listener.hear(
                Moment::START,
                &Event::CallEnded {
                    policy: "chat",
                    outcome: CallOutcome::DeadlineExceeded,
                    class: LimitClass::RequestRate,
                    delay_source: DelaySource::Header,
                    early: true,
                    attempts: 3,
                    duration: Duration::from_secs(11),
                },
            );
        });
        let lines: Vec<_> = read(&snapshotter).into_iter().map(|(key, value)| format!("{key} {value}")).collect();
        let expected = "
forbear_attempt_duration_seconds{POOL} [0.25, 0.25, 0.25]
forbear_attempts_total{POOL,attempt=1,delay_source=header,outcome=throttled,limit_class=request_rate} 2
forbear_attempts_total{POOL,attempt=2,delay_source=header,outcome=throttled,limit_class=request_rate} 1
forbear_call_deadline_seconds{POOL,policy=chat} [15.0]
forbear_call_duration_seconds{POOL,outcome=deadline_exceeded} [11.0]
forbear_calls_total{POOL,policy=chat} 1
forbear_clamped_delays_total{POOL} 0
forbear_giveups_total{POOL,policy=chat,outcome=deadline_exceeded,limit_class=request_rate,delay_source=header,early=yes} 1
forbear_offered_tokens_total{POOL,policy=chat,token_kind=input} 1200
forbear_offered_tokens_total{POOL,policy=chat,token_kind=output} 400
forbear_stacked_retries_total{POOL,detector=incoming_header} 0
forbear_stacked_retries_total{POOL,detector=nested} 0
forbear_stacked_retries_total{POOL,detector=wire} 0
forbear_unreadable_signals_total{POOL,part=body} 0
forbear_unreadable_signals_total{POOL,part=header} 0";
        let expected = expected.replace("POOL", "provider=openai,pool=prod/gpt");
        assert_eq!(lines, expected.trim().lines().collect::<Vec<_>>());
    }

    #[test]
    fn a_recorder_installed_after_the_first_event_hears_the_next_one() {
        let recorder = DebuggingRecorder::new();
        let snapshotter = recorder.snapshotter();
        let listener = meters().listen(&pool());
        listener.hear(Moment::START, &attempt(1));
        metrics::with_local_recorder(&recorder, || listener.hear(Moment::START, &attempt(1)));
        let series = "forbear_attempts_total{provider=openai,pool=prod/gpt,\
                      attempt=1,delay_source=header,outcome=throttled,limit_class=request_rate}";
        assert_eq!(read(&snapshotter)[series], "1");
    }

    /// Counts how often it is asked for a handle.
    struct Asked(AtomicUsize);

    impl Recorder for Asked {
        fn describe_counter(&self, _: KeyName, _: Option<Unit>, _: metrics::SharedString) {}
        fn describe_gauge(&self, _: KeyName, _: Option<Unit>, _: metrics::SharedString) {}
        fn describe_histogram(&self, _: KeyName, _: Option<Unit>, _: metrics::SharedString) {}
        fn register_counter(&self, _: &Key, _: &Metadata<'_>) -> Counter {
            self.0.fetch_add(1, Relaxed);
            Counter::noop()
        }
        fn register_gauge(&self, _: &Key, _: &Metadata<'_>) -> metrics::Gauge {
            self.0.fetch_add(1, Relaxed);
            metrics::Gauge::noop()
        }
        fn register_histogram(&self, _: &Key, _: &Metadata<'_>) -> Histogram {
            self.0.fetch_add(1, Relaxed);
            Histogram::noop()
        }
    }

    #[test]
    fn a_series_is_looked_up_once() {
        let recorder = Asked(AtomicUsize::new(0));
        let listener = meters().listen(&pool());
        metrics::with_local_recorder(&recorder, || {
            listener.hear(Moment::START, &attempt(1));
            let asked = recorder.0.load(Relaxed);
            for _ in 0..100 {
                listener.hear(Moment::START, &attempt(1));
            }
            assert_eq!(recorder.0.load(Relaxed), asked);
        });
    }

    #[test]
    fn every_metric_is_described_with_its_unit_and_help() {
        let recorder = DebuggingRecorder::new();
        let snapshotter = recorder.snapshotter();
        let listener = meters().listen(&pool());
        metrics::with_local_recorder(&recorder, || listener.hear(Moment::START, &attempt(1)));
        for (key, unit, help, _) in snapshotter.snapshot().into_vec() {
            let row = Metric::find(key.key().name()).expect("a name of the catalogue").row();
            assert_eq!(help.as_deref(), Some(row.help), "{}", row.prometheus);
            assert_eq!(unit == Some(Unit::Seconds), row.unit == "s", "{}", row.prometheus);
        }
    }

    #[test]
    fn hostile_policies_cannot_make_more_series_than_there_are_places() {
        let recorder = DebuggingRecorder::new();
        let snapshotter = recorder.snapshotter();
        let listener = meters().listen(&pool());
        metrics::with_local_recorder(&recorder, || {
            for n in 0..100_000 {
                listener.hear(Moment::START, &call(&format!("policy-{n}")));
            }
        });
        let series = read(&snapshotter);
        assert_eq!(series.keys().filter(|key| key.starts_with("forbear_calls_total")).count(), Policies::CAPACITY + 1);
        assert_eq!(series["forbear_calls_total{provider=openai,pool=prod/gpt,policy=_OTHER}"], "99984");
        assert_eq!(series["forbear_label_overflows_total{provider=openai,pool=prod/gpt,label=policy}"], "99984");
    }

    struct Shut(PoolLabels);

    impl GaugeSource for Shut {
        fn sample(&self, visit: &mut dyn FnMut(Sample<'_>)) {
            visit(Sample::new(Metric::GateState, Some(&self.0), &[("state", "shut")], 1.0));
        }
    }

    #[test]
    fn gauges_are_set_when_sampled_and_a_dropped_engine_is_forgotten() {
        let recorder = DebuggingRecorder::new();
        let snapshotter = recorder.snapshotter();
        let meters = meters();
        let source: Arc<dyn GaugeSource> = Arc::new(Shut(pool()));
        meters.watch(Arc::downgrade(&source));
        metrics::with_local_recorder(&recorder, || meters.sample());
        let series = read(&snapshotter);
        assert_eq!(series["forbear_gate_state{provider=openai,pool=prod/gpt,state=shut}"], "1");
        drop(source);
        metrics::with_local_recorder(&recorder, || meters.sample());
        assert_eq!(meters.0.sources.len(), 0);
    }

    #[test]
    fn a_missing_recorder_is_warned_about_once() {
        let warned = Arc::new(AtomicUsize::new(0));
        let subscriber = tracing_subscriber::registry::Registry::default();
        let subscriber = tracing_subscriber::layer::SubscriberExt::with(subscriber, CountWarnings(Arc::clone(&warned)));
        tracing::subscriber::with_default(subscriber, || {
            let meters = meters();
            for pool in ["a", "b"] {
                let listener = meters.listen(&PoolLabels::new("openai", pool));
                listener.hear(Moment::START, &attempt(1));
                listener.hear(Moment::START, &attempt(1));
            }
        });
        assert_eq!(warned.load(Relaxed), 1);
    }

    struct CountWarnings(Arc<AtomicUsize>);

    impl<S: tracing::Subscriber> tracing_subscriber::Layer<S> for CountWarnings {
        fn on_event(&self, event: &tracing::Event<'_>, _: tracing_subscriber::layer::Context<'_, S>) {
            if event.metadata().name() == "forbear.no_recorder" && *event.metadata().level() == tracing::Level::WARN {
                self.0.fetch_add(1, Relaxed);
            }
        }
    }
}
