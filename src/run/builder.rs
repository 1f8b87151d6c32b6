//! Making an engine.

use std::sync::Arc;

use crate::clock::{Clock, SharedDice};
use crate::core::budget::BudgetSettings;
use crate::core::gate::MOST_REPLICAS;
use crate::core::setting::{InvalidSetting, within};
use crate::event::names::Policies;
use crate::event::sink::{GaugeSource, Sink};
use crate::gate::{Gate, Trunk};
use crate::run::engine::{Engine, Forbear};
#[cfg(feature = "redis")]
use crate::run::fleet;
use crate::run::pools::Pools;
use crate::run::spans::transition;

/// An engine in the making.
///
/// | field | default | why |
/// |---|---|---|
/// | `gate` | [`Gate::local`] | one caller's throttle is news for all callers of the pool |
/// | `sink` | none | without one no event is built |
/// | `budget` | [`BudgetSettings::default`] | a failing provider is not fed with retries |
/// | `replicas` | unknown | only where no shared gate knows it |
/// | `queue_limit` | 100000 | a guard of memory, about 40 MB; how long a call waits is its deadline's affair |
/// | `observe_only` | off | a lever for the first days, see [`ForbearBuilder::observe_only`] |
/// | `diagnosable` (feature `diagnose`) | off | it remembers 60 kB of each pool |
/// | `shadow_pacer` | off | a process sees only its share of the demand |
/// | `client_attempts` | off | the HTTP client's span below an attempt is the CLIENT one; two would count every request twice |
/// | `seed` | from the operating system | waits nobody can foresee do not meet |
///
/// Environment, read once by [`ForbearBuilder::build`], for the moment when there is no time to deploy:
/// `FORBEAR_GATE=off` turns the gate off, `FORBEAR_OBSERVE_ONLY=1` turns `observe_only` on. Other values are refused.
///
/// ```
/// use forbear::{Forbear, Gate};
/// use forbear::event::totals::Totals;
///
/// let totals = Totals::new();
/// let forbear = Forbear::builder().gate(Gate::local()).sink(totals.clone()).replicas(12).build()?;
/// # let _ = forbear;
/// # Ok::<(), forbear::InvalidSetting>(())
/// ```
#[must_use = "an engine is made by `build`"]
#[derive(Default)]
pub struct ForbearBuilder {
    gate: Gate,
    sink: Option<Arc<dyn Sink>>,
    #[cfg(feature = "diagnose")]
    pub(super) chronicle: Option<crate::diagnose::Chronicle>,
    observe_only: bool,
    client_attempts: bool,
    shadow_pacer: bool,
    budget: Option<Option<BudgetSettings>>,
    replicas: Option<u32>,
    queue_limit: Option<usize>,
    seed: Option<u64>,
}

impl std::fmt::Debug for ForbearBuilder {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let mut told = f.debug_struct("ForbearBuilder");
        told.field("gate", &self.gate)
            .field("has_sink", &self.sink.is_some())
            .field("observe_only", &self.observe_only);
        told.field("replicas", &self.replicas).field("queue_limit", &self.queue_limit).finish_non_exhaustive()
    }
}

/// How many calls may wait for one pool, unless set.
const QUEUE_LIMIT: usize = 100_000;

/// Refuses a queue that could not be kept in memory.
pub(super) fn check_queue_limit(field: &'static str, most: usize) -> Result<(), InvalidSetting> {
    within(field, most, 0..=10_000_000, "0 (nobody waits) to 10000000")
}

impl ForbearBuilder {
    /// How calls hold each other back.
    ///
    /// Without one ([`Gate::off`]) each call finds out by itself that the quota is used up, as with any other retry layer.
    pub fn gate(mut self, gate: Gate) -> Self {
        self.gate = gate;
        self
    }

    /// Where events go. A tuple of sinks is a sink.
    ///
    /// Called again it replaces the sink; for several give a tuple. A sink is called inline by calls and must not block: see
    /// [`Sink`].
    ///
    /// ```
    /// use forbear::Forbear;
    /// use forbear::event::{recorder::Recorder, totals::Totals};
    /// let (kept, summed) = (Recorder::new(), Totals::new());
    /// let forbear = Forbear::builder().sink((kept, summed)).build()?;
    /// # let _ = forbear;
    /// # Ok::<(), forbear::InvalidSetting>(())
    /// ```
    pub fn sink(mut self, sink: impl Sink) -> Self {
        self.sink = Some(Arc::new(sink));
        self
    }

    /// The budget of each pool for retries after transient failures.
    ///
    /// Each pool has a budget of its own: one provider that fails takes nothing from the others. Retries after a throttle do not
    /// draw on it.
    ///
    /// ```
    /// use forbear::{BudgetSettings, Forbear};
    /// let refused = Forbear::builder().budget(BudgetSettings::default().share_of_calls(1.5)).build().unwrap_err();
    /// assert_eq!(refused.to_string(), "budget.share_of_calls is 1.5; allowed: 0 to 1");
    /// ```
    pub fn budget(mut self, settings: BudgetSettings) -> Self {
        self.budget = Some(Some(settings));
        self
    }

    /// No budget: only a policy's attempts and deadline bound its retries.
    ///
    /// Right for tests that fail on purpose, and where something else bounds the load: when everything fails, four attempts a call
    /// are four times the load.
    pub fn no_budget(mut self) -> Self {
        self.budget = Some(None);
        self
    }

    /// How many processes share the pools, 1 to 100000: the pace after a shut is divided by it. Limits in metrics stay the
    /// whole pool's.
    ///
    /// Needed only where no shared gate counts them. Left out, the engine takes itself for the only one, and what it says of the
    /// whole fleet says so.
    pub fn replicas(mut self, replicas: u32) -> Self {
        self.replicas = Some(replicas);
        self
    }

    /// How many calls may wait for one pool, 0 to 10,000,000: the next is refused at once
    /// ([`Refusal::QueueFull`](crate::Refusal::QueueFull)). 0 lets nobody wait. A call that comes back from an attempt has been let in before
    /// and is not refused for it. [`PoolBuilder::queue_limit`](crate::PoolBuilder::queue_limit) sets it for one pool.
    pub fn queue_limit(mut self, most: usize) -> Self {
        self.queue_limit = Some(most);
        self
    }

    /// Classify and count, and change nothing else: no retry, no wait at the gate, no attempt cut at its time, nothing drawn
    /// from the budget. To look before switching on. A failed call ends as `attempts_exhausted` after its one attempt,
    /// where its class did not end it anyway.
    ///
    /// The levers around it work as always: events, spans and metrics are told, [`Attempt::time_left`](crate::Attempt::time_left)
    /// still counts to the deadline, and [`Forbear::drain`](crate::Forbear::drain) still refuses.
    ///
    /// ```
    /// # use std::time::Duration;
    /// # use forbear::{Forbear, Policy, provider};
    /// # #[tokio::main(flavor = "current_thread", start_paused = true)] async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// let forbear = Forbear::builder().observe_only().build()?;
    /// let pool = forbear.pool(provider::generic(), ["search"]).build()?;
    /// let policy = Policy::interactive(Duration::from_secs(15)).build()?;
    /// let throttled = |_| async { http::Response::builder().status(429).body(String::new()).map_err(std::io::Error::other) };
    /// let error = pool.call(&policy).run(throttled).await.unwrap_err();
    /// assert_eq!(error.attempts(), 1, "it would have been retried");
    /// assert!(error.into_last().is_some_and(|last| last.is_ok()), "the answer comes back as it came");
    /// # Ok(()) }
    /// ```
    pub fn observe_only(mut self) -> Self {
        self.observe_only = true;
        self
    }

    /// Makes attempts spans of the kind CLIENT, with the pool's server on them: for clients that open no span of their own
    /// for a request. Service graphs and rates are made of CLIENT spans, so leave it where they do.
    pub fn client_attempts(mut self) -> Self {
        self.client_attempts = true;
        self
    }

    /// Counts calls that no pacing could have served within their deadline at the pool's known limits
    /// (`forbear_infeasible_calls_total`): demand that only a larger quota, a longer deadline or fewer calls can meet. It
    /// holds nobody, and costs a lock per call where a sink listens. It needs a limit, from headers or from
    /// [`PoolBuilder::limit`](crate::PoolBuilder::limit), and judges with this process's share of it
    /// ([`ForbearBuilder::replicas`]).
    pub fn shadow_pacer(mut self) -> Self {
        self.shadow_pacer = true;
        self
    }

    /// Dice that repeat, for tests.
    ///
    /// The same seed and the same order of calls draw the same waits: a test that fails once fails again. Without it the seed comes
    /// from the operating system, so that replicas started together do not retry together.
    pub fn seed(mut self, seed: u64) -> Self {
        self.seed = Some(seed);
        self
    }

    /// Checks the settings and makes the engine. Must be called inside a tokio runtime only where time is paused.
    ///
    /// # Errors
    /// The first setting outside its range.
    pub fn build(self) -> Result<Forbear, InvalidSetting> {
        self.build_with(|name| std::env::var(name).ok())
    }

    /// [`ForbearBuilder::build`] with an environment of its own: tests must not change the process's.
    fn build_with(self, variable: impl Fn(&str) -> Option<String>) -> Result<Forbear, InvalidSetting> {
        let budget = self.budget.unwrap_or_else(|| Some(BudgetSettings::default()));
        if let Some(settings) = budget {
            settings.check()?;
        }
        if let Some(replicas) = self.replicas {
            within("forbear.replicas", replicas, 1..=MOST_REPLICAS, "1 to 100000")?;
        }
        let queue_limit = self.queue_limit.unwrap_or(QUEUE_LIMIT);
        check_queue_limit("forbear.queue_limit", queue_limit)?;
        let gate = match variable("FORBEAR_GATE").as_deref() {
            Some("off") => Gate::off(),
            None | Some("") => self.gate.clone(),
            Some(other) => return Err(InvalidSetting::new("FORBEAR_GATE", other, "off, or unset")),
        };
        let observe_only = match variable("FORBEAR_OBSERVE_ONLY").as_deref() {
            Some("1") => true,
            None | Some("" | "0") => self.observe_only,
            Some(other) => return Err(InvalidSetting::new("FORBEAR_OBSERVE_ONLY", other, "1, 0, or unset")),
        };
        let dice = self.seed.map_or_else(SharedDice::from_system, SharedDice::from_seed);
        let gated = gate.is_on() && !observe_only;
        let clock = Clock::new();
        #[cfg(feature = "diagnose")]
        let sink = match &self.chronicle {
            Some(chronicle) => Some(Arc::new((self.sink, chronicle.clone())) as Arc<dyn Sink>),
            None => self.sink,
        };
        #[cfg(not(feature = "diagnose"))]
        let sink = self.sink;
        #[cfg(feature = "redis")]
        let store = fleet::store(&gate, clock, sink.as_deref())?;
        let engine = Arc::new(Engine {
            #[cfg(feature = "redis")]
            store,
            trunk: Arc::new(Trunk::new(clock, dice, gated, transition)),
            gate,
            queue_limit,
            sink,
            #[cfg(feature = "diagnose")]
            chronicle: self.chronicle,
            observe_only,
            shadow_pacer: self.shadow_pacer,
            attempts_are_clients: self.client_attempts,
            budget,
            replicas: self.replicas,
            policies: Policies::new(),
        });
        let pools = Arc::new(Pools::new(engine));
        #[cfg(feature = "redis")]
        fleet::watch(&pools);
        if let Some(sink) = &pools.engine.sink {
            let weak = Arc::downgrade(&pools);
            sink.watch(weak as std::sync::Weak<dyn GaugeSource>);
        }
        Ok(Forbear { pools })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_environment_turns_the_gate_off_and_nonsense_in_it_is_refused() {
        let with = |value: &'static str| {
            Forbear::builder().build_with(move |name| (name == "FORBEAR_GATE").then(|| value.to_owned()))
        };
        assert!(!with("off").expect("built").pools.engine.trunk.is_gated());
        assert!(with("").expect("built").pools.engine.trunk.is_gated());
        let refused = with("shut").expect_err("refused").to_string();
        assert_eq!(refused, "FORBEAR_GATE is \"shut\"; allowed: off, or unset");
    }

    #[test]
    fn a_number_of_replicas_outside_its_range_is_refused() {
        let refused = Forbear::builder().replicas(0).build().expect_err("refused").to_string();
        assert_eq!(refused, "forbear.replicas is 0; allowed: 1 to 100000");
    }

    #[test]
    fn the_table_says_what_the_queue_limit_is() {
        assert!(include_str!("builder.rs").contains(&format!("/// | `queue_limit` | {QUEUE_LIMIT} |")));
    }
}
