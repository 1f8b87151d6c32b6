//! The gauges a sink was offered, asked together.

use std::collections::BTreeMap;
use std::sync::{Mutex, MutexGuard, PoisonError, Weak};

use crate::event::catalogue::Metric;
use crate::event::sink::{GaugeSource, Sample};

/// Everything that was offered to a sink by [`Sink::watch`](crate::event::sink::Sink::watch) and still lives.
#[derive(Default)]
pub(crate) struct Sources(Mutex<Vec<Weak<dyn GaugeSource>>>);

impl Sources {
    /// Adds one.
    pub(crate) fn watch(&self, source: Weak<dyn GaugeSource>) {
        self.locked().push(source);
    }

    /// Hands every value to `visit`, and forgets the sources that are gone. The lock is not held meanwhile: an engine that
    /// is asked takes locks of its own.
    pub(crate) fn sample(&self, visit: &mut dyn FnMut(Sample<'_>)) {
        let sources: Vec<_> = {
            let mut sources = self.locked();
            sources.retain(|source| source.strong_count() > 0);
            sources.iter().filter_map(Weak::upgrade).collect()
        };
        for source in sources {
            source.sample(visit);
        }
    }

    /// The values as they are now: by metric, then by `name{label="value"}`. Where two sources have the same series (two
    /// engines, or pools that share the label `_OTHER`) the last one counts, since a page must not hold a series twice.
    pub(crate) fn now(&self) -> BTreeMap<Metric, BTreeMap<String, String>> {
        let mut families: BTreeMap<Metric, BTreeMap<String, String>> = BTreeMap::new();
        self.sample(&mut |sample| {
            let line = sample.to_string();
            if let Some((series, value)) = line.rsplit_once(' ') {
                families.entry(sample.metric).or_default().insert(series.to_owned(), value.to_owned());
            }
        });
        families
    }

    /// Writes the values as they are now as Prometheus text.
    ///
    /// # Errors
    /// Those of `out`.
    #[cfg(feature = "prometheus")]
    pub(crate) fn write(&self, out: &mut impl std::fmt::Write) -> std::fmt::Result {
        use crate::event::exposition::{self, Format};
        for (metric, series) in self.now() {
            exposition::head(out, Format::Prometheus, metric.row())?;
            series.iter().try_for_each(|(series, value)| writeln!(out, "{series} {value}"))?;
        }
        Ok(())
    }

    fn locked(&self) -> MutexGuard<'_, Vec<Weak<dyn GaugeSource>>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    #[cfg(test)]
    pub(crate) fn len(&self) -> usize {
        self.locked().len()
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;

    struct Replicas(f64);

    impl GaugeSource for Replicas {
        fn sample(&self, visit: &mut dyn FnMut(Sample<'_>)) {
            visit(Sample::new(Metric::Replicas, None, &[], self.0));
        }
    }

    #[test]
    fn a_series_stands_once_and_what_is_gone_is_forgotten() {
        let sources = Sources::default();
        let engines: [Arc<dyn GaugeSource>; 2] = [Arc::new(Replicas(2.0)), Arc::new(Replicas(3.0))];
        engines.iter().for_each(|engine| sources.watch(Arc::downgrade(engine)));
        let series = |value: &str| BTreeMap::from([("forbear_replicas".to_owned(), value.to_owned())]);
        assert_eq!(sources.now(), BTreeMap::from([(Metric::Replicas, series("3"))]));
        drop(engines);
        assert_eq!(sources.now(), BTreeMap::new());
        assert_eq!(sources.len(), 0);
    }
}
