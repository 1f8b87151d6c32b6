//! Slots of a pool whose limits count tokens.
//!
//! A call takes what it is expected to use when it passes, and the difference is settled when it is known what it used. The
//! first call passes whatever it costs; who comes after it waits until that has been paid for. So a request larger than
//! what is left of a limit is not held for ever, and the rate is kept on the average.

use std::time::Duration;

use crate::core::estimate::Estimate;
use crate::core::moment::Moment;
use crate::core::signal::{Dimension, TokenKind};

/// The limits on tokens there may be: of both sides, sent, received.
const DIMENSIONS: [Dimension; 3] = [Dimension::Tokens, Dimension::InputTokens, Dimension::OutputTokens];

/// The slots of all limits on tokens.
#[derive(Clone, Debug, Default)]
pub(super) struct TokenSlots {
    lanes: [Option<Lane>; 3],
}

/// The slots of one limit.
#[derive(Clone, Copy, Debug)]
struct Lane {
    /// This process's share of what a window grants.
    amount: f64,
    window: Duration,
    /// From when on there is something left.
    next: Moment,
    /// Taken of the current window, where a window grants at once, and when that ends.
    taken: f64,
    ends: Moment,
}

impl TokenSlots {
    pub(super) const fn new() -> Self {
        Self { lanes: [None; 3] }
    }

    /// Notes a limit; nothing is known of one that grants nothing.
    pub(super) fn know(&mut self, dimension: Dimension, amount: u64, window: Duration, replicas: u32) {
        let Some(place) = DIMENSIONS.iter().position(|known| *known == dimension) else { return };
        if amount == 0 || window.is_zero() {
            return;
        }
        let amount = amount as f64 / f64::from(replicas.max(1));
        let lane = self.lanes[place].get_or_insert(Lane {
            amount,
            window,
            next: Moment::START,
            taken: 0.0,
            ends: Moment::START,
        });
        (lane.amount, lane.window) = (amount, window);
    }

    /// Nothing is owed and a window begins, if limits grant by windows.
    pub(super) fn begin(&mut self, now: Moment) {
        for lane in self.lanes.iter_mut().flatten() {
            (lane.next, lane.taken, lane.ends) = (now, 0.0, now.after(lane.window));
        }
    }

    /// When the next call may pass.
    pub(super) fn next_slot(&self) -> Moment {
        self.lanes.iter().flatten().map(|lane| lane.next).max().unwrap_or_default()
    }

    /// Takes what a call is expected to use. `at_once`: limits grant by windows.
    pub(super) fn take(&mut self, now: Moment, estimate: Estimate, at_once: bool) {
        for (lane, dimension) in self.lanes.iter_mut().zip(DIMENSIONS) {
            if let Some(lane) = lane {
                lane.take(now, f64::from(expected(estimate, dimension)), at_once);
            }
        }
    }

    /// Settles what a call of this estimate used of a side.
    pub(super) fn settle(&mut self, now: Moment, estimate: Estimate, kind: TokenKind, used: u64, at_once: bool) {
        let expected = match kind {
            TokenKind::Input => estimate.input_tokens(),
            TokenKind::Output => estimate.output_tokens(),
            TokenKind::Total => estimate.total_tokens(),
        };
        let more = used as f64 - f64::from(expected);
        for (lane, dimension) in self.lanes.iter_mut().zip(DIMENSIONS) {
            let counts = match dimension {
                Dimension::InputTokens => kind == TokenKind::Input,
                Dimension::OutputTokens => kind == TokenKind::Output,
                _ => true,
            };
            if let Some(lane) = lane.as_mut().filter(|_| counts) {
                lane.take(now, more, at_once);
            }
        }
    }
}

impl Lane {
    /// Takes `tokens`, or gives them back if that is less than nothing.
    fn take(&mut self, now: Moment, tokens: f64, at_once: bool) {
        if at_once {
            if now >= self.ends {
                (self.taken, self.ends) = (0.0, now.after(self.window));
            }
            self.taken = (self.taken + tokens).max(0.0);
            self.next = if self.taken >= self.amount { self.ends } else { self.next.min(now) };
            return;
        }
        let takes = Duration::try_from_secs_f64(self.window.as_secs_f64() * tokens.abs() / self.amount);
        let takes = takes.unwrap_or(self.window);
        self.next = if tokens >= 0.0 {
            self.next.max(now).after(takes)
        } else {
            Moment::since_start(self.next.elapsed_since_start().saturating_sub(takes))
        };
    }
}

/// What of an estimate a limit counts. Tokens whose side is not known count as sent: most are.
fn expected(estimate: Estimate, dimension: Dimension) -> u32 {
    match dimension {
        Dimension::InputTokens => estimate.input_tokens().saturating_add(estimate.unsided_tokens()),
        Dimension::OutputTokens => estimate.output_tokens(),
        _ => estimate.total_tokens(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MINUTE: Duration = Duration::from_secs(60);

    fn at(seconds: u64) -> Moment {
        Moment::since_start(Duration::from_secs(seconds))
    }

    fn slots(limits: &[(Dimension, u64)]) -> TokenSlots {
        let mut slots = TokenSlots::default();
        limits.iter().for_each(|&(dimension, amount)| slots.know(dimension, amount, MINUTE, 1));
        slots.begin(at(0));
        slots
    }

    #[test]
    fn a_call_is_paid_for_before_the_next_passes() {
        let mut slots = slots(&[(Dimension::Tokens, 6_000)]);
        slots.take(at(0), Estimate::input(700).output(300), false);
        assert_eq!(slots.next_slot(), at(10));
        slots.take(at(12), Estimate::total(100), false);
        assert_eq!(slots.next_slot(), at(13));
    }

    #[test]
    fn the_side_that_is_scarcer_holds() {
        let mut slots = slots(&[(Dimension::InputTokens, 60_000), (Dimension::OutputTokens, 600)]);
        slots.take(at(0), Estimate::input(1_000).output(50), false);
        assert_eq!(slots.next_slot(), at(5));
    }

    #[test]
    fn what_was_used_differently_is_settled() {
        let mut slots = slots(&[(Dimension::OutputTokens, 600)]);
        slots.take(at(0), Estimate::input(1_000).output(50), false);
        slots.settle(at(2), Estimate::input(1_000).output(50), TokenKind::Output, 20, false);
        assert_eq!(slots.next_slot(), at(2));
        slots.settle(at(2), Estimate::input(1_000).output(50), TokenKind::Output, 150, false);
        assert_eq!(slots.next_slot(), at(12));
        slots.settle(at(2), Estimate::input(1_000).output(50), TokenKind::Input, 9_999, false);
        assert_eq!(slots.next_slot(), at(12), "no limit counts what was sent");
    }

    #[test]
    fn a_window_grants_its_tokens_at_once_and_then_none() {
        let mut slots = slots(&[(Dimension::Tokens, 1_000)]);
        for _ in 0..4 {
            assert!(slots.next_slot() <= at(1));
            slots.take(at(1), Estimate::total(300), true);
        }
        assert_eq!(slots.next_slot(), at(60));
        slots.take(at(60), Estimate::total(300), true);
        assert_eq!(slots.next_slot(), at(60));
    }

    #[test]
    fn replicas_share_a_limit() {
        let mut slots = TokenSlots::default();
        slots.know(Dimension::Tokens, 6_000, MINUTE, 10);
        slots.begin(at(0));
        slots.take(at(0), Estimate::total(10), false);
        assert_eq!(slots.next_slot(), at(1));
    }
}
