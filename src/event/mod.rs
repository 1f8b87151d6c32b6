//! The schema: everything the engine tells the world, as one enum.
//!
//! Spans, metrics, the documentation's table and the dashboards are made from it and from [`catalogue`].
//!
//! | module | what it does with events |
//! |---|---|
//! | [`sink`] | takes them: the traits a sink of your own implements |
//! | [`catalogue`], [`metric`], [`series`] | makes series of them: one table, and one place where an event becomes numbers |
//! | `slots` | keeps something for each series of a pool |
//! | `sources`, `gauges` | asks the engines for what no event tells: their state, as samples of gauges |
//! | [`totals`] | adds them up in memory |
//! | [`recorder`], `display` | keeps them, for tests; writes each as a line |
//! | [`names`], [`words`](mod@words) | bounds the names an application makes up; spells the closed words |
//! | [`backfill`], `exposition` | writes what was added up as OpenMetrics with its times; how that is spelt |

pub mod backfill;
pub mod catalogue;
mod display;
mod exposition;
pub(crate) mod gauges;
pub mod metric;
pub mod names;
pub mod recorder;
pub mod series;
pub mod sink;
pub(crate) mod slots;
pub(crate) mod sources;
pub mod totals;
pub mod words;

use std::sync::Arc;
use std::time::Duration;

use crate::core::decide::{AttemptOutcome, CallOutcome, DelaySource};
use crate::core::estimate::Estimate;
use crate::core::gate::Look;
use crate::core::moment::Moment;
use crate::core::refusal::Refusal;
use crate::core::signal::{LimitClass, Part, QuotaReading, TokenKind, words};
use crate::event::words::{BoundedLabel, DegradedReason, OperatorAction, StoreOperation, StoreOutcome};

/// The two labels every series of a pool carries. Bounded and cleaned when the pool is built.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub struct PoolLabels {
    /// The provider table's id.
    pub provider: &'static str,
    /// The names of the pool's path, joined by `/`.
    pub pool: Arc<str>,
}

impl PoolLabels {
    /// Labels as given; cleaning and bounding them is the builder's work.
    #[must_use]
    pub fn new(provider: &'static str, pool: impl Into<Arc<str>>) -> Self {
        Self { provider, pool: pool.into() }
    }
}

words! {
    /// How a wait at the gate ended.
    GateResult {
        /// The call was let in.
        Admitted => "admitted",
        /// The gate said no: the pool is shut for too long, or the call's turn did not come in time.
        Refused => "refused",
        /// As many calls waited already as the pool's queue may hold.
        QueueFull => "queue_full",
        /// The engine is being drained.
        Draining => "draining",
        /// The caller went away.
        Cancelled => "cancelled",
    }
}

impl From<Refusal> for GateResult {
    fn from(refusal: Refusal) -> Self {
        match refusal {
            Refusal::Spent | Refusal::Deadline | Refusal::NoWait | Refusal::ByHand => Self::Refused,
            Refusal::QueueFull => Self::QueueFull,
            Refusal::Draining => Self::Draining,
        }
    }
}

words! {
    /// The states of a pool's gate.
    GateState {
        /// Calls pass without waiting.
        Flowing => "flowing",
        /// Calls pass one slot after another.
        Paced => "paced",
        /// Calls wait for the reopening.
        Shut => "shut",
    }
}

impl GateState {
    /// What a look at a gate shows.
    pub(crate) const fn of(look: &Look) -> Self {
        match look {
            Look::Flowing => Self::Flowing,
            Look::Paced(_) => Self::Paced,
            Look::Shut(_) => Self::Shut,
        }
    }
}

words! {
    /// How a second retry layer was noticed.
    StackedBy {
        /// A call inside an attempt on the same pool.
        Nested => "nested",
        /// More requests left than attempts were made.
        Wire => "wire",
        /// The request that came in says it is somebody's retry.
        IncomingHeader => "incoming_header",
    }
}

/// One thing that happened to a call or a pool. Built only when a sink is there; holds no text of request or answer.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub enum Event<'a> {
    /// A call arrived: demand is counted here, whatever becomes of the call.
    CallStarted {
        /// The policy's name.
        policy: &'a str,
        /// How long it may take.
        deadline: Duration,
        /// The tokens it is expected to use.
        estimate: Option<Estimate>,
    },
    /// A call's wait at the gate ended.
    GateWaited {
        /// How long it waited.
        waited: Duration,
        /// How the wait ended.
        result: GateResult,
        /// What the gate was shut or paced for.
        class: LimitClass,
    },
    /// An attempt ended.
    AttemptEnded {
        /// 1 for the first.
        number: u32,
        /// The source of the longest single wait before it.
        delay_source: DelaySource,
        /// How it ended.
        outcome: AttemptOutcome,
        /// The limit it hit.
        class: LimitClass,
        /// The token side of that limit.
        token_kind: Option<TokenKind>,
        /// The HTTP status, if there was one.
        status: Option<u16>,
        /// How long it took.
        duration: Duration,
    },
    /// A wait before the next attempt begins.
    DelayScheduled {
        /// Where it came from.
        source: DelaySource,
        /// How long it is.
        delay: Duration,
        /// What the provider stated.
        stated: Option<Duration>,
        /// Whether the stated delay was cut to its cap.
        clamped: bool,
    },
    /// A call ended.
    CallEnded {
        /// The policy's name.
        policy: &'a str,
        /// How it ended.
        outcome: CallOutcome,
        /// What stood in the way last; for refusals the cause of the shut.
        class: LimitClass,
        /// The source of the wait that did not fit, if that ended it.
        delay_source: DelaySource,
        /// A deadline give-up with a quarter or more of the deadline unused.
        early: bool,
        /// Attempts made.
        attempts: u32,
        /// How long it took.
        duration: Duration,
    },
    /// An answer said something of a quota.
    QuotaRead {
        /// What it said.
        reading: QuotaReading,
    },
    /// Tokens were really used.
    TokensUsed {
        /// Which side.
        kind: TokenKind,
        /// How many.
        tokens: u64,
    },
    /// The pool shut, or its end moved.
    GateShut {
        /// Why.
        class: LimitClass,
        /// Whether the provider said how long.
        told: bool,
        /// How long from now.
        shut_for: Duration,
    },
    /// The pool changed to a state that lets calls in.
    GateReopened {
        /// The state: paced or flowing.
        state: GateState,
    },
    /// An operator's hand was on a pool's gate, or, told to the [process](sink::Sink::listen_to_process), on all of them.
    GateOperated {
        /// What was done.
        action: OperatorAction,
        /// Why, in the operator's words.
        reason: &'a str,
    },
    /// A throttle whose delay or class could not be read although this provider normally states it.
    SignalUnreadable {
        /// The part that could not be read.
        part: Part,
    },
    /// A throttle was shown without the answer's headers, and states no wait anywhere else: what the provider said of it was
    /// lost on the way here.
    HeadersHidden,
    /// A second retry layer was noticed: once for a call, however often in it. What each detector sees is told in
    /// [`guide::stacked_retries`](crate::guide::stacked_retries).
    RetriesStacked {
        /// How.
        detector: StackedBy,
    },
    /// A request left inside an attempt, seen by a tap below the attempt.
    RequestSent,
    /// No pacing could have served this call within its deadline at the known limits. Told right after the call's start,
    /// where [`shadow_pacer`](crate::ForbearBuilder::shadow_pacer) is on.
    CallInfeasible,
    /// A pool was made after the places for names were taken and is reported as `_OTHER`. Policies are kept apart by each
    /// sink for itself, which counts those that do not fit with the calls that name them.
    LabelOverflowed {
        /// Which label.
        label: BoundedLabel,
    },
    /// The shared store answered a question, or did not. Told to the [process](sink::Sink::listen_to_process), as all
    /// that is about the store.
    StoreAsked {
        /// What was asked.
        operation: StoreOperation,
        /// How it ended.
        outcome: StoreOutcome,
        /// How long it took.
        took: Duration,
    },
    /// The shared store stopped being relied on.
    StoreDegraded {
        /// Why.
        reason: DegradedReason,
    },
    /// The shared store is relied on again.
    StoreRecovered,
    /// Another replica's news came.
    NewsCame {
        /// How old it was.
        age: Duration,
        /// Whether its end was too far away to be believed and was cut.
        clamped: bool,
    },
    /// The store had lost an own shut and was told again.
    ShutReasserted,
}

/// An event with its time and its pool, as a sink is handed it.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct Stamped<'a> {
    /// When, on the engine's clock.
    pub at: Moment,
    /// The pool.
    pub pool: &'a PoolLabels,
    /// What.
    pub event: Event<'a>,
}

/// The version of names and label sets; it rises when one changes.
pub const SCHEMA: &str = "1";
