//! What a gate does with the news of another process.

use std::time::Duration;

use crate::core::dice::Dice;
use crate::core::gate::{Gate, PROBED_ABOVE, Probe, State};
use crate::core::merge::{Shut, merge};
use crate::core::moment::Moment;

/// A shut that nobody here has met is looked at sooner than one that was: the news may be wrong.
const HEARSAY_PROBED_AFTER: Duration = Duration::from_secs(60);

impl Gate {
    /// Hears that another process found the pool shut, after so many strikes in the whole fleet. Returns the shut if it is
    /// new or moved.
    ///
    /// News may come late and in any order: it lengthens whatever is known, but shortens it (a stated end in place of a
    /// guess) only if it is `newer` than all that was heard before.
    pub fn hear(&mut self, news: Shut, strikes: u32, newer: bool, now: Moment, dice: &mut impl Dice) -> Option<Shut> {
        self.catch_up(now, dice);
        let running = match self.state {
            State::Shut { shut, .. } => Some(shut),
            _ => None,
        };
        if !newer && running.is_some_and(|running| news.until <= running.until) {
            return None;
        }
        let merged = merge(running, news, now).filter(|merged| running != Some(*merged))?;
        if running.is_none() {
            self.round = self.round.wrapping_add(1);
            // What was sent before now is of the burst that was counted elsewhere.
            self.last_shut = Some(now);
        }
        self.strikes = strikes;
        self.last_throttle = now;
        let probe = match self.state {
            State::Shut { probe: probe @ (Probe::DueAt(_) | Probe::SentAt(_)), .. } => probe,
            _ if now.until(merged.until) > PROBED_ABOVE => Probe::DueAt(now.after(HEARSAY_PROBED_AFTER)),
            _ => Probe::Never,
        };
        self.shut(merged, probe);
        Some(merged)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::core::dice::SeededDice;
    use crate::core::gate::{Admission, Look, Pass};
    use crate::core::merge::End;
    use crate::core::signal::LimitClass;

    fn at(seconds: u64) -> Moment {
        Moment::since_start(Duration::from_secs(seconds))
    }

    fn news(until: u64, end: End) -> Shut {
        Shut { until: at(until), class: LimitClass::RequestRate, end }
    }

    fn shut_until(gate: &mut Gate, now: Moment) -> Option<Moment> {
        match gate.look(now, &mut SeededDice::new(1)) {
            Look::Shut(shut) => Some(shut.until),
            _ => None,
        }
    }

    #[test]
    fn news_shuts_and_lengthens_in_any_order_but_shortens_only_when_newer() {
        let (mut gate, dice) = (Gate::new(Duration::from_secs(1)), &mut SeededDice::new(1));
        assert!(gate.hear(news(30, End::Guessed), 1, false, at(0), dice).is_some());
        assert_eq!(gate.hear(news(10, End::Stated), 1, false, at(1), dice), None);
        assert_eq!(shut_until(&mut gate, at(1)), Some(at(30)));
        assert!(gate.hear(news(10, End::Stated), 1, true, at(1), dice).is_some());
        assert_eq!(shut_until(&mut gate, at(1)), Some(at(10)));
        assert!(gate.hear(news(20, End::Stated), 1, false, at(2), dice).is_some());
        assert_eq!(shut_until(&mut gate, at(2)), Some(at(20)));
    }

    #[test]
    fn news_of_the_past_shuts_nothing() {
        let (mut gate, dice) = (Gate::new(Duration::from_secs(1)), &mut SeededDice::new(1));
        assert_eq!(gate.hear(news(5, End::Stated), 3, true, at(9), dice), None);
        assert_eq!(shut_until(&mut gate, at(9)), None);
    }

    #[test]
    fn a_shut_known_only_from_news_is_probed_after_a_minute() {
        let (mut gate, dice) = (Gate::new(Duration::from_secs(1)), &mut SeededDice::new(1));
        gate.hear(news(3_600, End::Stated), 1, true, at(0), dice).expect("shut");
        assert!(matches!(gate.take(at(59), dice), Admission::Hold(_)));
        assert_eq!(gate.take(at(60), dice), Admission::Pass(Pass { at: at(60), probe: true }));
        assert!(matches!(gate.take(at(60), dice), Admission::Hold(_)));
    }
}
