//! What every row runs.

use std::cell::Cell;
use std::hint::black_box;

/// What the operation returns.
pub type Answer = Result<u64, Failure>;

/// A failure that is worth retrying.
#[derive(Clone, Copy, Debug, Default)]
#[non_exhaustive]
pub struct Failure;

/// Failures before the success, in [`flaky`].
pub const FAILURES: u32 = 3;

/// Succeeds at once.
///
/// # Errors
/// Never; the compiler is kept from knowing.
pub async fn ready() -> Answer {
    answer(true)
}

/// Fails three times, then succeeds; and so on with the next call.
///
/// # Errors
/// Three times out of four.
pub async fn flaky(attempts: &Cell<u32>) -> Answer {
    let attempt = attempts.get();
    attempts.set((attempt + 1) % (FAILURES + 1));
    answer(attempt >= FAILURES)
}

/// Holds 1 KiB over an await, as a request being built does.
///
/// # Errors
/// Never; the compiler is kept from knowing.
pub async fn holds_a_kibibyte() -> Answer {
    let held = [0_u8; 1024];
    tokio::task::yield_now().await;
    black_box(&held);
    answer(true)
}

/// Keeps the compiler from knowing which. Only the flag is hidden: to hide the whole answer would send it through memory,
/// which costs more than the fastest rows.
fn answer(good: bool) -> Answer {
    if black_box(good) { Ok(1) } else { Err(Failure) }
}
