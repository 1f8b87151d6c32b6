//! What a check predicts beside what happens.
//!
//! One call takes the whole quota of a fixed window, at a random instant of it, and another is throttled in the same
//! moment: what becomes of that one is counted, over many windows. That is the call the check speaks of, with the engine
//! itself in the model's place.

use std::time::Duration;

use forbear::InvalidSetting;
use forbear::core::dice::{Dice, SeededDice};
use forbear::core::tune::{Jitter, RetryLayer};
use forbear::simulate::{
    Algorithm, ArrivalPattern, Burst, Deadline, GateMode, Jitter as JitterWord, LimitKnown, PolicySettings, Scenario,
    Simulation, StatedWait, Time,
};

/// A prediction, and what happened.
#[derive(Debug)]
pub struct Compared {
    /// The numbers.
    pub layer: RetryLayer,
    /// The window.
    pub window: Duration,
    /// The deadline.
    pub deadline: Duration,
    /// The chance of giving up: predicted, simulated.
    pub gives_up: [f64; 2],
    /// Requests wasted by a throttled call: predicted, simulated.
    pub wasted: [f64; 2],
}

impl Compared {
    /// How far apart the chances are.
    #[must_use]
    pub fn gives_up_apart(&self) -> f64 {
        (self.gives_up[0] - self.gives_up[1]).abs()
    }

    /// How far apart the wasted requests are, as a share of them.
    #[must_use]
    pub fn wasted_apart(&self) -> f64 {
        (self.wasted[0] / self.wasted[1] - 1.0).abs()
    }
}

/// Makes random numbers, checks them, and simulates `calls` throttled calls with them.
///
/// # Errors
/// A number is outside its range, which would be a mistake of this file.
pub fn compare(calls: u32, dice: &mut SeededDice) -> Result<Compared, InvalidSetting> {
    let between = |dice: &mut SeededDice, least: f64, most: f64| least * (most / least).powf(dice.unit());
    let window = Duration::from_secs_f64(between(dice, 5.0, 600.0));
    let deadline = Duration::from_secs_f64(between(dice, 5.0, 900.0));
    let base = window.mul_f64(between(dice, 0.01, 1.0));
    let factor = [1.0, 1.5, 2.0, 3.0][(dice.roll() % 4) as usize];
    let cap = base.mul_f64(between(dice, 1.0, 50.0));
    let attempts = between(dice, 2.0, 41.0) as u32;
    let (jitter, word) =
        [(Jitter::FULL, JitterWord::Full), (Jitter::EQUAL, JitterWord::Equal), (Jitter::NONE, JitterWord::None)]
            [(dice.roll() % 3) as usize];
    let sdk_retries = [0, 0, 0, 2][(dice.roll() % 4) as usize];

    let mut layer = RetryLayer::new(base, attempts).factor(factor).cap(cap).jitter(jitter);
    if sdk_retries > 0 {
        layer = layer.over(RetryLayer::sdk(sdk_retries));
    }
    let check = layer.check(window, deadline)?;

    let mut policy = PolicySettings::default();
    policy.base_s = Some(base.as_secs_f64());
    policy.factor = Some(factor);
    policy.cap_s = Some(cap.as_secs_f64());
    policy.attempts = Some(attempts.into());
    policy.jitter = Some(word);
    policy.sdk_retries = Some(sdk_retries.into());
    let seeds = dice.roll() >> 32 << 24;
    let (mut succeeded, mut refused) = (0, 0.0);
    for call in 0..calls {
        let scenario = scenario(window, deadline, policy, seeds + u64::from(call));
        let outcome = Simulation::of(&scenario).unjudged().run()?.outcome;
        succeeded += outcome.succeeded - 1;
        // Of both calls: what is not the success of one of them was refused.
        refused += outcome.wasted_per_call.unwrap_or(0.0) * outcome.calls as f64;
    }
    Ok(Compared {
        gives_up: [check.gives_up(), 1.0 - succeeded as f64 / f64::from(calls)],
        wasted: [check.reach.wasted, refused / f64::from(calls)],
        layer,
        window,
        deadline,
    })
}

/// Two calls at one instant of a window that grants one request.
fn scenario(window: Duration, deadline: Duration, policy: PolicySettings, seed: u64) -> Scenario {
    let mut scenario = Scenario::default();
    scenario.seed = Some(seed);
    scenario.measured_s = Some(1.0);
    scenario.provider.requests_per_minute = Some(1.0);
    scenario.provider.window_s = Some(window.as_secs_f64());
    scenario.provider.algorithm = Some(Algorithm::FixedWindow);
    scenario.provider.retry_after = Some(StatedWait::None);
    scenario.provider.service_s = Some(Time::Always(0.0));
    let mut burst = Burst::default();
    (burst.size, burst.within_s) = (Some(2.0), Some(0.0));
    scenario.callers.arrivals = Some(ArrivalPattern::Burst(burst));
    scenario.callers.deadline_s = Some(Deadline::Seconds(deadline.as_secs_f64()));
    scenario.policy = policy;
    scenario.gate = Some(GateMode::None);
    scenario.limit_configured = Some(LimitKnown::No);
    scenario
}
