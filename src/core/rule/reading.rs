//! The way from an observation to what it means to a provider.

use std::cell::Cell;

use crate::core::moment::WallTime;
use crate::core::observation::{Observation, TransportFailure};
use crate::core::rule::fact::{Asked, Facts};
use crate::core::rule::judge::{Judgement, judge, judge_status};
use crate::core::rule::seen::Seen;
use crate::core::rule::{Table, wait};
use crate::core::signal::{LimitClass, Part, Reading, Signal, StatedDelay};

impl Table {
    /// What `observation`, made at `wall`, means to this provider.
    ///
    /// Never panics, takes time linear in the size of headers and body, and keeps nothing of either.
    #[must_use]
    pub fn read(&self, observation: &Observation<'_>, wall: WallTime) -> Reading {
        self.read_at(observation, &|| wall)
    }

    /// [`Table::read`] that asks for the wall time only where an answer states a date: looking at a clock costs more than
    /// reading a header.
    #[must_use]
    pub fn read_at(&self, observation: &Observation<'_>, wall: &dyn Fn() -> WallTime) -> Reading {
        let http = match observation.status {
            Some(status) if observation.failure.is_none() && !observation.is_bare() => status,
            _ => return self.read_bare(observation).into(),
        };
        let may_fail = http >= 400 || (200..300).contains(&http);
        let has_text = may_fail && (observation.body.is_some() || observation.message.is_some());
        let mut seen = Seen::nothing();
        if let Some(map) = observation.headers {
            let asked = Asked { table: self.rules, user: self.user_rules, body: has_text };
            let is_asked = http >= 400 || has_text || may_fail && self.headers.tells_status;
            seen.read(self.headers, map, is_asked.then_some(asked));
        }
        let status = seen.status.filter(|_| http < 400).unwrap_or(http);
        let sent = Cell::new(None);
        let at_sending = |seen: &Seen<'_>| {
            let known = sent.get().unwrap_or_else(|| seen.date().unwrap_or_else(wall));
            sent.set(Some(known));
            known
        };
        let mut reading = Reading::from(Signal { status: Some(status), ..Signal::success() });
        seen.enter(self.headers, &|| at_sending(&seen), &mut reading.quotas);
        if status < 400 && !has_text {
            return reading;
        }

        let mut facts = Facts::default();
        (self.read_body)(self, observation, seen.stream, &mut facts);
        if status < 400 && !facts.is_error() && !observation.in_stream {
            reading.used = facts.used;
            return reading;
        }
        if observation.in_stream || status < 400 && (seen.stream || facts.in_stream) {
            // These headers were sent before the error and say nothing of it.
            seen = Seen::nothing();
            sent.set(None);
        }
        let judgement = judge(self, status, &seen, &facts);
        let stated = wait::stated(self, &seen, &facts, &judgement, &|| at_sending(&seen));
        let unreadable = self.drift(&judgement, stated, seen.refused_wait, facts.any);
        reading.signal = failed(status, &judgement, stated, unreadable);
        reading
    }

    /// What an observation means of which at most the status counts: no answer, or one without headers and body. Costs a
    /// tenth of reading nothing.
    #[inline]
    pub(crate) fn read_bare(&self, observation: &Observation<'_>) -> Signal {
        if let Some(failure) = observation.failure {
            return transport(failure);
        }
        match observation.status {
            Some(status @ 400..) => {
                let judgement = judge_status(self, status);
                failed(status, &judgement, None, self.drift(&judgement, None, false, false))
            }
            status => Signal { status, ..Signal::success() },
        }
    }

    /// The part of a throttle that should have stated delay or class and could not be read. `refused_wait`: a header held
    /// a wait that could not be read; `in_body`: there was a body to look at.
    #[inline]
    fn drift(
        &self,
        judged: &Judgement,
        stated: Option<StatedDelay>,
        refused_wait: bool,
        in_body: bool,
    ) -> Option<Part> {
        if judged.class == LimitClass::None {
            return None;
        }
        let quota = !matches!(judged.class, LimitClass::Overload | LimitClass::Spend | LimitClass::Concurrency);
        let class = self.states_class.filter(|part| judged.unresolved && (*part == Part::Header || in_body));
        let refused = (refused_wait && stated.is_none()).then_some(Part::Header);
        let delay = self.states_delay.filter(|_| stated.is_none() && quota && !judged.larger_than_limit);
        class.or(refused).or(delay)
    }
}

/// What an answer means that was judged a failure.
#[inline]
fn failed(status: u16, judged: &Judgement, stated: Option<StatedDelay>, unreadable: Option<Part>) -> Signal {
    Signal {
        failed: true,
        class: judged.class,
        token_kind: judged.token_kind,
        retryable: judged.retryable,
        ambiguous: judged.ambiguous,
        timed_out: false,
        larger_than_limit: judged.larger_than_limit,
        stated,
        scope: judged.scope,
        unreadable,
        status: Some(status),
    }
}

/// What an attempt without an answer means.
fn transport(failure: TransportFailure) -> Signal {
    let retryable = Signal::failure(true);
    match failure {
        TransportFailure::Connect => retryable,
        TransportFailure::Broken => Signal { ambiguous: true, ..retryable },
        TransportFailure::Timeout => Signal { ambiguous: true, timed_out: true, ..retryable },
    }
}
