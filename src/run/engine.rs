//! The engine of a process: clock, dice, gate, sink, and the registry of pools.

use std::sync::Arc;
use std::time::Duration;

use crate::core::budget::BudgetSettings;
use crate::core::moment::Moment;
use crate::core::rule::Table;
use crate::event::names::Policies;
use crate::event::sink::Sink;
use crate::event::{Event, PoolLabels};
use crate::gate::{Gate, StillInFlight, Trunk, drain};
use crate::run::builder::ForbearBuilder;
use crate::run::pool::PoolBuilder;
use crate::run::pools::Pools;

/// The engine: one per process. Cheap to clone; clones are the same engine.
///
/// Pools made from it keep it alive.
///
/// ```
/// use forbear::{Forbear, provider};
/// let forbear = Forbear::builder().build()?;
/// let same = forbear.clone();
/// let (a, b) = (forbear.pool(provider::openai(), ["prod", "gpt-4o"]).build()?, same.pool(provider::openai(), ["prod", "gpt-4o"]).build()?);
/// assert_eq!(a.labels(), b.labels(), "one pool, two handles");
/// # Ok::<(), forbear::InvalidSetting>(())
/// ```
#[derive(Clone)]
pub struct Forbear {
    pub(super) pools: Arc<Pools>,
}

/// In the log, in the place of provider and pool: all of them.
const ALL: &str = "_ALL";

/// How long the end of a process waits for a store that does not answer.
#[cfg(feature = "redis")]
const LONGEST_FLUSH: Duration = Duration::from_secs(1);

impl Forbear {
    /// An engine in the making: a local gate and no sink unless told.
    pub fn builder() -> ForbearBuilder {
        ForbearBuilder::default()
    }

    /// The pool of this provider and path of names, widest first. The same provider and path is the same pool: its gate,
    /// budget and quotas are shared, and a second build may only add limits. What its gate was told holds even when no
    /// handle of it is left: a handle may be made for each request. A pool that nobody holds, that flows, and that had no
    /// call for ten minutes is forgotten.
    ///
    /// The path's names stand for the provider's levels ([`Table::scopes`](crate::core::rule::Table::scopes)): the first is the
    /// widest, the last the narrowest, names between fill the rest in order. A limit on the organisation then shuts every pool that
    /// begins with its name, a limit on a model that model alone.
    ///
    /// ```
    /// # use forbear::{Forbear, provider};
    /// # let forbear = Forbear::builder().build()?;
    /// // Organisation and model; no name for the project, so a project's limit shuts the model.
    /// let sonnet = forbear.pool(provider::anthropic(), ["prod-account", "claude-sonnet"]).build()?;
    /// assert_eq!(&*sonnet.labels().pool, "prod-account/claude-sonnet");
    /// # Ok::<(), forbear::InvalidSetting>(())
    /// ```
    pub fn pool<N: AsRef<str>>(&self, table: Table, path: impl IntoIterator<Item = N>) -> PoolBuilder {
        PoolBuilder::new(
            Arc::clone(&self.pools),
            table,
            path.into_iter().map(|name| name.as_ref().to_owned()).collect(),
        )
    }

    /// Lets no further request leave, and waits for those under way, at most `within`: for the end of a process.
    ///
    /// From the first poll on every call that would need a permit is refused
    /// ([`Refusal::Draining`](crate::Refusal::Draining)): new calls, calls that wait at a gate, and calls that
    /// sleep before another attempt, at once. Attempts in flight are left to end; so are streams that hold their
    /// [`permit`](crate::Attempt::permit). There is no way back.
    ///
    /// An engine with neither gate nor budget nor sink does not count its requests: there is nothing to wait for, and
    /// nobody is refused.
    ///
    /// ```
    /// # use std::time::Duration;
    /// # use forbear::{Forbear, Policy, Refusal, provider};
    /// # #[tokio::main(flavor = "current_thread", start_paused = true)] async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let forbear = Forbear::builder().build()?;
    /// # let pool = forbear.pool(provider::generic(), ["files"]).build()?;
    /// # let policy = Policy::interactive(Duration::from_secs(5)).build()?;
    /// forbear.drain(Duration::from_secs(30)).await?;
    /// let refused = pool.call(&policy).run(|_| async { Ok::<_, std::io::Error>(http::Response::new(())) }).await;
    /// assert_eq!(refused.expect_err("drained").refusal(), Some(Refusal::Draining));
    /// # Ok(()) }
    /// ```
    ///
    /// # Errors
    /// Requests were still in flight when the time was up; they are not cut.
    ///
    /// # Cancel safety
    /// Dropped, it waits no longer; the engine stays closed. Called again, it goes on waiting.
    ///
    /// # Panics
    /// Outside a tokio runtime with its timer enabled.
    pub async fn drain(&self, within: Duration) -> Result<(), StillInFlight> {
        let engine = &self.pools.engine;
        let nodes = self.pools.levels_after(|| drain::start(&engine.trunk));
        let began = engine.trunk.clock.now();
        let drained = drain::drain(&engine.trunk, &nodes, within).await;
        #[cfg(feature = "redis")]
        if let Some(store) = &engine.store {
            // What was seen last is news for the others even now.
            let spent = began.until(engine.trunk.clock.now());
            store.flush(within.saturating_sub(spent).min(LONGEST_FLUSH)).await;
        }
        #[cfg(not(feature = "redis"))]
        let _ = began;
        drained
    }
}

impl std::fmt::Debug for Forbear {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Forbear").field("gate", &self.pools.engine.gate).finish_non_exhaustive()
    }
}

/// What all clones of a [`Forbear`] share. Pools keep it alive, so that a call can outlive the handle it was started by.
pub(super) struct Engine {
    pub(super) trunk: Arc<Trunk>,
    pub(super) gate: Gate,
    pub(super) sink: Option<Arc<dyn Sink>>,
    /// Part of `sink`, if pools are to be diagnosed in this process.
    #[cfg(feature = "diagnose")]
    pub(super) chronicle: Option<crate::diagnose::Chronicle>,
    pub(super) observe_only: bool,
    pub(super) attempts_are_clients: bool,
    pub(super) shadow_pacer: bool,
    pub(super) budget: Option<BudgetSettings>,
    /// As configured; see [`Engine::replicas`].
    pub(super) replicas: Option<u32>,
    #[cfg(feature = "redis")]
    pub(super) store: Option<crate::store::redis::RedisStore>,
    /// The policies whose names are labels, in the order in which they were first used.
    pub(super) policies: Policies,
    pub(super) queue_limit: usize,
}

impl Engine {
    /// Tells, and logs, what concerns all pools.
    pub(super) fn tell_process(&self, now: Moment, event: &Event<'_>) {
        if let Some(sink) = &self.sink {
            sink.listen_to_process().hear(now, event);
        }
        self.trunk.log(&PoolLabels::new(ALL, ALL), event);
    }

    /// How the gate works now, as its label says it.
    pub(super) fn gate_mode(&self) -> &'static str {
        if self.trunk.has_gate() && !self.trunk.is_gated() { Gate::off().as_str() } else { self.gate.as_str() }
    }

    /// How many replicas share the pools: as the store counts them, or as configured.
    pub(super) fn replicas(&self) -> Option<u32> {
        #[cfg(feature = "redis")]
        if let Some(counted) = self.store.as_ref().and_then(crate::store::Store::replicas) {
            return Some(counted);
        }
        self.replicas
    }
}
