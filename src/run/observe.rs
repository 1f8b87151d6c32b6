//! How an outcome is observed: by its own type, or by a rule of the call site; and until when, where the call is told.

use std::future::Future;

use bytes::Bytes;
use tokio::time::Instant;

use crate::core::observation::Observation;
use crate::run::outcome::Outcome;

/// How a call observes what its operation returned. Implemented by [`ByOutcome`] and [`ByRule`], and by [`ByInstant`] around
/// one of them.
///
/// Not meant to be implemented elsewhere: a type of your own implements [`Outcome`], a call site of its own passes a rule to
/// [`Call::classify`](crate::Call::classify).
pub trait Observe<R> {
    /// Whether [`Observe::peek`] must run first.
    fn wants_peek(&self, outcome: &R) -> bool;

    /// Reads the first bytes of the body and puts them back.
    fn peek(&self, outcome: R) -> impl Future<Output = (R, Option<Bytes>)>;

    /// What the outcome shows.
    fn observation<'r>(&self, outcome: &'r R, body: Option<&'r [u8]>) -> Observation<'r>;

    /// Whether another attempt could be made at all. Asked when one has failed: what was sent may be gone by then.
    fn can_repeat(&self) -> bool {
        true
    }

    /// When the call must have ended, if that is told.
    #[doc(hidden)]
    fn latest(&self) -> Option<Instant> {
        None
    }
}

/// The outcome's own type says how it is observed.
#[derive(Clone, Copy, Debug, Default)]
#[non_exhaustive]
pub struct ByOutcome;

impl<R: Outcome> Observe<R> for ByOutcome {
    fn wants_peek(&self, outcome: &R) -> bool {
        outcome.wants_peek()
    }

    fn peek(&self, outcome: R) -> impl Future<Output = (R, Option<Bytes>)> {
        outcome.peek()
    }

    fn observation<'r>(&self, outcome: &'r R, body: Option<&'r [u8]>) -> Observation<'r> {
        outcome.observation(body)
    }
}

/// A rule of the call site says how the outcome is observed.
#[derive(Clone, Copy, Debug)]
pub struct ByRule<F>(pub(super) F);

impl<R, F: for<'r> Fn(&'r R) -> Observation<'r>> Observe<R> for ByRule<F> {
    fn wants_peek(&self, _: &R) -> bool {
        false
    }

    fn peek(&self, outcome: R) -> impl Future<Output = (R, Option<Bytes>)> {
        std::future::ready((outcome, None))
    }

    fn observation<'r>(&self, outcome: &'r R, _: Option<&'r [u8]>) -> Observation<'r> {
        (self.0)(outcome)
    }
}

/// The same way as `C`, in a call that ends by an instant: made by [`Call::deadline_at`](crate::Call::deadline_at).
#[derive(Clone, Copy, Debug)]
pub struct ByInstant<C> {
    pub(super) observe: C,
    pub(super) latest: Instant,
}

impl<R, C: Observe<R>> Observe<R> for ByInstant<C> {
    fn wants_peek(&self, outcome: &R) -> bool {
        self.observe.wants_peek(outcome)
    }

    fn peek(&self, outcome: R) -> impl Future<Output = (R, Option<Bytes>)> {
        self.observe.peek(outcome)
    }

    fn observation<'r>(&self, outcome: &'r R, body: Option<&'r [u8]>) -> Observation<'r> {
        self.observe.observation(outcome, body)
    }

    fn can_repeat(&self) -> bool {
        self.observe.can_repeat()
    }

    fn latest(&self) -> Option<Instant> {
        let earlier = self.observe.latest();
        Some(earlier.map_or(self.latest, |earlier| earlier.min(self.latest)))
    }
}
