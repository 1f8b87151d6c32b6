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

    /// The last readings, each with its time.
    #[must_use]
    pub fn readings(&self) -> &[(QuotaReading, Moment)] {
        &self.readings
    }

    /// The limit on requests in a window shorter than a day, and that window: what headers say beats configuration.
    #[must_use]
    pub fn request_limit(&self) -> Option<(u64, Duration)> {
        let told = self.readings.iter().find_map(|(reading, _)| match *reading {
            QuotaReading {
                dimension: Dimension::Requests, window: QuotaWindow::Minute, limit: Some(limit), ..
            } => Some((limit, Duration::from_secs(60))),
            _ => None,
        });
        let set = || {
            let limit = self
                .configured
                .iter()
                .find(|limit| limit.dimension() == Dimension::Requests && limit.quota_window() != QuotaWindow::Day)?;
            Some((limit.amount(), limit.window()))
        };
        told.or_else(set)
    }
}
