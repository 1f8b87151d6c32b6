//! Something for each series of a pool or of the process, made when it is first wanted.

use std::sync::OnceLock;

use crate::event::catalogue::Metric;
use crate::event::series::SeriesId;

/// How many series share a block: few enough that a pool which uses one of them does not pay for hundreds.
const BLOCK: usize = 64;
/// How many blocks the series make: known to the compiler, so that it need not be asked whether a series has a place.
const BLOCKS: usize = SeriesId::COUNT.div_ceil(BLOCK);

/// A place for each of the [`SeriesId::COUNT`] series. A block of places is allocated when one of it is first
/// used: a pool touches few of the thousands it could have. Reading a used place takes no lock and allocates nothing.
#[derive(Debug)]
pub(crate) struct Slots<T>(Box<[OnceLock<Block<T>>; BLOCKS]>);

type Block<T> = Box<[OnceLock<T>; BLOCK]>;

impl<T> Slots<T> {
    /// No place used yet: some kilobytes for the blocks' places, whatever a pool will touch.
    pub(crate) fn new() -> Self {
        Self(Box::new([const { OnceLock::new() }; BLOCKS]))
    }

    /// The place of `series`.
    #[inline]
    pub(crate) fn place(&self, series: SeriesId) -> &OnceLock<T> {
        let index = series.index();
        let block = self.0[index / BLOCK].get_or_init(|| Box::new([const { OnceLock::new() }; BLOCK]));
        &block[index % BLOCK]
    }

    /// What stands at the place of `series`, if anything does.
    #[cfg(feature = "telemetry")]
    #[inline]
    pub(crate) fn get(&self, series: SeriesId) -> Option<&T> {
        let index = series.index();
        self.0[index / BLOCK].get()?[index % BLOCK].get()
    }

    /// What stands at the places of the series of a metric that events move, in their order. Blocks of which nothing is used are passed over.
    pub(crate) fn used(&self, metric: Metric) -> impl Iterator<Item = (SeriesId, &T)> {
        let first = SeriesId::of_place(metric, 0).index();
        let end = first + metric.row().series_per_pool();
        let blocks = (first / BLOCK..end.div_ceil(BLOCK)).filter_map(|block| Some((block, self.0[block].get()?)));
        blocks.flat_map(move |(block, places)| {
            let within = first.max(block * BLOCK)..end.min((block + 1) * BLOCK);
            within.filter_map(move |index| {
                Some((SeriesId::of_place(metric, index - first), places[index % BLOCK].get()?))
            })
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::event::metric::Kind;

    #[test]
    fn what_is_used_is_found_metric_by_metric_and_nothing_else() {
        let slots = Slots::new();
        let moved = || Metric::ALL.iter().copied().filter(|metric| metric.row().kind != Kind::Gauge);
        assert_eq!(moved().flat_map(|metric| slots.used(metric)).count(), 0);
        // The first and the last of each, and one in five hundred between.
        let chosen = |metric| {
            let last = SeriesId::all(metric).count() - 1;
            SeriesId::all(metric).enumerate().filter(move |(place, _)| place % 500 == 0 || *place == last)
        };
        for (_, series) in moved().flat_map(chosen) {
            slots.place(series).set(series.index()).expect("set once");
        }
        for metric in moved() {
            let expected: Vec<_> = chosen(metric).map(|(_, series)| (series, series.index())).collect();
            let found: Vec<_> = slots.used(metric).map(|(series, index)| (series, *index)).collect();
            assert_eq!(found, expected, "{metric:?}");
        }
    }
}
