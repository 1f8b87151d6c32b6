//! What is known of what a pool's limit can serve, and how it comes back after it was used up.
//!
//! Limits come back in two ways, and they want opposite things of callers. A *bucket* refills evenly: who comes all at once
//! is refused, who comes one by one is served. A *window* refills at once: who comes one by one leaves most of it unused
//! and ends a window later. Which of the two it is shows in one throttled answer: a bucket has its next request long
//! before it is whole again, a window is whole when it has its next request.

use std::time::Duration;

use crate::core::moment::Moment;
use crate::core::pace::{Plan, SAME_INSTANT, ThrottledAt};
use crate::core::signal::{Dimension, QuotaReading, QuotaWindow, Quotas, Signal};

/// What several processes leave unused together, so that those whose slots meet by chance are not refused for it.
const ROOM_FOR_CHANCE: f64 = 0.95;

/// How a limit comes back after it was used up.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Refill {
    /// Little by little.
    Even,
    /// All at once, when its window ends.
    AtOnce,
}

/// This process's share of a pool's limit on requests.
#[derive(Clone, Copy, Debug)]
struct Share {
    amount: f64,
    window: Duration,
    /// Whether others draw on the same limit unseen.
    alone: bool,
}

impl Share {
    /// The time one request is granted per.
    fn interval(&self) -> Duration {
        Duration::try_from_secs_f64(self.window.as_secs_f64() / self.amount).unwrap_or(self.window)
    }
}

#[derive(Clone, Debug, Default)]
pub(super) struct Supply {
    share: Option<Share>,
    refill: Option<Refill>,
    /// The rate at which it last throttled while it was paced.
    throttled_at: Option<ThrottledAt>,
}

impl Supply {
    pub(super) const fn new() -> Self {
        Self { share: None, refill: None, throttled_at: None }
    }

    /// Notes the rate at which the pool throttled; returns whether that says anything new.
    pub(super) fn learn(&mut self, rate: ThrottledAt) -> bool {
        // What many told is not undone by the few that the end of a window lets through.
        let many_told = matches!(self.throttled_at, Some(ThrottledAt::Many(_)));
        let news = !(many_told && matches!(rate, ThrottledAt::Few(_)));
        if news {
            self.throttled_at = Some(rate);
        }
        news
    }

    /// Notes the limit; nothing is known of one that grants nothing.
    pub(super) fn know(&mut self, amount: u64, window: Duration, replicas: u32) {
        if amount == 0 || window.is_zero() {
            return;
        }
        let amount = amount as f64 / f64::from(replicas.max(1));
        self.share = Some(Share { amount, window, alone: replicas <= 1 });
    }

    /// Notes how the limit comes back, from a throttled answer. `window_ends` is when the running window should end, if
    /// slots come in windows.
    pub(super) fn read(&mut self, quotas: &Quotas, throttle: &Signal, window_ends: Option<Moment>, now: Moment) {
        let Some(stated) = throttle.stated else { return };
        let next = now.after(stated.delay + SAME_INSTANT);
        if let Some(ends) = window_ends {
            // A window that has its next request long before it should end is none.
            self.refill = Some(if next < ends { Refill::Even } else { Refill::AtOnce });
            return;
        }
        let slot = self.share.map_or(Duration::ZERO, |share| share.interval());
        let spent = quotas.iter().find(|reading| is_request_rate(reading) && reading.remaining == Some(0));
        if let (None, Some(whole_in)) = (self.refill, spent.and_then(|reading| reading.reset)) {
            // The second half: a bucket of one request is whole again with its next request.
            let even = next < now.after(whole_in) || whole_in <= slot + SAME_INSTANT;
            self.refill = Some(if even { Refill::Even } else { Refill::AtOnce });
        }
    }

    /// Whether so much is left after a request that was let in alone that the limit cannot have come back little by little:
    /// then it comes back at once from now on.
    pub(super) fn has_much_left(&mut self, reading: &QuotaReading) -> bool {
        let much = match (reading.remaining, reading.limit) {
            (Some(remaining), Some(limit)) => remaining.saturating_mul(4) >= limit && remaining > 1,
            _ => false,
        };
        if much {
            self.refill = Some(Refill::AtOnce);
        }
        much
    }

    /// How slots should follow each other when the pool reopens.
    pub(super) fn plan(&self) -> Plan {
        let Some(share) = self.share else {
            return match self.throttled_at {
                Some(ThrottledAt::Many(interval) | ThrottledAt::Few(interval)) => Plan::learned(interval),
                None => Plan::slow_start(None),
            };
        };
        match self.refill {
            None => Plan::slow_start(Some(share.interval())),
            Some(Refill::AtOnce) if share.amount >= 1.0 => {
                Plan::Window { grant: share.amount as u32, window: share.window }
            }
            Some(_) => {
                let margin = if share.alone { 1.0 } else { ROOM_FOR_CHANCE };
                Plan::Even { interval: share.interval().div_f64(margin) }
            }
        }
    }
}

/// Whether it is the limit on requests that paces a pool.
pub(super) fn is_request_rate(reading: &QuotaReading) -> bool {
    reading.dimension == Dimension::Requests && reading.window != QuotaWindow::Day
}
