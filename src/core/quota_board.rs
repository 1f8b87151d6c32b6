//! What is known of a pool's quotas: as configured, and as the provider's answers say.

use std::time::Duration;

use crate::core::limit::Limit;
use crate::core::moment::Moment;
use crate::core::signal::{Dimension, QuotaReading, QuotaWindow, Quotas};

/// The last reading of each quota, and when it was read.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct QuotaBoard {
    /// What the application set.
    pub configured: Vec<Limit>,
    readings: Vec<(QuotaReading, Moment)>,
}

impl QuotaBoard {
    /// Notes an answer's readings; a field it does not tell keeps its last value.
    pub fn note(&mut self, quotas: &Quotas, now: Moment) {
        for new in quotas.iter() {
            let known =
                self.readings.iter_mut().find(|(old, _)| (old.dimension, old.window) == (new.dimension, new.window));
            match known {
                Some((old, at)) => {
                    old.limit = new.limit.or(old.limit);
                    old.remaining = new.remaining.or(old.remaining);
                    old.reset = new.reset;
                    *at = now;
                }
                None => self.readings.push((*new, now)),
            }
        }
    }

    /// The limit an answer stated last for this quota.
    #[must_use]
    pub fn limit(&self, dimension: Dimension, window: QuotaWindow) -> Option<u64> {
        let (known, _) =
            self.readings.iter().find(|(known, _)| (known.dimension, known.window) == (dimension, window))?;
        known.limit
    }

    /// The limits on windows shorter than a day, each with its window: what headers say beats configuration.
    pub fn limits(&self) -> impl Iterator<Item = (Dimension, u64, Duration)> {
        let told = |dimension: &Dimension| self.limit(*dimension, QuotaWindow::Minute);
        let set = |dimension: &Dimension| {
            let fits = |limit: &&Limit| limit.dimension() == *dimension && limit.quota_window() != QuotaWindow::Day;
            self.configured.iter().find(fits)
        };
        Dimension::ALL.iter().filter_map(move |dimension| match told(dimension) {
            Some(limit) => Some((*dimension, limit, Duration::from_secs(60))),
            None => set(dimension).map(|limit| (*dimension, limit.amount(), limit.window())),
        })
    }

    /// The last readings, each with its time.
    #[must_use]
    pub fn readings(&self) -> &[(QuotaReading, Moment)] {
        &self.readings
    }
}
