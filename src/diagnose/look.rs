//! What had been offered, served and refused up to a time.

use crate::core::moment::Moment;
use crate::diagnose::amounts::Amounts;
use crate::diagnose::counts::Counts;
use crate::diagnose::number::Number;

/// The numbers of a pool that matter from one moment to the next.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Look {
    /// When.
    pub(crate) at: Moment,
    /// Calls, and the tokens they were expected to need.
    pub(crate) offered: Amounts,
    /// Attempts that succeeded, and the tokens they used.
    pub(crate) served: Amounts,
    /// Attempts that a limit of a minute refused.
    pub(crate) throttled: f64,
    /// Attempts, and calls that the gate turned away.
    pub(crate) tried: f64,
    /// Waits that the provider stated.
    pub(crate) told: f64,
    /// How long they were in all.
    pub(crate) told_seconds: f64,
}

impl Look {
    /// What these numbers say at this time.
    pub(crate) fn of(at: Moment, counts: &Counts) -> Self {
        let number = |number| counts.get(number);
        Self {
            at,
            offered: Amounts::new(
                number(Number::Calls),
                number(Number::OfferedInput),
                number(Number::OfferedOutput),
                number(Number::OfferedUnsided),
            ),
            served: Amounts::new(
                number(Number::Served),
                number(Number::UsedInput),
                number(Number::UsedOutput),
                number(Number::UsedUnsided),
            ),
            throttled: number(Number::Throttled),
            tried: number(Number::Attempts) + number(Number::Refused),
            told: number(Number::ToldWaits),
            told_seconds: number(Number::ToldWaitSeconds),
        }
    }
}
