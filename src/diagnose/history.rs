//! What must be remembered of a pool: looks at its numbers for a window of time and a quarter of an hour before it.
//!
//! Memory does not grow with time: an hour of looks 7.5 s apart takes some 50 kB a pool.

use std::collections::VecDeque;
use std::time::Duration;

use crate::core::moment::Moment;
use crate::diagnose::counts::Counts;
use crate::diagnose::demand::{Demand, HORIZONS, LEAST_LOOKS};
use crate::diagnose::look::Look;
use crate::diagnose::objective::{LEAST_SUCCESS, Objective};
use crate::diagnose::settings::Settings;
use crate::diagnose::supply::Peaks;
use crate::diagnose::window::Window;

/// The most looks kept; when there would be more, every second one is forgotten. An hour has five hundred; only a
/// simulation, which keeps all of its time, comes to so many.
const MOST_LOOKS: usize = 100_000;

/// How a history is kept.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Keeping {
    /// How long the minute of the quotas is: 60 s but where time is compressed.
    pub(crate) minute: Duration,
    /// How far apart looks are.
    pub(crate) every: Duration,
    /// How long the window is.
    pub(crate) window: Duration,
}

impl Keeping {
    /// An hour of looks, as many as the shortest horizon asks for.
    pub(crate) fn of_minutes(minute: Duration) -> Self {
        let every = minute.mul_f64(HORIZONS[0]) / LEAST_LOOKS;
        Self { minute, every, window: minute * 60 }
    }
}

/// The memory of one pool.
#[derive(Clone, Debug)]
pub(crate) struct History {
    keeping: Keeping,
    looks: VecDeque<Look>,
    /// All numbers, a twelfth of the window apart.
    marks: VecDeque<(Moment, Counts)>,
}

impl History {
    /// Nothing remembered yet.
    pub(crate) const fn new(keeping: Keeping) -> Self {
        Self { keeping, looks: VecDeque::new(), marks: VecDeque::new() }
    }

    /// How far apart looks are.
    pub(crate) const fn every(&self) -> Duration {
        self.keeping.every
    }

    /// How many looks are remembered.
    #[cfg(test)]
    pub(crate) fn size(&self) -> usize {
        self.looks.len()
    }

    /// Lets the window begin now, whatever was seen before; looks before it still count for the horizons that end in it.
    #[cfg(any(test, feature = "simulate"))]
    pub(crate) fn begin(&mut self, now: Moment, counts: &Counts) {
        self.marks.clear();
        self.marks.push_back((now, counts.clone()));
    }

    /// Looks at the numbers as they are now. What is older than the window is forgotten.
    pub(crate) fn look(&mut self, now: Moment, counts: &Counts) {
        let Keeping { every, window, .. } = self.keeping;
        let look = Look::of(now, counts);
        // Nothing happened since the next look was due, or it would have been taken then.
        if let Some(last) = self.looks.back()
            && last.at.after(every * 2) <= now
        {
            self.looks.push_back(Look { at: last.at.after(every), ..look });
        }
        self.looks.push_back(look);
        if self.marks.back().is_none_or(|(at, _)| at.after(window / 12) <= now) {
            self.marks.push_back((now, counts.clone()));
        }
        while self.marks.get(1).is_some_and(|(at, _)| at.after(window) <= now) {
            self.marks.pop_front();
        }
        let needed = window + self.longest_horizon();
        while self.looks.get(1).is_some_and(|second| second.at.after(needed) <= now) {
            self.looks.pop_front();
        }
        if self.looks.len() > MOST_LOOKS {
            self.thin_out();
        }
    }

    /// Forgets every second look; from now on looks are twice as far apart.
    fn thin_out(&mut self) {
        let mut keep = false;
        self.looks.retain(|_| {
            keep = !keep;
            keep
        });
        self.keeping.every *= 2;
    }

    /// The window that ends now with these numbers.
    pub(crate) fn window(&self, now: Moment, counts: &Counts, settings: Settings) -> Window {
        let first = self.first_mark(now);
        let (from, before) = self.marks.get(first).map_or((now, counts), |(at, before)| (*at, before));
        let looks: Vec<Look> = self.looks.iter().copied().chain([Look::of(now, counts)]).collect();
        let Keeping { minute, every, .. } = self.keeping;
        let horizons: Vec<_> = HORIZONS.iter().map(|minutes| minute.mul_f64(*minutes)).collect();
        let horizons: Vec<_> = horizons.into_iter().filter(|horizon| *horizon >= every * LEAST_LOOKS).collect();
        Window {
            length: from.until(now),
            counts: counts.since(before),
            demand: Demand::seen(&looks, from, &horizons, minute),
            peaks: Peaks::seen(&looks, from, minute, every * LEAST_LOOKS),
            least_success: LEAST_SUCCESS,
            failing_for: self.failing_for(now, counts),
            minute,
            share_of_fleet: Some(1.0),
            settings,
        }
    }

    /// The place of the mark at which the window that ends now begins: the last that is as long ago, or the first of all.
    fn first_mark(&self, now: Moment) -> usize {
        let window = self.keeping.window;
        self.marks.partition_point(|(at, _)| at.after(window) <= now).saturating_sub(1)
    }

    /// For how much of the window the objective was missed, by twelfths.
    fn failing_for(&self, now: Moment, counts: &Counts) -> Duration {
        let first = self.first_mark(now);
        let ends = self.marks.iter().skip(first + 1).map(|(at, after)| (*at, after)).chain([(now, counts)]);
        let spans = self.marks.iter().skip(first).zip(ends);
        let is_missed = |counts: &Counts| Objective::of(counts, LEAST_SUCCESS).is_missed();
        let failing = spans.filter(|((_, before), (_, after))| is_missed(&after.since(before)));
        failing.map(|((from, _), (until, _))| from.until(until)).sum()
    }

    fn longest_horizon(&self) -> Duration {
        self.keeping.minute.mul_f64(HORIZONS[HORIZONS.len() - 1])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_window_begins_at_the_last_mark_that_is_as_long_ago_though_nothing_was_looked_at_since() {
        let minutes = |minutes: u64| Moment::since_start(Duration::from_secs(60 * minutes));
        let mut history = History::new(Keeping::of_minutes(Duration::from_secs(60)));
        let counts = Counts::default();
        (0..13).for_each(|mark| history.look(minutes(5 * mark), &counts));
        let length = |now| history.window(minutes(now), &counts, Settings::default()).length;
        assert_eq!([64, 65, 69].map(length), [64, 60, 64].map(|minutes| Duration::from_secs(60 * minutes)));
    }
}
