//! The spans of one call, for whoever subscribes.
//!
//! What is in a span's fields follows OpenTelemetry's conventions where they have a word: `error.type` and the status
//! only on failures, `http.request.resend_count` only on attempts that repeat one, numbers as signed integers, since
//! others would arrive as text. Failures that were retried stand on their attempts, never on the call
//! (OpenTelemetry, "Recording errors": errors that were handled are not recorded on the operation that handled them).

use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;

use pin_project_lite::pin_project;
use tracing::field::Empty;
use tracing::{Span, info_span};

use crate::core::call::AttemptPlan;
use crate::core::decide::{AttemptOutcome, CallOutcome, DelaySource, GiveUp, Wait};
use crate::core::signal::{LimitClass, Signal};
use crate::event::GateResult;
use crate::run::spans::{Queue, Whose};

/// The spans of one call. One word while nobody subscribes: it lives in the caller's future.
///
/// Fields are declared when a span is made, since what is recorded later is dropped otherwise.
pub(in crate::run) struct CallSpans(Option<Box<Open>>);

/// A call's spans while somebody sees them: one allocation a call, small beside what a span costs.
struct Open {
    call: Span,
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
    Delay(#[expect(dead_code, reason = "open as long as it is held")] Span),
}

impl CallSpans {
    /// Whether failures are logged even where no span is open.
    pub(in crate::run) const LOG: bool = true;

    /// Those of a call that has not started.
    #[inline(always)]
    pub(in crate::run) fn none() -> Self {
        Self(None)
    }

    /// Opens the call's span below the caller's.
    #[inline]
    pub(in crate::run) fn start(whose: Whose<'_>) -> Self {
        let call = info_span!(
            target: "forbear",
            "forbear.call",
            forbear.provider = whose.pool.provider,
            forbear.pool = &*whose.pool.pool,
            forbear.policy = whose.policy,
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
        Self(Some(Box::new(Open { call, step: Step::Between, ended: false })))
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

    /// Makes and polls a future inside the attempt's span, so that what it opens nests there.
    #[inline]
    pub(in crate::run) fn inside<F>(&self, future: impl FnOnce() -> F) -> Inside<'_, F> {
        let span = match self.0.as_deref() {
            Some(Open { step: Step::Attempt(span), .. }) => Some(span),
            _ => None,
        };
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
            self.within(|| log_failure(whose, signal));
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
            forbear.delay.duration = wait.delay.as_secs_f64(),
            forbear.delay.stated = Empty,
            forbear.delay.clamped = wait.clamped,
        );
        if let Some(stated) = wait.stated {
            span.record("forbear.delay.stated", stated.as_secs_f64());
        }
        open.step = Step::Delay(span);
    }

    /// Closes `forbear.delay`.
    pub(in crate::run) fn delay_ended(&mut self) {
        if let Some(open) = &mut self.0 {
            open.step = Step::Between;
        }
    }

    /// Closes the call's span after a success.
    #[inline]
    pub(in crate::run) fn done(&mut self, attempts: u32) {
        if let Some(open) = &mut self.0 {
            open.end(CallOutcome::Ok, LimitClass::None, Some(attempts));
        }
    }

    /// Logs the give-up and closes the call's span after it.
    pub(in crate::run) fn gave_up(&mut self, whose: Whose<'_>, give_up: &GiveUp, attempts: u32) {
        if let Some(open) = &mut self.0 {
            open.step = Step::Between;
        }
        self.within(|| log_give_up(whose, give_up, attempts));
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
        let span = info_span!(
            target: "forbear",
            parent: &self.call,
            "forbear.attempt",
            forbear.attempt.number = number,
            forbear.delay.source = plan.delay_source.as_str(),
            http.request.resend_count = Empty,
            http.response.status_code = Empty,
            forbear.attempt.outcome = Empty,
            forbear.limit.class = Empty,
            error.type = Empty,
            otel.status_code = Empty,
        );
        if number > 1 {
            span.record("http.request.resend_count", number - 1);
        }
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

/// Logs a failed attempt: a throttle at INFO with what the provider stated and where, another retryable failure at DEBUG.
/// Never above: a client may retry thousands of times a minute, and the retries are what the call is for.
fn log_failure(whose: Whose<'_>, signal: &Signal) {
    if signal.is_throttle() {
        tracing::event!(
            name: "forbear.throttled",
            target: "forbear",
            tracing::Level::INFO,
            provider = whose.pool.provider,
            pool = &*whose.pool.pool,
            policy = whose.policy,
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
            tracing::Level::DEBUG,
            provider = whose.pool.provider,
            pool = &*whose.pool.pool,
            policy = whose.policy,
            status = signal.status,
            timed_out = signal.timed_out,
            "failed in a way that a retry may cure"
        );
    }
}

/// Logs the end of a call that failed: at WARN, since waiting and trying did not help; at DEBUG where this call sent
/// nothing that failed or could not have been helped, since a shut pool refuses every call.
fn log_give_up(whose: Whose<'_>, give_up: &GiveUp, attempts: u32) {
    macro_rules! log {
        ($level:ident) => {
            tracing::event!(
                name: "forbear.gave_up",
                target: "forbear",
                tracing::Level::$level,
                provider = whose.pool.provider,
                pool = &*whose.pool.pool,
                policy = whose.policy,
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

pin_project! {
    /// A future polled inside a span. Dropped outside of it: what it opened has its parent already.
    #[must_use = "futures do nothing unless polled"]
    pub(in crate::run) struct Inside<'a, F> {
        span: Option<&'a Span>,
        #[pin]
        future: F,
    }
}

impl<F: Future> Future for Inside<'_, F> {
    type Output = F::Output;

    #[inline]
    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<F::Output> {
        let this = self.project();
        let _entered = this.span.map(Span::enter);
        this.future.poll(cx)
    }
}

pin_project! {
    /// A turn at the gate that opens a span when it has to wait.
    #[must_use = "futures do nothing unless polled"]
    pub(in crate::run) struct AtGate<'a, F, Q> {
        open: Option<&'a mut Open>,
        queue: Option<Q>,
        #[pin]
        turn: F,
    }
}

impl<F: Future, Q: FnOnce() -> Queue> Future for AtGate<'_, F, Q> {
    type Output = F::Output;

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<F::Output> {
        let this = self.project();
        let polled = this.turn.poll(cx);
        if polled.is_pending()
            && let (Some(open), Some(queue)) = (this.open, this.queue.take())
        {
            open.gate_wait_begins(queue());
        }
        polled
    }
}

impl Open {
    /// Opens the wait with what is known at its beginning.
    fn gate_wait_begins(&mut self, queue: Queue) {
        let span = info_span!(
            target: "forbear",
            parent: &self.call,
            "forbear.gate.wait",
            forbear.gate.queue.depth = i64::try_from(queue.depth).unwrap_or(i64::MAX),
            forbear.gate.wait.stated = Empty,
            forbear.gate.wait.duration = Empty,
            forbear.gate.result = Empty,
        );
        if let Some(stated) = queue.stated {
            span.record("forbear.gate.wait.stated", stated.as_secs_f64());
        }
        self.step = Step::AtGate(span);
    }
}

#[cfg(test)]
mod tests {
    use std::sync::LazyLock;

    use super::*;
    use crate::core::moment::Moment;
    use crate::core::signal::{Part, StatedDelay};
    use crate::event::PoolLabels;
    use crate::run::spans::traced::Traced;

    fn start() -> (Whose<'static>, CallSpans) {
        static POOL: LazyLock<PoolLabels> = LazyLock::new(|| PoolLabels::new("openai", "prod/gpt"));
        let whose = Whose { pool: &POOL, policy: "chat" };
        (whose, CallSpans::start(whose))
    }

    fn plan(number: u32, delay_source: DelaySource) -> AttemptPlan {
        AttemptPlan { number, cut: Moment::NEVER, delay_source }
    }

    fn throttle() -> Signal {
        let stated = StatedDelay::new(Duration::from_secs(2), Part::Header, "retry-after");
        let mut signal = Signal::throttle(LimitClass::RequestRate).stating(stated);
        signal.status = Some(429);
        signal
    }

    fn give_up(outcome: CallOutcome) -> GiveUp {
        GiveUp { outcome, class: LimitClass::RequestRate, source: DelaySource::Header, retry_at: None }
    }

    /// Polls a future once.
    fn poll(future: impl Future) -> bool {
        std::pin::pin!(future).poll(&mut Context::from_waker(std::task::Waker::noop())).is_ready()
    }

    #[test]
    fn steps_are_children_of_the_call_and_the_call_does_not_show_what_it_recovered_from() {
        let (traced, _guard) = Traced::here();
        let request = info_span!("request").entered();
        let (whose, mut spans) = start();
        drop(request);
        spans.attempt_begins(&plan(1, DelaySource::None));
        let http = || async { info_span!("http").in_scope(|| ()) };
        assert!(poll(spans.inside(http)));
        spans.attempt_ended(whose, AttemptOutcome::Throttled, &throttle());
        let (delay, stated) = (Duration::from_millis(2_250), Some(Duration::from_secs(2)));
        let wait = Wait { at: Moment::NEVER, delay, source: DelaySource::Header, stated, clamped: false };
        spans.delay_begins(&wait);
        spans.delay_ended();
        spans.attempt_begins(&plan(2, DelaySource::Header));
        assert!(poll(spans.inside(http)));
        spans.attempt_ended(whose, AttemptOutcome::Ok, &Signal { status: Some(200), ..Signal::success() });
        spans.done(2);
        drop(spans);
        insta::assert_snapshot!(traced.tree(), @r"
        request
          forbear.call forbear.provider=openai forbear.pool=prod/gpt forbear.policy=chat forbear.call.outcome=ok forbear.call.attempts=2
            forbear.attempt forbear.attempt.number=1 forbear.delay.source=none forbear.attempt.outcome=throttled http.response.status_code=429 forbear.limit.class=request_rate error.type=429 otel.status_code=ERROR
              - INFO forbear.throttled message=throttled provider=openai pool=prod/gpt policy=chat limit_class=request_rate status=429 stated_seconds=2.0 stated_in=retry-after
              http
            forbear.delay forbear.delay.source=header forbear.delay.duration=2.25 forbear.delay.clamped=false forbear.delay.stated=2.0
            forbear.attempt forbear.attempt.number=2 forbear.delay.source=header http.request.resend_count=1 forbear.attempt.outcome=ok http.response.status_code=200
              http
        ");
    }

    #[test]
    fn a_wait_at_the_gate_is_a_span_only_if_there_is_one() {
        let (traced, _guard) = Traced::here();
        let (whose, mut spans) = start();
        let queue = || Queue { depth: 3, stated: Some(Duration::from_secs(7)) };
        assert!(poll(spans.at_gate(std::future::ready(()), || unreachable!("nobody waits"))));
        spans.gate_waited(GateResult::Admitted, Duration::ZERO);
        assert!(!poll(spans.at_gate(std::future::pending::<()>(), queue)));
        spans.gate_waited(GateResult::Refused, Duration::from_secs(1));
        spans.gave_up(whose, &give_up(CallOutcome::GateRefused), 0);
        drop(spans);
        insta::assert_snapshot!(traced.tree(), @r"
        forbear.call forbear.provider=openai forbear.pool=prod/gpt forbear.policy=chat forbear.call.outcome=gate_refused forbear.call.attempts=0 forbear.giveup.reason=gate_refused forbear.limit.class=request_rate error.type=gate_refused otel.status_code=ERROR
          - DEBUG forbear.gave_up message=gave up provider=openai pool=prod/gpt policy=chat reason=gate_refused limit_class=request_rate delay_source=header attempts=0
          forbear.gate.wait forbear.gate.queue.depth=3 forbear.gate.wait.stated=7.0 forbear.gate.result=refused forbear.gate.wait.duration=1.0
        ");
    }

    #[test]
    fn a_dropped_call_was_cancelled_with_the_step_it_was_in_and_is_no_error() {
        let (traced, _guard) = Traced::here();
        let (_, mut attempting) = start();
        attempting.attempt_begins(&plan(1, DelaySource::None));
        drop(attempting);
        let (_, mut waiting) = start();
        let queue = || Queue { depth: 1, stated: None };
        assert!(!poll(waiting.at_gate(std::future::pending::<()>(), queue)));
        drop(waiting);
        insta::assert_snapshot!(traced.tree(), @r"
        forbear.call forbear.provider=openai forbear.pool=prod/gpt forbear.policy=chat forbear.call.outcome=cancelled
          forbear.attempt forbear.attempt.number=1 forbear.delay.source=none forbear.attempt.outcome=cancelled
        forbear.call forbear.provider=openai forbear.pool=prod/gpt forbear.policy=chat forbear.call.outcome=cancelled
          forbear.gate.wait forbear.gate.queue.depth=1 forbear.gate.result=cancelled
        ");
    }

    #[test]
    fn nothing_that_was_retried_is_logged_above_info_and_nothing_at_error() {
        let (traced, _guard) = Traced::here();
        for outcome in CallOutcome::ALL.iter().filter(|outcome| **outcome != CallOutcome::Ok) {
            let (whose, mut spans) = start();
            for (number, signal) in [throttle(), Signal::failure(true), Signal::failure(false)].iter().enumerate() {
                spans.attempt_begins(&plan(number as u32 + 1, DelaySource::Curve));
                spans.attempt_ended(whose, signal.into(), signal);
            }
            spans.gave_up(whose, &give_up(*outcome), 3);
        }
        let levels = traced.levels();
        assert_eq!(levels.iter().filter(|(name, _)| name == "forbear.gave_up").count(), CallOutcome::ALL.len() - 1);
        for (name, level) in levels {
            let most = if name == "forbear.gave_up" { tracing::Level::WARN } else { tracing::Level::INFO };
            assert!(level >= most, "{name} at {level}");
        }
    }

    #[test]
    fn log_events_reach_a_subscriber_that_wants_no_spans() {
        let (traced, _guard) = Traced::events_only();
        let (whose, mut spans) = start();
        assert!(spans.0.is_none());
        spans.attempt_begins(&plan(1, DelaySource::None));
        spans.attempt_ended(whose, AttemptOutcome::Throttled, &throttle());
        spans.gave_up(whose, &give_up(CallOutcome::DeadlineExceeded), 1);
        let names: Vec<_> = traced.levels().into_iter().map(|(name, _)| name).collect();
        assert_eq!(names, ["forbear.throttled", "forbear.gave_up"]);
    }

    #[test]
    fn spans_nobody_sees_are_one_word_and_an_attempt_grows_by_one_more() {
        assert_eq!(size_of::<CallSpans>(), size_of::<usize>());
        assert_eq!(size_of::<Inside<'_, [u8; 1024]>>(), 1024 + size_of::<usize>());
    }
}
