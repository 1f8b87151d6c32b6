//! A short memory of counters: what one look at them cannot tell.

use std::collections::VecDeque;
use std::time::Duration;

/// The horizons of [`History::horizon_load`], in minutes.
const HORIZONS: [u32; 5] = [1, 2, 5, 10, 15];

/// One look at a pool's counters.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Look {
    /// When, from the start.
    pub(crate) at: Duration,
    /// Calls offered so far.
    pub(crate) offered: f64,
    /// Attempts that used quota so far.
    pub(crate) served: f64,
}

/// What the limit grants, and how long callers wait for it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Supply {
    /// Requests a minute.
    pub(crate) limit: f64,
    /// How long the minute is.
    pub(crate) minute: Duration,
    /// The mean deadline of the calls offered.
    pub(crate) deadline: Duration,
}

/// The looks of the longest horizon, and the worst that was seen in any.
#[derive(Debug, Default)]
pub(crate) struct History {
    looks: VecDeque<Look>,
    horizon_load: f64,
    busiest_minute: f64,
}

impl History {
    /// Adds a look; the first is the start.
    pub(crate) fn add(&mut self, look: Look, supply: Supply) {
        self.looks.push_back(look);
        let longest = supply.minute * HORIZONS[HORIZONS.len() - 1];
        while self.looks.get(1).is_some_and(|second| second.at + longest <= look.at) {
            self.looks.pop_front();
        }
        if supply.limit <= 0.0 {
            return;
        }
        let minutes = |time: Duration| time.as_secs_f64() / supply.minute.as_secs_f64();
        for horizon in HORIZONS {
            let Some(before) = self.before(look.at, supply.minute * horizon) else { break };
            // The looks lie a little further apart than the horizon; what lies between them counts as it is.
            let (span, offered) = (look.at - before.at, look.offered - before.offered);
            let load = offered / (supply.limit * minutes(span + supply.deadline));
            self.horizon_load = self.horizon_load.max(load);
        }
        if let Some(before) = self.before(look.at, supply.minute) {
            let used = (look.served - before.served) / (supply.limit * minutes(look.at - before.at));
            self.busiest_minute = self.busiest_minute.max(used);
        }
    }

    /// How much was offered, against what the limit can serve until the callers' deadlines: whatever comes within a
    /// horizon h must be admitted within h + deadline. The worst over all horizons and moments; above 1 somebody went
    /// without, however calls were retried.
    pub(crate) const fn horizon_load(&self) -> f64 {
        self.horizon_load
    }

    /// The share of the limit that was used in the busiest minute.
    pub(crate) const fn busiest_minute(&self) -> f64 {
        self.busiest_minute
    }

    /// The latest look at least `time` before `now`.
    fn before(&self, now: Duration, time: Duration) -> Option<Look> {
        self.looks.iter().rev().find(|look| look.at + time <= now).copied()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MINUTE: Duration = Duration::from_secs(3);

    fn supply(deadline_minutes: f64) -> Supply {
        Supply { limit: 60.0, minute: MINUTE, deadline: MINUTE.mul_f64(deadline_minutes) }
    }

    /// Looks every quarter of a minute at calls that come as `offered` says for a time in minutes.
    fn history(minutes: u32, supply: Supply, offered: impl Fn(f64) -> f64) -> History {
        let mut history = History::default();
        for quarter in 0..=minutes * 4 {
            let at = f64::from(quarter) / 4.0;
            let offered = offered(at);
            history.add(Look { at: MINUTE.mul_f64(at), offered, served: offered.min(60.0 * at) }, supply);
        }
        history
    }

    #[test]
    fn a_steady_load_counts_more_the_longer_it_lasts() {
        let load = |minutes| history(minutes, supply(1.0), |at| 120.0 * at).horizon_load();
        assert_eq!(load(0), 0.0);
        assert!((load(1) - 120.0 / 120.0).abs() < 1e-6);
        assert!((load(10) - 1_200.0 / (60.0 * 11.0)).abs() < 1e-6);
        assert!((load(60) - 1_800.0 / (60.0 * 16.0)).abs() < 1e-6, "the longest horizon is fifteen minutes");
    }

    #[test]
    fn a_burst_that_the_deadline_leaves_room_for_is_no_shortage() {
        let burst = |at: f64| if at >= 1.5 { 136.0 } else { 0.0 };
        let patient = history(4, supply(4.0), burst).horizon_load();
        assert!((patient - 136.0 / (60.0 * 5.0)).abs() < 1e-6, "{patient}");
        let hasty = history(4, supply(0.0), burst).horizon_load();
        assert!((hasty - 136.0 / 60.0).abs() < 1e-6, "{hasty}");
    }

    #[test]
    fn the_busiest_minute_is_the_one_in_which_most_quota_was_used() {
        let history = history(8, supply(1.0), |at| if at < 4.0 { 30.0 * at } else { 120.0 + 45.0 * (at - 4.0) });
        assert!((history.busiest_minute() - 0.75).abs() < 1e-6);
    }

    #[test]
    fn without_a_known_limit_nothing_is_said() {
        let unknown = Supply { limit: 0.0, ..supply(1.0) };
        assert_eq!(history(8, unknown, |at| 1_000.0 * at).horizon_load(), 0.0);
    }
}
