//! A service at work: real calls over HTTP, counted by nobody but its metrics.

use std::sync::Arc;

use forbear::clock::Clock;
use forbear::core::moment::Moment;
use forbear::emulator::Emulator;
use forbear::{Policy, Pool};
use tokio::sync::watch;
use tokio::task::JoinSet;

use super::arrivals::Arrivals;

/// What one call needs.
pub(crate) struct Caller {
    /// The pool it goes through.
    pub(crate) pool: Pool,
    /// How it retries.
    pub(crate) policy: Policy,
    /// Its HTTP client.
    pub(crate) client: reqwest::Client,
    /// Where it goes.
    pub(crate) url: String,
    /// What answers there, for as long as it is called.
    pub(crate) _provider: Emulator,
}

impl Caller {
    /// One call, with all its attempts. How it ends is in the metrics.
    async fn call(&self) {
        let answer = self
            .pool
            .call(&self.policy)
            .run(|attempt| self.client.post(&self.url).timeout(attempt.time_left()).body(r#"{"ask":"?"}"#).send())
            .await;
        if let Ok(answer) = answer {
            // Read to its end, the connection can be used again.
            let _ = answer.bytes().await;
        }
    }
}

/// Makes a call at each of the moments until told to stop, then waits until all have ended.
pub(crate) async fn keep_calling(caller: Arc<Caller>, arrivals: Arrivals, mut stop: watch::Receiver<bool>) {
    let clock = Clock::new();
    let mut calls = JoinSet::new();
    for at in arrivals {
        let moment = Moment::since_start(at);
        if clock.now() < moment {
            tokio::select! {
                () = clock.sleep_until(moment) => {}
                // An error means that whoever would tell is gone.
                _ = stop.wait_for(|stop| *stop) => break,
            }
        }
        if *stop.borrow() {
            break;
        }
        let caller = Arc::clone(&caller);
        calls.spawn(async move { caller.call().await });
        while calls.try_join_next().is_some() {}
    }
    while calls.join_next().await.is_some() {}
}
