//! Where news of throttles travels between the replicas of a service.
//!
//! A store never stands in front of a call: what a gate has to tell it, it takes without waiting, and what it hears from
//! others it hands to the gates when it comes. A process that hears nothing is as safe as it would be alone: its gates
//! forget nothing because a store said nothing.
//!
//! Clocks do not travel, durations do: an end is "so long from now" on the wire and becomes a [`Moment`] of the own clock
//! when it arrives. A late delivery makes a shut longer, never shorter.

#[cfg(test)]
pub(crate) mod entry;
pub(crate) mod news;
pub(crate) mod order;
pub(crate) mod redis;

use std::sync::{Arc, Weak};
use std::time::Duration;

use crate::core::merge::Shut;
use crate::core::moment::Moment;
use crate::event::words::DegradedReason;
use crate::store::news::News;
use crate::store::order::Order;

/// A pool as the whole fleet knows it: provider and path of names, widest first.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct PoolId {
    /// The provider table's id.
    pub(crate) provider: &'static str,
    /// The names of the path.
    pub(crate) path: Vec<String>,
}

/// What a gate tells when a throttle shut it, or moved its end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Report {
    /// The shut as the gate holds it now, on the own clock.
    pub(crate) shut: Shut,
    /// When the throttle was seen, on the own clock.
    pub(crate) seen_at: Moment,
    /// Whether it is the first of its burst: one burst is one strike, in the whole fleet.
    pub(crate) new_round: bool,
}

/// What a gate asks for whose calls come back at a pace all replicas share.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Want {
    /// So many slots, of which the whole pool has one per `every`, as the gate knows or guesses.
    Slots { slots: u32, every: Duration, known: bool },
    /// Leave to probe a pool that is shut.
    Probe,
}

/// What the store gave.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Grant {
    /// When each slot is, from now.
    pub(crate) slots: Vec<Duration>,
    /// Whether the request that goes by this tests the pool for everybody.
    pub(crate) probes: bool,
    /// When it is worth asking again, from now.
    pub(crate) again_in: Duration,
    /// One slot of the whole pool per so long, as some replica knows.
    pub(crate) every: Option<Duration>,
}

/// A gate, as a store sees it.
pub(crate) trait Hears: Send + Sync {
    /// Hears what another replica found. Only what is `newer` than all that was heard before may shorten a shut or end
    /// it; what shuts or lengthens is heard in any order.
    fn hear(&self, news: &News, newer: bool, now: Moment);

    /// Hears what an operator ordered for the whole fleet. What is over ends what was ordered before.
    fn obey(&self, order: &Order, now: Moment);

    /// Takes in what it asked for; `None`: the store did not answer.
    fn granted(&self, grant: Option<&Grant>, now: Moment);

    /// Whether the gate still holds calls by the order given at this server millisecond.
    fn obeys(&self, given_at: u64, now: Moment) -> bool;

    /// The shut the gate holds, if any.
    fn shut(&self, now: Moment) -> Option<Shut>;

    /// A number that moves when calls arrive: an idle pool is not asked about.
    fn activity(&self) -> u32;
}

/// Who is told of the fleet itself.
pub(crate) trait Fleet: Send + Sync {
    /// The number of live replicas is another than before.
    fn replicas_changed(&self);
}

/// A pool's way to the store. Dropping it ends the subscription.
pub(crate) trait Link: Send + Sync {
    /// Takes a report without waiting, and delivers it when it can: at once, or while the shut lasts.
    fn report(&self, report: Report);

    /// Says that a probe went well: the fleet reopens, paced.
    fn reopened(&self);

    /// Whether all replicas share one pace.
    fn is_paced(&self) -> bool;

    /// Whether the store is relied on, by all replicas.
    fn is_up(&self) -> bool;

    /// Asks for slots without waiting; the gate is told of the answer.
    fn want(&self, want: Want);

    /// How many replicas share what is ordered for all of them; one at least.
    fn replicas(&self) -> u32;
}

/// What a person should find in the log of a process about its store; told when it changes, never per question.
#[derive(Clone, Copy, Debug)]
#[cfg_attr(not(feature = "telemetry"), expect(dead_code, reason = "only a log shows it"))]
pub(crate) enum Note<'a> {
    /// It is not relied on any more, or now for this reason; with what it, or the client, said.
    Degraded { reason: DegradedReason, said: &'a str },
    /// It refuses to tell news; they are read instead.
    NoChannel { said: &'a str },
    /// It is relied on again, after so long.
    Recovered { away: Duration },
}

/// Who writes it there.
pub(crate) type Log = fn(&Note<'_>);

/// What connects gates with a fleet.
pub(crate) trait Store: Send + Sync {
    /// The way to the store for a pool whose gate is `gate`.
    fn link(&self, pool: &PoolId, gate: Weak<dyn Hears>) -> Arc<dyn Link>;

    /// How many replicas are alive, once that is known.
    fn replicas(&self) -> Option<u32>;

    /// Whether the store is relied on.
    fn is_up(&self) -> bool;
}
