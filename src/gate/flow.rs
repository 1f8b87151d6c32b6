//! What a call that need not wait touches: one word, and a flag that hardly ever changes.
//!
//! | bits | what |
//! |---|---|
//! | 32..64 | numbers given to requests so far; wraps |
//! | 31 | barred: a call must ask the state machines |
//! | 30 | watched: whoever comes back tells it |
//! | 29 | handed over: a stream may have taken an attempt's place in the count |
//! | 0..29 | requests under way |
//!
//! Flag and count share a word so that the order of a call and a shut is never in doubt: a request that was counted before
//! the bar was set is seen by whoever set it, one that comes later sees the bar. With two words a drain could find nobody
//! under way and say so while a call that saw no bar was still on its way to the counter.
//!
//! Threads that meet at a pool pay for each time they touch the word: once when a request leaves, once when it comes back.
//! To look whether it is worth while they look at a flag beside it, in a line of memory that nobody writes to.
//!
//! So a call at a flowing pool takes three atomic operations, no lock and no allocation: a load of the flag and an addition
//! in [`Flow::pass`], a subtraction in [`Flow::leave`]. Nothing else on its way through the gate is shared and written:
//! what throttles change lies behind the bar. The benchmark `gate` measures it and counts its allocations.
//!
//! Free of the runtime: the model in `tests/loom` runs this very file.

use super::handed::HandedOver;
use super::sync::{AtomicBool, AtomicU64, Ordering};

const NUMBER: u64 = 1 << 32;
const BARRED: u64 = 1 << 31;
const WATCHED: u64 = 1 << 30;
const HANDED_OVER: u64 = 1 << 29;
const IN_FLIGHT: u64 = HANDED_OVER - 1;

/// The bar, and the count of requests, of one level.
#[derive(Debug)]
pub(super) struct Flow {
    word: Word,
    /// Whether it is barred, as far as a look tells: the word decides.
    looks_barred: AtomicBool,
    handed_over: HandedOver,
}

/// A word that shares its line of memory with nothing else.
#[derive(Debug)]
#[repr(align(64))]
struct Word(AtomicU64);

/// Calls must ask.
#[derive(Debug)]
pub(super) struct Barred {
    /// A number was used up, although no request left.
    pub(super) number_used: bool,
    /// For a moment one too many was counted, and whoever waits for requests to come back may have seen it.
    pub(super) watched: bool,
}

impl Flow {
    pub(super) fn new() -> Self {
        Self { word: Word(AtomicU64::new(0)), looks_barred: AtomicBool::new(false), handed_over: HandedOver::default() }
    }

    /// Counts a request that leaves and gives back its number: no other under way has it.
    ///
    /// # Errors
    /// Calls must ask; nothing is counted.
    #[inline]
    pub(super) fn pass(&self) -> Result<u32, Barred> {
        // Acquire, with the Release of `bar`: whoever is turned away sees why.
        if self.looks_barred.load(Ordering::Acquire) {
            return Err(Barred { number_used: false, watched: false });
        }
        let before = self.word.0.fetch_add(NUMBER + 1, Ordering::Acquire);
        if before & BARRED == 0 { Ok(number(before)) } else { Err(self.take_back()) }
    }

    /// The bar fell between the look and the count. The number is not given back: another may have the next by now.
    #[cold]
    fn take_back(&self) -> Barred {
        let before = self.word.0.fetch_sub(1, Ordering::Release);
        Barred { number_used: true, watched: before & WATCHED != 0 }
    }

    /// Counts a request that leaves, bar or no bar. Gives back its number.
    #[inline]
    pub(super) fn enter(&self) -> u32 {
        number(self.word.0.fetch_add(NUMBER + 1, Ordering::Relaxed))
    }

    /// Takes an attempt off the count, unless a stream took its place. One per [`Flow::pass`] that passed and per
    /// [`Flow::enter`]. Whether somebody waits for requests to come back.
    #[inline]
    #[must_use]
    pub(super) fn leave(&self, number: u32) -> bool {
        // Release: whoever then finds nobody under way sees all that was done before.
        let before = self.word.0.fetch_sub(1, Ordering::Release);
        if before & (WATCHED | HANDED_OVER) == 0 { false } else { self.left(before, number) }
    }

    #[cold]
    fn left(&self, before: u64, number: u32) -> bool {
        if before & HANDED_OVER != 0 && self.handed_over.forget(number, self) {
            // It is the stream's place. For a moment one too few was counted: the price of looking at one word only.
            self.word.0.fetch_add(1, Ordering::Relaxed);
            return false;
        }
        before & WATCHED != 0
    }

    /// Takes over the place of the attempt with this number, if there is one and its place was not taken over before; else
    /// counts one request more. Gives back whose place it is, for [`Flow::stream_ends`].
    pub(super) fn stream_begins(&self, attempt: Option<u32>) -> Option<u32> {
        let taken_over = attempt.filter(|number| self.handed_over.note(*number, self));
        if taken_over.is_none() {
            self.enter();
        }
        taken_over
    }

    /// Takes a stream off the count, unless its attempt goes on: then the place is the attempt's again. Whether somebody
    /// waits for requests to come back.
    #[must_use]
    pub(super) fn stream_ends(&self, attempt: Option<u32>) -> bool {
        let attempt_goes_on = attempt.is_some_and(|number| self.handed_over.forget(number, self));
        !attempt_goes_on && self.word.0.fetch_sub(1, Ordering::Release) & WATCHED != 0
    }

    /// Makes calls ask.
    pub(super) fn bar(&self) {
        self.word.0.fetch_or(BARRED, Ordering::Release);
        self.looks_barred.store(true, Ordering::Release);
    }

    /// Lets calls pass without asking.
    pub(super) fn unbar(&self) {
        // The flag first: one that stays behind by itself would let calls ask in vain, and the next that asks clears it.
        self.looks_barred.store(false, Ordering::Release);
        self.word.0.fetch_and(!BARRED, Ordering::Release);
    }

    pub(super) fn is_barred(&self) -> bool {
        self.word.0.load(Ordering::Acquire) & BARRED != 0
    }

    /// From now on whoever comes off the count is told that somebody waits for it.
    pub(super) fn watch(&self) {
        self.word.0.fetch_or(WATCHED, Ordering::AcqRel);
    }

    /// Nobody waits any more for requests to come back.
    pub(super) fn unwatch(&self) {
        self.word.0.fetch_and(!WATCHED, Ordering::AcqRel);
    }

    /// Whether attempts must look whether their place was taken over.
    pub(super) fn mark_handed_over(&self, any: bool) {
        if any {
            self.word.0.fetch_or(HANDED_OVER, Ordering::Relaxed);
        } else {
            self.word.0.fetch_and(!HANDED_OVER, Ordering::Relaxed);
        }
    }

    /// Numbers given so far, modulo 2^32.
    pub(super) fn numbers(&self) -> u32 {
        number(self.word.0.load(Ordering::Relaxed))
    }

    /// Requests under way.
    pub(super) fn in_flight(&self) -> u32 {
        (self.word.0.load(Ordering::Acquire) & IN_FLIGHT) as u32
    }
}

const fn number(word: u64) -> u32 {
    (word >> 32) as u32
}
