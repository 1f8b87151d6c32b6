//! The log events of calls and pools. A pool's are told when it changes, never per request.
//!
//! What is logged is logged where the span it belongs to is current, so that it stands in the trace as well. No event holds
//! text of a request or an answer: labels, numbers, and the tables' own words.

use tracing::Level;

use crate::core::decide::{CallOutcome, DelaySource, GiveUp};
use crate::core::signal::{LimitClass, QuotaReading, Signal};
use crate::event::{Event, GateState, PoolLabels, StackedBy};
use crate::run::spans::Whose;
#[cfg(feature = "redis")]
use crate::store::Note;

/// Logs a failed attempt: a throttle at INFO with what the provider stated and where, another retryable failure at DEBUG.
/// Never above: a client may retry thousands of times a minute, and the retries are what the call is for.
pub(super) fn failure(whose: Whose<'_>, signal: &Signal) {
    if signal.is_throttle() {
        tracing::event!(
            name: "forbear.throttled",
            target: "forbear",
            Level::INFO,
            provider = whose.pool.provider,
            pool = &*whose.pool.pool,
            policy = whose.policy.name(),
            limit_class = signal.class.as_str(),
            status = signal.status,
            stated_seconds = signal.stated.map(|stated| stated.delay.as_secs_f64()),
            stated_in = signal.stated.map(|stated| stated.place),
            "throttled"
        );
    } else if signal.retryable {
        tracing::event!(
            name: "forbear.retried",
            target: "forbear",
            Level::DEBUG,
            provider = whose.pool.provider,
            pool = &*whose.pool.pool,
            policy = whose.policy.name(),
            status = signal.status,
            timed_out = signal.timed_out,
            "failed in a way that a retry may cure"
        );
    }
}

/// Logs the end of a call that failed: at WARN, since waiting and trying did not help; at DEBUG where this call sent
/// nothing that failed or could not have been helped, since a shut pool refuses every call.
pub(super) fn give_up(whose: Whose<'_>, give_up: &GiveUp, attempts: u32) {
    macro_rules! log {
        ($level:ident) => {
            tracing::event!(
                name: "forbear.gave_up",
                target: "forbear",
                Level::$level,
                provider = whose.pool.provider,
                pool = &*whose.pool.pool,
                policy = whose.policy.name(),
                reason = give_up.outcome.as_str(),
                limit_class = give_up.class.as_str(),
                delay_source = (give_up.source != DelaySource::None).then_some(give_up.source.as_str()),
                attempts,
                "gave up"
            )
        };
    }
    match give_up.outcome {
        CallOutcome::NotRetryable | CallOutcome::GateRefused => log!(DEBUG),
        _ => log!(WARN),
    }
}

/// Logs that a pool, or a level above one, changed its state: shut at INFO, at WARN where nothing but a person or the next
/// day reopens it; reopened at INFO; what an operator did at WARN. Other events are none of a pool's state and are not logged.
pub(in crate::run) fn transition(pool: &PoolLabels, event: &Event<'_>) {
    macro_rules! shut {
        ($level:ident, $class:expr, $told:expr, $shut_for:expr) => {
            tracing::event!(
                name: "forbear.gate.shut",
                target: "forbear",
                Level::$level,
                provider = pool.provider,
                pool = &*pool.pool,
                limit_class = $class.as_str(),
                told = $told,
                shut_seconds = $shut_for.as_secs_f64(),
                "shut"
            )
        };
    }
    match *event {
        Event::GateShut { class, told, shut_for } => match class {
            LimitClass::Daily | LimitClass::Spend => shut!(WARN, class, told, shut_for),
            _ => shut!(INFO, class, told, shut_for),
        },
        Event::GateReopened { state } => tracing::event!(
            name: "forbear.gate.reopened",
            target: "forbear",
            Level::INFO,
            provider = pool.provider,
            pool = &*pool.pool,
            state = state.as_str(),
            "{}", if state == GateState::Paced { "reopened, calls pass one by one" } else { "calls pass freely" }
        ),
        Event::GateOperated { action, reason } => tracing::event!(
            name: "forbear.gate.operated",
            target: "forbear",
            Level::WARN,
            provider = pool.provider,
            pool = &*pool.pool,
            action = action.as_str(),
            reason,
            "an operator's hand on the gate"
        ),
        _ => {}
    }
}

/// Logs that the shared store is not relied on any more, or again, with what it said: at WARN, at INFO.
#[cfg(feature = "redis")]
pub(in crate::run) fn store(note: &Note<'_>) {
    match *note {
        Note::Degraded { reason, said } => tracing::event!(
            name: "forbear.store.degraded",
            target: "forbear",
            Level::WARN,
            reason = reason.as_str(),
            said,
            "the shared gate's store is not relied on; gates go on alone"
        ),
        Note::NoChannel { said } => tracing::event!(
            name: "forbear.store.no_channel",
            target: "forbear",
            Level::WARN,
            said,
            "news cannot be subscribed; they are read every two seconds instead"
        ),
        Note::Recovered { away } => tracing::event!(
            name: "forbear.store.recovered",
            target: "forbear",
            Level::INFO,
            away_seconds = away.as_secs_f64(),
            "the shared gate's store is relied on again"
        ),
    }
}

/// Logs, at DEBUG, that an answer states another limit than was known. What is left of a limit changes with every answer
/// and is a gauge.
pub(in crate::run) fn quota_updated(pool: &PoolLabels, reading: &QuotaReading, known: Option<u64>) {
    tracing::event!(
        name: "forbear.quota.updated",
        target: "forbear",
        Level::DEBUG,
        provider = pool.provider,
        pool = &*pool.pool,
        dimension = reading.dimension.as_str(),
        window = reading.window.as_str(),
        limit = reading.limit,
        known_limit = known,
        "the provider states another limit"
    );
}

/// Logs, at WARN, that a second retry layer was noticed, with the setting that turns it off.
pub(super) fn stacked(pool: &PoolLabels, policy: &str, detector: StackedBy) {
    let advice = match detector {
        StackedBy::Nested => {
            "a call ran inside an attempt of another call at the same pool; it ran once, and the outer call retries. \
             Remove one of the two, or let both retry with the inner policy's allow_nested()"
        }
        StackedBy::Wire => {
            "more than one request left inside one attempt: the client or SDK in the operation retries by itself, and \
             its retries multiply with these. Turn its own off; forbear::guide::stacked_retries lists the settings"
        }
        StackedBy::IncomingHeader => {
            "the request being served is a retry of its caller, whose retries multiply with these. Let one of the two \
             retry: turn off the caller's, or serve such requests under a policy with attempts(1)"
        }
    };
    tracing::event!(
        name: "forbear.stacked_retry",
        target: "forbear",
        Level::WARN,
        provider = pool.provider,
        pool = &*pool.pool,
        policy,
        detector = detector.as_str(),
        "{advice}"
    );
}

/// Logs, at WARN, that a call site hides the headers of its provider's answers, with the way out.
pub(super) fn headers_hidden(pool: &PoolLabels, policy: &str) {
    tracing::event!(
        name: "forbear.headers_hidden",
        target: "forbear",
        Level::WARN,
        provider = pool.provider,
        pool = &*pool.pool,
        policy,
        "headers are invisible here: the operation showed a throttle without them, so what the provider stated is unknown \
         and waits are guessed. Put the retry layer below the SDK (forbear::layer), or hand the headers over by \
         Observation::headers; forbear::guide::integrations says how for the SDKs people use"
    );
}
