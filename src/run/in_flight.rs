//! A request that outlives its call.

use crate::core::estimate::{Estimate, Usage};
use crate::core::gate::Pass;
use crate::core::signal::Signal;
use crate::event::Event;
use crate::gate::OwnedPermit;
use crate::run::pool::Pool;

/// A request that is still under way although its call has ended: a stream that is being read.
///
/// What the stream tells on its way belongs to the pool as much as what a head tells; the call cannot hear it any more, so
/// it is told here.
///
/// ```
/// # use std::time::Duration;
/// # use forbear::core::moment::WallTime;
/// # use forbear::{Forbear, GateState, Policy, provider, provider::StreamReader};
/// # #[tokio::main(flavor = "current_thread", start_paused = true)] async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// # let pool = Forbear::builder().build()?.pool(provider::anthropic(), ["ours", "sonnet"]).build()?;
/// # let policy = Policy::interactive(Duration::from_secs(5)).build()?;
/// # let send = || async { http::Response::new(vec!["event: error\ndata: {\"type\":\"error\",\"error\":{\"type\":\"overloaded_error\"}}\n\n"]) };
/// let mut in_flight = None;
/// # let in_flight_of = &mut in_flight;
/// let stream = pool.call(&policy).classify(|_| forbear::Observation::ok()).run(|attempt| {
///     *in_flight_of = Some(attempt.permit());
///     async { Ok::<_, u16>(send().await) }
/// }).await.map_err(|error| error.to_string())?;
/// let in_flight = in_flight.expect("an attempt was made");
///
/// let mut reader = StreamReader::new(provider::anthropic());
/// for chunk in stream.body() {
///     if let Some(reading) = reader.feed(chunk.as_bytes(), forbear::wall_now()) {
///         in_flight.saw(&reading.signal); // the answer is lost, and everybody else in the pool is warned
///     }
/// }
/// assert_eq!(pool.snapshot().state, GateState::Shut);
/// in_flight.used(reader.used());
/// drop(in_flight); // only now it no longer counts as under way
/// # Ok(()) }
/// ```
pub struct InFlight {
    pub(super) _permit: OwnedPermit,
    pub(super) pool: Pool,
    /// What the gate let the attempt in for, if it was asked.
    pub(super) takes: Option<Estimate>,
}

impl InFlight {
    /// Tells what an error in mid-stream means: a throttle is reported to the pool. A plain function: it never waits.
    pub fn saw(&self, signal: &Signal) {
        let shared = &self.pool.shared;
        if signal.is_throttle() && shared.is_gated() {
            let now = shared.clock().now();
            // It speaks of now, however long ago the stream began.
            shared.node.report(shared.level(signal.scope), Pass { at: now, probe: false }, signal, now);
        }
    }

    /// Tells how many tokens the stream said were used, as [`Attempt::used_tokens`](crate::Attempt::used_tokens) does for
    /// each side. To be told once.
    pub fn used(&self, used: Usage) {
        let shared = &self.pool.shared;
        let now = shared.clock().now();
        for (kind, tokens) in used.sides() {
            if let Some(estimate) = self.takes {
                shared.node.settle(estimate, kind, tokens, now);
            }
            shared.tell(now, || Event::TokensUsed { kind, tokens });
        }
    }

    /// The pool whose request it is.
    #[cfg(any(feature = "tower", feature = "reqwest-middleware"))]
    pub(crate) fn pool(&self) -> &Pool {
        &self.pool
    }
}

impl std::fmt::Debug for InFlight {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("InFlight").field("pool", self.pool.labels()).finish_non_exhaustive()
    }
}
