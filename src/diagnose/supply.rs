//! How much could be served, as far as it was seen.

use std::time::Duration;

use crate::core::moment::Moment;
use crate::core::signal::Dimension;
use crate::diagnose::amounts::Amounts;
use crate::diagnose::demand::before;
use crate::diagnose::look::Look;

/// In minutes, over how long it is looked how much a limit lets through that nobody told: long enough for a window's end
/// and the next one's start to be in it.
const LEARNED_OVER: f64 = 2.0;
/// In minutes, how long nothing may succeed before a limit is one of the day, although no answer said so …
const LOCKED_OUT_FOR: f64 = 10.0;
/// … if so much was tried in that time.
const LOCKED_OUT_TRIES: f64 = 20.0;

/// The most that was served, and the least.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Peaks {
    /// The most that was served within a minute.
    pub(crate) minute: Amounts,
    /// The most that was served a minute while a limit refused something.
    pub(crate) at_limit: Amounts,
    /// What was served within a minute when limits refused something, each time counted by how much they refused then.
    pub(crate) when_throttled: Amounts,
    /// Whether nothing was served for ten minutes in which twenty attempts and more were made, or turned away.
    pub(crate) locked_out: bool,
}

impl Peaks {
    /// What a row of looks saw from `from` on.
    pub(crate) fn seen(looks: &[Look], from: Moment, minute: Duration) -> Self {
        let mut peaks = Self::default();
        let mut throttled = 0.0;
        for (place, now) in looks.iter().enumerate().filter(|(_, look)| look.at >= from) {
            let since = |minutes: f64| before(&looks[..=place], now.at, minute.mul_f64(minutes));
            let (a_minute, refused) = (now.served - since(1.0).served, now.throttled - since(1.0).throttled);
            peaks.minute = peaks.minute.max(a_minute);
            peaks.when_throttled = peaks.when_throttled + a_minute.times(refused);
            throttled += refused;
            let earlier = since(LEARNED_OVER);
            if now.throttled > earlier.throttled {
                peaks.at_limit = peaks.at_limit.max((now.served - earlier.served).times(1.0 / LEARNED_OVER));
            }
            let earlier = since(LOCKED_OUT_FOR);
            let nothing = (now.served - earlier.served).of(Dimension::Requests) <= 0.0;
            let long_enough = earlier.at.after(minute.mul_f64(LOCKED_OUT_FOR)) <= now.at && earlier.at >= from;
            peaks.locked_out |= nothing && long_enough && now.tried - earlier.tried >= LOCKED_OUT_TRIES;
        }
        peaks.when_throttled = peaks.when_throttled.times(if throttled > 0.0 { 1.0 / throttled } else { 0.0 });
        peaks
    }
}
