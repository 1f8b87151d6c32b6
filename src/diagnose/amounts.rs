//! Requests and tokens, as a quota counts them.

use std::ops::{Add, Sub};

use crate::core::signal::Dimension;

/// How much of each dimension a quota can count.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Amounts([f64; Dimension::ALL.len()]);

impl Amounts {
    /// So many requests, with these tokens; those of which the side is not known count for the sum alone.
    pub(crate) fn new(requests: f64, input: f64, output: f64, unsided: f64) -> Self {
        let mut amounts = Self::default();
        for (dimension, amount) in [
            (Dimension::Requests, requests),
            (Dimension::Tokens, input + output + unsided),
            (Dimension::InputTokens, input),
            (Dimension::OutputTokens, output),
        ] {
            amounts.0[dimension as usize] = amount;
        }
        amounts
    }

    /// How much of this dimension.
    pub(crate) const fn of(&self, dimension: Dimension) -> f64 {
        self.0[dimension as usize]
    }

    /// The larger of both, each dimension for itself.
    pub(crate) fn max(self, other: Self) -> Self {
        self.each(other, f64::max)
    }

    /// So many times as much.
    pub(crate) fn times(self, factor: f64) -> Self {
        Self(self.0.map(|amount| amount * factor))
    }

    fn each(self, other: Self, both: impl Fn(f64, f64) -> f64) -> Self {
        Self(std::array::from_fn(|place| both(self.0[place], other.0[place])))
    }
}

impl Add for Amounts {
    type Output = Self;

    fn add(self, other: Self) -> Self {
        self.each(other, |a, b| a + b)
    }
}

impl Sub for Amounts {
    type Output = Self;

    fn sub(self, other: Self) -> Self {
        self.each(other, |a, b| a - b)
    }
}
