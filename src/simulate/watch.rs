//! Who looks at a world while it runs: the diagnosis, as it would look at a real fleet's metrics.
//!
//! The numbers are those of all replicas together, as a Prometheus that scrapes them all adds them up. The window is the
//! measured time, to the end of its last call.

use std::time::Duration;

use crate::core::moment::{Moment, WallTime};
use crate::diagnose::{Counts, History, Keeping, Settings, Tally, Verdict};
use crate::simulate::plan::Plan;
use crate::simulate::world::World;

/// As long as a world may last.
const NO_END: Duration = Duration::from_secs(3 * 31 * 86_400);

/// The diagnosis of one world.
pub(super) struct Watch {
    numbers: Tally,
    history: History,
    /// When it looks next.
    next: Moment,
    /// When the measured time begins; never, once it has.
    begins: Moment,
    /// When the last measured call may arrive.
    measured_until: Moment,
}

impl Watch {
    /// Hears `world` from now on.
    pub(super) fn over(world: &mut World<'_>, plan: &Plan) -> Self {
        let keeping = Keeping { window: NO_END, ..Keeping::of_minutes(minute_of(plan)) };
        let numbers = Tally::default();
        world.add_up(numbers.clone());
        Self {
            numbers,
            history: History::new(keeping),
            next: Moment::START,
            begins: plan.measured_from,
            measured_until: plan.measured_until,
        }
    }

    /// When it looks next: every 7.5 s, less often in a run of more than a week, and when the measured time begins.
    pub(super) fn next(&self) -> Moment {
        self.next.min(self.begins)
    }

    /// Looks at the world, which has come to [`Watch::next`].
    pub(super) fn look(&mut self, now: Moment) {
        let counts = self.numbers.counts();
        if now >= self.begins {
            self.history.begin(now, &counts);
            self.begins = Moment::NEVER;
        }
        if now >= self.next {
            self.history.look(now, &counts);
            self.next = now.after(self.history.every());
        }
    }

    /// The sums it looks at.
    pub(super) fn numbers(&self) -> Tally {
        self.numbers.clone()
    }

    /// What it has come to, now that all is over.
    pub(super) fn verdict(&self, world: &World<'_>, replicas: u32) -> Verdict {
        let now = world.now().max(self.measured_until);
        verdict(&self.history, &self.numbers.counts(), world, now, replicas)
    }
}

/// How long the minute of a world's quotas is.
pub(super) fn minute_of(plan: &Plan) -> Duration {
    let mut quotas = plan.provider.quotas.iter().filter(|quota| !quota.of_day);
    quotas.next().map_or(Duration::from_secs(60), |quota| quota.window)
}

/// The verdict on a world as of `now`.
pub(super) fn verdict(history: &History, counts: &Counts, world: &World<'_>, now: Moment, replicas: u32) -> Verdict {
    let mut settings = Settings::default();
    for replica in 0..replicas as usize {
        world.sample(replica, now, WallTime::default(), &mut |sample| {
            let label = |key: &str| sample.labels.iter().find(|(known, _)| *known == key).map(|(_, word)| *word);
            settings.note(sample.metric, label, sample.value);
        });
    }
    Verdict::on(&history.window(now, counts, settings))
}
