//! How calls come back, and what limits, answers and throttles tell of that.

use std::time::Duration;

use crate::core::dice::Dice;
use crate::core::gate::lesson::{Drought, Release};
use crate::core::gate::supply::is_request_rate;
use crate::core::gate::{Gate, MOST_REPLICAS, Pass, State};
use crate::core::moment::Moment;
use crate::core::pace::Pace;
use crate::core::signal::{Dimension, LimitClass, Quotas, Signal};

/// No window that calls are paced by is longer, whatever was told: a day's limit is not paced.
const LONGEST_WINDOW: Duration = Duration::from_secs(26 * 3_600);
/// What a limit served since it was used up longer ago than this before the pool reopened says nothing of it.
const OLDEST_LESSON: Duration = Duration::from_secs(150);

impl Gate {
    /// Tells one of the pool's limits on requests or tokens in less than a day: `amount` per `window`, shared by `replicas`
    /// processes that do not know of each other. A pool that was shut is let back in as fast as this allows.
    pub fn know_limit(&mut self, dimension: Dimension, amount: u64, window: Duration, replicas: u32) {
        let (window, replicas) = (window.min(LONGEST_WINDOW), replicas.clamp(1, MOST_REPLICAS));
        match dimension {
            Dimension::Requests => self.supply.know(amount, window, replicas),
            _ => self.tokens.know(dimension, amount, window, replicas),
        }
    }

    /// Paces calls by the known limits from now on, throttled or not; a second's worth of slots that nobody took is saved up.
    pub fn start_cold(&mut self, now: Moment) {
        self.cold = true;
        if matches!(self.state, State::Flowing) {
            self.tokens.begin(now);
            self.state = State::Paced(Pace::cold(now, self.supply.cold_plan()), LimitClass::None);
        }
    }

    /// Tells what an answer says of quotas: of a throttle, how the limit comes back; of a success, when its window ends and
    /// how much of it is left. To be called before [`Gate::throttled`] with the same signal. Returns whether calls may now
    /// pass sooner than those who wait were told.
    #[must_use = "those who wait must ask again"]
    pub fn read(&mut self, quotas: &Quotas, signal: &Signal, now: Moment, dice: &mut impl Dice) -> bool {
        let State::Paced(pace, _) = &mut self.state else {
            self.supply.read(quotas, signal, None, self.cold, now);
            return false;
        };
        self.supply.read(quotas, signal, pace.window_ends(), self.cold, now);
        let reading = quotas.iter().find(|reading| is_request_rate(reading));
        let Some(reading) = reading.filter(|_| !signal.failed) else { return false };
        let next_slot = pace.next_slot();
        let told = reading.reset.map(|reset| now.after(reset));
        if pace.is_even() && self.supply.has_much_left(reading) {
            *pace = pace.windowed(reading.remaining.unwrap_or(0), told, now, self.supply.plan(), dice);
        } else if let Some(told) = told {
            pace.window_told(told, now, dice);
        }
        if let (true, Some(left), Some(limit)) = (self.supply.is_shared(), reading.remaining, reading.limit) {
            let holds = self.supply.holds(left, limit, reading.reset);
            pace.left_told(left, limit, holds, now, dice);
        }
        pace.next_slot() < next_slot
    }

    /// Notes what a throttle tells of the limit: that it is used up, and, if calls were coming back, what it served before.
    pub(super) fn note_refusal(&mut self, pass: Pass, signal: &Signal, now: Moment) {
        match &self.state {
            State::Flowing => {
                self.drought = Some(Drought { emptied: pass.at, dry: pass.at });
                self.release = None;
            }
            State::Paced(pace, _) if pass.at >= pace.start() => {
                let drought = self.drought.filter(|drought| drought.emptied.until(pace.start()) <= OLDEST_LESSON);
                let Drought { emptied: emptied_before, dry } = drought.unwrap_or(Drought::begun(pace.start()));
                let release = Release {
                    emptied_before,
                    dry,
                    opened: pace.start(),
                    sent: pace.total(),
                    refused: pace.total() - pace.taken_before(pass.at, now),
                    emptied: pass.at,
                    step: pace.even_step(),
                    told: signal.stated.map(|stated| stated.delay),
                };
                if self.supply.would_learn(&release) {
                    // It served some before it throttled: the guess before was long enough.
                    self.strikes = 0;
                }
                // The others are counted when they are heard of.
                self.release = Some(Release { refused: 1, ..release });
            }
            State::Paced(..) => {}
            State::Shut { .. } => {
                if let Some(release) = self.release.as_mut().filter(|release| pass.at >= release.opened) {
                    release.refused += 1;
                    release.emptied = release.emptied.min(pass.at);
                }
            }
        }
    }

    /// How calls come back from now on.
    pub(super) fn pace(&mut self, start: Moment, class: LimitClass, dice: &mut impl Dice) -> Pace {
        let before = self.interrupted.take();
        let refused = self.release.as_ref().map_or((start, 0), |release| (release.emptied, release.refused));
        // By now all that the last release sent has been refused, or will be served.
        if let Some(release) = self.release.take() {
            if self.supply.learn(&release) {
                self.drought = Some(Drought::begun(release.emptied));
            } else if let Some(drought) = &mut self.drought {
                drought.dry = release.emptied;
            }
        }
        let plan = if class == LimitClass::Overload { self.supply.careful_plan() } else { self.supply.plan() };
        self.tokens.begin(start);
        match before {
            Some(before) => before.resumed(refused, start, plan, self.supply.slides(), dice),
            None => Pace::new(start, plan, dice),
        }
    }
}
