//! A scenario with one thing changed.

use std::time::Duration;

use crate::core::policy::Policy;
use crate::core::setting::InvalidSetting;
use crate::core::tune::{HumanDuration, Suggestion};
use crate::simulate::plan::{ClassPlan, Plan};
use crate::simulate::scenario::{Deadline, GateMode, Jitter, PolicySettings, Provider, Scenario, StatedWait};
use crate::simulate::what_if::Change;

/// How long a call without a deadline is taken to be worth an answer: the most a policy allows.
const NO_DEADLINE: f64 = 604_800.0;

impl Change {
    /// The scenario with this change.
    pub(super) fn applied_to(self, scenario: &Scenario) -> Result<Scenario, InvalidSetting> {
        let mut changed = scenario.clone();
        match self {
            Self::Today => {}
            Self::SuggestedNumbers => suggest_numbers(&mut changed)?,
            Self::SharedGate => changed.gate = Some(GateMode::Shared),
            Self::TwiceTheQuota => double_quotas(&mut changed.provider),
        }
        Ok(changed)
    }
}

/// The numbers of each kind of call, for people.
pub(super) fn numbers(plan: &Plan) -> String {
    let one = |class: &ClassPlan| {
        let Policy { base, cap, attempts, .. } = class.policy;
        format!("base {}, cap {}, attempts {attempts}", HumanDuration(base), HumanDuration(cap))
    };
    plan.callers.classes.iter().map(one).collect::<Vec<_>>().join("; ")
}

/// Sets the numbers that fit the window and each deadline.
fn suggest_numbers(scenario: &mut Scenario) -> Result<(), InvalidSetting> {
    // What resets later is not waited for.
    let window = scenario.provider.window_s.unwrap_or(60.0).min(86_400.0);
    let window = Duration::try_from_secs_f64(window).unwrap_or_default();
    let states_delay = scenario.provider.retry_after != Some(StatedWait::None);
    let suggest = |deadline: Option<f64>, policy: &PolicySettings| {
        let states_delay = states_delay && policy.honour_header != Some(false);
        let deadline = Duration::try_from_secs_f64(deadline.unwrap_or(NO_DEADLINE)).unwrap_or_default();
        Policy::for_window(window).states_delay(states_delay).suggest(deadline)
    };
    let set = |policy: &mut PolicySettings, suggestion: Suggestion| {
        policy.base_s = Some(suggestion.base.as_secs_f64());
        policy.factor = Some(suggestion.factor);
        policy.cap_s = Some(suggestion.cap.as_secs_f64());
        policy.attempts = Some(f64::from(suggestion.attempts));
        policy.header_cap_s = Some(suggestion.header_cap.as_secs_f64());
        policy.jitter = Some(Jitter::Full);
    };
    let of_all = scenario.policy;
    match &mut scenario.callers.deadline_s {
        None | Some(Deadline::None) => set(&mut scenario.policy, suggest(None, &of_all)?),
        Some(Deadline::Seconds(deadline)) => set(&mut scenario.policy, suggest(Some(*deadline), &of_all)?),
        Some(Deadline::Classes(classes)) => {
            for class in classes {
                let own = class.policy.get_or_insert_default();
                let suggestion = suggest(class.deadline_s, &own.settings.or(of_all))?;
                set(&mut own.settings, suggestion);
            }
        }
    }
    Ok(())
}

/// Every quota twice as large, those per day too; the largest that there may be is as good as none.
fn double_quotas(provider: &mut Provider) {
    const MOST: f64 = 1e12;
    for quota in [
        &mut provider.requests_per_minute,
        &mut provider.tokens_per_minute,
        &mut provider.input_tokens_per_minute,
        &mut provider.output_tokens_per_minute,
        &mut provider.requests_per_day,
        &mut provider.tokens_per_day,
    ] {
        *quota = quota.map(|quota| (quota * 2.0).min(MOST));
    }
}
