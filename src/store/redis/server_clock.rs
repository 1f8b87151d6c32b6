//! The server's time as far as this process knows it.
//!
//! Each answer carries the server's time; it was taken between the question and the answer. Kept is the difference to the
//! own clock from the fastest round trip of late, whose error is at most half of that trip.

use std::time::Duration;

use crate::core::moment::Moment;

/// A difference older than this gives way to any newer one: clocks drift, servers change.
const KEPT_FOR: Duration = Duration::from_secs(60);

/// The difference between the server's time and the own clock.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct ServerClock {
    best: Option<Reading>,
}

#[derive(Clone, Copy, Debug)]
struct Reading {
    server: Duration,
    own: Moment,
    trip: Duration,
}

impl ServerClock {
    /// Notes what the server's clock showed, in milliseconds, in an answer to a question of `asked_at`.
    pub(super) fn note(&mut self, server_ms: u64, asked_at: Moment, now: Moment) {
        let trip = asked_at.until(now);
        let keeps = self.best.is_some_and(|best| best.trip < trip && best.own.until(now) < KEPT_FOR);
        if !keeps {
            self.best = Some(Reading { server: Duration::from_millis(server_ms), own: asked_at.after(trip / 2), trip });
        }
    }

    /// Forgets it: another server may answer next.
    pub(super) fn forget(&mut self) {
        self.best = None;
    }

    /// The server's milliseconds at a moment of the own clock, if known: the best guess, half a trip off at most.
    pub(super) fn server_ms(&self, at: Moment) -> Option<u64> {
        u64::try_from(self.server(at)?.as_millis()).ok()
    }

    /// The same, surely no earlier than it was: as if the server had looked at its clock the moment it was asked.
    pub(super) fn latest_ms(&self, at: Moment) -> Option<u64> {
        let late = self.best?.trip / 2 + Duration::from_millis(1);
        u64::try_from((self.server(at)? + late).as_nanos().div_ceil(1_000_000)).ok()
    }

    fn server(&self, at: Moment) -> Option<Duration> {
        let best = self.best?;
        Some(if at >= best.own {
            best.server + best.own.until(at)
        } else {
            best.server.saturating_sub(at.until(best.own))
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(millis: u64) -> Moment {
        Moment::since_start(Duration::from_millis(millis))
    }

    #[test]
    fn the_fastest_trip_of_the_last_minute_counts() {
        let mut clock = ServerClock::default();
        assert_eq!(clock.server_ms(at(5)), None);
        clock.note(1_000_000, at(100), at(110));
        assert_eq!(clock.server_ms(at(105)), Some(1_000_000));
        assert_eq!(clock.server_ms(at(5)), Some(999_900));
        // Asked at 100, the server may have looked at its clock, in whole milliseconds, at once.
        assert_eq!(clock.latest_ms(at(100)), Some(1_000_001));
        // A slow answer knows less.
        clock.note(2_000_000, at(200), at(400));
        assert_eq!(clock.server_ms(at(1_105)), Some(1_001_000));
        // After a minute anything is better.
        clock.note(3_000_000, at(70_000), at(70_200));
        assert_eq!(clock.server_ms(at(70_100)), Some(3_000_000));
        clock.forget();
        assert_eq!(clock.server_ms(at(0)), None);
    }
}
