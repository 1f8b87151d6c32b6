//! A listener that adds up the numbers of one pool.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

use crate::core::moment::Moment;
use crate::diagnose::counts::Counts;
use crate::diagnose::number::{Number, Part, members};
use crate::event::Event;
use crate::event::catalogue::Metric;
use crate::event::names::Policies;
use crate::event::series::{Move, SeriesId, moves};
use crate::event::sink::Listener;

/// Seconds are added up in whole microseconds: adding is then one instruction, and five hundred thousand years fit.
const MICROS: f64 = 1e6;

/// The numbers of one pool, added up from its events. Clones add to the same numbers. No lock, and no allocation once a
/// policy is known.
#[derive(Clone, Debug, Default)]
pub(crate) struct Tally(Arc<Inner>);

#[derive(Debug)]
struct Inner {
    numbers: [AtomicU64; Number::ALL.len()],
    names: Policies,
    /// One more than names are kept apart: the rest together.
    policies: [Offered; Policies::CAPACITY + 1],
}

/// What was offered under one policy.
#[derive(Debug, Default)]
struct Offered {
    calls: AtomicU64,
    deadline_micros: AtomicU64,
}

impl Default for Inner {
    fn default() -> Self {
        Self {
            numbers: [const { AtomicU64::new(0) }; Number::ALL.len()],
            names: Policies::new(),
            policies: Default::default(),
        }
    }
}

impl Tally {
    /// What has been added up so far.
    pub(crate) fn counts(&self) -> Counts {
        let inner = &*self.0;
        let mut counts = Counts::default();
        for number in Number::ALL {
            let sum = inner.numbers[*number as usize].load(Relaxed) as f64;
            counts.add(*number, if number.selector().part == Part::Seconds { sum / MICROS } else { sum });
        }
        for (place, offered) in inner.policies.iter().enumerate() {
            let calls = offered.calls.load(Relaxed);
            if calls > 0 {
                let demand = counts.policy_mut(inner.names.label(place));
                demand.calls += calls as f64;
                demand.deadline_seconds += offered.deadline_micros.load(Relaxed) as f64 / MICROS;
            }
        }
        counts
    }

    /// Calls offered so far.
    pub(crate) fn calls(&self) -> u64 {
        self.0.numbers[Number::Calls as usize].load(Relaxed)
    }

    /// Adds what one series moved by.
    fn add(&self, series: SeriesId, by: Move) {
        let inner = &*self.0;
        let (rise, micros) = match by {
            Move::Rise(rise) => (rise, 0),
            Move::Take(seconds) => (1, (seconds * MICROS) as u64),
        };
        members(series, |number, part| {
            let more = if part == Part::Count { rise } else { micros };
            inner.numbers[number as usize].fetch_add(more, Relaxed);
        });
        let Some(offered) = series.policy().map(|policy| &inner.policies[policy]) else { return };
        match series.metric() {
            Metric::Calls => offered.calls.fetch_add(rise, Relaxed),
            Metric::CallDeadline => offered.deadline_micros.fetch_add(micros, Relaxed),
            _ => 0,
        };
    }
}

impl Listener for Tally {
    fn hear(&self, _: Moment, event: &Event<'_>) {
        moves(event, &self.0.names, |series, by| self.add(series, by));
    }
}
