//! Verdicts while a world still runs: what whoever looks at its metrics would be told then.

use std::time::Duration;

use crate::core::moment::Moment;
use crate::diagnose::{History, Keeping, Tally, Verdict};
use crate::simulate::plan::Plan;
use crate::simulate::watch::{minute_of, verdict};
use crate::simulate::world::World;

/// When a simulated fleet is judged, and by which looks at it.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Judging {
    /// How far apart looks are: 7.5 s, or the scrape interval whose verdict is wanted. No horizon is shorter than four.
    pub every: Duration,
    /// How long the window is that a verdict is about: an hour.
    pub window: Duration,
    /// After how long from the start it is judged, the earliest first.
    pub at: Vec<Duration>,
}

impl Judging {
    /// At these times, by looks so far apart, over the hour before.
    #[must_use]
    pub fn at(at: impl IntoIterator<Item = Duration>, every: Duration) -> Self {
        Self { every, window: Duration::from_secs(3_600), at: at.into_iter().collect() }
    }
}

/// Who judges a world while it runs.
pub(super) struct Judge<'j> {
    judging: &'j Judging,
    numbers: Tally,
    history: History,
    next_look: Moment,
    verdicts: Vec<Verdict>,
}

impl<'j> Judge<'j> {
    /// Nothing seen yet; `numbers` are added up elsewhere.
    pub(super) fn new(judging: &'j Judging, numbers: Tally, plan: &Plan) -> Self {
        let keeping = Keeping { minute: minute_of(plan), every: judging.every, window: judging.window };
        Self { judging, numbers, history: History::new(keeping), next_look: Moment::START, verdicts: Vec::new() }
    }

    /// When it looks, or judges, next.
    pub(super) fn next(&self) -> Moment {
        let judges = self.judging.at.get(self.verdicts.len());
        judges.map_or(Moment::NEVER, |at| self.next_look.min(Moment::since_start(*at)))
    }

    /// Looks at the world, which has come to [`Judge::next`], and judges it if it is time.
    pub(super) fn look(&mut self, world: &World<'_>, now: Moment, replicas: u32) {
        let counts = self.numbers.counts();
        while self.judging.at.get(self.verdicts.len()).is_some_and(|at| Moment::since_start(*at) <= now) {
            self.verdicts.push(verdict(&self.history, &counts, world, now, replicas));
        }
        if now >= self.next_look {
            self.history.look(now, &counts);
            self.next_look = now.after(self.judging.every);
        }
    }

    /// What it said each time; of times after the world's end, what it would say then.
    pub(super) fn verdicts(mut self, world: &World<'_>, replicas: u32) -> Vec<Verdict> {
        while self.next() < Moment::NEVER {
            self.look(world, self.next(), replicas);
        }
        self.verdicts
    }
}
