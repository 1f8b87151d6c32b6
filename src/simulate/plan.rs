//! A scenario with its defaults filled in and its ranges checked: what a world is made of.

mod callers;
mod number;
mod policy;
mod provider;

use std::time::Duration;

use crate::core::limit::Limit;
use crate::core::moment::Moment;
use crate::core::setting::InvalidSetting;
use crate::core::signal::QuotaWindow;
use crate::simulate::chance::{Chance, Purpose};
use crate::simulate::scenario::{Engine, GateMode, LimitKnown, Scenario};

pub(super) use callers::{CallerPlan, Pattern, SizePlan};
pub(super) use number::{Number, seconds};
pub(super) use policy::ClassPlan;
pub(super) use provider::{KnownQuota, ProviderPlan, TenantPlan};

/// The most a world may last, warm-up and measured time each.
pub(super) const LONGEST: f64 = 31.0 * 86_400.0;

/// All that a world needs to know.
#[derive(Clone, Debug)]
pub(super) struct Plan {
    /// Where all dice come from.
    pub(super) chance: Chance,
    /// The end of the warm-up.
    pub(super) measured_from: Moment,
    /// When the last measured call may arrive.
    pub(super) measured_until: Moment,
    /// The provider.
    pub(super) provider: ProviderPlan,
    /// Who else uses its quotas.
    pub(super) others: Vec<TenantPlan>,
    /// Whose calls are measured.
    pub(super) callers: CallerPlan,
    /// How calls hold each other back.
    pub(super) gate: GateMode,
    /// The limits the engine is told.
    pub(super) configured: Vec<Limit>,
    /// Whether calls are paced by them from the start.
    pub(super) cold_start: bool,
    /// Whether a replica knows of the others.
    pub(super) fleet_known: bool,
    /// What drives the calls.
    pub(super) engine: Engine,
}

/// How many calls may be under way at the same time: some four hundred bytes each.
const MOST_CALLS: usize = 2_000_000;

/// Refuses calls that come so fast and end so late that the world would not fit into memory.
pub(super) fn room_for_calls(under_way: usize, now: Duration) -> Result<(), InvalidSetting> {
    if under_way <= MOST_CALLS {
        return Ok(());
    }
    let value = format_args!("so large that {under_way} calls are under way after {now:.0?}").to_string();
    Err(InvalidSetting::in_words("callers.arrivals", value, "at most 2 million calls under way at once"))
}

/// Refuses a list that nobody wrote on purpose: each of its items costs time with every request.
fn short(field: &'static str, items: usize, most: usize, allowed: &'static str) -> Result<(), InvalidSetting> {
    let value = format!("a list of {items}");
    if items <= most { Ok(()) } else { Err(InvalidSetting::in_words(field, value, allowed)) }
}

impl Plan {
    /// Checks `scenario`.
    ///
    /// # Errors
    /// The first field outside its range, by the name it has in the JSON.
    pub(super) fn of(scenario: &Scenario) -> Result<Self, InvalidSetting> {
        let chance = Chance::of(scenario.seed.unwrap_or(1));
        let warmup = seconds("warmup_s", scenario.warmup_s, 0.0, 0.0..=LONGEST, "0 to 2678400 (31 days)")?;
        let measured =
            seconds("measured_s", scenario.measured_s, 3_600.0, 0.001..=LONGEST, "0.001 to 2678400 (31 days)")?;
        let measured_from = Moment::since_start(warmup);
        let provider = ProviderPlan::of(&scenario.provider, &mut chance.dice(Purpose::Phase, 0))?;
        short("others", scenario.others.len(), 1_000, "at most 1000")?;
        let others = scenario.others.iter().map(TenantPlan::of).collect::<Result<_, _>>()?;
        let callers = CallerPlan::of(&scenario.callers, &scenario.policy, measured)?;
        let configured = match scenario.limit_configured.unwrap_or(LimitKnown::Times(1.0)) {
            LimitKnown::No => Vec::new(),
            LimitKnown::Times(times) => {
                let known = Number("limit_configured.times", Some(times));
                provider.limits_known(known.within(1.0, 0.01..=100.0, "0.01 to 100")?)
            }
        };
        Ok(Self {
            chance,
            measured_from,
            measured_until: measured_from.after(measured),
            provider,
            others,
            callers,
            gate: scenario.gate.unwrap_or_default(),
            cold_start: scenario.cold_start.unwrap_or(false)
                && configured.iter().any(|limit| limit.quota_window() != QuotaWindow::Day),
            configured,
            fleet_known: scenario.fleet_known.unwrap_or(true),
            engine: scenario.engine.unwrap_or_default(),
        })
    }

    /// Whether a moment lies in the measured time.
    pub(super) fn measures(&self, now: Moment) -> bool {
        self.measured_from <= now && now < self.measured_until
    }

    /// How long is measured.
    pub(super) fn measured(&self) -> Duration {
        self.measured_from.until(self.measured_until)
    }
}
