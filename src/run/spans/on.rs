//! The spans of one call, for whoever subscribes.
//!
//! What is in a span's fields follows OpenTelemetry's conventions where they have a word: `error.type` and the status
//! only on failures, `http.request.resend_count` only on attempts that repeat one, numbers as signed integers, since
//! others would arrive as text. Failures that were retried stand on their attempts, never on the call
//! (OpenTelemetry, "Recording errors": errors that were handled are not recorded on the operation that handled them).

use std::fmt;
use std::time::Duration;

use tracing::field::Empty;
use tracing::{Span, info_span};

use crate::core::call::AttemptPlan;
use crate::core::decide::{AttemptOutcome, CallOutcome, GiveUp, Wait};
use crate::core::policy::GenAi;
use crate::core::signal::{LimitClass, Signal};
use crate::event::GateResult;
use crate::run::about::Server;
use crate::run::spans::futures::{AtGate, Inside};
use crate::run::spans::{Queue, Whose, log};

/// The spans of one call. One word while nobody subscribes: it lives in the caller's future.
///
/// Fields are declared when a span is made, since what is recorded later is dropped otherwise.
pub(in crate::run) struct CallSpans(Option<Box<Open>>);

/// A call's spans while somebody sees them: one allocation a call, small beside what a span costs.
pub(super) struct Open {
    call: Span,
    /// Where attempts go, if they are spans of the kind CLIENT.
    clients: Option<Option<Server>>,
    /// The one step that can be open, closed by putting another in its place.
    step: Step,
    /// Whether the call's own end was recorded; a call dropped before was cancelled.
    ended: bool,
}

/// What the call is doing.
enum Step {
    Between,
    AtGate(Span),
    Attempt(Span),
    Delay(Span),
}

impl CallSpans {
    /// Whether failures are logged even where no span is open.
    pub(in crate::run) const LOG: bool = true;

    /// Those of a call nobody sees.
    #[inline(always)]
    pub(in crate::run) const fn none() -> Self {
        Self(None)
    }

    /// Opens the call's span below the caller's. `nesting` says how many attempts the call is inside of.
    #[inline]
    pub(in crate::run) fn start(whose: Whose<'_>, nesting: impl FnOnce() -> usize) -> Self {
        let gen_ai = Asked::of(whose);
        let server = whose.about.server.get();
        let call = info_span!(
            target: "forbear",
            "forbear.call",
            otel.name = gen_ai.as_ref().map(tracing::field::display),
            otel.kind = gen_ai.as_ref().map(|_| "client"),
            gen_ai.operation.name = gen_ai.as_ref().map(|asked| asked.operation),
            gen_ai.provider.name = gen_ai.as_ref().map(|_| whose.about.provider),
            gen_ai.request.model = gen_ai.as_ref().and_then(|asked| asked.model),
            server.address = server.map(|server| &*server.address),
            server.port = server.map(|server| i64::from(server.port.get())),
            forbear.provider = whose.pool.provider,
            forbear.pool = &*whose.pool.pool,
            forbear.policy = whose.policy.name(),
            forbear.nesting.depth = Some(nesting() as i64).filter(|depth| *depth > 0),
            forbear.call.attempts = Empty,
            forbear.call.outcome = Empty,
            forbear.giveup.reason = Empty,
            forbear.limit.class = Empty,
            error.type = Empty,
            otel.status_code = Empty,
        );
        if call.is_disabled() {
            return Self(None);
        }
        let clients = whose.about.attempts_are_clients.then(|| server.cloned());
        Self(Some(Box::new(Open { call, clients, step: Step::Between, ended: false })))
    }

    /// Whether anybody sees them.
    #[inline]
    pub(in crate::run) fn are_open(&self) -> bool {
        self.0.is_some()
    }

    /// Opens `forbear.gate.wait` if `turn` does not end at its first poll; `queue` is asked then.
    pub(in crate::run) fn at_gate<F, Q: FnOnce() -> Queue>(&mut self, turn: F, queue: Q) -> AtGate<'_, F, Q> {
        AtGate { open: self.0.as_deref_mut(), queue: Some(queue), turn }
    }

    /// Closes `forbear.gate.wait`, if it was opened.
    pub(in crate::run) fn gate_waited(&mut self, result: GateResult, waited: Duration) {
        let Some(open) = &mut self.0 else { return };
        if let Step::AtGate(span) = std::mem::replace(&mut open.step, Step::Between) {
            span.record("forbear.gate.result", result.as_str());
            span.record("forbear.gate.wait.duration", waited.as_secs_f64());
        }
    }

    /// Opens `forbear.attempt`.
    #[inline]
    pub(in crate::run) fn attempt_begins(&mut self, plan: &AttemptPlan) {
        if let Some(open) = &mut self.0 {
            open.attempt_begins(plan);
        }
    }

    /// The attempt's span, while one is open.
    #[inline]
    fn attempt(&self) -> Option<&Span> {
        match self.0.as_deref() {
            Some(Open { step: Step::Attempt(span), .. }) => Some(span),
            _ => None,
        }
    }

    /// Makes the attempt's span current until the guard is dropped, so that what is opened meanwhile nests there.
    #[inline]
    pub(in crate::run) fn enter(&self) -> Option<tracing::span::Entered<'_>> {
        self.attempt().map(Span::enter)
    }

    /// Shows how many requests a tap saw in the attempt under way, if it saw any.
    #[inline]
    pub(in crate::run) fn requests_sent(&self, requests: u32) {
        if let Some(span) = self.attempt().filter(|_| requests > 0) {
            span.record("forbear.attempt.requests", i64::from(requests));
        }
    }

    /// Makes and polls a future inside the attempt's span.
    #[inline]
    pub(in crate::run) fn inside<F>(&self, future: impl FnOnce() -> F) -> Inside<'_, F> {
        let span = self.attempt();
        let future = match span {
            Some(span) => span.in_scope(future),
            None => future(),
        };
        Inside { span, future }
    }

    /// Closes `forbear.attempt` and logs a failure.
    #[inline]
    pub(in crate::run) fn attempt_ended(&mut self, whose: Whose<'_>, outcome: AttemptOutcome, signal: &Signal) {
        if signal.failed {
            self.within(|| log::failure(whose, signal));
        }
        if let Some(open) = &mut self.0 {
            open.attempt_ended(outcome, Some(signal));
        }
    }

    /// Opens `forbear.delay`.
    pub(in crate::run) fn delay_begins(&mut self, wait: &Wait) {
        let Some(open) = &mut self.0 else { return };
        let span = info_span!(
            target: "forbear",
            parent: &open.call,
            "forbear.delay",
            forbear.delay.source = wait.source.as_str(),
            forbear.delay.stated = wait.stated.map(|stated| stated.as_secs_f64()),
            forbear.delay.planned = wait.delay.as_secs_f64(),
            forbear.delay.clamped = wait.clamped,
            forbear.delay.duration = Empty,
        );
        open.step = Step::Delay(span);
    }

    /// Closes `forbear.delay` after `slept`.
    pub(in crate::run) fn delay_ended(&mut self, slept: Duration) {
        let Some(open) = &mut self.0 else { return };
        if let Step::Delay(span) = std::mem::replace(&mut open.step, Step::Between) {
            span.record("forbear.delay.duration", slept.as_secs_f64());
        }
    }

    /// Makes and polls a future inside the call's span: one that takes its place elsewhere.
    pub(in crate::run) fn inside_call<F>(&self, future: impl FnOnce() -> F) -> Inside<'_, F> {
        let span = self.0.as_deref().map(|open| &open.call);
        let future = match span {
            Some(span) => span.in_scope(future),
            None => future(),
        };
        Inside { span, future }
    }

    /// Closes the call's span after a success.
    #[inline]
    pub(in crate::run) fn done(&mut self, attempts: u32) {
        if let Some(open) = &mut self.0 {
            open.end(CallOutcome::Ok, LimitClass::None, Some(attempts));
        }
    }

    /// Closes the call's span: another pool answered in its own's place.
    pub(in crate::run) fn done_by_fallback(&mut self, attempts: u32) {
        if let Some(open) = &mut self.0 {
            open.end(CallOutcome::OkByFallback, LimitClass::None, Some(attempts));
        }
    }

    /// Logs the give-up and closes the call's span after it.
    pub(in crate::run) fn gave_up(&mut self, whose: Whose<'_>, give_up: &GiveUp, attempts: u32) {
        if let Some(open) = &mut self.0 {
            open.step = Step::Between;
        }
        self.within(|| log::give_up(whose, give_up, attempts));
        if let Some(open) = &mut self.0 {
            open.end(give_up.outcome, give_up.class, Some(attempts));
        }
    }

    /// Runs something inside the innermost open span, or inside the caller's if there is none.
    fn within<T>(&self, run: impl FnOnce() -> T) -> T {
        match self.0.as_deref() {
            Some(Open { step: Step::Attempt(span), .. }) => span.in_scope(run),
            Some(Open { call, .. }) => call.in_scope(run),
            None => run(),
        }
    }
}

impl Open {
    /// Opens the attempt below the call, whatever span the runtime is in.
    fn attempt_begins(&mut self, plan: &AttemptPlan) {
        let number = i64::from(plan.number);
        let server = self.clients.as_ref().and_then(Option::as_ref);
        let span = info_span!(
            target: "forbear",
            parent: &self.call,
            "forbear.attempt",
            otel.kind = self.clients.as_ref().map(|_| "client"),
            server.address = server.map(|server| &*server.address),
            server.port = server.map(|server| i64::from(server.port.get())),
            forbear.attempt.number = number,
            forbear.delay.source = plan.delay_source.as_str(),
            http.request.resend_count = (number > 1).then(|| number - 1),
            forbear.attempt.requests = Empty,
            http.response.status_code = Empty,
            forbear.attempt.outcome = Empty,
            forbear.limit.class = Empty,
            error.type = Empty,
            otel.status_code = Empty,
        );
        self.step = Step::Attempt(span);
    }

    /// Records how the attempt ended. `error.type` is the status where there is one, as for any HTTP span, else the
    /// outcome's word; a cancelled attempt shows no signal and is no error.
    fn attempt_ended(&mut self, outcome: AttemptOutcome, signal: Option<&Signal>) {
        let Step::Attempt(span) = std::mem::replace(&mut self.step, Step::Between) else { return };
        span.record("forbear.attempt.outcome", outcome.as_str());
        let Some(signal) = signal else { return };
        if let Some(status) = signal.status {
            span.record("http.response.status_code", i64::from(status));
        }
        if !signal.failed {
            return;
        }
        span.record("forbear.limit.class", signal.class.as_str());
        match signal.status.filter(|status| *status >= 400) {
            Some(status) => span.record("error.type", tracing::field::display(status)),
            None => span.record("error.type", outcome.as_str()),
        };
        span.record("otel.status_code", "ERROR");
    }

    /// Records how the call ended. Its `error.type` is the word of the `outcome` label, so that spans and metrics can be
    /// held against each other.
    fn end(&mut self, outcome: CallOutcome, class: LimitClass, attempts: Option<u32>) {
        self.ended = true;
        self.step = Step::Between;
        self.call.record("forbear.call.outcome", outcome.as_str());
        if let Some(attempts) = attempts {
            self.call.record("forbear.call.attempts", i64::from(attempts));
        }
        if !matches!(outcome, CallOutcome::Ok | CallOutcome::OkByFallback | CallOutcome::Cancelled) {
            self.call.record("forbear.giveup.reason", outcome.as_str());
            self.call.record("forbear.limit.class", class.as_str());
            self.call.record("error.type", outcome.as_str());
            self.call.record("otel.status_code", "ERROR");
        }
    }
}

/// A call that is dropped before its end was cancelled, and so was the step it was in. That is no error.
impl Drop for Open {
    fn drop(&mut self) {
        if self.ended {
            return;
        }
        match &self.step {
            Step::AtGate(span) => {
                span.record("forbear.gate.result", GateResult::Cancelled.as_str());
            }
            Step::Attempt(_) => self.attempt_ended(AttemptOutcome::Cancelled, None),
            Step::Between | Step::Delay(_) => {}
        }
        self.end(CallOutcome::Cancelled, LimitClass::None, None);
    }
}

impl Open {
    /// Opens the wait with what is known at its beginning.
    pub(super) fn gate_wait_begins(&mut self, queue: Queue) {
        let span = info_span!(
            target: "forbear",
            parent: &self.call,
            "forbear.gate.wait",
            forbear.gate.queue.depth = i64::try_from(queue.depth).unwrap_or(i64::MAX),
            forbear.gate.wait.stated = queue.stated.map(|stated| stated.as_secs_f64()),
            forbear.gate.wait.duration = Empty,
            forbear.gate.result = Empty,
        );
        self.step = Step::AtGate(span);
    }
}

/// The span that was current where it was taken, for a future that runs elsewhere.
pub(in crate::run) struct CurrentSpan(Span);

impl CurrentSpan {
    /// Takes the span that is current.
    pub(in crate::run) fn take() -> Self {
        Self(Span::current())
    }

    /// Makes it current here until the guard is dropped.
    pub(in crate::run) fn enter(&self) -> tracing::span::Entered<'_> {
        self.0.enter()
    }
}

/// What a call asks a model for. Displays as the name its span has by the conventions.
struct Asked<'a> {
    operation: &'a str,
    model: Option<&'a str>,
}

impl<'a> Asked<'a> {
    /// What the policy says, and the pool's model where it says none.
    #[inline]
    fn of(whose: Whose<'a>) -> Option<Self> {
        let GenAi { operation, model } = &whose.policy.gen_ai;
        let operation = operation.as_deref()?;
        Some(Self { operation, model: model.as_deref().or(whose.about.model.as_deref()) })
    }
}

impl fmt::Display for Asked<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.operation)?;
        self.model.map_or(Ok(()), |model| write!(f, " {model}"))
    }
}

#[cfg(test)]
#[path = "on_tests.rs"]
mod tests;
