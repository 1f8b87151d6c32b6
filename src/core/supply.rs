//! What is known of what a pool's limit can serve, from the provider's own words.

use std::time::Duration;

use crate::core::moment::Moment;
use crate::core::pace::{Pace, Plan};
use crate::core::signal::{Dimension, QuotaReading, QuotaWindow, Quotas, Signal};

/// Of two instants in one answer that differ by less the same is meant: both are rounded to whole seconds.
const SAME_INSTANT: Duration = Duration::from_millis(1_500);
const MINUTE: Duration = Duration::from_secs(60);

/// How a limit comes back after it was used up.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Refill {
    /// Little by little.
    Even,
    /// All at once.
    AtOnce,
}

#[derive(Clone, Debug)]
pub(super) struct Supply {
    pub(super) replicas: u32,
    limit: Option<u64>,
    refill: Option<Refill>,
}

impl Supply {
    pub(super) const fn new() -> Self {
        Self { replicas: 1, limit: None, refill: None }
    }

    /// Notes what an answer at `now` says; `throttle` if it was one, `window_ends` if slots came in windows.
    pub(super) fn note(
        &mut self,
        quotas: &Quotas,
        throttle: Option<&Signal>,
        window_ends: Option<Moment>,
        now: Moment,
    ) {
        for reading in quotas.iter().filter(|reading| is_request_rate(reading)) {
            self.limit = reading.limit.filter(|limit| *limit > 0).or(self.limit);
            let Some(stated) = throttle.and_then(|signal| signal.stated) else { continue };
            let next = now.after(stated.delay + SAME_INSTANT);
            if let Some(ends) = window_ends {
                // A window that ends long before it should is none.
                self.refill = Some(if next < ends { Refill::Even } else { Refill::AtOnce });
            } else if let (None, Some(0), Some(reset)) = (self.refill, reading.remaining, reading.reset) {
                // A bucket has its next request long before it is full again, or is full again with its next request.
                let slot = self.limit.map_or(Duration::ZERO, |limit| MINUTE.div_f64(limit as f64));
                let even = next < now.after(reset) || reset <= slot + SAME_INSTANT;
                self.refill = Some(if even { Refill::Even } else { Refill::AtOnce });
            }
        }
    }

    pub(super) fn plan(&self) -> Plan {
        let (Some(limit), Some(refill)) = (self.limit, self.refill) else { return Pace::slow_start() };
        // Several processes that each keep to their share still meet by chance; a little less than all leaves room for that.
        let margin = if self.replicas > 1 { 0.95 } else { 1.0 };
        let share = limit as f64 / f64::from(self.replicas);
        match refill {
            Refill::AtOnce if share >= 1.0 => Plan::Window { grant: share as u32, window: MINUTE },
            _ => Plan::Even { interval: MINUTE.div_f64(share * margin) },
        }
    }
}

fn is_request_rate(reading: &QuotaReading) -> bool {
    reading.dimension == Dimension::Requests && reading.window == QuotaWindow::Minute
}
