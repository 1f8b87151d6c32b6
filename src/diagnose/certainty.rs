//! How far a verdict can be relied on.

use std::ops::RangeInclusive;

use crate::diagnose::cause::{Cause, Certainty};
use crate::diagnose::evidence::Evidence;
use crate::diagnose::window::Window;

/// In minutes, how long calls must have failed before the caller is blamed for good: a shortage shows only when the
/// horizons have filled, and looks like bad retries until then.
pub(crate) const HOLD_OFF: f64 = 15.0;
/// Horizon loads in which a fifth of all pools lie that miss their objective, and either side may be right.
pub(crate) const UNCERTAIN: RangeInclusive<f64> = 0.9..=1.25;

/// How far this cause can be relied on.
pub(crate) fn certainty(cause: Cause, seen: &Evidence, window: &Window) -> Certainty {
    let by_load = matches!(
        cause,
        Cause::QuotaTooSmall | Cause::Unpaced | Cause::BackoffTooFast | Cause::BackoffTooSlow | Cause::Unclear
    );
    let young = window.failing_for < window.minute.mul_f64(HOLD_OFF);
    let blames_caller = by_load && cause != Cause::QuotaTooSmall;
    if cause == Cause::NotEnoughData || (blames_caller && young) {
        return Certainty::Provisional;
    }
    let near = seen.horizon_load().is_some_and(|load| UNCERTAIN.contains(&load));
    let unknown = seen.loads.is_empty() || seen.part_of_fleet;
    let inferred = matches!(cause, Cause::DailySpent | Cause::Overloaded) && seen.inferred();
    if (by_load && (near || unknown)) || inferred || cause == Cause::Unclear {
        return Certainty::Likely;
    }
    Certainty::Firm
}
