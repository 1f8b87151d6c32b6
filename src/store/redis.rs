//! A store on Redis or Valkey.
//!
//! Two connections and three tasks a process, whatever the number of pools: the [courier] carries reports, beside it what may
//! have been missed is read, the [listener] hears news. Neither is ever waited for by a call.
//!
//! | file | job |
//! |---|---|
//! | `options` | what the store is told |
//! | `hub`, `link` | what its tasks and the gates' links share; a pool's way to it |
//! | `courier`, `outbox`, `listener`, `permit` | telling, what waits to be told, hearing, asking for slots |
//! | `ask`, `breaker` | one question to the server; when it is not relied on |
//! | `keys`, `stored`, `server_clock` | names of keys, entries as they are read, the server's time |
//! | `operator`, `operator_pool` | what an operator asks and orders, of which pools |

mod ask;
mod breaker;
mod courier;
mod hub;
mod keys;
mod link;
mod listener;
mod operator;
mod operator_pool;
mod options;
mod outbox;
mod permit;
#[cfg(test)]
mod scripts_tests;
mod server_clock;
mod stored;

use std::future::Future;
use std::sync::{Arc, Weak};
use std::time::Duration;

use tokio::runtime::Handle;
use tokio::task::AbortHandle;

pub use operator::{Operator, OperatorError};
pub use operator_pool::{FleetOrder, FleetPool, FleetShut, PoolName};
pub use options::RedisOptions;

use crate::clock::{Clock, SharedDice};
use crate::core::dice::Dice;
use crate::core::setting::InvalidSetting;
use crate::event::sink::Listener;
use crate::store::redis::hub::Hub;
use crate::store::redis::keys::{Keys, readable};
use crate::store::redis::link::PoolLink;
use crate::store::{Fleet, Hears, Link, Log, PoolId, Store};

/// A store on Redis. Dropping it ends its tasks.
pub(crate) struct RedisStore {
    hub: Arc<Hub>,
    tasks: [AbortHandle; 3],
}

impl RedisStore {
    /// Starts the tasks; connects later, so that a server that is not there keeps nobody from starting.
    ///
    /// # Errors
    /// Options out of range; no tokio runtime to run in.
    pub(crate) fn start(
        options: &RedisOptions,
        clock: Clock,
        dice: SharedDice,
        listener: Option<Box<dyn Listener>>,
        log: Log,
    ) -> Result<Self, InvalidSetting> {
        let client = options.client()?;
        let Ok(runtime) = Handle::try_current() else {
            return Err(InvalidSetting::new(
                "forbear.gate",
                "redis outside of a runtime",
                "built inside a tokio runtime",
            ));
        };
        let replica = options.replica.clone().unwrap_or_else(|| format!("{:016x}", (&mut &dice).roll()));
        let keys = Keys::new(&options.namespace);
        let hub = Arc::new(Hub::new(client, keys, replica, options.is_paced(), clock, dice, (listener, log)));
        let tasks = [
            supervise(&runtime, Arc::clone(&hub), courier::run),
            supervise(&runtime, Arc::clone(&hub), courier::read),
            supervise(&runtime, Arc::clone(&hub), listener::run),
        ];
        Ok(Self { hub, tasks })
    }

    /// Has `fleet` told when the number of live replicas changes.
    pub(crate) fn watch(&self, fleet: Weak<dyn Fleet>) {
        let _ = self.hub.fleet.set(fleet);
    }

    /// Waits, at most so long, until everything is told. Returns whether it is.
    pub(crate) async fn flush(&self, limit: Duration) -> bool {
        courier::flush(&self.hub, limit).await
    }
}

/// Runs a task, and again should it panic: news must not end with it.
fn supervise<F>(runtime: &Handle, hub: Arc<Hub>, task: fn(Arc<Hub>) -> F) -> AbortHandle
where
    F: Future<Output = ()> + Send + 'static,
{
    /// Ends the inner task with the outer one.
    struct EndsWith(AbortHandle);
    impl Drop for EndsWith {
        fn drop(&mut self) {
            self.0.abort();
        }
    }
    let supervisor = async move {
        loop {
            let running = tokio::spawn(task(Arc::clone(&hub)));
            let _guard = EndsWith(running.abort_handle());
            let _ = running.await;
            hub.clock.sleep_until(hub.clock.now().after(Duration::from_secs(1))).await;
        }
    };
    runtime.spawn(supervisor).abort_handle()
}

impl Drop for RedisStore {
    fn drop(&mut self) {
        self.tasks.iter().for_each(AbortHandle::abort);
    }
}

impl Store for RedisStore {
    fn link(&self, pool: &PoolId, gate: Weak<dyn Hears>) -> Arc<dyn Link> {
        let link = PoolLink::new(self.hub.keys.tag(pool), readable(pool), gate, Arc::clone(&self.hub));
        let link = Arc::new(link);
        self.hub.enrol(&link);
        link
    }

    fn replicas(&self) -> Option<u32> {
        self.hub.replicas()
    }

    fn is_up(&self) -> bool {
        self.hub.state().breaker.is_up()
    }
}
