//! Letting what is under way come to its end.

use std::fmt;
use std::future::poll_fn;
use std::pin::pin;
use std::sync::Arc;
use std::task::Poll;
use std::time::Duration;

use crate::gate::node::Node;
use crate::gate::trunk::Trunk;

/// Requests were still under way when the time for draining was up.
///
/// Displays as `3 requests still in flight after 30s`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct StillInFlight {
    /// How many.
    pub requests: u64,
    /// How long they were waited for.
    pub waited: Duration,
}

impl fmt::Display for StillInFlight {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let plural = if self.requests == 1 { "" } else { "s" };
        write!(f, "{} request{plural} still in flight after {:.1?}", self.requests, self.waited)
    }
}

impl std::error::Error for StillInFlight {}

/// Lets nobody in any more.
pub(crate) fn start(trunk: &Trunk) {
    trunk.start_draining();
}

/// Refuses whoever waits, and waits at most `within` for all that is under way at `nodes`.
pub(crate) async fn drain(trunk: &Trunk, nodes: &[Arc<Node>], within: Duration) -> Result<(), StillInFlight> {
    let clock = trunk.clock;
    let started = clock.now();
    nodes.iter().for_each(|node| node.drain());
    let mut time_is_up = pin!(clock.sleep_until(started.after(within)));
    loop {
        // Before the look: whoever comes back after it is heard.
        let mut came_back = pin!(trunk.came_back.notified());
        let requests: u64 = nodes.iter().map(|node| u64::from(node.in_flight())).sum();
        if requests == 0 {
            return Ok(());
        }
        let in_time = poll_fn(|cx| {
            if came_back.as_mut().poll(cx).is_ready() {
                return Poll::Ready(true);
            }
            time_is_up.as_mut().poll(cx).map(|()| false)
        });
        if !in_time.await {
            return Err(StillInFlight { requests, waited: started.until(clock.now()) });
        }
    }
}
