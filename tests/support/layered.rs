//! A retry layer's surroundings: a provider that throttles, a pool at it, and what was counted.

use std::time::Duration;

use forbear::emulator::Emulator;
use forbear::event::catalogue::Metric;
use forbear::event::totals::Totals;
use forbear::{Forbear, Gate, Policy, Pool, provider};

pub(crate) const S: Duration = Duration::from_secs(1);

pub(crate) struct World {
    pub(crate) emulator: Emulator,
    pub(crate) pool: Pool,
    pub(crate) totals: Totals,
}

impl World {
    pub(crate) async fn new(gate: Gate) -> Self {
        Self::at(Emulator::builder().speaks(provider::openai()).start().await.expect("started"), gate)
    }

    pub(crate) fn at(emulator: Emulator, gate: Gate) -> Self {
        let totals = Totals::new();
        let forbear = Forbear::builder().gate(gate).no_budget().seed(7).sink(totals.clone()).build().expect("valid");
        let pool = forbear.pool(provider::openai(), ["ours", "gpt"]).build().expect("a valid pool");
        Self { emulator, pool, totals }
    }

    pub(crate) fn count(&self, metric: Metric, labels: &[(&str, &str)]) -> u64 {
        self.totals.count(metric, "ours/gpt", labels)
    }
}

pub(crate) fn policy(attempts: u32) -> Policy {
    Policy::interactive(60 * S).attempts(attempts).named("chat").build().expect("a valid policy")
}
