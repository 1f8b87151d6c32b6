//! How many retries after transient failures a pool may make.

use std::time::Duration;

use crate::core::moment::Moment;
use crate::core::setting::{InvalidSetting, within};

/// A retry budget: a share of the calls plus a floor. Why a budget and not only a number of attempts: when everything
/// fails, a number of attempts multiplies the load by that number; a budget adds its share and no more.
///
/// Retries after a throttle do not draw on it: the gate paces them.
///
/// | field | default | range | why |
/// |---|---|---|---|
/// | `share_of_calls` | 0.2 | 0 to 1 | the field's usual 20 %: a fault is survived, a storm is not fed |
/// | `floor_per_second` | 1 | 0 to 1000 | services with little traffic must be able to retry at all |
/// | `burst` | 100 | 1 to 10000 | what may be saved up |
///
/// The idea is that of <https://sre.google/sre-book/handling-overload/>, "Deciding to Retry": a process-wide budget keeps retries
/// from multiplying the load of a provider that fails.
///
/// ```
/// use forbear::BudgetSettings;
/// let settings = BudgetSettings::default();
/// assert_eq!((settings.share_of_calls, settings.floor_per_second, settings.burst), (0.2, 1.0, 100.0));
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub struct BudgetSettings {
    /// Retries granted per call.
    pub share_of_calls: f64,
    /// Retries granted per second, calls or not.
    pub floor_per_second: f64,
    /// The most retries saved up.
    pub burst: f64,
}

impl Default for BudgetSettings {
    fn default() -> Self {
        Self { share_of_calls: 0.2, floor_per_second: 1.0, burst: 100.0 }
    }
}

impl BudgetSettings {
    /// Sets the share of calls, 0 to 1.
    #[must_use]
    pub const fn share_of_calls(mut self, share: f64) -> Self {
        self.share_of_calls = share;
        self
    }

    /// Sets the floor in retries per second, 0 to 1000.
    #[must_use]
    pub const fn floor_per_second(mut self, floor: f64) -> Self {
        self.floor_per_second = floor;
        self
    }

    /// Sets what may be saved up, 1 to 10000 retries.
    #[must_use]
    pub const fn burst(mut self, burst: f64) -> Self {
        self.burst = burst;
        self
    }

    pub(crate) fn check(&self) -> Result<(), InvalidSetting> {
        within("budget.share_of_calls", self.share_of_calls, 0.0..=1.0, "0 to 1")?;
        within("budget.floor_per_second", self.floor_per_second, 0.0..=1000.0, "0 to 1000")?;
        within("budget.burst", self.burst, 1.0..=10_000.0, "1 to 10000")
    }
}

/// The state of one pool's budget. It is asked only when a retry is due, so calls that succeed pay nothing: their number
/// comes in as a counter that is kept anyway.
///
/// ```
/// use forbear::BudgetSettings;
/// use forbear::core::budget::Budget;
/// use forbear::core::moment::Moment;
///
/// let mut budget = Budget::new(BudgetSettings::default().floor_per_second(0.0), Moment::START);
/// assert!(budget.withdraw(1, Moment::START), "one to begin with");
/// assert!(!budget.withdraw(2, Moment::START), "then one for every five calls");
/// assert!(budget.withdraw(6, Moment::START));
/// ```
#[derive(Clone, Debug)]
pub struct Budget {
    settings: BudgetSettings,
    saved: f64,
    calls_seen: u32,
    at: Moment,
}

impl Budget {
    /// A budget that starts with ten seconds of its floor, and at least one retry where it grants any.
    #[must_use]
    pub fn new(settings: BudgetSettings, now: Moment) -> Self {
        let grants = settings.share_of_calls > 0.0 || settings.floor_per_second > 0.0;
        let start = (settings.floor_per_second * 10.0).max(if grants { 1.0 } else { 0.0 });
        Self { settings, saved: start.min(settings.burst), calls_seen: 0, at: now }
    }

    /// Takes one retry, if there is one. `calls` counts the calls so far and may wrap.
    #[must_use]
    pub fn withdraw(&mut self, calls: u32, now: Moment) -> bool {
        let new_calls = f64::from(calls.wrapping_sub(self.calls_seen));
        let elapsed: Duration = self.at.until(now);
        let granted = new_calls * self.settings.share_of_calls + elapsed.as_secs_f64() * self.settings.floor_per_second;
        self.saved = (self.saved + granted).min(self.settings.burst);
        self.calls_seen = calls;
        self.at = self.at.max(now);
        let affordable = self.saved >= 1.0;
        if affordable {
            self.saved -= 1.0;
        }
        affordable
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_fifth_of_the_calls_may_be_retried_once_the_savings_are_gone() {
        let settings = BudgetSettings::default().floor_per_second(0.0);
        let mut budget = Budget::new(settings, Moment::START);
        let granted = (1..=1_000u32).filter(|&calls| budget.withdraw(calls, Moment::START)).count();
        assert!((200..=202).contains(&granted), "{granted}");
    }

    #[test]
    fn the_floor_grants_retries_without_calls_and_saves_up_to_the_burst() {
        let mut budget = Budget::new(BudgetSettings::default().burst(5.0), Moment::START);
        let later = Moment::START.after(Duration::from_secs(3_600));
        assert_eq!((0..10).filter(|_| budget.withdraw(0, later)).count(), 5);
        let second = later.after(Duration::from_secs(1));
        assert!(budget.withdraw(0, second) && !budget.withdraw(0, second));
    }
}
