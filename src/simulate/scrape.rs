//! The metrics of a simulated fleet, scraped in virtual time.

use std::io;
use std::time::Duration;

use crate::core::moment::{Moment, WallTime};
use crate::event::PoolLabels;
use crate::event::backfill::Backfill;
use crate::event::sink::Sink;
use crate::event::totals::Totals;
use crate::simulate::world::World;

/// The labels of what is simulated.
pub(super) fn labels() -> PoolLabels {
    PoolLabels::new("simulated", "pool")
}

/// When a simulated fleet is scraped.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Scrape {
    /// What time it is at the start of the world: 2026-01-01T00:00:00Z, so that runs can be compared.
    pub start: WallTime,
    /// How far apart scrapes are: 15 s.
    pub every: Duration,
}

impl Default for Scrape {
    fn default() -> Self {
        Self { start: WallTime::since_epoch(Duration::from_secs(1_767_225_600)), every: Duration::from_secs(15) }
    }
}

/// What was scraped in a run: the metrics that the engine's sinks expose, of each replica.
#[derive(Debug)]
pub struct Scraped(Backfill);

impl Scraped {
    /// Writes it as OpenMetrics text, ready for `promtool tsdb create-blocks-from openmetrics`.
    ///
    /// # Errors
    /// Those of `out`.
    pub fn write(&self, out: &mut impl io::Write) -> io::Result<()> {
        self.0.write(out)
    }
}

/// A fleet's memory of its metrics, one for each replica, and what was scraped of it.
pub(super) struct Fleet {
    replicas: Vec<(String, Totals)>,
    scrape: Scrape,
    /// When it is scraped next.
    next: Moment,
    scraped: Backfill,
}

impl Fleet {
    /// A fleet of so many, nothing counted yet.
    pub(super) fn of(replicas: u32, scrape: Scrape) -> Self {
        let replicas = (1..=replicas).map(|number| (format!("replica-{number}"), Totals::new())).collect();
        Self { replicas, scrape, next: Moment::START, scraped: Backfill::new("forbear") }
    }

    /// Who hears the events of each replica.
    pub(super) fn ears(&self) -> Vec<Box<dyn crate::event::sink::Listener>> {
        self.replicas.iter().map(|(_, totals)| totals.listen(&labels())).collect()
    }

    /// When it is scraped next.
    pub(super) const fn next(&self) -> Moment {
        self.next
    }

    /// Scrapes all replicas of `world`, as at `at`.
    pub(super) fn scrape(&mut self, world: &World<'_>, at: Moment) {
        let wall = self.scrape.start.after(at.elapsed_since_start());
        for (replica, (instance, totals)) in self.replicas.iter().enumerate() {
            self.scraped.scrape(wall.elapsed_since_epoch().as_secs_f64(), instance, totals, &mut |visit| {
                world.sample(replica, at, wall, visit);
            });
        }
        self.next = at.after(self.scrape.every);
    }

    /// What was scraped.
    pub(super) fn scraped(self) -> Scraped {
        Scraped(self.scraped)
    }
}
