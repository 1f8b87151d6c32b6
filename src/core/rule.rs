//! Provider tables: what a row is, and how a table is read.
//!
//! A table is data: the headers and body fields it reads, each with the function of its grammar, and rules that
//! run from the general to the specific, the user's last. Reading is one pass over the headers; only an error, or a body
//! that was handed over, is looked at further.

mod axis;
pub mod claim;
pub mod fact;
pub mod field;
pub mod header;
mod index;
mod judge;
pub(crate) mod keys;
mod seen;
pub mod tokens;
pub mod verdict;
mod wait;

use std::cell::Cell;
use std::fmt;
use std::time::Duration;

use crate::core::moment::WallTime;
use crate::core::observation::{Observation, TransportFailure};
use crate::core::rule::fact::{Asked, Facts};
use crate::core::rule::field::Fields;
use crate::core::rule::header::Headers;
use crate::core::rule::judge::{Judgement, judge, judge_status};
use crate::core::rule::seen::Seen;
use crate::core::rule::tokens::TokenFields;
use crate::core::rule::verdict::Rules;
use crate::core::signal::{LimitClass, Part, Reading, Scope, Signal, StatedDelay, TokenKind};

/// What the emulator answers for one class in a provider's dialect.
///
/// Headers and body may hold placeholders. Of the limit that was hit: `{wait.s}` (whole seconds, rounded up),
/// `{wait.ms}`, `{wait.f}` (decimal seconds), `{wait.go}` (`1m2.5s`), `{wait.proto}` (`62.500s`), `{wait.date}` (HTTP
/// date of its end), `{wait.rfc3339}`, `{wait.epoch_s}`, `{wait.epoch_ms}`, `{wait.rpc}` (a `google.rpc.Status` in base64
/// that holds it); `{limit}`. Of any axis `A` in `requests`,
/// `tokens`, `input_tokens`, `output_tokens`, `requests_day`, `tokens_day`: `{A.limit}`, `{A.remaining}`, and
/// `{A.reset.F}` with `F` a form of `wait`. Bodies of successes may hold `{usage.input}`, `{usage.output}` and
/// `{usage.total}`, the tokens of the request. What is not told, such as an axis that has no limit, is left out with the
/// header, the field of a JSON body or the sentence around it.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct Answer {
    /// The class it expresses; `None` is the answer to a success.
    pub class: LimitClass,
    /// The token side it expresses.
    pub token_kind: Option<TokenKind>,
    /// HTTP status.
    pub status: u16,
    /// Header lines.
    pub headers: &'static [(&'static str, &'static str)],
    /// The body.
    pub body: &'static str,
}

impl Answer {
    /// An answer that expresses `class` with this status and body.
    #[must_use]
    pub const fn new(class: LimitClass, status: u16, body: &'static str) -> Self {
        Self { class, token_kind: None, status, headers: &[], body }
    }

    /// The same, expressing this side of the tokens.
    #[must_use]
    pub const fn tokens(mut self, kind: TokenKind) -> Self {
        self.token_kind = Some(kind);
        self
    }

    /// The same with these header lines.
    #[must_use]
    pub const fn headers(mut self, headers: &'static [(&'static str, &'static str)]) -> Self {
        self.headers = headers;
        self
    }
}

/// Reads the body and the message of an observation into facts. The flag tells whether the headers announced a stream.
pub type ReadBody = fn(&Table, &Observation<'_>, bool, &mut Facts);

/// Everything the engine knows of one provider. Cheap to copy: it refers to constants.
#[derive(Clone, Copy)]
#[non_exhaustive]
pub struct Table {
    /// Our word for the provider, as in the `provider` label.
    pub id: &'static str,
    /// Its name in `gen_ai.provider.name`, as the OpenTelemetry conventions spell it where they know it.
    pub semconv: &'static str,
    /// The provider's public page on its limits.
    pub page: &'static str,
    /// When the table was last held against that page.
    pub verified_on: &'static str,
    /// The levels its limits belong to, widest first.
    pub scopes: &'static [Scope],
    /// The least time a throttle shuts a pool; zero where waits of milliseconds are meant.
    pub shut_floor: Duration,
    /// The headers it reads.
    pub headers: &'static Headers,
    /// The body fields it reads.
    pub fields: &'static Fields,
    /// Its rules, the general ones first.
    pub rules: &'static Rules,
    /// The application's own rules, run last.
    pub user_rules: &'static Rules,
    /// How a body is read.
    pub read_body: ReadBody,
    /// Where it normally states how long to wait, if it does. A throttle without it raises the drift alarm.
    pub states_delay: Option<Part>,
    /// Where it normally states which limit was hit, if it does. A throttle without it raises the drift alarm.
    pub states_class: Option<Part>,
    /// Where requests ask for tokens and answers state what was used.
    pub tokens: TokenFields,
    /// What the emulator sends, one per class the provider can express.
    pub answers: &'static [Answer],
}

impl fmt::Debug for Table {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Table").field("id", &self.id).finish_non_exhaustive()
    }
}

/// The default of [`Table::shut_floor`].
const SHUT_FLOOR: Duration = Duration::from_secs(1);

impl Table {
    /// A table that reads statuses alone; everything else is added by the functions below.
    #[must_use]
    pub const fn new(id: &'static str) -> Self {
        const NO_HEADERS: &Headers = &Headers::of(&[]);
        const NO_FIELDS: &Fields = &Fields::of(&[]);
        const NO_RULES: &Rules = &Rules::NONE;
        Self {
            id,
            semconv: id,
            page: "",
            verified_on: "",
            scopes: &[],
            shut_floor: SHUT_FLOOR,
            headers: NO_HEADERS,
            fields: NO_FIELDS,
            rules: NO_RULES,
            user_rules: NO_RULES,
            read_body: |_, _, _, _| {},
            states_delay: None,
            states_class: None,
            tokens: TokenFields::NONE,
            answers: &[],
        }
    }

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

/// Building a table: each function sets one part and gives the table back.
impl Table {
    /// Sets the public page on the limits and the day it was last read, as `2026-11-30`.
    ///
    /// The day is that of the last comparison, as `2026-11-30`: what an answer shows beats a page, and a page beats memory.
    #[must_use]
    pub const fn page(mut self, page: &'static str, verified_on: &'static str) -> Self {
        self.page = page;
        self.verified_on = verified_on;
        self
    }

    /// Sets the name in `gen_ai.provider.name`.
    #[must_use]
    pub const fn semconv(mut self, name: &'static str) -> Self {
        self.semconv = name;
        self
    }

    /// Sets the levels its limits belong to, widest first.
    ///
    /// A limit that names one of them shuts that level of a pool's path, and all pools below it.
    #[must_use]
    pub const fn scopes(mut self, scopes: &'static [Scope]) -> Self {
        self.scopes = scopes;
        self
    }

    /// Sets the least time a throttle shuts a pool.
    ///
    /// 1 s unless set. Where a bucket states the time until its next request, which is milliseconds at a large quota, reopening for
    /// everybody then would be a storm; zero is for capacity of one's own, where milliseconds are meant.
    #[must_use]
    pub const fn shut_floor(mut self, floor: Duration) -> Self {
        self.shut_floor = floor;
        self
    }

    /// Sets the headers it reads.
    #[must_use]
    pub const fn headers(mut self, headers: &'static Headers) -> Self {
        self.headers = headers;
        self
    }

    /// Sets the body fields it reads, and how a body is read.
    #[must_use]
    pub const fn fields(mut self, fields: &'static Fields, read_body: ReadBody) -> Self {
        self.fields = fields;
        self.read_body = read_body;
        self
    }

    /// Sets its rules.
    #[must_use]
    pub const fn rules(mut self, rules: &'static Rules) -> Self {
        self.rules = rules;
        self
    }

    /// Sets rules of the application's own, which run after all others.
    ///
    /// They run after the table's own and win; see [reading answers](crate::guide::reading_answers#a-word-of-your-own).
    #[must_use]
    pub const fn and_rules(mut self, rules: &'static Rules) -> Self {
        self.user_rules = rules;
        self
    }

    /// Sets where delay and class are normally stated.
    ///
    /// A throttle without what is normally stated is counted by `forbear_unreadable_signals_total`: the provider may have changed its
    /// spelling. `None` promises nothing, and raises nothing.
    #[must_use]
    pub const fn normally_states(mut self, delay: Option<Part>, class: Option<Part>) -> Self {
        self.states_delay = delay;
        self.states_class = class;
        self
    }

    /// Sets where requests ask for tokens and answers state what was used.
    #[must_use]
    pub const fn tokens(mut self, fields: TokenFields) -> Self {
        self.tokens = fields;
        self
    }

    /// Sets what the emulator sends.
    #[must_use]
    pub const fn answers(mut self, answers: &'static [Answer]) -> Self {
        self.answers = answers;
        self
    }
}
