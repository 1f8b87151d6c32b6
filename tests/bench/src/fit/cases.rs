//! Random cases: a window, a deadline, and the traffic between them.

use std::time::Duration;

use forbear::core::dice::{Dice, SeededDice};
use forbear::simulate::{
    Algorithm, ArrivalPattern, Batch, Deadline, GateMode, LimitKnown, OnOff, Poisson, PolicySettings, Scenario,
    StatedWait, Time,
};

/// How traffic comes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Shape {
    /// At random instants of one rate.
    Steady,
    /// In bursts: on for two windows and off for three, or twice a window's load at once in every second window.
    Bursts,
}

/// One case.
#[derive(Clone, Debug)]
pub struct Case {
    /// The window the limit counts in.
    pub window: Duration,
    /// How long a call may take.
    pub deadline: Duration,
    /// Calls offered, as a multiple of what the limit grants.
    pub load: f64,
    /// Requests that a window grants.
    pub quota: u32,
    /// How the window is counted.
    pub algorithm: Algorithm,
    /// Whether refusals state a wait.
    pub states_delay: bool,
    /// When calls come.
    pub arrivals: ArrivalPattern,
}

impl Case {
    /// A random case: windows of 5 s to 10 min, two in five of them a minute; deadlines of 5 s to 15 min; a load of 0.3 to
    /// 2; 10 to 150 requests a window, counted in each of the three ways; waits stated by half of the providers.
    pub fn random(shape: Shape, dice: &mut SeededDice) -> Self {
        let between = |dice: &mut SeededDice, least: f64, most: f64| least * (most / least).powf(dice.unit());
        let window = between(dice, 5.0, 600.0);
        let window = if dice.unit() < 0.4 { 60.0 } else { window };
        let load = 0.3 + 1.7 * dice.unit();
        let quota = between(dice, 10.0, 150.0) as u32;
        Self {
            window: Duration::from_secs_f64(window),
            deadline: Duration::from_secs_f64(between(dice, 5.0, 900.0)),
            load,
            quota,
            algorithm: [Algorithm::FixedWindow, Algorithm::TokenBucket, Algorithm::SlidingWindow]
                [(dice.roll() % 3) as usize],
            states_delay: dice.unit() < 0.5,
            arrivals: arrivals(shape, window, load * f64::from(quota), dice),
        }
    }

    /// `windows` windows of the case under these numbers, and what comes after until the last call has ended. Each call is on
    /// its own: no gate makes up for poor numbers. There is no warm-up: calls that are not measured would take from those
    /// that are, and most from policies that let the oldest succeed.
    #[must_use]
    pub fn scenario(&self, policy: PolicySettings, windows: f64, seed: u64) -> Scenario {
        let mut scenario = Scenario::default();
        let window = self.window.as_secs_f64();
        scenario.seed = Some(seed);
        scenario.measured_s = Some(windows * window);
        scenario.provider.requests_per_minute = Some(self.quota.into());
        scenario.provider.window_s = Some(window);
        scenario.provider.algorithm = Some(self.algorithm);
        scenario.provider.retry_after =
            Some(if self.states_delay { StatedWait::WholeSeconds } else { StatedWait::None });
        // Less than a hundredth of the shortest deadline: what an answer takes, and what is lost where the deadline cuts one,
        // is not what is compared.
        scenario.provider.service_s = Some(Time::Between(0.02, 0.05));
        scenario.callers.arrivals = Some(self.arrivals);
        scenario.callers.deadline_s = Some(Deadline::Seconds(self.deadline.as_secs_f64()));
        scenario.policy = policy;
        scenario.gate = Some(GateMode::None);
        scenario.limit_configured = Some(LimitKnown::No);
        scenario
    }
}

/// When `calls` calls a window come, on average.
fn arrivals(shape: Shape, window: f64, calls: f64, dice: &mut SeededDice) -> ArrivalPattern {
    let per_minute = calls / window * 60.0;
    if shape == Shape::Steady {
        let mut poisson = Poisson::default();
        poisson.per_minute = Some(per_minute);
        return ArrivalPattern::Poisson(poisson);
    }
    if dice.unit() < 0.5 {
        let mut on_off = OnOff::default();
        on_off.per_minute = Some(per_minute * 2.5);
        (on_off.on_s, on_off.off_s) = (Some(2.0 * window), Some(3.0 * window));
        return ArrivalPattern::OnOff(on_off);
    }
    let mut batch = Batch::default();
    batch.size = Some((2.0 * calls).round().max(1.0));
    batch.every_s = Some(2.0 * window);
    ArrivalPattern::Batch(batch)
}

/// Settings of a policy whose waits are drawn as this crate draws them.
#[must_use]
pub fn settings(base: Duration, cap: Duration, attempts: u32) -> PolicySettings {
    let mut policy = PolicySettings::default();
    policy.base_s = Some(base.as_secs_f64());
    policy.cap_s = Some(cap.max(base).as_secs_f64());
    policy.attempts = Some(attempts.into());
    // Longer than any window: a wait that is stated is only cut by the deadline, with every policy.
    policy.header_cap_s = Some(3_600.0);
    policy
}
