//! The pacer against a brute-force schedule: for each call in turn, the first nanosecond at which the quota, counted anew
//! from all that was served before, has room.

use std::time::Duration;

use proptest::prelude::*;

use super::paced;
use crate::core::dice::{Dice, SeededDice};
use crate::simulate::arrivals::Arrivals;
use crate::simulate::chance::Purpose;
use crate::simulate::plan::Plan;
use crate::simulate::scenario::Scenario;
use crate::simulate::sizes::Sizes;

const WINDOW: u128 = 10_000_000_000;

/// A quota counted by its definition.
struct Definition {
    algorithm: &'static str,
    quota: u128,
    burst: u128,
    first_boundary: u128,
}

impl Definition {
    /// Whether `need` fits at `now` beside what was served before, as (instant, tokens).
    fn fits(&self, served: &[(u128, u128)], now: u128, need: u128) -> bool {
        match self.algorithm {
            "fixed_window" => {
                let window = |at: u128| (at + WINDOW - self.first_boundary) / WINDOW;
                let used = served.iter().filter(|(at, _)| window(*at) == window(now));
                used.map(|(_, tokens)| tokens).sum::<u128>() + need <= self.quota
            }
            "sliding_window" => {
                let used = served.iter().filter(|(at, _)| at + WINDOW > now);
                used.map(|(_, tokens)| tokens).sum::<u128>() + need <= self.quota
            }
            // The level in units of which one token is `WINDOW`: a nanosecond brings `quota` of them.
            _ => {
                let full = (self.quota * self.burst).max(WINDOW) as i128;
                let (mut level, mut at) = (full, 0);
                for (next, tokens) in served.iter().copied().chain([(now, 0)]) {
                    level = full.min(level + ((next - at) * self.quota) as i128) - (tokens * WINDOW) as i128;
                    at = next;
                }
                level >= ((need * WINDOW) as i128).min(full)
            }
        }
    }
}

/// The waits of those who are served.
fn schedule(definition: &Definition, calls: &[(u128, u128)], deadline: u128) -> Vec<u128> {
    let (mut served, mut waits, mut last) = (Vec::new(), Vec::new(), 0);
    for &(arrived, need) in calls {
        let (mut too_early, mut in_time) = (arrived.max(last), arrived.max(last) + 100 * WINDOW);
        if definition.fits(&served, too_early, need) {
            in_time = too_early;
        }
        // Nothing is served in between, so what fits once fits ever after.
        while in_time - too_early > 1 {
            let middle = too_early + (in_time - too_early) / 2;
            if definition.fits(&served, middle, need) { in_time = middle } else { too_early = middle }
        }
        if in_time < arrived + deadline {
            served.push((in_time, need));
            waits.push(in_time - arrived);
            last = in_time;
        }
    }
    waits
}

fn demand(plan: &Plan) -> Vec<(u128, u128)> {
    let arrivals = plan.chance.dice(Purpose::Arrivals, 0);
    let arrivals = Arrivals::of_callers(plan.callers.pattern, plan.measured_from, plan.measured_until, arrivals);
    let (mut sizes, mut dice) = (Sizes::of(plan.callers.sizes), plan.chance.dice(Purpose::Calls, 0));
    let call = |at: crate::core::moment::Moment| {
        let cost = sizes.draw(&mut dice);
        let _ = dice.unit();
        (at.elapsed_since_start().as_nanos(), u128::from(cost.input_tokens + cost.output_tokens))
    };
    arrivals.map(call).collect()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    #[test]
    fn each_call_is_served_when_brute_force_serves_it(
        seed: u64,
        (quota, burst_s) in (12u64..60, 0u32..=10),
        algorithm in prop::sample::select(vec!["fixed_window", "sliding_window", "token_bucket"]),
        (size, within_s, deadline_s) in (1u32..12, 1u32..30, 1u32..40),
    ) {
        let json = format!(
            r#"{{"seed": {seed}, "measured_s": 60, "engine": "pacer",
            "provider": {{"tokens_per_minute": {quota}, "window_s": 10, "algorithm": "{algorithm}", "burst_s": {burst_s}}},
            "callers": {{"arrivals": {{"burst": {{"size": {size}, "within_s": {within_s}}}}},
                "tokens": {{"median": 4, "sigma": 0.4}}, "deadline_s": {deadline_s}}}}}"#
        );
        let plan = Plan::of(&json.parse::<Scenario>().expect("a scenario")).expect("in range");
        let calls = demand(&plan);
        prop_assume!(calls.iter().all(|(_, need)| *need <= u128::from(quota)));
        let mut phase = plan.chance.dice(Purpose::Phase, 0);
        let definition = Definition {
            algorithm,
            quota: quota.into(),
            burst: u128::from(burst_s) * 1_000_000_000,
            first_boundary: phase.within(Duration::from_secs(10)).as_nanos(),
        };
        let expected = schedule(&definition, &calls, u128::from(deadline_s) * 1_000_000_000);
        let (tally, _) = paced(&plan, None, &mut |_| {}).expect("in range");
        // They end in the order of their answers, which is another.
        let mut waits: Vec<_> = tally.waits.kept().iter().map(Duration::as_nanos).collect();
        let mut expected_in_order = expected.clone();
        waits.sort_unstable();
        expected_in_order.sort_unstable();
        prop_assert_eq!(waits, expected_in_order);
    }
}

#[test]
fn a_burst_is_served_as_the_quota_comes() {
    let mut dice = SeededDice::new(1);
    let seed = dice.roll() >> 12;
    let json = format!(
        r#"{{"seed": {seed}, "engine": "pacer", "provider": {{"requests_per_minute": 60, "burst_s": 10}},
        "callers": {{"arrivals": {{"batch": {{"size": 100, "every_s": 4000}}}}, "deadline_s": 60}}}}"#
    );
    let plan = Plan::of(&json.parse::<Scenario>().expect("a scenario")).expect("in range");
    let (tally, _) = paced(&plan, None, &mut |_| {}).expect("in range");
    let mut waits: Vec<_> = tally.waits.kept().iter().map(Duration::as_secs).collect();
    waits.sort_unstable();
    let expected: Vec<_> = std::iter::repeat_n(0, 10).chain(1..60).collect();
    assert_eq!(waits, expected, "ten at once, then one a second, and nobody at the deadline or after");
}
