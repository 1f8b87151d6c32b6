//! Inside which attempts the code runs that runs now.
//!
//! An attempt is entered for each poll of its operation and left after it, so what stands here crosses every `.await` of
//! the operation and nothing else: neither a spawned task nor another future of the same thread is taken for a part of it.
//! Entering and leaving touches two words of the thread, and more only where attempts are nested.

use std::cell::{Cell, RefCell};

/// A pool, told from others by where it lies. Compared only while it is borrowed, so no other can lie there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct PoolId(usize);

impl PoolId {
    /// No pool lies at zero.
    const NONE: Self = Self(0);

    /// The id of what `shared` points to.
    #[inline]
    pub(super) fn of<T>(shared: &T) -> Self {
        Self(std::ptr::from_ref(shared) as usize)
    }
}

/// What is known of the innermost attempt.
struct Here {
    pool: Cell<PoolId>,
    /// Requests a tap saw since it was entered.
    sent: Cell<u32>,
}

thread_local! {
    static HERE: Here = const { Here { pool: Cell::new(PoolId::NONE), sent: Cell::new(0) } };
    /// The pools of the attempts around the innermost.
    static AROUND: RefCell<Vec<PoolId>> = const { RefCell::new(Vec::new()) };
}

/// What was here before an attempt was entered.
#[derive(Clone, Copy, Debug)]
#[must_use = "an attempt that was entered is left by `leave`"]
pub(super) struct Outer {
    pool: PoolId,
    sent: u32,
}

/// Enters an attempt at `pool`.
#[inline]
pub(super) fn enter(pool: PoolId) -> Outer {
    HERE.with(|here| {
        let outer = here.pool.replace(pool);
        if outer == PoolId::NONE {
            return Outer { pool: outer, sent: 0 };
        }
        note_around(outer);
        Outer { pool: outer, sent: here.sent.replace(0) }
    })
}

/// Remembers the attempt around the one that is entered. Kept out of line: attempts are seldom nested.
#[cold]
fn note_around(outer: PoolId) {
    AROUND.with_borrow_mut(|around| around.push(outer));
}

/// Forgets it when the inner one is left.
#[cold]
fn forget_around() {
    AROUND.with_borrow_mut(|around| _ = around.pop());
}

/// Leaves the attempt that was entered last; gives back how many requests a tap saw in it.
#[inline]
pub(super) fn leave(outer: Outer) -> u32 {
    HERE.with(|here| {
        here.pool.set(outer.pool);
        if outer.pool != PoolId::NONE {
            forget_around();
        }
        here.sent.replace(outer.sent)
    })
}

/// Whether an attempt at `pool` is around.
#[inline]
pub(super) fn is_inside(pool: PoolId) -> bool {
    HERE.with(|here| match here.pool.get() {
        PoolId::NONE => false,
        innermost => innermost == pool || AROUND.with_borrow(|around| around.contains(&pool)),
    })
}

/// How many attempts are around.
pub(super) fn depth() -> usize {
    let innermost = HERE.with(|here| usize::from(here.pool.get() != PoolId::NONE));
    innermost + AROUND.with_borrow(Vec::len)
}

/// Counts a request as sent in the innermost attempt. Does nothing outside of one.
pub(crate) fn request_sent() {
    requests_sent(1);
}

/// The same for several.
pub(super) fn requests_sent(requests: u32) {
    HERE.with(|here| {
        if here.pool.get() != PoolId::NONE {
            here.sent.set(here.sent.get().saturating_add(requests));
        }
    });
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn attempts_nest_and_each_counts_its_own_requests() {
        let pools = [0_u8, 1];
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
        request_sent();
        assert_eq!(leave(outer), 2);
        assert!(!is_inside(a) && depth() == 0);
    }
}
