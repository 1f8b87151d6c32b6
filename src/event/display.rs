//! Events as one line of text each: for snapshots, logs and people.

use std::fmt;

use crate::event::Event;

/// One line: the event's name, then `key=value` pairs in a fixed order; what is not known is left out.
///
/// ```
/// use std::time::Duration;
/// use forbear::event::Event;
/// let event = Event::CallStarted { policy: "chat", deadline: Duration::from_secs(15), estimate: None };
/// assert_eq!(event.to_string(), "call_started policy=chat deadline=15s");
/// ```
impl fmt::Display for Event<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            Self::CallStarted { policy, deadline, estimate } => {
                write!(f, "call_started policy={policy} deadline={deadline:?}")?;
                let Some(estimate) = estimate else { return Ok(()) };
                let sides = [
                    ("input", estimate.input_tokens()),
                    ("output", estimate.output_tokens()),
                    ("total", estimate.unsided_tokens()),
                ];
                sides.iter().filter(|(_, tokens)| *tokens > 0).try_for_each(|(side, n)| write!(f, " {side}_tokens={n}"))
            }
            Self::GateWaited { waited, result, class } => {
                write!(f, "gate_waited result={result} waited={waited:?} limit_class={class}")
            }
            Self::AttemptEnded { number, delay_source, outcome, class, token_kind, status, duration } => {
                write!(f, "attempt_ended number={number} delay_source={delay_source} outcome={outcome}")?;
                write!(f, " limit_class={class}")?;
                optional(f, "token_kind", token_kind)?;
                optional(f, "status", status)?;
                write!(f, " duration={duration:?}")
            }
            Self::DelayScheduled { source, delay, stated, clamped } => {
                write!(f, "delay_scheduled source={source} delay={delay:?}")?;
                optional(f, "stated", stated.map(Debugged))?;
                if clamped { f.write_str(" clamped") } else { Ok(()) }
            }
            Self::CallEnded { policy, outcome, class, delay_source, early, attempts, duration } => {
                write!(f, "call_ended policy={policy} outcome={outcome} limit_class={class}")?;
                write!(f, " delay_source={delay_source} attempts={attempts} duration={duration:?}")?;
                if early { f.write_str(" early") } else { Ok(()) }
            }
            Self::QuotaRead { reading } => {
                write!(f, "quota_read dimension={} window={}", reading.dimension, reading.window)?;
                optional(f, "limit", reading.limit)?;
                optional(f, "remaining", reading.remaining)?;
                optional(f, "reset", reading.reset.map(Debugged))
            }
            Self::TokensUsed { kind, tokens } => write!(f, "tokens_used kind={kind} tokens={tokens}"),
            Self::GateShut { class, told, shut_for } => {
                let told = if told { "told" } else { "guessed" };
                write!(f, "gate_shut limit_class={class} shut_for={shut_for:?} {told}")
            }
            Self::GateReopened { state } => write!(f, "gate_reopened state={state}"),
            Self::GateOperated { action, reason } => write!(f, "gate_operated action={action} reason={reason:?}"),
            Self::SignalUnreadable { part } => write!(f, "signal_unreadable part={part}"),
            Self::HeadersHidden => f.write_str("headers_hidden"),
            Self::RetriesStacked { detector } => write!(f, "retries_stacked detector={detector}"),
            Self::RequestSent => f.write_str("request_sent"),
            Self::CallInfeasible => f.write_str("call_infeasible"),
            Self::LabelOverflowed { label } => write!(f, "label_overflowed label={label}"),
            Self::StoreAsked { operation, outcome, took } => {
                write!(f, "store_asked operation={operation} outcome={outcome} took={took:?}")
            }
            Self::StoreDegraded { reason } => write!(f, "store_degraded reason={reason}"),
            Self::StoreRecovered => f.write_str("store_recovered"),
            Self::NewsCame { age, clamped } => {
                write!(f, "news_came age={age:?}")?;
                if clamped { f.write_str(" clamped") } else { Ok(()) }
            }
            Self::ShutReasserted => f.write_str("shut_reasserted"),
        }
    }
}

/// Displays what has only a debug form.
struct Debugged<T>(T);

impl<T: fmt::Debug> fmt::Display for Debugged<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// ` key=value`, or nothing.
fn optional(f: &mut fmt::Formatter<'_>, key: &str, value: Option<impl fmt::Display>) -> fmt::Result {
    value.map_or(Ok(()), |value| write!(f, " {key}={value}"))
}
