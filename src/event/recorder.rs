//! A sink that remembers: for tests of your own as for ours.

use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};

use crate::core::moment::Moment;
use crate::event::sink::{GaugeSource, Listener, Sink};
use crate::event::sources::Sources;
use crate::event::{Event, PoolLabels};

/// A sink that keeps every event of every pool, in the order they were told. Clones share what they keep.
///
/// Its text is one line an event, with the time since the first of them: made for snapshots, the same in every run under
/// paused time. It grows with every event and keeps the names of policies for the rest of the process, so keep it to
/// tests.
///
/// ```
/// # use std::time::Duration;
/// # use forbear::core::moment::Moment;
/// use forbear::event::{Event, PoolLabels, recorder::Recorder, sink::Sink};
/// let recorder = Recorder::new();
/// let listener = recorder.listen(&PoolLabels::new("openai", "prod/gpt"));
/// listener.hear(Moment::START, &Event::RequestSent);
/// listener.hear(Moment::START.after(Duration::from_millis(250)), &Event::RequestSent);
/// assert_eq!(recorder.to_string(), "+0.000s openai prod/gpt request_sent\n+0.250s openai prod/gpt request_sent\n");
/// ```
#[derive(Clone, Default)]
pub struct Recorder(Arc<Inner>);

/// Shared by the clones.
#[derive(Default)]
struct Inner {
    kept: Mutex<Kept>,
    sources: Sources,
}

/// What was told, and the names of policies, which events only borrow.
#[derive(Default)]
struct Kept {
    events: Vec<Recorded>,
    policies: Vec<&'static str>,
}

/// An event as it was told.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Recorded {
    /// When, on the engine's clock.
    pub at: Moment,
    /// The pool; `None` for what is the process's.
    pub pool: Option<PoolLabels>,
    /// What.
    pub event: Event<'static>,
}

impl Recorder {
    /// Nothing kept yet.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Everything told so far, in order.
    #[must_use]
    pub fn events(&self) -> Vec<Recorded> {
        self.kept().events.clone()
    }

    /// How many events so far are such.
    #[must_use]
    pub fn count(&self, such: impl Fn(&Event<'_>) -> bool) -> usize {
        self.kept().events.iter().filter(|recorded| such(&recorded.event)).count()
    }

    /// Forgets the events told so far.
    pub fn clear(&self) {
        self.kept().events.clear();
    }

    /// The engine's gauges as they are now, as sorted lines of text: `name{label="value"} value`.
    #[must_use]
    pub fn gauges(&self) -> Vec<String> {
        let mut lines = Vec::new();
        self.0.sources.sample(&mut |sample| lines.push(sample.to_string()));
        lines.sort();
        lines
    }

    fn kept(&self) -> MutexGuard<'_, Kept> {
        self.0.kept.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl fmt::Debug for Recorder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Recorder").field("events", &self.kept().events.len()).finish_non_exhaustive()
    }
}

impl fmt::Display for Recorder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let events = self.events();
        let first = events.first().map_or(Moment::START, |recorded| recorded.at);
        events.iter().try_for_each(|Recorded { at, pool, event }| {
            write!(f, "+{:.3}s ", first.until(*at).as_secs_f64())?;
            match pool {
                Some(pool) => writeln!(f, "{} {} {event}", pool.provider, pool.pool),
                None => writeln!(f, "process {event}"),
            }
        })
    }
}

impl Sink for Recorder {
    fn listen(&self, pool: &PoolLabels) -> Box<dyn Listener> {
        Box::new(Ear { recorder: self.clone(), pool: Some(pool.clone()) })
    }

    fn listen_to_process(&self) -> Box<dyn Listener> {
        Box::new(Ear { recorder: self.clone(), pool: None })
    }

    fn watch(&self, gauges: Weak<dyn GaugeSource>) {
        self.0.sources.watch(gauges);
    }
}

/// The recorder's listener for one pool, or for the process.
struct Ear {
    recorder: Recorder,
    pool: Option<PoolLabels>,
}

impl Listener for Ear {
    fn hear(&self, at: Moment, event: &Event<'_>) {
        let mut kept = self.recorder.kept();
        let event = kept.own(event);
        kept.events.push(Recorded { at, pool: self.pool.clone(), event });
    }
}

impl Kept {
    /// The event with a policy's name that outlives the policy.
    fn own(&mut self, event: &Event<'_>) -> Event<'static> {
        match *event {
            Event::CallStarted { policy, deadline, estimate } => {
                Event::CallStarted { policy: self.name(policy), deadline, estimate }
            }
            Event::CallEnded { policy, outcome, class, delay_source, early, attempts, duration } => {
                Event::CallEnded { policy: self.name(policy), outcome, class, delay_source, early, attempts, duration }
            }
            Event::GateWaited { waited, result, class } => Event::GateWaited { waited, result, class },
            Event::AttemptEnded { number, delay_source, outcome, class, token_kind, status, duration } => {
                Event::AttemptEnded { number, delay_source, outcome, class, token_kind, status, duration }
            }
            Event::DelayScheduled { source, delay, stated, clamped } => {
                Event::DelayScheduled { source, delay, stated, clamped }
            }
            Event::QuotaRead { reading } => Event::QuotaRead { reading },
            Event::TokensUsed { kind, tokens } => Event::TokensUsed { kind, tokens },
            Event::GateShut { class, told, shut_for } => Event::GateShut { class, told, shut_for },
            Event::GateReopened { state } => Event::GateReopened { state },
            Event::GateOperated { action, reason } => Event::GateOperated { action, reason: self.name(reason) },
            Event::SignalUnreadable { part } => Event::SignalUnreadable { part },
            Event::HeadersHidden => Event::HeadersHidden,
            Event::RetriesStacked { detector } => Event::RetriesStacked { detector },
            Event::RequestSent => Event::RequestSent,
            Event::CallInfeasible => Event::CallInfeasible,
            Event::LabelOverflowed { label } => Event::LabelOverflowed { label },
            Event::StoreAsked { operation, outcome, took } => Event::StoreAsked { operation, outcome, took },
            Event::StoreDegraded { reason } => Event::StoreDegraded { reason },
            Event::StoreRecovered => Event::StoreRecovered,
            Event::NewsCame { age, clamped } => Event::NewsCame { age, clamped },
            Event::ShutReasserted => Event::ShutReasserted,
        }
    }

    /// The same name for as long as the process lives: an event that is kept must not borrow from a policy that may go.
    fn name(&mut self, policy: &str) -> &'static str {
        if let Some(known) = self.policies.iter().find(|known| **known == policy) {
            return known;
        }
        let name: &'static str = Box::leak(policy.into());
        self.policies.push(name);
        name
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;
    use crate::core::signal::LimitClass;

    #[test]
    fn events_of_all_pools_are_kept_in_order_with_their_times() {
        let recorder = Recorder::new();
        let ears = ["a", "b"].map(|pool| recorder.listen(&PoolLabels::new("generic", pool)));
        let policy = String::from("chat");
        let start = Moment::START.after(Duration::from_secs(100));
        let deadline = Duration::from_secs(15);
        ears[0].hear(start, &Event::CallStarted { policy: &policy, deadline, estimate: None });
        let shut = Event::GateShut { class: LimitClass::Daily, told: true, shut_for: Duration::from_secs(7_200) };
        ears[1].hear(start.after(Duration::from_millis(1_500)), &shut);
        drop(policy);
        assert_eq!(
            recorder.to_string(),
            "+0.000s generic a call_started policy=chat deadline=15s\n\
             +1.500s generic b gate_shut limit_class=daily shut_for=7200s told\n"
        );
        assert_eq!(recorder.count(|event| matches!(event, Event::GateShut { told: true, .. })), 1);
        recorder.clear();
        assert_eq!(recorder.events(), []);
    }
}
