//! What a release that ended in a throttle teaches of a limit that nobody told.
//!
//! Between two moments at which a limit was found used up it served so many requests: that is its rate, whatever its kind.
//! Of what kind it is shows in *when* it had them. A bucket has something at any time in between; a window has nothing until
//! it ends, and then all.

use std::time::Duration;

use crate::core::moment::Moment;
use crate::core::pace::SAME_INSTANT;
use crate::core::pace::plan::SPREAD;

/// Fewer requests than this say nothing of a window.
pub(super) const ENOUGH_TO_TELL: u32 = 4;
/// A window that serves no more than this part of its grant has not begun anew.
const FEW: u32 = 4;
/// A bucket that has something now had this many requests at the time it was found empty, or it is no bucket.
const WOULD_HAVE_HAD: f64 = 2.0;

/// What is known of an untold limit.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Lesson {
    /// It serves one request per interval.
    Even { interval: Duration },
    /// It serves so many at once, then none for a while. Whether it would not have served more was tested.
    AtOnce { grant: u32, tested: bool },
}

/// The time since a limit was used up.
#[derive(Clone, Copy, Debug)]
pub(super) struct Drought {
    /// When it was, after it had served something.
    pub(super) emptied: Moment,
    /// When it was last found to be so still.
    pub(super) dry: Moment,
}

impl Drought {
    /// One that begins now.
    pub(super) const fn begun(now: Moment) -> Self {
        Self { emptied: now, dry: now }
    }
}

/// A release between two throttles.
#[derive(Clone, Copy, Debug)]
pub(super) struct Release {
    /// When the limit was used up before.
    pub(super) emptied_before: Moment,
    /// When it was last found to be so still.
    pub(super) dry: Moment,
    /// When the release began.
    pub(super) opened: Moment,
    /// Requests that were sent.
    pub(super) sent: u32,
    /// Those of them that were refused.
    pub(super) refused: u32,
    /// When the first of these was sent: then the limit was used up again.
    pub(super) emptied: Moment,
    /// How far apart slots were then, if they came evenly.
    pub(super) step: Option<Duration>,
    /// The wait that was stated then.
    pub(super) told: Option<Duration>,
}

impl Release {
    /// Requests that were served, or are about to be.
    pub(super) const fn served(&self) -> u32 {
        self.sent.saturating_sub(self.refused)
    }

    /// How long nothing was served before it ended.
    pub(super) fn drought(&self) -> Duration {
        self.emptied_before.until(self.emptied)
    }

    /// What it teaches who knows `before`; nothing if it served nothing, or so little of a window that it came too early.
    pub(super) fn teaches(&self, before: Option<Lesson>) -> Option<Lesson> {
        let served = self.served();
        let grant_before = match before {
            Some(Lesson::AtOnce { grant, .. }) => Some(grant),
            _ => None,
        };
        if served <= grant_before.unwrap_or(0) / FEW {
            return None;
        }
        // A known window that has only a part left is still one.
        if grant_before.is_some() || self.came_at_once() {
            let tested = grant_before.is_some_and(|grant| served >= grant);
            return Some(Lesson::AtOnce { grant: served, tested });
        }
        // What was refused before may have been counted: then the limit began to come back after it.
        let since = self.dry.max(self.emptied_before).until(self.emptied);
        // It had nearly the next one: so many and a half, on the average.
        let on_average = since.saturating_mul(2) / served.saturating_mul(2).saturating_add(1);
        // A small bucket was full for a part of that, and went by how far apart slots were.
        let interval = self.step.map_or(on_average, |step| (on_average * 2 + step.min(on_average)) / 3);
        Some(Lesson::Even { interval })
    }

    /// When the limit serves again that it used up, to who knows `lesson`.
    pub(super) fn serves_again(&self, lesson: Lesson, window: Duration) -> Moment {
        match lesson {
            // Where a window slides, no slot may come before its forerunner has left it.
            Lesson::AtOnce { .. } => {
                let began = self.emptied.elapsed_since_start().saturating_sub(SPREAD * 3 / 4);
                self.opened.max(Moment::since_start(began)).after(window)
            }
            Lesson::Even { interval } => self.emptied.after(interval),
        }
    }

    /// Whether no bucket can have served this.
    fn came_at_once(&self) -> bool {
        let (idle, busy) = (self.emptied_before.until(self.opened), self.opened.until(self.emptied));
        let dry = self.emptied_before.until(self.dry).as_secs_f64();
        let all = self.emptied_before.until(self.emptied).as_secs_f64();
        let had = f64::from(self.served()) * dry / all.max(f64::MIN_POSITIVE);
        let untold = busy <= idle / 2 && had >= WOULD_HAVE_HAD;
        // A bucket has its next request after one interval.
        let interval = self.emptied_before.until(self.emptied) / self.served().max(1);
        let told = self.told.is_some_and(|told| told > interval * 3 + SAME_INSTANT);
        self.served() >= ENOUGH_TO_TELL && (untold || told)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(seconds: f64) -> Moment {
        Moment::since_start(Duration::from_secs_f64(seconds))
    }

    fn release(dry: f64, opened: f64, sent: u32, emptied: f64) -> Release {
        let (dry, opened, emptied) = (at(dry), at(opened), at(emptied));
        Release { emptied_before: at(0.0), dry, opened, sent, refused: 0, emptied, step: None, told: None }
    }

    #[test]
    fn a_limit_that_was_empty_for_half_a_minute_and_then_served_a_storm_is_a_window() {
        let lesson = release(31.0, 63.0, 200, 68.0).teaches(None);
        assert_eq!(lesson, Some(Lesson::AtOnce { grant: 200, tested: false }));
        let again = Release { emptied_before: at(68.0), ..release(68.0, 123.0, 203, 126.0) }.teaches(lesson);
        assert_eq!(again, Some(Lesson::AtOnce { grant: 203, tested: true }));
    }

    #[test]
    fn a_limit_that_had_something_soon_is_a_bucket_of_the_rate_it_served() {
        assert_eq!(
            release(0.0, 1.0, 8, 2.6).teaches(None),
            Some(Lesson::Even { interval: Duration::from_millis(2_600) * 2 / 17 })
        );
        let one = release(1.0, 3.0, 1, 4.0).teaches(None);
        assert_eq!(one, Some(Lesson::Even { interval: Duration::from_secs(2) }), "one and a half in three seconds");
    }

    #[test]
    fn a_release_that_served_nothing_teaches_nothing() {
        let release = Release { refused: 2, ..release(1.0, 3.0, 2, 3.2) };
        assert_eq!(release.teaches(Some(Lesson::Even { interval: Duration::from_secs(1) })), None);
    }

    #[test]
    fn a_window_asked_too_early_teaches_nothing() {
        let known = Some(Lesson::AtOnce { grant: 200, tested: true });
        let release = Release { emptied_before: at(68.0), ..release(68.0, 128.0, 4, 129.0) };
        assert_eq!(release.teaches(known), None);
    }
}
