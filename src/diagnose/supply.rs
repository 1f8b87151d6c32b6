//! How much was served, as far as that tells how much could be.

use std::time::Duration;

use crate::core::moment::Moment;
use crate::core::signal::Dimension;
use crate::diagnose::amounts::Amounts;
use crate::diagnose::demand::before;
use crate::diagnose::look::Look;

/// In minutes, over how long it is looked how much a limit lets through that nobody told: long enough for a window's end
/// and the next one's start to be in it.
pub(crate) const LEARNED_OVER: f64 = 2.0;
/// In minutes, over how long it is looked how much is served for good: a bucket that was full adds little to it.
pub(crate) const SUSTAINED_OVER: f64 = 15.0;
/// In minutes, how long nothing may succeed before a limit is one of the day, although no answer said so …
pub(crate) const LOCKED_OUT_FOR: f64 = 10.0;
/// … if so much was tried in that time.
pub(crate) const LOCKED_OUT_TRIES: f64 = 20.0;
/// In minutes, how long nothing may have succeeded until now, of a limit that was hardly used.
pub(crate) const LOCKED_OUT_LATELY: f64 = 5.0;
/// Above this share of refusals after which a stated wait was waited for, the provider can be taken at its word …
pub(crate) const OFTEN_TOLD: f64 = 0.2;
/// … and in minutes, up to which wait it says that it is no matter of a day.
pub(crate) const TOLD_SOON: f64 = 0.5;
/// Less than one success is none: increases that a Prometheus extrapolates are no whole numbers.
pub(crate) const LEAST_SERVED: f64 = 0.5;

/// What was served, refused and tried up to one time of a window.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Stretch {
    /// Served within a minute.
    pub(crate) minute: Amounts,
    /// Refused within it by a limit of a minute.
    pub(crate) refused: f64,
    /// Served a minute over [`LEARNED_OVER`], if a limit of a minute refused something then.
    pub(crate) at_limit: Option<Amounts>,
    /// Served a minute over [`SUSTAINED_OVER`], if that long was looked.
    pub(crate) sustained: Option<Amounts>,
    /// What was tried within [`LOCKED_OUT_FOR`], if the window is as long.
    pub(crate) tries: Option<Tries>,
    /// What was tried and served within [`LOCKED_OUT_LATELY`], if the window is as long.
    pub(crate) lately: Option<Tries>,
}

/// What was tried within [`LOCKED_OUT_FOR`], and what came of it.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Tries {
    /// Attempts, and calls that the gate turned away.
    pub(crate) tried: f64,
    /// Attempts that succeeded.
    pub(crate) served: f64,
    /// Attempts that a limit of a minute refused.
    pub(crate) refused: f64,
    /// Waits that the provider stated.
    pub(crate) told: f64,
    /// How long they were in all, in minutes.
    pub(crate) told_minutes: f64,
}

impl Tries {
    /// Whether much was tried and nothing succeeded.
    fn locked_out(&self) -> bool {
        self.served < LEAST_SERVED && self.tried >= LOCKED_OUT_TRIES
    }

    /// Whether the provider kept saying that it was a matter of seconds.
    fn told_soon(&self) -> bool {
        self.told > self.refused * OFTEN_TOLD && self.told_minutes < self.told * TOLD_SOON
    }
}

/// The most that was served, and the least.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Peaks {
    /// The most that was served within a minute.
    pub(crate) minute: Amounts,
    /// The most that was served a minute while a limit refused something.
    pub(crate) at_limit: Amounts,
    /// What was served within a minute when limits refused something, each time counted by how much they refused then.
    pub(crate) when_throttled: Amounts,
    /// The most that was served a minute over a quarter of an hour.
    pub(crate) sustained: Amounts,
    /// Whether nothing was served for ten minutes in which twenty attempts and more were made, or turned away.
    pub(crate) locked_out: bool,
    /// Whether the window ends with five minutes of that, whatever the provider said.
    pub(crate) locked_out_lately: bool,
    /// Whether it was ten minutes, and the provider did not say then that it was a matter of seconds.
    pub(crate) locked_out_for_long: bool,
}

impl Peaks {
    /// What these stretches come to.
    pub(crate) fn of(stretches: impl Iterator<Item = Stretch>) -> Self {
        let mut peaks = Self::default();
        let mut refused = 0.0;
        for stretch in stretches {
            peaks.minute = peaks.minute.max(stretch.minute);
            peaks.at_limit = peaks.at_limit.max(stretch.at_limit.unwrap_or_default());
            peaks.sustained = peaks.sustained.max(stretch.sustained.unwrap_or_default());
            peaks.when_throttled = peaks.when_throttled + stretch.minute.times(stretch.refused);
            refused += stretch.refused;
            let locked_out = stretch.tries.filter(Tries::locked_out);
            peaks.locked_out |= locked_out.is_some();
            peaks.locked_out_lately = stretch.lately.is_some_and(|tries| tries.locked_out());
            peaks.locked_out_for_long |= locked_out.is_some_and(|tries| !tries.told_soon());
        }
        peaks.when_throttled = peaks.when_throttled.times(if refused > 0.0 { 1.0 / refused } else { 0.0 });
        peaks
    }

    /// What a row of looks saw from `from` on; no stretch is shorter than `shortest`.
    pub(crate) fn seen(looks: &[Look], from: Moment, minute: Duration, shortest: Duration) -> Self {
        let ends = looks.iter().enumerate().filter(|(_, look)| look.at >= from);
        Self::of(ends.map(|(place, now)| stretch(&looks[..=place], now, from, minute, shortest)))
    }
}

/// What these looks, the last of which is `now`, saw of a window that began at `from`.
fn stretch(looks: &[Look], now: &Look, from: Moment, minute: Duration, shortest: Duration) -> Stretch {
    let length = |minutes: f64| minute.mul_f64(minutes).max(shortest);
    let since = |minutes: f64| before(looks, now.at, length(minutes));
    let is_whole = |earlier: &Look, minutes: f64| earlier.at.after(length(minutes)) <= now.at;
    let (last, learned) = (since(1.0), since(LEARNED_OVER));
    let (sustained, locked) = (since(SUSTAINED_OVER), since(LOCKED_OUT_FOR));
    let served = |earlier: &Look| now.served - earlier.served;
    let a_minute =
        |earlier: &Look, minutes: f64| served(earlier).times(minute.as_secs_f64() / length(minutes).as_secs_f64());
    let lately = since(LOCKED_OUT_LATELY);
    let in_window = |earlier: &Look, minutes: f64| is_whole(earlier, minutes) && earlier.at >= from;
    let tries = || Tries {
        tried: now.tried - locked.tried,
        served: served(locked).of(Dimension::Requests),
        refused: now.throttled - locked.throttled,
        told: now.told - locked.told,
        told_minutes: (now.told_seconds - locked.told_seconds) / minute.as_secs_f64(),
    };
    Stretch {
        minute: a_minute(last, 1.0),
        refused: now.throttled - last.throttled,
        at_limit: (now.throttled > learned.throttled).then(|| a_minute(learned, LEARNED_OVER)),
        sustained: is_whole(sustained, SUSTAINED_OVER).then(|| a_minute(sustained, SUSTAINED_OVER)),
        tries: in_window(locked, LOCKED_OUT_FOR).then(tries),
        lately: in_window(lately, LOCKED_OUT_LATELY).then(|| Tries {
            tried: now.tried - lately.tried,
            served: served(lately).of(Dimension::Requests),
            ..Tries::default()
        }),
    }
}
