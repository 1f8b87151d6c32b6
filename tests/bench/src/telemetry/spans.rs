//! The spans of a call that succeeds at its first attempt, with the same fields, written by hand.

use std::future::Future;

use tracing::field::Empty;
use tracing::{Instrument, Span, info_span};

use crate::operation::Answer;

/// One call: its span and its attempt's, with every field that forbear's have, and those filled that it fills.
pub async fn by_hand<Fut: Future<Output = Answer>>(pool: &str, operation: impl FnOnce() -> Fut) -> Answer {
    let call = info_span!(
        target: "forbear",
        "forbear.call",
        otel.name = Empty,
        otel.kind = Empty,
        gen_ai.operation.name = Empty,
        gen_ai.provider.name = Empty,
        gen_ai.request.model = Empty,
        server.address = Empty,
        server.port = Empty,
        forbear.provider = "generic",
        forbear.pool = pool,
        forbear.policy = "default",
        forbear.nesting.depth = Empty,
        forbear.call.attempts = Empty,
        forbear.call.outcome = Empty,
        forbear.giveup.reason = Empty,
        forbear.limit.class = Empty,
        error.type = Empty,
        otel.status_code = Empty,
    );
    let attempt = attempt(&call);
    let answer = operation().instrument(attempt.clone()).await;
    attempt.record("forbear.attempt.outcome", "ok");
    drop(attempt);
    call.record("forbear.call.outcome", "ok");
    call.record("forbear.call.attempts", 1_i64);
    answer
}

fn attempt(call: &Span) -> Span {
    info_span!(
        target: "forbear",
        parent: call,
        "forbear.attempt",
        otel.kind = Empty,
        server.address = Empty,
        server.port = Empty,
        forbear.attempt.number = 1_i64,
        forbear.delay.source = "none",
        http.request.resend_count = Empty,
        http.response.status_code = Empty,
        forbear.attempt.outcome = Empty,
        forbear.attempt.requests = Empty,
        forbear.limit.class = Empty,
        error.type = Empty,
        otel.status_code = Empty,
    )
}
