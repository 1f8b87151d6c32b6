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
    black_box(Ok(1))
}

/// Fails three times, then succeeds; and so on with the next call.
///
/// # Errors
/// Three times out of four.
pub async fn flaky(attempts: &Cell<u32>) -> Answer {
    let attempt = attempts.get();
    attempts.set((attempt + 1) % (FAILURES + 1));
    black_box(if attempt < FAILURES { Err(Failure) } else { Ok(1) })
}

/// Holds 1 KiB over an await, as a request being built does.
///
/// # Errors
/// Never; the compiler is kept from knowing.
pub async fn holds_a_kibibyte() -> Answer {
    let held = [0_u8; 1024];
    tokio::task::yield_now().await;
    black_box(&held);
    black_box(Ok(1))
}
