//! Something for each series of a pool or of the process, made when it is first wanted.

use std::sync::OnceLock;

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
    #[inline]
    pub(crate) fn get(&self, series: SeriesId) -> Option<&T> {
        let index = series.index();
        self.0[index / BLOCK].get()?[index % BLOCK].get()
    }
}
