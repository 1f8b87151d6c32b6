//! What an operator may ask of gates, and do to them.

use std::time::Duration;

use crate::core::setting::{InvalidSetting, within};
use crate::event::Event;
use crate::event::words::OperatorAction;
use crate::run::engine::Forbear;
use crate::run::pool::Pool;
use crate::run::snapshot::PoolSnapshot;

/// The longest reason that is kept, in characters.
const LONGEST_REASON: usize = 200;
/// The longest time one process is told to hold a pool by hand.
const LONGEST_BY_HAND: Duration = Duration::from_secs(365 * 86_400);

/// What a person does to one pool. Each is told as an event, with the reason, and logged at WARN.
impl Pool {
    /// The pool as it is now.
    ///
    /// ```
    /// # use forbear::{Forbear, GateState, provider};
    /// # let forbear = Forbear::builder().build()?;
    /// let pool = forbear.pool(provider::openai(), ["prod", "gpt"]).build()?;
    /// let now = pool.snapshot();
    /// assert_eq!((now.state, now.waiting, now.in_flight), (GateState::Flowing, 0, 0));
    /// assert_eq!(now.to_string(), "openai prod/gpt: flowing, 0 waiting, 0 in flight");
    /// # Ok::<(), forbear::InvalidSetting>(())
    /// ```
    #[must_use]
    pub fn snapshot(&self) -> PoolSnapshot {
        PoolSnapshot::of(&self.shared)
    }

    /// Shuts the pool, and every pool below it, for 1 ms to 365 days, whatever the provider says: for maintenance, or to
    /// leave a quota to somebody else. Attempts in flight go on. No probe goes through. A second one takes the place of the
    /// first; when it ends, calls come back one after another. A call that cannot wait so long is refused
    /// ([`Refusal::ByHand`](crate::Refusal::ByHand)).
    ///
    /// It holds in this process only; [`Operator::shut`](crate::Operator::shut) shuts a pool in a fleet. Of the reason 200 characters are kept, on one line.
    ///
    /// ```
    /// # use std::time::Duration;
    /// # use forbear::{Forbear, GateState, provider};
    /// # let forbear = Forbear::builder().build()?;
    /// # let pool = forbear.pool(provider::openai(), ["prod", "gpt"]).build()?;
    /// pool.shut(Duration::from_secs(3_600), "the nightly export needs the quota")?;
    /// assert_eq!(pool.snapshot().state, GateState::Shut);
    /// assert!(pool.reopen("the export is done"));
    /// # Ok::<(), forbear::InvalidSetting>(())
    /// ```
    ///
    /// # Errors
    /// A time outside its range; the engine was built without a gate, or an operator turned it off.
    pub fn shut(&self, for_how_long: Duration, reason: &str) -> Result<(), InvalidSetting> {
        within("pool.shut (time)", for_how_long, Duration::from_millis(1)..=LONGEST_BY_HAND, "1ms to 365 days")?;
        self.must_be_gated("pool.shut (gate)")?;
        let now = self.shared.clock().now();
        self.shared.node.shut_by_hand(now.after(for_how_long), &kept(reason), now);
        Ok(())
    }

    /// Lets one call pass per `every` (1 ms to 1 h), here and in every pool below, for 1 ms to 365 days: to leave part of a
    /// quota to somebody else without standing still. It comes on top of the gate's own pace: the slower of the two holds.
    /// Takes the place of a shut by hand, and the other way round; when it ends, calls pass as they would without it.
    ///
    /// It holds in this process only; [`Operator::pace`](crate::Operator::pace) paces a fleet.
    ///
    /// ```
    /// # use std::time::Duration;
    /// # use forbear::{Forbear, GateState, provider};
    /// # let forbear = Forbear::builder().build()?;
    /// # let pool = forbear.pool(provider::openai(), ["prod", "gpt"]).build()?;
    /// pool.pace(Duration::from_millis(500), Duration::from_secs(3_600), "half for the nightly export")?;
    /// assert_eq!(pool.snapshot().interval, Some(Duration::from_millis(500)));
    /// # Ok::<(), forbear::InvalidSetting>(())
    /// ```
    ///
    /// # Errors
    /// A time outside its range; the engine was built without a gate, or an operator turned it off.
    pub fn pace(&self, every: Duration, for_how_long: Duration, reason: &str) -> Result<(), InvalidSetting> {
        let (shortest, slowest) = (Duration::from_millis(1), Duration::from_secs(3_600));
        within("pool.pace (every)", every, shortest..=slowest, "1ms to 1h")?;
        within("pool.pace (time)", for_how_long, shortest..=LONGEST_BY_HAND, "1ms to 365 days")?;
        self.must_be_gated("pool.pace (gate)")?;
        let now = self.shared.clock().now();
        self.shared.node.pace_by_hand(every, now.after(for_how_long), &kept(reason), now);
        Ok(())
    }

    /// Reopens the pool, whoever shut or paced it, provider or operator: calls come back one after another. Whether it was
    /// held. A provider's own pace, which is how calls come back, is left as it is.
    ///
    /// It reopens this very level. One above it, which holds this pool too, is a pool of its own, with fewer names; the
    /// [snapshot](Pool::snapshot) names the level that is shut. A provider that still throttles shuts it again.
    pub fn reopen(&self, reason: &str) -> bool {
        self.shared.node.reopen_by_hand(&kept(reason), self.shared.clock().now())
    }

    /// Refuses an order where no gate would obey it.
    fn must_be_gated(&self, field: &'static str) -> Result<(), InvalidSetting> {
        if self.shared.is_gated() { Ok(()) } else { Err(InvalidSetting::new(field, "off", "a gate that is on")) }
    }
}

/// What a person does to all gates of the process.
impl Forbear {
    /// Every pool there is, as it is now: by provider, then by name.
    ///
    /// ```
    /// # use forbear::{Forbear, provider};
    /// # let forbear = Forbear::builder().build()?;
    /// # let pool = forbear.pool(provider::openai(), ["prod", "gpt"]).build()?;
    /// for pool in forbear.pools() {
    ///     println!("{pool}");
    /// }
    /// # Ok::<(), forbear::InvalidSetting>(())
    /// ```
    #[must_use]
    pub fn pools(&self) -> Vec<PoolSnapshot> {
        let mut pools: Vec<_> = self.pools.all().iter().map(|pool| PoolSnapshot::of(pool)).collect();
        pools.sort_by(|a, b| (a.provider, &a.path).cmp(&(b.provider, &b.path)));
        pools
    }

    /// The pool of this provider and path, if one was built, or the level above those that were: for whoever knows only
    /// names. A level above becomes a pool by it.
    ///
    /// ```
    /// # use forbear::{Forbear, provider};
    /// # let forbear = Forbear::builder().build()?;
    /// let pool = forbear.pool(provider::openai(), ["prod", "gpt"]).build()?;
    /// assert!(forbear.find_pool("openai", &["prod", "gpt"]).is_some());
    /// assert!(forbear.find_pool("openai", &["prod"]).is_some(), "it holds all below it");
    /// assert!(forbear.find_pool("openai", &["staging"]).is_none());
    /// # Ok::<(), forbear::InvalidSetting>(())
    /// ```
    #[must_use]
    pub fn find_pool(&self, provider: &str, path: &[&str]) -> Option<Pool> {
        let begins_so = |pool: &[String]| {
            !path.is_empty() && pool.len() >= path.len() && pool.iter().zip(path).all(|(name, asked)| name == asked)
        };
        let mut pools = self.pools.all().into_iter();
        let found = pools.find(|pool| pool.table.id == provider && begins_so(&pool.path))?;
        // Names that were let in once are let in again.
        self.pool(*found.table, path).build().ok()
    }

    /// Turns the gate off at run time: who waits passes now, and each call waits by itself from now on, as with
    /// [`Gate::off`](crate::Gate::off). What gates knew is kept. Whether that changed anything: not where there is no gate.
    ///
    /// The same without a build, at the next start: `FORBEAR_GATE=off`.
    ///
    /// ```
    /// # use forbear::Forbear;
    /// # let forbear = Forbear::builder().build()?;
    /// assert!(forbear.turn_gate_off("it holds calls that would pass"));
    /// assert!(forbear.turn_gate_on("found and mended"));
    /// # Ok::<(), forbear::InvalidSetting>(())
    /// ```
    pub fn turn_gate_off(&self, reason: &str) -> bool {
        self.switch(false, reason)
    }

    /// Turns the gate on again after [`Forbear::turn_gate_off`]: pools are as shut as they were, if that is not over.
    pub fn turn_gate_on(&self, reason: &str) -> bool {
        self.switch(true, reason)
    }

    fn switch(&self, on: bool, reason: &str) -> bool {
        let engine = &self.pools.engine;
        let mut changed = false;
        let levels = self.pools.levels_after(|| changed = engine.trunk.switch(on));
        if changed {
            let action = if on { OperatorAction::SwitchedOn } else { OperatorAction::SwitchedOff };
            engine.tell_process(engine.trunk.clock.now(), &Event::GateOperated { action, reason: &kept(reason) });
            levels.iter().for_each(|level| level.switched());
        }
        changed
    }
}

/// What is kept of a reason: one line, not longer than a log line should be.
fn kept(reason: &str) -> String {
    reason.chars().take(LONGEST_REASON).map(|c| if c.is_control() { ' ' } else { c }).collect()
}
