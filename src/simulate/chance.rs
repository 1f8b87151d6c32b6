//! Dice for each purpose, so that a change in one thing leaves the chance of all others alone.

use crate::core::dice::{Dice, SeededDice};

/// What dice are rolled for. Arrivals, sizes and who calls do not depend on how calls are retried: a scenario that
/// differs in the policy alone meets the same demand.
#[derive(Clone, Copy, Debug)]
pub(super) enum Purpose {
    /// Where the boundaries of fixed windows lie.
    Phase = 1,
    /// When calls arrive.
    Arrivals,
    /// How many tokens calls use, which kind they are and at which replica they arrive.
    Calls,
    /// When other tenants call, and what they use.
    Others,
    /// Which requests are hit by overload and failures.
    Failures,
    /// How long answers take.
    Answers,
    /// What the engine of a replica draws.
    Engine,
    /// What the client below the engine draws.
    Client,
}

/// The root of all dice of a world.
#[derive(Clone, Copy, Debug)]
pub(super) struct Chance(u64);

impl Chance {
    pub(super) const fn of(seed: u64) -> Self {
        Self(seed)
    }

    /// The seed of the dice for one purpose of one of several.
    pub(super) fn seed(self, purpose: Purpose, which: u64) -> u64 {
        let mixed = SeededDice::new(self.0).roll() ^ SeededDice::new(purpose as u64).roll().rotate_left(17);
        SeededDice::new(mixed ^ SeededDice::new(!which).roll()).roll()
    }

    /// The dice for one purpose of one of several.
    pub(super) fn dice(self, purpose: Purpose, which: u64) -> SeededDice {
        SeededDice::new(self.seed(purpose, which))
    }
}
