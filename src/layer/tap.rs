//! The wire taps, and how a client of one's own counts what it sends.

#[cfg(feature = "reqwest-middleware")]
mod reqwest;
#[cfg(feature = "tower")]
mod tower;

#[cfg(feature = "reqwest-middleware")]
pub use self::reqwest::ReqwestTap;
#[cfg(feature = "tower")]
pub use self::tower::{WireTap, WireTapLayer};

/// Counts a request as sent in the attempt that is being polled on this thread; outside of an attempt it does nothing.
///
/// For clients that no ready tap fits: call it once for each request, right before it goes out, from inside the operation's
/// future. It takes no lock and does not allocate.
///
/// ```
/// # use std::time::Duration;
/// # use forbear::event::{catalogue::Metric, totals::Totals};
/// # use forbear::{Forbear, Observation, Policy, layer, provider};
/// # #[tokio::main(flavor = "current_thread", start_paused = true)] async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// # let totals = Totals::new();
/// # let pool = Forbear::builder().sink(totals.clone()).build()?.pool(provider::generic(), ["files"]).build()?;
/// # let policy = Policy::interactive(Duration::from_secs(5)).build()?;
/// let client_that_retries = || async {
///     layer::request_sent(); // the first fails, and the client sends another
///     layer::request_sent();
///     Ok::<_, u16>("done")
/// };
/// pool.call(&policy).classify(|_| Observation::ok()).run(|_| client_that_retries()).await.map_err(|e| e.to_string())?;
/// assert_eq!(totals.count(Metric::WireRequests, "files", &[]), 2);
/// assert_eq!(totals.count(Metric::StackedRetries, "files", &[("detector", "wire")]), 1);
/// # Ok(()) }
/// ```
pub fn request_sent() {
    crate::run::request_sent();
}
