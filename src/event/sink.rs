//! Where events go.

use std::fmt;
use std::sync::{Arc, Weak};

use crate::core::moment::Moment;
use crate::event::catalogue::Metric;
use crate::event::{Event, PoolLabels, exposition};

/// Something that wants events. `()`, `Option<S>`, `Arc<S>` and pairs and triples of sinks are sinks.
///
/// A sink is asked for one [`Listener`] per pool when the pool is built, so that it can resolve whatever the pool's labels
/// lead to once and never look anything up again.
///
/// A sink that keeps nothing of its own can be a few lines: see [telemetry](crate::guide::telemetry#both-and-your-own). Those that
/// are there: [`Totals`](crate::event::totals::Totals) adds up in memory, [`Recorder`](crate::event::recorder::Recorder) keeps
/// everything for tests, `telemetry::meters` and `telemetry::instruments` speak to the two facades.
pub trait Sink: Send + Sync + 'static {
    /// The listener for one pool.
    fn listen(&self, pool: &PoolLabels) -> Box<dyn Listener>;

    /// The listener for what concerns the process and no single pool: the shared store. A sink that has none hears
    /// nothing of it.
    fn listen_to_process(&self) -> Box<dyn Listener> {
        Box::new(Deaf)
    }

    /// Offers the engine's gauges. They are sampled by the sink when it is asked for values (a scrape, a push), not set
    /// on every call. `Weak`: a sink does not keep an engine alive.
    fn watch(&self, gauges: Weak<dyn GaugeSource>) {
        let _ = gauges;
    }
}

/// Hears the events of one pool, or of the process. Called inline by calls, from any thread and from several at a time: it
/// must not block and should not allocate. Events of one call come in order; those of different calls as they happen.
///
/// ```
/// use std::sync::atomic::{AtomicU64, Ordering};
/// use forbear::core::moment::Moment;
/// use forbear::event::Event;
/// use forbear::event::sink::Listener;
///
/// struct Shuts(AtomicU64);
///
/// impl Listener for Shuts {
///     fn hear(&self, _at: Moment, event: &Event<'_>) {
///         if let Event::GateShut { told: false, .. } = event {
///             self.0.fetch_add(1, Ordering::Relaxed); // guessed: the provider did not say how long
///         }
///     }
/// }
/// ```
pub trait Listener: Send + Sync {
    /// Hears one event.
    fn hear(&self, at: Moment, event: &Event<'_>);
}

/// One value of a gauge.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub struct Sample<'a> {
    /// The gauge.
    pub metric: Metric,
    /// The pool, unless the gauge is the process's.
    pub pool: Option<&'a PoolLabels>,
    /// The labels beside the pool's, in the order of the catalogue's row.
    pub labels: &'a [(&'static str, &'a str)],
    /// The value.
    pub value: f64,
}

impl<'a> Sample<'a> {
    /// A value of `metric`. The labels are those of the catalogue's row, in its order.
    #[must_use]
    pub fn new(
        metric: Metric,
        pool: Option<&'a PoolLabels>,
        labels: &'a [(&'static str, &'a str)],
        value: f64,
    ) -> Self {
        let (row, keys) = (metric.row(), || labels.iter().map(|(key, _)| *key));
        debug_assert_eq!(row.per_pool, pool.is_some(), "{}: the pool", row.prometheus);
        debug_assert!(keys().eq(row.labels.iter().map(|label| label.key)), "{}: the labels", row.prometheus);
        Self { metric, pool, labels, value }
    }
}

/// As the text formats of Prometheus and OpenMetrics spell it: `name{label="value"} value`.
impl fmt::Display for Sample<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        exposition::line(f, self.metric.row().prometheus, self.pool, self.labels, self.value)
    }
}

/// Something that has gauges: an engine.
///
/// ```
/// use forbear::event::sink::{GaugeSource, Sample};
/// fn lines(source: &dyn GaugeSource) -> Vec<String> {
///     let mut lines = Vec::new();
///     source.sample(&mut |sample: Sample<'_>| lines.push(sample.to_string()));
///     lines
/// }
/// ```
pub trait GaugeSource: Send + Sync {
    /// Hands every current value to `visit`.
    fn sample(&self, visit: &mut dyn FnMut(Sample<'_>));
}

/// Hears nothing.
struct Deaf;

impl Listener for Deaf {
    fn hear(&self, _: Moment, _: &Event<'_>) {}
}

impl Sink for () {
    fn listen(&self, _: &PoolLabels) -> Box<dyn Listener> {
        Box::new(Deaf)
    }
}

impl<S: Sink> Sink for Option<S> {
    fn listen(&self, pool: &PoolLabels) -> Box<dyn Listener> {
        self.as_ref().map_or_else(|| ().listen(pool), |sink| sink.listen(pool))
    }

    fn listen_to_process(&self) -> Box<dyn Listener> {
        self.as_ref().map_or_else(|| ().listen_to_process(), Sink::listen_to_process)
    }

    fn watch(&self, gauges: Weak<dyn GaugeSource>) {
        if let Some(sink) = self {
            sink.watch(gauges);
        }
    }
}

impl<S: Sink + ?Sized> Sink for Arc<S> {
    fn listen(&self, pool: &PoolLabels) -> Box<dyn Listener> {
        (**self).listen(pool)
    }

    fn listen_to_process(&self) -> Box<dyn Listener> {
        (**self).listen_to_process()
    }

    fn watch(&self, gauges: Weak<dyn GaugeSource>) {
        (**self).watch(gauges);
    }
}

/// The listeners of two sinks, told one after the other.
struct Both(Box<dyn Listener>, Box<dyn Listener>);

impl Listener for Both {
    fn hear(&self, at: Moment, event: &Event<'_>) {
        self.0.hear(at, event);
        self.1.hear(at, event);
    }
}

impl<A: Sink, B: Sink> Sink for (A, B) {
    fn listen(&self, pool: &PoolLabels) -> Box<dyn Listener> {
        Box::new(Both(self.0.listen(pool), self.1.listen(pool)))
    }

    fn listen_to_process(&self) -> Box<dyn Listener> {
        Box::new(Both(self.0.listen_to_process(), self.1.listen_to_process()))
    }

    fn watch(&self, gauges: Weak<dyn GaugeSource>) {
        self.0.watch(Weak::clone(&gauges));
        self.1.watch(gauges);
    }
}

impl<A: Sink, B: Sink, C: Sink> Sink for (A, B, C) {
    fn listen(&self, pool: &PoolLabels) -> Box<dyn Listener> {
        Box::new(Both(self.0.listen(pool), Box::new(Both(self.1.listen(pool), self.2.listen(pool)))))
    }

    fn listen_to_process(&self) -> Box<dyn Listener> {
        let (second, third) = (self.1.listen_to_process(), self.2.listen_to_process());
        Box::new(Both(self.0.listen_to_process(), Box::new(Both(second, third))))
    }

    fn watch(&self, gauges: Weak<dyn GaugeSource>) {
        self.0.watch(Weak::clone(&gauges));
        self.1.watch(Weak::clone(&gauges));
        self.2.watch(gauges);
    }
}
