//! Inside which attempts the code runs that runs now.
//!
//! An attempt is entered for each poll of its operation and left after it, so what stands here crosses every `.await` of
//! the operation and nothing else: neither a spawned task nor another future of the same thread is taken for a part of it.
//! Entering and leaving touches one word of the thread, and more only where attempts are nested or a tap saw something.

use std::cell::{Cell, RefCell};

/// A pool, told from others by where it lies. Compared only while it is borrowed, so no other can lie there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct PoolId(usize);

impl PoolId {
    /// No pool lies at zero.
    const NONE: Self = Self(0);
    /// The bit in which [`INNERMOST`] says that a tap saw a request. No pool lies at an odd place.
    const SENT: usize = 1;

    /// The id of what `shared` points to.
    #[inline]
    pub(super) fn of<T>(shared: &T) -> Self {
        const { assert!(align_of::<T>() > Self::SENT, "the lowest bit of its place says something else") }
        Self(std::ptr::from_ref(shared) as usize)
    }

    fn with_sent(self) -> Self {
        Self(self.0 | Self::SENT)
    }

    fn without_sent(self) -> Self {
        Self(self.0 & !Self::SENT)
    }

    #[inline]
    fn has_sent(self) -> bool {
        self.0 & Self::SENT != 0
    }
}

thread_local! {
    /// The pool of the innermost attempt, and whether a tap saw a request in it.
    static INNERMOST: Cell<PoolId> = const { Cell::new(PoolId::NONE) };
    /// Requests a tap saw in the innermost attempt since it was entered.
    static SENT: Cell<u32> = const { Cell::new(0) };
    /// The pools of the attempts around the innermost, each with the requests a tap saw in it.
    static AROUND: RefCell<Vec<(PoolId, u32)>> = const { RefCell::new(Vec::new()) };
}

/// What was here before an attempt was entered.
#[derive(Clone, Copy, Debug)]
#[must_use = "an attempt that was entered is left by `leave`"]
pub(super) struct Outer(PoolId);

/// Enters an attempt at `pool`.
#[inline]
pub(super) fn enter(pool: PoolId) -> Outer {
    let outer = INNERMOST.replace(pool);
    if outer != PoolId::NONE {
        goes_around(outer);
    }
    Outer(outer)
}

/// Remembers the attempt around the one that is entered. Kept out of line: attempts are seldom nested.
#[cold]
fn goes_around(outer: PoolId) {
    AROUND.with_borrow_mut(|around| around.push((outer.without_sent(), SENT.take())));
}

/// Leaves the attempt that was entered last; gives back how many requests a tap saw in it.
#[inline]
pub(super) fn leave(outer: Outer) -> u32 {
    let inner = INNERMOST.replace(outer.0);
    if outer.0 == PoolId::NONE && !inner.has_sent() { 0 } else { goes_back_to(outer) }
}

/// Remembers what a tap saw in the attempt around the one that is left.
#[cold]
fn goes_back_to(outer: Outer) -> u32 {
    let nested = outer.0 != PoolId::NONE;
    let around = nested.then(|| AROUND.with_borrow_mut(Vec::pop)).flatten();
    SENT.replace(around.map_or(0, |(_, sent)| sent))
}

/// Whether any attempt is around.
#[inline]
pub(super) fn is_inside_any() -> bool {
    INNERMOST.get() != PoolId::NONE
}

/// Whether an attempt at `pool` is around.
pub(super) fn is_inside(pool: PoolId) -> bool {
    INNERMOST.get().without_sent() == pool
        || AROUND.with_borrow(|around| around.iter().any(|(outer, _)| *outer == pool))
}

/// How many attempts are around.
pub(super) fn depth() -> usize {
    usize::from(is_inside_any()) + AROUND.with_borrow(Vec::len)
}

/// Counts a request as sent in the innermost attempt. Does nothing outside of one.
pub(crate) fn request_sent() {
    requests_sent(1);
}

/// The same for several.
pub(super) fn requests_sent(requests: u32) {
    if is_inside_any() {
        INNERMOST.set(INNERMOST.get().with_sent());
        SENT.set(SENT.get().saturating_add(requests));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn attempts_nest_and_each_counts_its_own_requests() {
        let pools = [0_u64, 1];
        let [a, b] = pools.each_ref().map(PoolId::of);
        request_sent();
        assert!(!is_inside(a) && depth() == 0);
        let outer = enter(a);
        request_sent();
        assert!(is_inside(a) && !is_inside(b) && depth() == 1);
        let inner = enter(b);
        assert!(is_inside(a) && is_inside(b) && depth() == 2);
        request_sent();
        request_sent();
        assert_eq!(leave(inner), 2);
        assert!(is_inside(a) && !is_inside(b));
        assert_eq!(leave(enter(b)), 0, "what the outer one sent is not the inner one's");
        request_sent();
        assert_eq!(leave(outer), 2);
        assert!(!is_inside(a) && depth() == 0);
        assert_eq!(leave(enter(a)), 0, "and is not told twice");
    }
}
