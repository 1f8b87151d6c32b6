//! The callers of a plan.

use std::time::Duration;

use crate::core::dice::Dice;
use crate::core::setting::InvalidSetting;
use crate::simulate::plan::policy::ClassPlan;
use crate::simulate::plan::{LONGEST, Number, seconds, short};
use crate::simulate::scenario::{ArrivalPattern, Callers, Deadline, DeadlineClass, Poisson, PolicySettings, Tokens};

/// How a count that is refused is told to be set.
const COUNT: &str = "a whole number from 1 to 10^6";

/// Those whose calls are measured.
#[derive(Clone, Debug)]
pub(crate) struct CallerPlan {
    /// When they call.
    pub(crate) pattern: Pattern,
    /// How many processes they call from.
    pub(crate) replicas: u32,
    /// How large their calls are.
    pub(crate) sizes: SizePlan,
    /// The kinds of call there are, one at least.
    pub(crate) classes: Vec<ClassPlan>,
}

/// When calls arrive; rates are per second.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Pattern {
    /// Random instants of one rate.
    Poisson { rate: f64 },
    /// Random instants of this rate for so long, then none for so long.
    OnOff { rate: f64, on: Duration, off: Duration },
    /// So many at the same instant, each time.
    Batch { size: u32, every: Duration },
    /// So many within this time, once.
    Burst { size: u32, within: Duration },
    /// A rate that goes from `low` times itself to `high` times itself and back in each period.
    Diurnal { rate: f64, low: f64, high: f64, period: Duration },
}

/// How many tokens calls use, and what the engine expects.
#[derive(Clone, Copy, Debug)]
pub(crate) struct SizePlan {
    /// Half of all calls use fewer.
    pub(crate) median: f64,
    /// The deviation of the size's logarithm.
    pub(crate) sigma: f64,
    /// How much of a size is received, 0 to 1.
    pub(crate) output_share: f64,
    /// What the engine expects as a multiple of the truth, if it expects anything.
    pub(crate) bias: Option<f64>,
}

impl CallerPlan {
    /// Checks the callers; a burst has to fit into the measured time.
    pub(super) fn of(given: &Callers, policy: &PolicySettings, measured: Duration) -> Result<Self, InvalidSetting> {
        let pattern = given.arrivals.unwrap_or(ArrivalPattern::Poisson(Poisson::default()));
        let replicas = Number("callers.replicas", given.replicas).whole(1_000.0, "a whole number from 1 to 1000")?;
        Ok(Self {
            pattern: Pattern::of(pattern, measured)?,
            replicas: replicas.unwrap_or(1) as u32,
            sizes: SizePlan::of(&given.tokens)?,
            classes: classes(given.deadline_s.as_ref(), policy)?,
        })
    }

    /// Which kind of call the next one is.
    pub(crate) fn class(&self, dice: &mut impl Dice) -> usize {
        if self.classes.len() == 1 {
            return 0;
        }
        let all: f64 = self.classes.iter().map(|class| class.share).sum();
        let mut at = dice.unit() * all;
        let reached = |class: &ClassPlan| {
            at -= class.share;
            at <= 0.0 && class.share > 0.0
        };
        self.classes.iter().position(reached).unwrap_or(self.classes.len() - 1)
    }
}

impl Pattern {
    /// Checks what belongs to the pattern that was chosen.
    fn of(given: ArrivalPattern, measured: Duration) -> Result<Self, InvalidSetting> {
        let rate = |field, rate| Ok(Number(field, rate).within(60.0, 0.0..=1e6, "0 to 10^6")? / 60.0);
        let count = |field, count| Ok(Number(field, count).whole(1e6, COUNT)?.unwrap_or(100) as u32);
        let span = |field, span, default| seconds(field, span, default, 0.001..=LONGEST, "0.001 to 2678400 (31 days)");
        Ok(match given {
            ArrivalPattern::Poisson(given) => {
                Self::Poisson { rate: rate("callers.arrivals.poisson.per_minute", given.per_minute)? }
            }
            ArrivalPattern::OnOff(given) => Self::OnOff {
                rate: rate("callers.arrivals.on_off.per_minute", given.per_minute)?,
                on: span("callers.arrivals.on_off.on_s", given.on_s, 60.0)?,
                off: seconds(
                    "callers.arrivals.on_off.off_s",
                    given.off_s,
                    60.0,
                    0.0..=LONGEST,
                    "0 to 2678400 (31 days)",
                )?,
            },
            ArrivalPattern::Batch(given) => Self::Batch {
                size: count("callers.arrivals.batch.size", given.size)?,
                every: span("callers.arrivals.batch.every_s", given.every_s, 300.0)?,
            },
            ArrivalPattern::Burst(given) => {
                let most = measured.as_secs_f64();
                let field = "callers.arrivals.burst.within_s";
                Self::Burst {
                    size: count("callers.arrivals.burst.size", given.size)?,
                    within: seconds(field, given.within_s, most.min(2.0), 0.0..=most, "0 to measured_s")?,
                }
            }
            ArrivalPattern::Diurnal(given) => {
                let high = Number("callers.arrivals.diurnal.high", given.high).within(1.8, 0.0..=100.0, "0 to 100")?;
                Self::Diurnal {
                    rate: rate("callers.arrivals.diurnal.per_minute", given.per_minute)?,
                    low: Number("callers.arrivals.diurnal.low", given.low).within(
                        high.min(0.2),
                        0.0..=high,
                        "0 to high",
                    )?,
                    high,
                    period: seconds(
                        "callers.arrivals.diurnal.period_s",
                        given.period_s,
                        3_600.0,
                        1.0..=LONGEST,
                        "1 to 2678400 (31 days)",
                    )?,
                }
            }
        })
    }
}

impl SizePlan {
    /// Checks the sizes.
    fn of(given: &Tokens) -> Result<Self, InvalidSetting> {
        let bias = Number("callers.tokens.estimate_bias", given.estimate_bias);
        let bias = bias.within(1.0, 0.01..=100.0, "0.01 to 100")?;
        Ok(Self {
            median: Number("callers.tokens.median", given.median).within(1_000.0, 1.0..=1e6, "1 to 10^6")?,
            sigma: Number("callers.tokens.sigma", given.sigma).within(0.5, 0.0..=3.0, "0 to 3")?,
            output_share: Number("callers.tokens.output_share", given.output_share).within(0.3, 0.0..=1.0, "0 to 1")?,
            bias: given.estimated.unwrap_or(true).then_some(bias),
        })
    }
}

/// The kinds of call: one of its own for a deadline of all, else one for each that is listed.
fn classes(deadline: Option<&Deadline>, policy: &PolicySettings) -> Result<Vec<ClassPlan>, InvalidSetting> {
    let alone = |deadline| Ok(vec![ClassPlan::of(1.0, "default", deadline, policy)?]);
    let given = match deadline {
        None | Some(Deadline::None) => return alone(None),
        Some(Deadline::Seconds(deadline)) => return alone(Some(*deadline)),
        Some(Deadline::Classes(given)) => given,
    };
    short("callers.deadline_s", given.len(), 100, "at most 100 kinds of call")?;
    let class = |(place, given): (usize, &DeadlineClass)| {
        let share = Number("callers.deadline_s.share", given.share).within(1.0, 0.0..=1_000.0, "0 to 1000")?;
        let own = given.policy.clone().unwrap_or_default();
        let name = own.name.unwrap_or_else(|| format!("class-{}", place + 1));
        if name.is_empty() || name.chars().count() > 64 {
            return Err(InvalidSetting::new("callers.deadline_s.policy", name, "a name of 1 to 64 characters"));
        }
        ClassPlan::of(share, &name, given.deadline_s, &own.settings.or(*policy))
    };
    let classes: Vec<_> = given.iter().enumerate().map(class).collect::<Result<_, _>>()?;
    if classes.iter().all(|class| class.share == 0.0) {
        return Err(InvalidSetting::new("callers.deadline_s.share", 0.0, "more than 0 for one of them"));
    }
    Ok(classes)
}
