//! The storm as callers meet it who follow a peer's rule: the same provider, the same arrivals, no engine of ours.

use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};
use std::time::Duration;

use forbear::core::dice::{Dice, SeededDice};
use forbear::core::moment::Moment;
use forbear::emulator::limits::{Cost, Meter, Spread, Verdict};

use super::cell::{Cell, REFUSAL_S, WITHIN};
use super::rules::{Pauses, Rule, Waits};
use super::runs::Figures;

/// Who sends more than this for each call has not drained, and never will.
pub const MOST_REQUESTS: u64 = 100;
/// Who takes this many times as long as the ideal has not drained.
pub const LONGEST: f64 = 20.0;

/// What happens to a caller.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Happening {
    Sends,
    Refused { wait: Option<Duration> },
    Served,
}

/// A caller and what its rule remembers.
struct Caller {
    waits: Waits,
    process: usize,
}

/// Runs the storm. `watch` sees each request: when it was sent, and whether it was served.
///
/// # Panics
/// Where the provider refuses the storm's limits: a mistake in this benchmark.
pub fn run(cell: &Cell, rule: Rule, seed: u64, ideal_s: f64, watch: &mut impl FnMut(Moment, bool)) -> Figures {
    let mut dice = SeededDice::new(seed);
    let mut meter = Meter::new(cell.limits(seed)).unwrap_or_else(|error| panic!("{error}"));
    let refusal = Spread::between(Duration::from_secs_f64(REFUSAL_S[0]), Duration::from_secs_f64(REFUSAL_S[1]));
    let pauses: Vec<Pauses> = (0..cell.processes).map(|_| Pauses::default()).collect();
    let mut calendar = BinaryHeap::new();
    let mut callers: Vec<Caller> = (0..cell.callers as usize)
        .map(|number| {
            calendar.push(Reverse((Moment::START.after(dice.within(WITHIN)), number, Happening::Sends)));
            let process = (dice.roll() % u64::from(cell.processes)) as usize;
            Caller { waits: rule.waits(dice.roll()), process }
        })
        .collect();
    let first = calendar.peek().map_or(Moment::START, |Reverse((at, ..))| *at);
    let longest = Moment::START.after(Duration::from_secs_f64(ideal_s * LONGEST));
    let (mut requests, mut served, mut last_end) = (0u64, 0u32, first);
    let mut reopens = Moment::NEVER;
    let mut crowd = Crowd::default();
    while let Some(Reverse((now, number, what))) = calendar.pop() {
        if now > longest || requests > MOST_REQUESTS * u64::from(cell.callers) {
            break;
        }
        let caller = &mut callers[number];
        match what {
            Happening::Sends => {
                if rule == Rule::Pause {
                    let paused = pauses[caller.process].paused_for(now);
                    if !paused.is_zero() {
                        calendar.push(Reverse((now.after(paused), number, Happening::Sends)));
                        continue;
                    }
                }
                requests += 1;
                if reopens <= now {
                    crowd.add(now);
                }
                let verdict = meter.admit(now, Cost::request(), &mut dice);
                watch(now, verdict == Verdict::Admitted);
                let (at, next) = match verdict {
                    Verdict::Throttled(throttle) => {
                        if let Some(wait) = throttle.wait {
                            reopens = reopens.min(now.after(wait));
                        }
                        let wait = cell.told().tell(&throttle, true).wait;
                        (now.after(refusal.draw(&mut dice)), Happening::Refused { wait })
                    }
                    _ => (now.after(cell.service().draw(&mut dice)), Happening::Served),
                };
                calendar.push(Reverse((at, number, next)));
            }
            Happening::Refused { wait } => {
                let sleeps = match (rule, wait) {
                    (Rule::Pause, Some(wait)) => {
                        pauses[caller.process].pause(now, wait);
                        pauses[caller.process].paused_for(now)
                    }
                    (Rule::SleepRetryAfter, Some(wait)) => wait,
                    _ => caller.waits.draw(),
                };
                // Nobody polls: a wait takes some time.
                let at = now.after(sleeps.max(Duration::from_millis(1)));
                calendar.push(Reverse((at, number, Happening::Sends)));
            }
            Happening::Served => {
                meter.finished();
                served += 1;
                last_end = now;
            }
        }
    }
    Figures {
        requests: requests as f64 / f64::from(cell.callers),
        drain_s: first.until(last_end).as_secs_f64(),
        largest: crowd.largest as f64,
        served: f64::from(served) / f64::from(cell.callers),
        floor: f64::NAN,
    }
}

/// The most requests in any 100 ms.
#[derive(Default)]
struct Crowd {
    sent: VecDeque<Moment>,
    largest: usize,
}

impl Crowd {
    fn add(&mut self, now: Moment) {
        self.sent.push_back(now);
        while self.sent.front().is_some_and(|first| first.after(Duration::from_millis(100)) <= now) {
            self.sent.pop_front();
        }
        self.largest = self.largest.max(self.sent.len());
    }
}
