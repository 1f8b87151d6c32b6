//! The sink over OpenTelemetry's metrics API, under the dotted names and UCUM units.
//!
//! The API has no handle of one series: each measurement brings its attributes, and the SDK looks the series up by them.
//! The attributes are made once for each series and kept; the look-up is the SDK's, and most of what a measurement costs.

use std::fmt;
use std::sync::{Arc, Once, OnceLock, Weak};

use opentelemetry::metrics::{AsyncInstrument, Counter, Histogram, Meter};
use opentelemetry::{InstrumentationScope, KeyValue, global};

use crate::core::moment::Moment;
use crate::event::catalogue::Metric;
use crate::event::metric::{Kind, Resolution, Row};
use crate::event::names::Policies;
use crate::event::series::{Move, SeriesId, moves};
use crate::event::sink::{GaugeSource, Listener, Sample, Sink};
use crate::event::slots::Slots;
use crate::event::sources::Sources;
use crate::event::{Event, PoolLabels};

/// A sink that measures through OpenTelemetry's global meter, for applications with an SDK of their own;
/// `forbear::otlp::install` sets one up.
///
/// The names are dotted and the units UCUM (`forbear.attempts` in `{attempt}`); with the default translation they become
/// the Prometheus names of the catalogue. Histograms bring the catalogue's bounds as advice. Set the global meter provider
/// before the first call: instruments are made then, and one of the API's own no-op provider stays dead. Gauges are
/// sampled whenever the SDK collects.
///
/// The SDK bounds the series of an instrument, by default at 2,000, of which many pools can need more. A view raises it
/// (`Stream::builder().with_cardinality_limit(20_000)`), as `forbear::otlp::install` does.
///
/// ```
/// use opentelemetry_sdk::metrics::SdkMeterProvider;
/// let provider = SdkMeterProvider::builder().build(); // with the application's reader and resource
/// opentelemetry::global::set_meter_provider(provider);
/// let forbear = forbear::Forbear::builder().sink(forbear::telemetry::instruments()).build()?;
/// # Ok::<_, forbear::InvalidSetting>(())
/// ```
#[must_use]
pub fn instruments() -> Instruments {
    Instruments::with(Resolution::Lean)
}

/// The sink [`instruments`] makes. Clones are the same sink.
///
/// Attributes are made once per series; from then on an event makes none, and takes what the SDK takes.
#[derive(Clone)]
pub struct Instruments(Arc<Inner>);

struct Inner {
    policies: Policies,
    sources: Sources,
    moved: [OnceLock<Instrument>; Metric::ALL.len()],
    gauges: Once,
    resolution: Resolution,
}

/// What the SDK gave for one metric; the series are told apart by the attributes of each measurement.
enum Instrument {
    Counter(Counter<u64>),
    Histogram(Histogram<f64>),
}

impl fmt::Debug for Instruments {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Instruments").finish_non_exhaustive()
    }
}

impl Sink for Instruments {
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

impl Instruments {
    /// Histograms as fine as told.
    pub(crate) fn with(resolution: Resolution) -> Self {
        Self(Arc::new(Inner {
            policies: Policies::new(),
            sources: Sources::default(),
            moved: [const { OnceLock::new() }; Metric::ALL.len()],
            gauges: Once::new(),
            resolution,
        }))
    }

    /// The same with about twice as many buckets in each histogram ([`Resolution::Fine`]). To be chosen before the engine
    /// is built with it.
    #[must_use]
    pub fn finer_histograms(self) -> Self {
        Self::with(Resolution::Fine)
    }

    fn of(&self, pool: Option<PoolLabels>) -> PoolInstruments {
        PoolInstruments { inner: Arc::clone(&self.0), pool, attributes: Slots::new(), begun: Once::new() }
    }
}

/// The global provider's meter of this crate's scope.
fn meter() -> Meter {
    global::meter_with_scope(InstrumentationScope::builder("forbear").with_version(env!("CARGO_PKG_VERSION")).build())
}

impl Instrument {
    fn new(row: &Row, resolution: Resolution) -> Self {
        match row.kind {
            Kind::Histogram => Self::Histogram(
                meter()
                    .f64_histogram(row.otel)
                    .with_unit(row.unit)
                    .with_description(row.help)
                    .with_boundaries(row.bounds(resolution).to_vec())
                    .build(),
            ),
            Kind::Counter | Kind::Gauge => {
                Self::Counter(meter().u64_counter(row.otel).with_unit(row.unit).with_description(row.help).build())
            }
        }
    }

    fn carry_out(&self, by: Move, attributes: &[KeyValue]) {
        match (self, by) {
            (Self::Counter(counter), Move::Rise(n)) => counter.add(n, attributes),
            (Self::Histogram(histogram), Move::Take(seconds)) => histogram.record(seconds, attributes),
            // The catalogue's kinds and the moves agree; a test holds them together.
            _ => debug_assert!(false, "a counter takes no values, a histogram does not rise"),
        }
    }
}

impl Inner {
    /// Offers every gauge of the catalogue to the SDK. The SDK keeps the callbacks for as long as it lives, so they hold
    /// the sink weakly.
    fn offer_gauges(self: &Arc<Self>) {
        let meter = meter();
        for metric in Metric::ALL.iter().copied().filter(|metric| metric.row().kind == Kind::Gauge) {
            let (row, sink) = (metric.row(), Arc::downgrade(self));
            let gauge = meter.f64_observable_gauge(row.otel).with_unit(row.unit).with_description(row.help);
            gauge.with_callback(move |observer| Self::observe(&sink, metric, observer)).build();
        }
    }

    /// Tells the SDK the values of one gauge. Every gauge asks the engine for all of them: it happens once a push.
    fn observe(sink: &Weak<Self>, metric: Metric, observer: &dyn AsyncInstrument<f64>) {
        let Some(sink) = sink.upgrade() else { return };
        sink.sources.sample(&mut |sample: Sample<'_>| {
            if sample.metric == metric {
                observer.observe(sample.value, &attributes(sample.pool, sample.labels));
            }
        });
    }
}

/// The attributes of a series: pool first, then the labels in the catalogue's order.
fn attributes(pool: Option<&PoolLabels>, labels: &[(&'static str, &str)]) -> Box<[KeyValue]> {
    let of_pool =
        pool.map(|pool| [KeyValue::new("provider", pool.provider), KeyValue::new("pool", Arc::clone(&pool.pool))]);
    let own = labels.iter().map(|(key, word)| KeyValue::new(*key, (*word).to_owned()));
    of_pool.into_iter().flatten().chain(own).collect()
}

/// Measures what one pool's calls tell, or what is told of the process.
struct PoolInstruments {
    inner: Arc<Inner>,
    pool: Option<PoolLabels>,
    attributes: Slots<Box<[KeyValue]>>,
    begun: Once,
}

impl Listener for PoolInstruments {
    fn hear(&self, _: Moment, event: &Event<'_>) {
        self.begun.call_once(|| self.begin());
        moves(event, &self.inner.policies, |series, by| self.carry_out(series, by));
    }
}

impl PoolInstruments {
    /// What waits for a pool's first event, by when the application has set its provider.
    fn begin(&self) {
        self.inner.gauges.call_once(|| self.inner.offer_gauges());
        let from_zero = |metric: &&Metric| metric.row().from_zero && self.pool.is_some();
        for metric in Metric::ALL.iter().filter(from_zero) {
            SeriesId::all(*metric).for_each(|series| self.carry_out(series, Move::Rise(0)));
        }
    }

    fn carry_out(&self, series: SeriesId, by: Move) {
        let metric = series.metric();
        let instrument =
            self.inner.moved[metric as usize].get_or_init(|| Instrument::new(metric.row(), self.inner.resolution));
        let of_series = || attributes(self.pool.as_ref(), &series.labels(&self.inner.policies));
        instrument.carry_out(by, self.attributes.place(series).get_or_init(of_series));
    }
}
