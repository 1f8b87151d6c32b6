//! One quota: what it counts, how much it grants, and how its window works.

use std::time::Duration;

use super::bucket::Bucket;
use super::fixed::Fixed;
use super::settings::{Algorithm, Limits};
use super::sliding::Sliding;
use super::verdict::{Axis, Cost};
use crate::core::moment::Moment;
use crate::core::signal::{Dimension, QuotaReading, QuotaWindow};

/// A quota's state.
#[derive(Clone, Debug)]
pub(super) struct Quota {
    pub(super) axis: Axis,
    pub(super) amount: u64,
    state: State,
}

/// How its window is counted, and what is used of it.
#[derive(Clone, Debug)]
enum State {
    Bucket(Bucket),
    Fixed(Fixed),
    Sliding(Sliding),
}

/// Calls the same method of whichever state it is.
macro_rules! each {
    ($state:expr, $inner:ident => $call:expr) => {
        match $state {
            State::Bucket($inner) => $call,
            State::Fixed($inner) => $call,
            State::Sliding($inner) => $call,
        }
    };
}

impl Quota {
    /// All quotas that `limits` set, unused: days first, for they last longest.
    pub(super) fn of(limits: &Limits) -> Vec<Self> {
        limits.amounts().map(|(axis, amount)| Self { axis, amount, state: State::of(limits, axis, amount) }).collect()
    }

    /// The quotas that `limits` set; those that were there before and work the same way keep what was used.
    pub(super) fn again(before: &[Self], limits: &Limits) -> Vec<Self> {
        let mut quotas = Self::of(limits);
        for quota in &mut quotas {
            if let Some(old) = before.iter().find(|old| old.axis == quota.axis) {
                quota.state = old.state.resized(&quota.state);
            }
        }
        quotas
    }

    /// How much of this quota a request costs.
    pub(super) fn need(&self, cost: Cost) -> u64 {
        match self.axis.dimension {
            Dimension::Requests => 1,
            Dimension::Tokens => cost.input_tokens.saturating_add(cost.output_tokens),
            Dimension::InputTokens => cost.input_tokens,
            Dimension::OutputTokens => cost.output_tokens,
        }
    }

    /// How long until `need` fits, if nothing else is taken; zero when it fits now.
    pub(super) fn wait(&mut self, now: Moment, need: u64) -> Duration {
        each!(&mut self.state, state => state.wait(now, need))
    }

    /// Takes `need`, whether it fits or not.
    pub(super) fn take(&mut self, now: Moment, need: u64) {
        each!(&mut self.state, state => state.take(now, need));
    }

    /// Counts a refused request against a quota of requests.
    pub(super) fn take_for_refused(&mut self, now: Moment) {
        match &mut self.state {
            State::Bucket(bucket) => bucket.take_for_refused(now),
            State::Fixed(window) => window.take(now, 1),
            State::Sliding(window) => window.take(now, 1),
        }
    }

    /// Moves the boundary of a fixed window.
    pub(super) fn ends_at(&mut self, end: Moment) {
        if let State::Fixed(window) = &mut self.state {
            window.ends_at(end);
        }
    }

    /// How long until the quota is whole again.
    pub(super) fn replenished(&mut self, now: Moment) -> Duration {
        each!(&mut self.state, state => state.replenished(now))
    }

    /// What quota headers say of it.
    pub(super) fn reading(&mut self, now: Moment) -> QuotaReading {
        let mut reading = QuotaReading::new(self.axis.dimension, self.axis.window);
        reading.limit = Some(self.amount);
        reading.remaining = Some(each!(&mut self.state, state => state.remaining(now)));
        reading.reset = Some(self.replenished(now));
        reading
    }
}

impl State {
    fn of(limits: &Limits, axis: Axis, amount: u64) -> Self {
        // A day is a budget that starts anew at an instant, with every provider we know.
        if axis.window == QuotaWindow::Day {
            return Self::Fixed(Fixed::ending(limits.first_day_end(), amount, limits.day));
        }
        match limits.algorithm {
            Algorithm::TokenBucket => Self::Bucket(Bucket::full(amount, limits.window, limits.burst_length())),
            Algorithm::FixedWindow => Self::Fixed(Fixed::ending(limits.first_boundary(), amount, limits.window)),
            Algorithm::SlidingWindow => Self::Sliding(Sliding::unused(amount, limits.window)),
        }
    }

    /// `other`, with what was used here where both are counted the same way.
    fn resized(&self, other: &Self) -> Self {
        match (self, other) {
            (Self::Bucket(old), Self::Bucket(new)) => Self::Bucket(old.resized(new.clone())),
            (Self::Fixed(old), Self::Fixed(new)) => Self::Fixed(old.resized(new.clone())),
            (Self::Sliding(old), Self::Sliding(new)) => Self::Sliding(old.resized(new.clone())),
            _ => other.clone(),
        }
    }
}
