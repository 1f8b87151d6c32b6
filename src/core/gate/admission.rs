//! What a call asks of the gate, and what it is answered.

use std::time::Duration;

use crate::core::estimate::Estimate;
use crate::core::gate::Slots;
use crate::core::merge::Shut;
use crate::core::moment::Moment;
use crate::core::signal::LimitClass;

/// What a call that asks brings along.
///
/// ```
/// use forbear::core::gate::Ask;
/// use forbear::core::moment::Moment;
/// let ask = Ask::at(Moment::START).with_in_flight(3);
/// assert_eq!(ask.in_flight, 3);
/// ```
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct Ask {
    /// When it asks.
    pub now: Moment,
    /// Requests under way at this level and below it.
    pub in_flight: u32,
    /// The tokens it is expected to use; none where nobody knows.
    pub estimate: Option<Estimate>,
    /// Whose slots it goes by, where calls are paced.
    pub slots: Slots,
}

impl Ask {
    /// A call that asks now, with nothing under way and no estimate.
    #[must_use]
    pub const fn at(now: Moment) -> Self {
        Self { now, in_flight: 0, estimate: None, slots: Slots::Own }
    }

    /// The same with so many requests under way.
    #[must_use]
    pub const fn with_in_flight(mut self, in_flight: u32) -> Self {
        self.in_flight = in_flight;
        self
    }

    /// The same by these slots.
    #[must_use]
    pub const fn by(mut self, slots: Slots) -> Self {
        self.slots = slots;
        self
    }

    /// The same with the tokens it is expected to use.
    #[must_use]
    pub const fn with_estimate(mut self, estimate: Option<Estimate>) -> Self {
        self.estimate = estimate;
        self
    }
}

/// The gate's answer to a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[must_use]
#[non_exhaustive]
pub enum Admission {
    /// Go.
    Pass(Pass),
    /// Not yet.
    Hold(Hold),
}

/// Leave to send one request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(clippy::exhaustive_structs, reason = "the shell makes one per level of a path")]
pub struct Pass {
    /// When it was given. It names the round: a report on a request sent before the last shut is no new strike.
    pub at: Moment,
    /// Whether this request tests a shut pool.
    pub probe: bool,
}

/// Why and until when a call is held.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(clippy::exhaustive_structs, reason = "the shell makes one of several levels'")]
pub struct Hold {
    /// When to ask again: the next slot, the reopening, or a probe's turn. Where too many are under way one that comes
    /// back makes room sooner.
    pub ask_again: Moment,
    /// What the pool is, or was last, shut for.
    pub class: LimitClass,
    /// When the pool reopens, if it is shut: for a caller who cannot wait until then, now is the time to give up.
    pub shut: Option<Shut>,
}

impl Hold {
    /// Whether the head of the queue has nothing to wait for until `deadline`. Where too many are under way one may come
    /// back at any moment.
    #[must_use]
    pub fn is_hopeless(&self, is_head: bool, deadline: Moment) -> bool {
        match self.shut {
            Some(shut) => shut.until >= deadline,
            None => is_head && self.class != LimitClass::Concurrency && self.ask_again >= deadline,
        }
    }
}

/// The gate's state at a moment, for people and gauges.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Look {
    /// Calls pass.
    Flowing,
    /// One call per interval passes. Where a number in flight is what holds calls, they pass as others come back: the
    /// interval is what that comes to on the average.
    Paced(Duration),
    /// Nobody passes.
    Shut(Shut),
}
