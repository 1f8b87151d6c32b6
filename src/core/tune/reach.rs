//! How far a retry layer reaches: when its requests begin, and which of them come after the window's reset.
//!
//! # The model
//!
//! A call is throttled by its first request. The window resets after a time R that the call does not know, at any instant
//! up to a whole window later with the same chance: it was throttled somewhere in the window, nobody knows where. A
//! request before R is refused, after 100 ms, and is wasted; the first one at R or later is the first that can succeed. A
//! request that would begin at the deadline or later is not made. No answer states a wait: where one does, and is read,
//! the first request after it is the one that counts.
//!
//! How long a successful answer takes is not part of it. Where that is not short beside the deadline, the deadline less the
//! time of an answer is the one to ask about: a request that begins later is answered too late.
//!
//! # The numbers
//!
//! The n-th request begins at a sum of n−1 independent uniform waits. Its distribution is carried along on a grid of 2048
//! points over the time in which a request can be wasted, one convolution for each wait, by sums of prefixes: no dice, the
//! same result every time, exact but for the grid (a two-thousandth of the window).

use std::time::Duration;

use crate::core::tune::layer::RetryLayer;

/// How long a provider takes to refuse a request, in seconds: throttles answer within 50 to 150 ms.
const REFUSAL: f64 = 0.1;
/// Points of the grid.
const POINTS: usize = 2_048;
/// What is left when nobody retries any more, as far as anybody could notice.
const NOBODY: f64 = 1e-9;

/// How far a retry layer reaches in a window, as means over all calls that are throttled.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub struct Reach {
    /// The chance that a request comes after the reset and before the deadline: 0 to 1. What is left of 1 is the chance of
    /// giving up before the window resets.
    pub coverage: f64,
    /// The same for a call that is throttled when the window has just begun: the whole of it is still to come.
    pub coverage_at_start: f64,
    /// Requests refused before the first that could succeed, the first one of the call included.
    pub wasted: f64,
    /// Requests made up to the first that could succeed, or to the end of the call.
    pub requests: f64,
    /// When the last attempt begins on average, if all before it were refused and no deadline came.
    pub last_request: Duration,
    /// When it begins at the latest.
    pub latest_request: Duration,
}

impl Reach {
    /// How far `layer` reaches in a window of `window` when its call may take `deadline`.
    pub(super) fn of(layer: &RetryLayer, window: Duration, deadline: Duration) -> Self {
        let deadline = layer.deadline.map_or(deadline, |own| own.min(deadline));
        let waits: Vec<_> = layer.waits().into_iter().map(|(least, most)| (least + REFUSAL, most + REFUSAL)).collect();
        let sum =
            |end: fn(&(f64, f64)) -> f64| Duration::try_from_secs_f64(waits.iter().map(end).sum()).unwrap_or_default();
        let mut course = Course::new(window.as_secs_f64(), deadline.as_secs_f64());
        for &(least, most) in &waits {
            if !course.goes_on() {
                break;
            }
            course.wait(least, most);
        }
        Self {
            coverage: course.after_reset.clamp(0.0, 1.0),
            coverage_at_start: course.after_window.clamp(0.0, 1.0),
            wasted: course.wasted,
            requests: course.wasted + course.after_reset,
            last_request: sum(|(least, most)| (least + most) / 2.0),
            latest_request: sum(|(_, most)| *most),
        }
    }
}

/// Where the calls are that were refused so far, and what was counted on the way.
struct Course {
    /// The window's length in seconds.
    window: f64,
    /// The deadline in seconds.
    deadline: f64,
    /// How far apart the points of the grid are, in seconds.
    step: f64,
    /// The chance that the latest request began at each point, before window or deadline ended.
    begun: Vec<f64>,
    /// See [`Reach::wasted`].
    wasted: f64,
    /// See [`Reach::coverage`].
    after_reset: f64,
    /// See [`Reach::coverage_at_start`].
    after_window: f64,
}

impl Course {
    /// Every call at its first request, which is refused.
    fn new(window: f64, deadline: f64) -> Self {
        let mut begun = vec![0.0; POINTS];
        begun[0] = 1.0;
        let step = window.min(deadline) / POINTS as f64;
        Self { window, deadline, step, begun, wasted: 1.0, after_reset: 0.0, after_window: 0.0 }
    }

    /// Whether anybody still retries.
    fn goes_on(&self) -> bool {
        self.begun.iter().sum::<f64>() > NOBODY
    }

    /// The chance that the window has not yet reset at this point of the grid.
    fn refused_at(&self, point: usize) -> f64 {
        1.0 - point as f64 * self.step / self.window
    }

    /// Everybody waits, uniform from `least` to `most` seconds after the request before, and asks again.
    fn wait(&mut self, least: f64, most: f64) {
        for (point, &chance) in self.begun.iter().enumerate() {
            let at = point as f64 * self.step;
            let wait = Wait { least, most };
            let (window, deadline) = (self.window - at, self.deadline - at);
            // The reset falls with the same chance into each moment of the wait, as far as the window lasts.
            self.after_reset += chance * wait.mean_up_to(window, deadline) / self.window;
            self.after_window += chance * (wait.over_before(deadline) - wait.over_before(window)).max(0.0);
        }
        self.begun = spread(&self.begun, least / self.step, most / self.step);
        let refused = self.begun.iter().enumerate().map(|(point, chance)| chance * self.refused_at(point));
        self.wasted += refused.sum::<f64>();
    }
}

/// A wait, uniform between two numbers of seconds.
#[derive(Clone, Copy)]
struct Wait {
    least: f64,
    most: f64,
}

impl Wait {
    /// The chance that it is over before `end`.
    fn over_before(self, end: f64) -> f64 {
        if self.most > self.least {
            ((end - self.least) / (self.most - self.least)).clamp(0.0, 1.0)
        } else {
            f64::from(u8::from(self.least < end))
        }
    }

    /// Its mean where it is over before `end`, longer ones than `cut` counting as `cut`; nothing where it is not.
    fn mean_up_to(self, cut: f64, end: f64) -> f64 {
        let Self { least, most } = self;
        if most <= least {
            return if least < end { least.min(cut) } else { 0.0 };
        }
        let whole = end.min(cut).clamp(least, most);
        let longer = end.clamp(whole, most) - whole;
        ((whole * whole - least * least) / 2.0 + cut * longer) / (most - least)
    }
}

/// What `chances` become when each moves on by a distance that is uniform from `least` to `most` points. What moves beyond
/// the last point is gone.
///
/// A distance between two points goes to both, nearer ones more: the mean stays what it is.
fn spread(chances: &[f64], least: f64, most: f64) -> Vec<f64> {
    let first = least.floor() as usize;
    if first >= chances.len() {
        return vec![0.0; chances.len()];
    }
    // A distance that is always the same is one of hardly any width.
    let most = most.max(least + 1e-6);
    let weight = |distance: usize| (hats(most - distance as f64) - hats(least - distance as f64)) / (most - least);
    // From `even_from` to before `even_until` all distances weigh the same.
    let last = (most.ceil() as usize + 1).min(chances.len());
    let even_from = (least.ceil() as usize + 1).min(last);
    let even_until = (most.floor() as usize).clamp(even_from, last);
    let edges = |from: usize, until: usize| (from..until).map(|distance| (distance, weight(distance)));
    let edges: Vec<_> = edges(first, even_from).chain(edges(even_until, last)).collect();
    let even = 1.0 / (most - least);

    let mut sums = Vec::with_capacity(chances.len() + 1);
    sums.push(0.0);
    for chance in chances {
        sums.push(sums[sums.len() - 1] + chance);
    }
    let moved = |to: usize| {
        let at_edges: f64 = edges.iter().filter_map(|(d, weight)| Some(weight * chances[to.checked_sub(*d)?])).sum();
        // Those that come from `to` less an even distance.
        let (from, until) = ((to + 1).saturating_sub(even_until), (to + 1).saturating_sub(even_from));
        at_edges + even * (sums[until] - sums[from])
    };
    (0..chances.len()).map(moved).collect()
}

/// The integral up to `x` of the weight that a point gets of what lies beside it: 1 at the point, falling to 0 one further.
fn hats(x: f64) -> f64 {
    match x {
        x if x <= -1.0 => 0.0,
        x if x <= 0.0 => (1.0 + x).powi(2) / 2.0,
        x if x <= 1.0 => 1.0 - (1.0 - x).powi(2) / 2.0,
        _ => 1.0,
    }
}

#[cfg(test)]
#[path = "reach_tests.rs"]
mod tests;
