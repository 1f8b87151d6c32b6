//! The peers: a limiter that says yes or no, and a semaphore that lets wait.

use std::num::NonZeroU32;

use governor::{DefaultDirectRateLimiter, Quota, RateLimiter};
use tokio::sync::Semaphore;

/// A limiter that never says no.
///
/// # Panics
/// Never: the numbers are not zero.
#[must_use]
pub fn unlimited() -> DefaultDirectRateLimiter {
    limiter(u32::MAX, u32::MAX)
}

/// A limiter of so many a second, of which so many may come at once.
///
/// # Panics
/// Where a number is zero.
#[must_use]
pub fn limiter(per_second: u32, at_once: u32) -> DefaultDirectRateLimiter {
    let number = |number| NonZeroU32::new(number).unwrap_or_else(|| panic!("a quota of nothing"));
    RateLimiter::direct(Quota::per_second(number(per_second)).allow_burst(number(at_once)))
}

/// What stands in a gate's place: a rate and a number in flight.
#[derive(Debug)]
#[non_exhaustive]
pub struct LimiterAndSemaphore {
    /// The rate.
    pub limiter: DefaultDirectRateLimiter,
    /// The number in flight.
    pub semaphore: Semaphore,
}

impl LimiterAndSemaphore {
    /// Neither ever says no.
    #[must_use]
    pub fn unlimited() -> Self {
        Self { limiter: unlimited(), semaphore: Semaphore::new(1_000_000) }
    }

    /// Asks both and gives back what was given.
    ///
    /// # Errors
    /// Never.
    pub async fn grant(&self) -> Result<u64, ()> {
        self.limiter.check().map_err(|_| ())?;
        let permit = self.semaphore.acquire().await.map_err(|_| ())?;
        drop(std::hint::black_box(permit));
        Ok(1)
    }
}
