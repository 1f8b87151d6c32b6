//! How large requests are.

use crate::core::dice::{Dice, SeededDice};
use crate::emulator::limits::Cost;
use crate::simulate::plan::SizePlan;

/// The sizes of requests.
#[derive(Clone, Debug)]
pub(super) struct Sizes {
    /// How they spread.
    plan: SizePlan,
    /// Half of a pair of normal numbers.
    spare: Option<f64>,
}

impl Sizes {
    /// Nothing drawn yet.
    pub(super) const fn of(plan: SizePlan) -> Self {
        Self { plan, spare: None }
    }

    /// The next request's tokens.
    pub(super) fn draw(&mut self, dice: &mut SeededDice) -> Cost {
        let tokens = self.plan.median * (self.plan.sigma * self.normal(dice)).exp();
        let tokens = tokens.round().clamp(1.0, 1e9);
        let output = (tokens * self.plan.output_share).round();
        Cost::tokens((tokens - output) as u64, output as u64)
    }

    /// A standard normal number (Box and Muller, 1958, <https://doi.org/10.1214/aoms/1177706645>).
    fn normal(&mut self, dice: &mut SeededDice) -> f64 {
        if let Some(spare) = self.spare.take() {
            return spare;
        }
        let radius = (-2.0 * dice.unit().ln()).sqrt();
        let (sin, cos) = (std::f64::consts::TAU * dice.unit()).sin_cos();
        self.spare = Some(radius * sin);
        radius * cos
    }
}
