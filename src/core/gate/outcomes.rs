//! What a gate makes of what became of its requests: throttles, successes, and what says nothing.

use crate::core::dice::Dice;
use crate::core::gate::ceiling::Ceiling;
use crate::core::gate::ends::Guess;
use crate::core::gate::{Gate, PROBE_EVERY, PROBED_ABOVE, Pass, Probe, STRIKES_FADE_AFTER, State};
use crate::core::merge::{End, Shut, merge};
use crate::core::moment::Moment;
use crate::core::signal::{LimitClass, Signal};

impl Gate {
    /// [`Gate::throttled_among`], with nothing else under way.
    pub fn throttled(&mut self, pass: Pass, signal: &Signal, now: Moment, dice: &mut impl Dice) -> Option<Shut> {
        self.throttled_among(1, pass, signal, now, dice)
    }

    /// Hears that a request sent under `pass` was throttled, one of so many under way at this level and below it. Returns
    /// the shut if it is new or moved.
    ///
    /// A throttle for [too many under way](LimitClass::Concurrency) shuts nothing: it lowers their number. One of a request
    /// larger than the limit changes nothing.
    pub fn throttled_among(
        &mut self,
        in_flight: u32,
        pass: Pass,
        signal: &Signal,
        now: Moment,
        dice: &mut impl Dice,
    ) -> Option<Shut> {
        if !signal.is_throttle() || signal.larger_than_limit {
            return None;
        }
        self.catch_up(now, dice);
        if signal.class == LimitClass::Concurrency {
            let others = in_flight.saturating_sub(1);
            self.ceiling.get_or_insert_with(|| Ceiling::with(others, now)).throttled(pass.at, others, now);
            self.unknown(pass, now);
            return None;
        }
        if now >= self.last_throttle.after(STRIKES_FADE_AFTER) {
            self.strikes = 0;
        }
        if !matches!(signal.class, LimitClass::Overload) {
            self.note_refusal(pass, signal, now);
        }
        self.last_throttle = now;
        let running = match self.state {
            State::Shut { shut, .. } => Some(shut),
            _ => None,
        };
        // One burst is one strike: requests sent before the last shut have been counted with it.
        let new_round = running.is_none() && self.last_shut.is_none_or(|last| pass.at >= last);
        let probe_failed = self.is_probe_out(pass);
        if new_round || probe_failed {
            self.strikes = self.strikes.saturating_add(1);
            self.bursts = self.bursts.wrapping_add(1);
        }
        let learned = self.release.as_ref().and_then(|release| self.supply.serves_again(release));
        let used_up = self.drought.map(|drought| drought.emptied);
        let news = Guess { floor: self.floor, strikes: self.strikes, learned, used_up }.news(signal, now);
        let mut merged = merge(running, news, now)?;
        if news.end == End::Stated {
            self.stated = merge(self.stated, news, now);
        }
        if merged.end == End::Stated {
            merged = merge(self.stated, merged, now)?;
        }
        if probe_failed && running == Some(merged) {
            self.await_next_probe(now);
        }
        if running == Some(merged) {
            return None;
        }
        if running.is_none() {
            self.round = self.round.wrapping_add(1);
            self.last_shut = Some(now);
        }
        let probe = match self.state {
            State::Shut { probe: probe @ (Probe::DueAt(_) | Probe::SentAt(_)), .. } if !probe_failed => probe,
            _ if now.until(merged.until) > PROBED_ABOVE => Probe::DueAt(now.after(PROBE_EVERY)),
            _ => Probe::Never,
        };
        self.shut(merged, probe);
        Some(merged)
    }

    /// Hears that a request sent under `pass` came back neither throttled nor as a success, or not at all: a probe that
    /// says nothing is given back.
    pub fn unknown(&mut self, pass: Pass, now: Moment) {
        let is_out = pass.probe && self.is_probe_out(pass);
        if let (true, State::Shut { probe, .. }) = (is_out, &mut self.state) {
            *probe = Probe::DueAt(now);
        }
    }

    /// Hears that a request sent under `pass` succeeded. Returns whether this reopened the pool. A success of a request
    /// sent before the shut says nothing about now.
    pub fn succeeded(&mut self, pass: Pass, now: Moment, dice: &mut impl Dice) -> bool {
        let reopens = pass.probe && self.is_probe_out(pass);
        if reopens {
            self.reopen(now, dice);
            self.reopened_early = true;
        }
        reopens
    }

    /// Whether a request sent under `pass` is the probe nothing has been heard of. While a pool is shut nobody else passes:
    /// what was sent since the probe is the probe, whoever tells of it; what was sent before is of an earlier round.
    fn is_probe_out(&self, pass: Pass) -> bool {
        matches!(self.state, State::Shut { probe: Probe::SentAt(sent), .. } if pass.at >= sent)
    }

    /// Lets the next probe go when its turn has come.
    fn await_next_probe(&mut self, now: Moment) {
        if let State::Shut { probe, .. } = &mut self.state {
            *probe = Probe::DueAt(now.after(PROBE_EVERY));
        }
    }
}
