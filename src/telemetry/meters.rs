//! The sink over the `metrics` facade, under the final Prometheus names.

use std::fmt;
use std::mem::size_of_val;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::sync::{Arc, Mutex, OnceLock, PoisonError, Weak};

use metrics::{Counter, Histogram, Key, KeyName, Label, Level, Metadata, Recorder, Unit};

use crate::core::moment::Moment;
use crate::event::catalogue::{Metric, SCHEMA, VERSION};
use crate::event::metric::Kind;
use crate::event::names::Policies;
use crate::event::series::{Move, SeriesId, moves};
use crate::event::sink::{GaugeSource, Listener, Sample, Sink};
use crate::event::slots::Slots;
use crate::event::{Event, PoolLabels};

const METADATA: Metadata<'static> = Metadata::new("forbear", Level::INFO, None);

/// A sink that counts through the `metrics` facade, into whatever recorder the application installs.
///
/// The names are final (`forbear_attempts_total`): a Prometheus builder with recommended naming or without gives the
/// same. A builder of your own needs the buckets of `forbear::prometheus::buckets`, else
/// histograms become summaries, and [`Meters::sample`] before each scrape.
#[must_use]
pub fn meters() -> Meters {
    Meters::default()
}

/// The sink [`meters`] makes. Clones are the same sink.
///
/// Each series is resolved with the recorder once, on its first event after a recorder was installed; from then on an
/// event takes no lock, no look-up and no allocation. A recorder is taken for missing while it has no state of its own
/// (as the facade's own no-op has none): events are then handed on one by one, and one warning is logged.
#[derive(Clone, Default)]
pub struct Meters(Arc<Inner>);

#[derive(Default)]
struct Inner {
    policies: Policies,
    sources: Mutex<Vec<Weak<dyn GaugeSource>>>,
    described: AtomicBool,
    warned: AtomicBool,
}

impl Meters {
    /// Sets every gauge to its value now. Wanted before each scrape;
    /// `forbear::prometheus::install` does it by itself.
    pub fn sample(&self) {
        let sources: Vec<_> = {
            let mut sources = self.0.sources.lock().unwrap_or_else(PoisonError::into_inner);
            sources.retain(|source| source.strong_count() > 0);
            sources.iter().filter_map(Weak::upgrade).collect()
        };
        metrics::with_recorder(|recorder| {
            self.0.greet(recorder);
            let mut set = |sample: Sample<'_>| {
                let key = key(sample.metric, sample.pool, sample.labels);
                recorder.register_gauge(&key, &METADATA).set(sample.value);
            };
            set(Sample::new(Metric::BuildInfo, None, &[("version", VERSION), ("schema", SCHEMA)], 1.0));
            for source in sources {
                source.sample(&mut set);
            }
        });
    }
}

impl fmt::Debug for Meters {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Meters").finish_non_exhaustive()
    }
}

impl Sink for Meters {
    fn listen(&self, pool: &PoolLabels) -> Box<dyn Listener> {
        Box::new(PoolMeters {
            inner: Arc::clone(&self.0),
            pool: pool.clone(),
            handles: Slots::new(),
            begun: AtomicBool::new(false),
        })
    }

    fn watch(&self, gauges: Weak<dyn GaugeSource>) {
        self.0.sources.lock().unwrap_or_else(PoisonError::into_inner).push(gauges);
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

fn key(metric: Metric, pool: Option<&PoolLabels>, labels: &[(&'static str, &str)]) -> Key {
    let of_pool = pool.map(|pool| {
        let name = metrics::SharedString::from(Arc::clone(&pool.pool));
        [Label::from_static_parts("provider", pool.provider), Label::new("pool", name)]
    });
    let own = labels.iter().map(|(key, word)| Label::new(*key, (*word).to_owned()));
    Key::from_parts(metric.row().prometheus, of_pool.into_iter().flatten().chain(own).collect::<Vec<_>>())
}

struct PoolMeters {
    inner: Arc<Inner>,
    pool: PoolLabels,
    handles: Slots<Handle>,
    /// Whether the series that exist from zero do.
    begun: AtomicBool,
}

enum Handle {
    Counter(Counter),
    Histogram(Histogram),
}

impl Handle {
    #[inline]
    fn carry_out(&self, by: Move) {
        match (self, by) {
            (Self::Counter(counter), Move::Rise(n)) => counter.increment(n),
            (Self::Histogram(histogram), Move::Take(seconds)) => histogram.record(seconds),
            // The catalogue's kinds and the moves agree; a test holds them together.
            _ => debug_assert!(false, "a counter takes no values, a histogram does not rise"),
        }
    }
}

impl Listener for PoolMeters {
    fn hear(&self, _: Moment, event: &Event<'_>) {
        moves(event, &self.inner.policies, |series, by| match self.handles.place(series).get() {
            Some(handle) => handle.carry_out(by),
            None => self.first(series, by),
        });
    }
}

impl PoolMeters {
    /// The first event of a series since a recorder is there.
    #[cold]
    fn first(&self, series: SeriesId, by: Move) {
        metrics::with_recorder(|recorder| {
            let keep = self.inner.greet(recorder);
            if keep && !self.begun.swap(true, Relaxed) {
                for metric in Metric::ALL.iter().filter(|metric| metric.row().from_zero) {
                    for series in SeriesId::all(*metric) {
                        self.resolve(recorder, series).carry_out(Move::Rise(0));
                    }
                }
            }
            let handle = self.resolve(recorder, series);
            handle.carry_out(by);
            if keep {
                let place: &OnceLock<Handle> = self.handles.place(series);
                // Lost only to another thread's handle of the same series.
                let _ = place.set(handle);
            }
        });
    }

    fn resolve(&self, recorder: &dyn Recorder, series: SeriesId) -> Handle {
        let key = key(series.metric(), Some(&self.pool), &series.labels(&self.inner.policies));
        match series.metric().row().kind {
            Kind::Histogram => Handle::Histogram(recorder.register_histogram(&key, &METADATA)),
            Kind::Counter | Kind::Gauge => Handle::Counter(recorder.register_counter(&key, &METADATA)),
        }
    }
}

#[cfg(test)]
#[path = "meters_tests.rs"]
mod tests;
