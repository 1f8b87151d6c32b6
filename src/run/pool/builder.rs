//! Making a pool, or finding it where it was made before.

use std::sync::Arc;

use super::Pool;
use crate::core::limit::Limit;
use crate::core::rule::Table;
use crate::core::setting::{InvalidSetting, within};
use crate::core::signal::QuotaWindow;
use crate::event::names::clean;
use crate::gate::DEEPEST;
use crate::run::about::Server;
use crate::run::builder::check_queue_limit;
use crate::run::pools::Pools;

/// A [`Pool`] in the making.
#[must_use = "a pool is made by `build`"]
pub struct PoolBuilder {
    pools: Arc<Pools>,
    table: Table,
    path: Vec<String>,
    limits: Vec<Limit>,
    server: Option<(String, u16)>,
    queue_limit: Option<usize>,
    cold_start: bool,
}

impl std::fmt::Debug for PoolBuilder {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let mut told = f.debug_struct("PoolBuilder");
        told.field("provider", &self.table.id).field("path", &self.path).field("limits", &self.limits);
        told.field("queue_limit", &self.queue_limit).field("cold_start", &self.cold_start).finish_non_exhaustive()
    }
}

impl PoolBuilder {
    /// A pool without a limit of its own; nothing is checked before [`PoolBuilder::build`].
    pub(in crate::run) fn new(pools: Arc<Pools>, table: Table, path: Vec<String>) -> Self {
        Self { pools, table, path, limits: Vec::new(), server: None, queue_limit: None, cold_start: false }
    }

    /// A quota the pool is known to have. What headers say beats it.
    ///
    /// May be told several times, once for each thing that is counted. It matters for providers that do not tell their limits in
    /// headers, for the first seconds after a start, and for what the metrics say of demand against supply. Give what the whole pool
    /// is granted, also where several processes share it.
    ///
    /// ```
    /// # use std::time::Duration;
    /// # use forbear::{Forbear, Limit, provider};
    /// # use forbear::core::signal::Dimension;
    /// # let forbear = Forbear::builder().build()?;
    /// let pool = forbear
    ///     .pool(provider::mistral(), ["ours", "large"])
    ///     .limit(Limit::requests_per_minute(300))
    ///     .limit(Limit::per(Dimension::Tokens, 2_000_000, Duration::from_secs(60)))
    ///     .build()?;
    /// # let _ = pool;
    /// # Ok::<(), forbear::InvalidSetting>(())
    /// ```
    pub fn limit(mut self, limit: Limit) -> Self {
        self.limits.push(limit);
        self
    }

    /// Paces calls by the pool's limits from the start, not only after a throttle: for quotas that must not be met even
    /// once, and for services that start with a backlog. Slots of a second that nobody took are saved up. Such a pool never
    /// flows freely, so each of its calls asks the gate.
    ///
    /// ```
    /// # use forbear::{Forbear, Limit, provider};
    /// # let forbear = Forbear::builder().build()?;
    /// let limit = Limit::requests_per_minute(600);
    /// let backfill = forbear.pool(provider::generic(), ["backfill"]).limit(limit).cold_start().build()?;
    /// # let _ = backfill;
    /// // Without a limit there is nothing to pace by.
    /// assert!(forbear.pool(provider::generic(), ["search"]).cold_start().build().is_err());
    /// # Ok::<(), forbear::InvalidSetting>(())
    /// ```
    pub fn cold_start(mut self) -> Self {
        self.cold_start = true;
        self
    }

    /// Where the pool's requests go, as `server.address` and `server.port` on spans: a host's name or address, and a port of
    /// 1 to 65535. Nothing is sent there. What the first build said stays.
    pub fn server(mut self, address: &str, port: u16) -> Self {
        self.server = Some((address.to_owned(), port));
        self
    }

    /// How many calls may wait for this pool, 0 to 10,000,000; see [`ForbearBuilder::queue_limit`](crate::ForbearBuilder::queue_limit).
    ///
    /// ```
    /// # use forbear::{Forbear, provider};
    /// # let forbear = Forbear::builder().build()?;
    /// // Rather an error now than an answer that nobody waits for any more.
    /// let search = forbear.pool(provider::generic(), ["search"]).queue_limit(200).build()?;
    /// # let _ = search;
    /// # Ok::<(), forbear::InvalidSetting>(())
    /// ```
    pub fn queue_limit(mut self, most: usize) -> Self {
        self.queue_limit = Some(most);
        self
    }

    /// Checks path and limits and makes the pool, or finds it where it was made before.
    ///
    /// # Errors
    /// A path without names, deeper than 8, or with an empty name; a table whose id is no plain label; a limit or a queue
    /// limit outside its range; a server that is no bare host name.
    ///
    /// ```
    /// # use forbear::{Forbear, provider};
    /// # let forbear = Forbear::builder().build()?;
    /// let refused = forbear.pool(provider::openai(), [""]).build().unwrap_err();
    /// assert!(refused.to_string().starts_with("pool.path"));
    /// # Ok::<(), forbear::InvalidSetting>(())
    /// ```
    pub fn build(self) -> Result<Pool, InvalidSetting> {
        within("pool.path (names)", self.path.len(), 1..=DEEPEST, "1 to 8 names")?;
        if self.path.iter().any(String::is_empty) {
            return Err(InvalidSetting::new("pool.path", &self.path, "no empty name"));
        }
        let name = self.path.join("/");
        self.with_path().map_err(|refused| refused.of("pool", &name))
    }

    fn with_path(self) -> Result<Pool, InvalidSetting> {
        if self.table.id.is_empty() || clean(self.table.id) != self.table.id {
            return Err(InvalidSetting::new("table.id", self.table.id, "1 to 64 of A-Z, a-z, 0-9, . _ : / -"));
        }
        self.limits.iter().try_for_each(Limit::check)?;
        if self.cold_start && self.limits.iter().all(|limit| limit.quota_window() == QuotaWindow::Day) {
            return Err(InvalidSetting::new("pool.cold_start", true, "with a limit in a window of less than a day"));
        }
        let server = self.server.map(|(address, port)| Server::new(&address, port)).transpose()?;
        if let Some(most) = self.queue_limit {
            check_queue_limit("pool.queue_limit", most)?;
        }

        let shared = self.pools.find_or_make(self.table, self.path.into());
        if let Some(server) = server {
            shared.about.server.get_or_init(|| server);
        }
        if let Some(most) = self.queue_limit {
            shared.node.limit_queue(most);
        }
        if !self.limits.is_empty() {
            shared.board().configured = self.limits;
            shared.tell_gate_the_limit(shared.level(None));
        }
        if self.cold_start && shared.engine.trunk.has_gate() {
            shared.node.start_cold(shared.clock().now());
        }
        Ok(Pool { shared, _pools: self.pools })
    }
}
