//! What a simulated engine shows when it is asked.
//!
//! The samples are made by the very functions that make the running engine's, from the same state machines: a dashboard
//! cannot tell a simulated fleet from a real one but by its labels.

use crate::core::moment::{Moment, WallTime};
use crate::event::gauges::{self, Visit};
use crate::event::words::GateMode as Mode;
use crate::simulate::scenario::GateMode;
use crate::simulate::scrape::labels;
use crate::simulate::world::World;

impl World<'_> {
    /// Hands every gauge of a replica to `visit`, as it is at `now`. Looking changes nothing, so that a run with scrapes is
    /// the same as one without.
    pub(in crate::simulate) fn sample(&self, replica: usize, now: Moment, wall: WallTime, visit: Visit<'_>) {
        let (labels, pool) = (labels(), &self.pools[self.process(replica)]);
        let mode = match self.plan.gate {
            GateMode::None => Mode::Off,
            GateMode::Local => Mode::Local,
            GateMode::News => Mode::News,
            GateMode::Shared => Mode::Paced,
        };
        // The engine looks with its own dice, for a gate that reopens; these are a copy.
        let look = pool.gate.clone().look(now, &mut pool.dice.clone());
        gauges::process(self.plan.fleet_known.then_some(self.plan.callers.replicas), visit);
        gauges::gate(&labels, mode.as_str(), look, now, wall, visit);
        gauges::calls(&labels, pool.in_flight, pool.sleeping, pool.queue.len(), visit);
        gauges::quotas(&labels, &pool.board, now, wall, visit);
        for class in &self.plan.callers.classes {
            gauges::policy(&labels, &class.policy, class.policy.name(), visit);
        }
    }
}
