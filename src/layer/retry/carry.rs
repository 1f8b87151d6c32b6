//! What the retry layers have in common: a request that is kept, sent once per attempt, and its answer handed on.

use std::future::Future;
use std::marker::PhantomData;
use std::sync::{Mutex, MutexGuard, PoisonError};

use bytes::Bytes;

use crate::core::observation::{Observation, TransportFailure};
use crate::core::policy::Policy;
use crate::layer::retry::answer::Answer;
use crate::layer::retry::gave_up::{BoxError, GaveUp};
use crate::layer::retry::replay::Kept;
use crate::run::{Failure, InFlight, Observe, Pool, Settle};

/// Bytes of a request's body that are kept for another attempt, unless said otherwise.
const MAX_BODY_BYTES: usize = 4 * 1024 * 1024;

/// What a layer was made with; each of its calls may choose otherwise.
#[derive(Clone, Debug)]
pub(super) struct Settings {
    pub(super) pool: Pool,
    pub(super) policy: Policy,
    pub(super) max_body_bytes: usize,
}

impl Settings {
    pub(super) const fn new(pool: Pool, policy: Policy) -> Self {
        Self { pool, policy, max_body_bytes: MAX_BODY_BYTES }
    }
}

/// An answer, with what it takes along.
struct Arrived<G> {
    answer: Result<G, Failed>,
    in_flight: Option<InFlight>,
}

/// How a service failed.
pub(super) struct Failed {
    error: BoxError,
    /// `None` where the request was never sent and would not be another time: its making failed.
    failure: Option<TransportFailure>,
}

impl Failed {
    /// A failure of a service nobody knows more of: what its error and the errors it came from say.
    pub(super) fn of(error: BoxError) -> Self {
        let failure = Some(error.failure());
        Self { error, failure }
    }

    /// The same where an error that names no transport was made on the way to it.
    #[cfg(feature = "reqwest-middleware")]
    pub(super) fn on_the_way(error: BoxError) -> Self {
        let failure = crate::run::read_chain(&*error);
        Self { error, failure }
    }
}

impl<G> Settle for Arrived<G> {
    type Value = Self;

    fn settle(self) -> Result<Self, Self> {
        if self.answer.is_ok() { Ok(self) } else { Err(self) }
    }
}

/// How the answers of a kept request are observed.
struct Observed<'k, A, K> {
    kept: &'k Mutex<K>,
    answer: PhantomData<fn() -> A>,
}

impl<A: Answer, K: Kept> Observe<Arrived<A::Given>> for Observed<'_, A, K> {
    fn wants_peek(&self, arrived: &Arrived<A::Given>) -> bool {
        arrived.answer.as_ref().is_ok_and(|given| A::head(given).0 >= 400)
    }

    async fn peek(&self, arrived: Arrived<A::Given>) -> (Arrived<A::Given>, Option<Bytes>) {
        let Arrived { answer, in_flight } = arrived;
        match answer {
            Ok(given) => {
                let (given, excerpt) = A::peek(given).await;
                (Arrived { answer: Ok(given), in_flight }, excerpt)
            }
            failed => (Arrived { answer: failed, in_flight }, None),
        }
    }

    fn observation<'r>(&self, arrived: &'r Arrived<A::Given>, body: Option<&'r [u8]>) -> Observation<'r> {
        match &arrived.answer {
            Ok(given) => {
                let (status, headers) = A::head(given);
                let seen = Observation::status(status).headers(headers);
                body.map_or(seen, |body| seen.body(body))
            }
            // A success without a value is one that nobody retries.
            Err(failed) => failed.failure.map_or_else(Observation::ok, Observation::failure),
        }
    }

    fn can_repeat(&self) -> bool {
        lock(self.kept).once().is_none()
    }
}

pub(super) fn lock<K>(kept: &Mutex<K>) -> MutexGuard<'_, K> {
    kept.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Carries a call out: `send` is asked once per attempt, with the request of that attempt.
///
/// Requests and answers are some hundred bytes each, and a future moves what it is given: so what is kept stays with the
/// caller, and a request is made where it is sent.
///
/// # Errors
/// No answer came. An answer that is an error is given back as it came, with [`GaveUp`] in its extensions.
pub(super) async fn carry_out<A, K, S, Fut>(settings: &Settings, kept: &Mutex<K>, send: &S) -> Result<A::Given, GaveUp>
where
    A: Answer,
    K: Kept,
    S: Fn(K::Sent) -> Fut,
    Fut: Future<Output = Result<A, Failed>>,
{
    let chosen = lock(kept).chosen();
    let chosen = chosen.as_deref();
    let pool = chosen.and_then(|chosen| chosen.pool.as_ref()).unwrap_or(&settings.pool);
    let policy = chosen.and_then(|chosen| chosen.policy.as_ref()).unwrap_or(&settings.policy);
    let mut estimate = chosen.and_then(|chosen| chosen.estimate);
    let wants_tokens = pool.wants_tokens();
    if wants_tokens && estimate.is_none() {
        lock(kept).show_body(&mut |body| estimate = (!body.is_empty()).then(|| pool.estimate(body)));
    }
    let mut call = pool.call(policy);
    if let Some(estimate) = estimate {
        call = call.tokens(estimate);
    }
    let observed = Observed::<A, K> { kept, answer: PhantomData };
    let ended = call.observing(observed).run(|attempt| async move {
        // Asked for only where one may be made: what cannot be repeated ends its call.
        let Some(request) = lock(kept).next() else {
            return Arrived { answer: Err(Failed::sent_before()), in_flight: None };
        };
        let answer = send(request).await.map(A::given);
        let goes_on = answer
            .as_ref()
            .is_ok_and(|given| A::head(given).0 < 400 && (wants_tokens || !A::comes_with_its_head(given)));
        Arrived { answer, in_flight: goes_on.then(|| attempt.permit()) }
    });
    let ended = ended.await;
    let (error, last) = match ended {
        Ok(Arrived { answer: Ok(given), in_flight }) => {
            return Ok(match in_flight {
                Some(in_flight) => A::watched(given, in_flight),
                None => given,
            });
        }
        Ok(Arrived { answer: Err(_), .. }) => unreachable!("it holds no value"),
        Err(error) => error.apart(),
    };
    let once = lock(kept).once().filter(|_| error.is_exhausted() && error.attempts() < policy.attempts);
    match last.map(|arrived| arrived.answer) {
        Some(Ok(mut given)) => {
            A::extensions(&mut given).insert(GaveUp::new(error, once, None));
            Ok(given)
        }
        Some(Err(Failed { error: transport, .. })) => Err(GaveUp::new(error, once, Some(transport))),
        None => Err(GaveUp::new(error, once, None)),
    }
}

impl Failed {
    /// The request cannot be sent another time.
    fn sent_before() -> Self {
        Self { error: "the request was sent and is gone".into(), failure: None }
    }
}
