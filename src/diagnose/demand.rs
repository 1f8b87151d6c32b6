//! How much was asked for, over stretches of every length.
//!
//! A mean over an hour hides the minute in which three times the quota was asked for. What must fit is every stretch, from
//! half a minute to a quarter of an hour; and how bad it is that one does not fit depends on how many calls came in it.

use std::time::Duration;

use crate::core::moment::Moment;
use crate::core::signal::Dimension;
use crate::diagnose::amounts::Amounts;
use crate::diagnose::look::Look;

/// The stretches looked at, in minutes.
pub(crate) const HORIZONS: [f64; 6] = [0.5, 1.0, 2.0, 5.0, 10.0, 15.0];

/// A horizon is at least so many looks, or scrapes, long: over fewer nobody can tell when things happened in it.
pub(crate) const LEAST_LOOKS: u32 = 4;

/// What was asked for, at each time of a window, over each horizon that ended then.
#[derive(Clone, Debug, Default)]
pub(crate) struct Demand {
    /// The horizons, the shortest first.
    pub(crate) horizons: Vec<Duration>,
    /// The times of the window.
    pub(crate) times: Vec<Asked>,
}

/// What was asked for up to one time.
#[derive(Clone, Debug)]
pub(crate) struct Asked {
    /// Calls in the last minute: how much this time counts.
    pub(crate) calls: f64,
    /// What was asked for within each horizon.
    pub(crate) within: Vec<Amounts>,
}

impl Demand {
    /// What a row of looks saw from `from` on.
    pub(crate) fn seen(looks: &[Look], from: Moment, horizons: &[Duration], minute: Duration) -> Self {
        let ends = looks.iter().enumerate().filter(|(_, look)| look.at >= from);
        // A minute, or the first horizon that is as long: looks may be further apart.
        let counted = horizons.iter().copied().find(|horizon| *horizon >= minute).unwrap_or(minute);
        let times = ends.map(|(place, now)| {
            let since = |horizon| now.offered - before(&looks[..=place], now.at, horizon).offered;
            Asked {
                calls: since(counted).of(Dimension::Requests),
                within: horizons.iter().map(|horizon| since(*horizon)).collect(),
            }
        });
        Self { times: times.collect(), horizons: horizons.to_vec() }
    }

    /// How much was asked for against what could be served: the load that only this share of the calls met or exceeded.
    /// `supply` is how much can be served of what is asked for within a horizon, `of` how much counts.
    pub(crate) fn load(&self, share: f64, supply: impl Fn(Duration) -> f64, of: impl Fn(&Amounts) -> f64) -> f64 {
        let supplies: Vec<_> = self.horizons.iter().map(|horizon| supply(*horizon)).collect();
        let load = |asked: &Asked| {
            let loads = asked.within.iter().zip(&supplies).filter(|(_, supply)| **supply > 0.0);
            loads.map(|(amounts, supply)| of(amounts) / supply).fold(0.0, f64::max)
        };
        let mut loads: Vec<_> = self.times.iter().map(|asked| (load(asked), asked.calls)).collect();
        loads.sort_unstable_by(|(a, _), (b, _)| b.total_cmp(a));
        let all: f64 = loads.iter().map(|(_, calls)| calls).sum();
        let mut met = 0.0;
        let reached = |(_, calls): &&(f64, f64)| {
            met += calls;
            met >= all * share
        };
        loads.iter().find(reached).map_or(0.0, |(load, _)| *load)
    }
}

/// The latest of these looks that is at least `horizon` before `now`; the first, if that is not so long ago.
pub(crate) fn before(looks: &[Look], now: Moment, horizon: Duration) -> &Look {
    let place = looks.partition_point(|look| look.at.after(horizon) <= now);
    &looks[place.saturating_sub(1)]
}
