//! What is known of what a pool's limit can serve, and how it comes back after it was used up.
//!
//! Limits come back in two ways, and they want opposite things of callers. A *bucket* refills evenly: who comes all at once
//! is refused, who comes one by one is served. A *window* refills at once: who comes one by one leaves most of it unused
//! and ends a window later. Which of the two it is shows in one throttled answer that tells enough: a bucket has its next
//! request long before it is whole again, a window is whole when it has its next request. Where answers tell nothing it
//! shows in what a release found: see [`crate::core::gate::lesson`].

use std::time::Duration;

use crate::core::gate::lesson::{ENOUGH_TO_TELL, Lesson, Release};
use crate::core::moment::Moment;
use crate::core::pace::SAME_INSTANT;
use crate::core::pace::plan::{Plan, SLOWEST_START, WINDOWS_PER_TEST};
use crate::core::signal::{Dimension, LimitClass, QuotaReading, QuotaWindow, Quotas, Signal, TokenKind};

/// What several processes leave unused together, so that those whose slots meet by chance are not refused for it.
const ROOM_FOR_CHANCE: f64 = 0.95;
/// A limit that grants at once and does not tell how often is one of requests per minute, as nearly all are.
const ASSUMED_WINDOW: Duration = Duration::from_secs(60);
/// So many short waits in a row, where slots come in windows, and it is no window, whatever was stated before.
const MOST_DOUBTS: u8 = 3;
/// A rate at which nothing was served for so many intervals is none.
const IN_VAIN: u32 = 6;

/// How a limit comes back after it was used up.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Refill {
    /// Little by little.
    Even,
    /// All at once, when its window ends.
    AtOnce,
}

/// This process's share of a pool's limit on requests.
#[derive(Clone, Copy, Debug)]
struct Share {
    amount: f64,
    window: Duration,
    /// How many draw on the same limit unseen, this one among them.
    replicas: u32,
}

impl Share {
    /// The time one request is granted per.
    fn interval(&self) -> Duration {
        Duration::try_from_secs_f64(self.window.as_secs_f64() / self.amount).unwrap_or(self.window)
    }

    /// The time one request is granted per to all who draw on the limit.
    fn all_interval(&self) -> Duration {
        self.interval() / self.replicas
    }

    /// Slots of a limit that refills evenly.
    fn even(&self) -> Plan {
        if self.replicas <= 1 {
            return Plan::even(self.interval());
        }
        let slowest = self.interval().div_f64(ROOM_FOR_CHANCE);
        Plan::Even { interval: slowest, slowest, fastest: self.interval() / self.replicas }
    }
}

#[derive(Clone, Debug, Default)]
pub(super) struct Supply {
    share: Option<Share>,
    refill: Option<Refill>,
    /// What releases taught.
    lesson: Option<Lesson>,
    /// Whether a wait was stated that no bucket states: its next request comes after one interval.
    waited_long: bool,
    /// Short waits that were stated since, while slots came in windows.
    doubts: u8,
    /// Whether the window slides, as the last throttle told.
    slides: bool,
}

impl Supply {
    pub(super) const fn new() -> Self {
        Self { share: None, refill: None, lesson: None, waited_long: false, doubts: 0, slides: false }
    }

    /// Notes the limit; nothing is known of one that grants nothing.
    pub(super) fn know(&mut self, amount: u64, window: Duration, replicas: u32) {
        if amount == 0 || window.is_zero() {
            return;
        }
        let replicas = replicas.max(1);
        self.share = Some(Share { amount: amount as f64 / f64::from(replicas), window, replicas });
    }

    /// Whether a limit on requests is known.
    pub(super) fn knows_limit(&self) -> bool {
        self.share.is_some()
    }

    /// Whether others draw on the limit unseen.
    pub(super) fn is_shared(&self) -> bool {
        self.share.is_some_and(|share| share.replicas > 1)
    }

    /// Whether what a release found so far teaches anything.
    pub(super) fn would_learn(&self, release: &Release) -> bool {
        release.teaches(self.lesson).is_some()
    }

    /// Notes what a release that ended in a throttle found; returns whether that taught anything.
    pub(super) fn learn(&mut self, release: &Release) -> bool {
        let lesson = release.teaches(self.lesson);
        match (lesson, self.lesson) {
            // A limit that was told is not doubted for a few.
            (Some(Lesson::Even { .. }), _) if self.share.is_some() && release.served() < ENOUGH_TO_TELL => {}
            (Some(lesson), _) => self.lesson = Some(lesson),
            // In vain for as long as this: it is not as it was.
            (None, Some(Lesson::Even { interval })) if release.drought() > interval * IN_VAIN => self.lesson = None,
            (None, Some(Lesson::AtOnce { .. })) if release.drought() > ASSUMED_WINDOW * 2 => self.lesson = None,
            (None, _) => {}
        }
        lesson.is_some()
    }

    /// When the limit, used up by `release`, serves again, if anything was learned of that.
    pub(super) fn serves_again(&self, release: &Release) -> Option<Moment> {
        let window = self.share.map_or(ASSUMED_WINDOW, |share| share.window);
        Some(release.serves_again(release.teaches(self.lesson)?, window))
    }

    /// Notes how the limit comes back, from a throttled answer. `window_ends` is when the running window should end, if
    /// slots come in windows; `spread` tells of a pool that was paced from the start.
    pub(super) fn read(
        &mut self,
        quotas: &Quotas,
        throttle: &Signal,
        window_ends: Option<Moment>,
        spread: bool,
        now: Moment,
    ) {
        let Some(stated) = throttle.stated else { return };
        let next = now.after(stated.delay + SAME_INSTANT);
        let long = self.share.is_some_and(|share| stated.delay > share.all_interval() * 3 + SAME_INSTANT);
        if long {
            (self.waited_long, self.doubts) = (true, 0);
        }
        let spent = quotas.iter().find(|reading| match throttle.class {
            LimitClass::TokenThroughput => counts_tokens_of(reading, throttle.token_kind),
            _ => is_request_rate(reading) && reading.remaining == Some(0),
        });
        let whole_in = spent.and_then(|reading| reading.reset);
        if let Some(ends) = window_ends {
            let soon = next < ends;
            self.slides = soon && whole_in.is_some_and(|whole_in| next < now.after(whole_in));
            if soon && !long {
                self.doubts = self.doubts.saturating_add(1);
            }
            // A window that has its next request long before it should end is none, or slides and was used little by little.
            let even = soon && !long && (spread || !self.waited_long || self.doubts >= MOST_DOUBTS);
            self.waited_long &= !even;
            self.refill = Some(if even { Refill::Even } else { Refill::AtOnce });
            return;
        }
        let slot = self.share.map_or(Duration::ZERO, |share| share.interval());
        if let (None, Some(whole_in)) = (self.refill, whole_in) {
            // The second half: a bucket of one request is whole again with its next request.
            let even = next < now.after(whole_in) || whole_in <= slot + SAME_INSTANT;
            self.refill = Some(if even { Refill::Even } else { Refill::AtOnce });
        }
    }

    /// How many requests a bucket holds that says so much is left and when it is whole again.
    pub(super) fn holds(&self, left: u64, limit: u64, whole_in: Option<Duration>) -> u64 {
        let interval = self.share.map_or(Duration::ZERO, |share| share.all_interval());
        match whole_in {
            Some(whole_in) if !interval.is_zero() => left + (whole_in.as_secs_f64() / interval.as_secs_f64()) as u64,
            _ => limit,
        }
    }

    /// Whether the window slides: then each of its requests comes back one window after it was taken.
    pub(super) const fn slides(&self) -> bool {
        self.slides
    }

    /// Whether so much is left after a request that was let in alone that the limit cannot have come back little by little:
    /// then it comes back at once from now on.
    pub(super) fn has_much_left(&mut self, reading: &QuotaReading) -> bool {
        let much = match (reading.remaining, reading.limit) {
            (Some(remaining), Some(limit)) => remaining.saturating_mul(4) >= limit && remaining > 1,
            _ => false,
        };
        if much {
            self.refill = Some(Refill::AtOnce);
        }
        much
    }

    /// How slots should follow each other in a pool that was not throttled yet: as if its limit refilled evenly. Where only
    /// tokens are limited they alone decide.
    pub(super) fn cold_plan(&self) -> Plan {
        self.share.map_or(Plan::even(Duration::ZERO), |share| share.even())
    }

    /// How slots should follow each other when it was not the limit that shut the pool.
    pub(super) fn careful_plan(&self) -> Plan {
        Plan::slow_start(self.share.map(|share| share.interval().max(SLOWEST_START)))
    }

    /// How slots should follow each other when the pool reopens.
    pub(super) fn plan(&self) -> Plan {
        let Some(share) = self.share else {
            return match self.lesson {
                Some(Lesson::AtOnce { grant, tested }) => Plan::Window {
                    grant,
                    window: ASSUMED_WINDOW,
                    test_in: Some(if tested { WINDOWS_PER_TEST - 1 } else { 0 }),
                    shared: false,
                },
                Some(Lesson::Even { interval }) => Plan::learned(interval, Duration::ZERO),
                None => Plan::slow_start(None),
            };
        };
        let learned = self.lesson.map(|lesson| match lesson {
            Lesson::AtOnce { .. } => Refill::AtOnce,
            Lesson::Even { .. } => Refill::Even,
        });
        match (self.refill.or(learned), self.lesson) {
            (None, _) => Plan::slow_start(Some(share.interval())),
            (Some(Refill::AtOnce), _) if share.amount >= 1.0 => Plan::Window {
                grant: share.amount as u32,
                window: share.window,
                test_in: None,
                shared: share.replicas > 1,
            },
            // The limit that is known is not the one that binds.
            (Some(Refill::Even), Some(Lesson::Even { interval }))
                if share.replicas <= 1 && interval > share.interval().mul_f64(1.2) =>
            {
                Plan::learned(interval, share.interval())
            }
            (Some(_), _) => share.even(),
        }
    }
}

/// Whether it is the limit on tokens of this side that a pool is paced by.
fn counts_tokens_of(reading: &QuotaReading, kind: Option<TokenKind>) -> bool {
    let dimension = match kind {
        Some(TokenKind::Input) => Dimension::InputTokens,
        Some(TokenKind::Output) => Dimension::OutputTokens,
        _ => Dimension::Tokens,
    };
    reading.dimension == dimension && reading.window != QuotaWindow::Day
}

/// Whether it is the limit on requests that paces a pool.
pub(super) fn is_request_rate(reading: &QuotaReading) -> bool {
    reading.dimension == Dimension::Requests && reading.window != QuotaWindow::Day
}
