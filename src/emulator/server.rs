//! The running emulator.

use std::net::{Ipv4Addr, SocketAddr};
use std::sync::Arc;
use std::time::Duration;

use tokio::net::TcpListener;
use tokio::task::AbortHandle;

use super::builder::{EmulatorBuilder, StartError};
use super::counts::{Arrival, Counts};
use super::desk::Desk;
use super::limits::Limits;
use super::serve::accept;
use crate::core::setting::InvalidSetting;

/// A provider that throttles, on 127.0.0.1. Dropping it closes the port and every connection.
#[derive(Debug)]
pub struct Emulator {
    addr: SocketAddr,
    desk: Arc<Desk>,
    task: AbortHandle,
}

impl Emulator {
    /// Settings to start from.
    pub fn builder() -> EmulatorBuilder {
        EmulatorBuilder::default()
    }

    /// Starts an emulator on the runtime this is called on.
    ///
    /// # Errors
    /// A setting is outside its range, or the port is taken.
    ///
    /// # Cancel safety
    /// Dropped before it ends, nothing listens.
    ///
    /// # Panics
    /// Outside a tokio runtime with I/O enabled.
    pub async fn start(settings: EmulatorBuilder) -> Result<Self, StartError> {
        let desk = Arc::new(Desk::of(&settings)?);
        let port = settings.port;
        let failed = |cause| StartError::Listen { port, cause };
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, port)).await.map_err(failed)?;
        let addr = listener.local_addr().map_err(failed)?;
        let task = tokio::spawn(accept(listener, Arc::clone(&desk))).abort_handle();
        Ok(Self { addr, desk, task })
    }

    /// Where it listens.
    #[must_use]
    pub const fn addr(&self) -> SocketAddr {
        self.addr
    }

    /// Its address as a URL without a path: `http://127.0.0.1:40001`. Every path is answered alike.
    #[must_use]
    pub fn url(&self) -> String {
        format!("http://{}", self.addr)
    }

    /// What was counted so far.
    #[must_use]
    pub fn counts(&self) -> Counts {
        self.desk.state().ledger.counts
    }

    /// The requests that came, in their order; of more than [`ARRIVALS_KEPT`](super::ARRIVALS_KEPT) the latest.
    #[must_use]
    pub fn arrivals(&self) -> Vec<Arrival> {
        self.desk.state().ledger.arrivals()
    }

    /// How long it has run.
    #[must_use]
    pub fn elapsed(&self) -> Duration {
        self.desk.clock.now().elapsed_since_start()
    }

    /// Other limits from now on. What was used stays used where the window is counted as before.
    ///
    /// # Errors
    /// A setting is outside its range; then the old limits stay.
    pub fn set_limits(&self, limits: Limits) -> Result<(), InvalidSetting> {
        self.desk.state().meter.set_limits(limits)
    }

    /// Refuses every request for so long, as a request rate would.
    ///
    /// ```
    /// # use std::time::Duration;
    /// # use forbear::emulator::Emulator;
    /// # #[tokio::main(flavor = "current_thread", start_paused = true)] async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// let emulator = Emulator::builder().start().await?;
    /// emulator.shut_for(Duration::from_secs(2));
    /// // … calls go here; those in the next two seconds are throttled …
    /// assert_eq!(emulator.counts().throttled, 0, "nobody has asked yet");
    /// # Ok(()) }
    /// ```
    pub fn shut_for(&self, time: Duration) {
        self.desk.state().meter.shut_until(self.desk.clock.now().after(time));
    }

    /// Turns a share (0 to 1) of all requests away for want of capacity, until told otherwise; 0 ends it.
    ///
    /// # Errors
    /// The share is outside its range.
    pub fn overload(&self, share: f64) -> Result<(), InvalidSetting> {
        self.desk.state().meter.overload(share)
    }

    /// Whether the account has spent all it may, until told otherwise.
    pub fn spend(&self, spent: bool) {
        self.desk.state().meter.spend(spent);
    }

    /// Ends the day of the daily quotas in so long; zero is a new day at once.
    ///
    /// So a test of midnight need not wait for it.
    pub fn day_ends_in(&self, time: Duration) {
        self.desk.state().meter.day_ends_at(self.desk.clock.now().after(time));
    }
}

impl Drop for Emulator {
    fn drop(&mut self) {
        self.task.abort();
    }
}
