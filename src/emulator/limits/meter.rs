//! The state of a provider's limits.
//!
//! One meter is one pool's worth of limits; whoever shares the pool asks the same meter, other tenants too.

use std::time::Duration;

use super::episode::{FailureKind, hits};
use super::quota::Quota;
use super::settings::Limits;
use super::verdict::{Cost, Throttle, Verdict};
use crate::core::dice::Dice;
use crate::core::moment::Moment;
use crate::core::setting::{InvalidSetting, within};
use crate::core::signal::{Dimension, LimitClass, QuotaWindow, Quotas};

/// Counts what is used and says what becomes of each request. Callers come in the order of their time.
#[derive(Clone, Debug)]
pub struct Meter {
    limits: Limits,
    quotas: Vec<Quota>,
    in_flight: u32,
    shut_until: Moment,
    overload_share: f64,
    spend: bool,
}

impl Meter {
    /// Unused limits.
    ///
    /// # Errors
    /// A setting is outside its range.
    pub fn new(limits: Limits) -> Result<Self, InvalidSetting> {
        limits.check()?;
        let quotas = Quota::of(&limits);
        Ok(Self { limits, quotas, in_flight: 0, shut_until: Moment::START, overload_share: 0.0, spend: false })
    }

    /// What becomes of a request that comes at `now`.
    ///
    /// The order is a provider's: who asks (auth), who pays (spend), whether there is capacity (overload), the quotas,
    /// concurrency; and only then what may fail while it is served. The first three charge nothing. Of several quotas that
    /// are spent the one that takes longest is told; its wait holds for all of them.
    pub fn admit(&mut self, now: Moment, cost: Cost, dice: &mut impl Dice) -> Verdict {
        if now < self.shut_until {
            let wait = Some(now.until(self.shut_until));
            return Verdict::Throttled(Throttle { wait, replenished: wait, ..Throttle::of(LimitClass::RequestRate) });
        }
        if self.fails(now, dice, |kind| kind == FailureKind::Auth).is_some() {
            return Verdict::Failed(FailureKind::Auth);
        }
        if self.spend || self.limits.spend.iter().any(|period| period.holds(now)) {
            return Verdict::Throttled(Throttle::of(LimitClass::Spend));
        }
        if self.is_overloaded(now, dice) {
            return Verdict::Throttled(Throttle::of(LimitClass::Overload));
        }
        if let Some(throttle) = self.refuses(now, cost) {
            return Verdict::Throttled(throttle);
        }
        for quota in &mut self.quotas {
            quota.take(now, quota.need(cost));
        }
        self.in_flight += 1;
        let failure = self.fails(now, dice, |kind| kind != FailureKind::Auth);
        failure.map_or(Verdict::Admitted, Verdict::Failed)
    }

    /// How long until the quotas let `cost` pass, if nothing else came; zero when they do now, `None` when it is larger
    /// than one of them. Asking costs nothing. Concurrency and what else goes wrong are left out.
    pub fn fits_in(&mut self, now: Moment, cost: Cost) -> Option<Duration> {
        if self.quotas.iter().any(|quota| quota.need(cost) > quota.amount) {
            return None;
        }
        Some(self.longest(now, cost).map_or(Duration::ZERO, |(_, wait)| wait))
    }

    /// A request that [was in flight](Verdict::is_in_flight) has ended.
    pub fn finished(&mut self) {
        self.in_flight = self.in_flight.saturating_sub(1);
    }

    /// Requests in flight.
    #[must_use]
    pub const fn in_flight(&self) -> u32 {
        self.in_flight
    }

    /// The limits it keeps.
    #[must_use]
    pub const fn limits(&self) -> &Limits {
        &self.limits
    }

    /// What the quota headers of an answer sent at `now` say: one reading per quota, `reset` being the time until it is
    /// whole again.
    pub fn quotas(&mut self, now: Moment) -> Quotas {
        let mut quotas = Quotas::default();
        for quota in &mut self.quotas {
            let reading = quota.reading(now);
            if let Some(entry) = quotas.entry(reading.dimension, reading.window) {
                *entry = reading;
            }
        }
        quotas
    }

    /// Other limits from now on. Quotas that were there before keep what was used, as long as they are counted the same
    /// way.
    ///
    /// # Errors
    /// A setting is outside its range; then the old limits stay.
    pub fn set_limits(&mut self, limits: Limits) -> Result<(), InvalidSetting> {
        limits.check()?;
        self.quotas = Quota::again(&self.quotas, &limits);
        self.limits = limits;
        Ok(())
    }

    /// Ends the day of the daily quotas at `end`, and every following one a day later; a past `end` is a new day at once.
    pub fn day_ends_at(&mut self, end: Moment) {
        for quota in self.quotas.iter_mut().filter(|quota| quota.axis.window == QuotaWindow::Day) {
            quota.ends_at(end);
        }
    }

    /// Refuses every request until `until`, as a request rate would.
    pub fn shut_until(&mut self, until: Moment) {
        self.shut_until = until;
    }

    /// Turns a share (0 to 1) of all requests away for want of capacity, until told otherwise; 0 ends it.
    ///
    /// # Errors
    /// The share is outside its range.
    pub fn overload(&mut self, share: f64) -> Result<(), InvalidSetting> {
        within("limits.overload.share", share, 0.0..=1.0, "0 to 1")?;
        self.overload_share = share;
        Ok(())
    }

    /// Whether the account has spent all it may, until told otherwise.
    pub fn spend(&mut self, spent: bool) {
        self.spend = spent;
    }

    /// Of episodes that overlap the worst counts.
    fn is_overloaded(&self, now: Moment, dice: &mut impl Dice) -> bool {
        let episodes = self.limits.overload.iter().filter(|episode| episode.period.holds(now));
        let share = episodes.map(|episode| episode.share).fold(self.overload_share, f64::max);
        hits(share, dice)
    }

    /// The first failure of those that `of` picks whose share is hit.
    fn fails(&self, now: Moment, dice: &mut impl Dice, of: impl Fn(FailureKind) -> bool) -> Option<FailureKind> {
        let mut failures = self.limits.failures.iter().filter(|failure| of(failure.kind) && failure.period.holds(now));
        failures.find(|failure| hits(failure.share, dice)).map(|failure| failure.kind)
    }

    /// The quota or the concurrency that refuses `cost`, the refusal counted.
    fn refuses(&mut self, now: Moment, cost: Cost) -> Option<Throttle> {
        if let Some(quota) = self.quotas.iter().find(|quota| quota.need(cost) > quota.amount) {
            let (axis, limit, larger_than_limit) = (quota.axis, Some(quota.amount), Some(quota.need(cost)));
            self.count_refused(now);
            return Some(Throttle { axis: Some(axis), limit, larger_than_limit, ..Throttle::of(axis.class()) });
        }
        if self.longest(now, cost).is_some() {
            self.count_refused(now);
            // Asked again: the refused request itself may have made the wait longer.
            let (place, wait) = self.longest(now, cost)?;
            let quota = &mut self.quotas[place];
            return Some(Throttle {
                class: quota.axis.class(),
                axis: Some(quota.axis),
                limit: Some(quota.amount),
                wait: Some(wait),
                replenished: Some(quota.replenished(now)),
                larger_than_limit: None,
            });
        }
        let most = self.limits.concurrency.filter(|most| self.in_flight >= *most)?;
        self.count_refused(now);
        Some(Throttle { limit: Some(u64::from(most)), ..Throttle::of(LimitClass::Concurrency) })
    }

    /// The spent quota that takes longest to let `cost` pass.
    fn longest(&mut self, now: Moment, cost: Cost) -> Option<(usize, Duration)> {
        let waits = self.quotas.iter_mut().map(|quota| quota.wait(now, quota.need(cost)));
        let (place, wait) = waits.enumerate().rev().max_by_key(|(_, wait)| *wait)?;
        (!wait.is_zero()).then_some((place, wait))
    }

    /// Only the request quota of the window knows of refused requests; tokens they would have used are not used.
    fn count_refused(&mut self, now: Moment) {
        if !self.limits.throttled_attempts_count {
            return;
        }
        let counts = |quota: &&mut Quota| {
            (quota.axis.dimension, quota.axis.window) == (Dimension::Requests, QuotaWindow::Minute)
        };
        if let Some(quota) = self.quotas.iter_mut().find(counts) {
            quota.take_for_refused(now);
        }
    }
}
