//! The async shell of the gate: pools as a tree, waiters in their order, permits.
//!
//! There is no spawned task: waiters share a timer that wakes the queue itself, and whoever leaves sets it for the next.
//!
//! | file | job |
//! |---|---|
//! | `trunk`, `node`, `level`, `lazy` | the tree of pools: what all share, one level, what falls from it on those below, and its state once it has one |
//! | `flow`, `sync` | the way of a call that need not wait, without a lock |
//! | `ask`, `goes` | asking all levels of a path, and by whose slots a call goes |
//! | `turn`, `queue`, `line`, `timer` | waiting: one call's turn, who waits, in which order, and what wakes them |
//! | `permit`, `handed` | leave to have a request under way, and who gives it back |
//! | `nap` | the sleep between two attempts |
//! | `by_hand`, `drain` | an operator's hand; the end of a process |
//! | `fleet`, `slots` | the other replicas, and the slots they share (feature `redis`) |

mod ask;
mod by_hand;
pub(crate) mod drain;
#[cfg(feature = "redis")]
mod fleet;
mod flow;
mod goes;
mod handed;
mod lazy;
mod level;
mod line;
mod nap;
mod node;
mod permit;
mod queue;
#[cfg(feature = "redis")]
mod slots;
mod sync;
mod timer;
mod trunk;
mod turn;

pub use drain::StillInFlight;
pub(crate) use lazy::LazyCore;
pub(crate) use level::DEEPEST;
pub(crate) use nap::Nap;
pub(crate) use node::Node;
pub(crate) use permit::{OwnedPermit, Permit};
pub(crate) use trunk::Trunk;
pub(crate) use turn::{Refused, Turn};

#[cfg(feature = "redis")]
use crate::store::redis::RedisOptions;

/// How calls of one process hold each other back.
///
/// ```
/// use forbear::{Forbear, Gate};
/// let forbear = Forbear::builder().gate(Gate::local()).build()?;
/// # Ok::<(), forbear::InvalidSetting>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Gate {
    mode: Mode,
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
enum Mode {
    Off,
    #[default]
    Local,
    #[cfg(feature = "redis")]
    Redis(Box<RedisOptions>),
}

impl Gate {
    /// No gate: every call is on its own.
    #[must_use]
    pub const fn off() -> Self {
        Self { mode: Mode::Off }
    }

    /// One gate per pool in this process: one caller's throttle holds back all callers of the pool. The default.
    #[must_use]
    pub const fn local() -> Self {
        Self { mode: Mode::Local }
    }

    /// One gate per pool in this process, and news of every throttle from and to the other replicas over Redis or Valkey.
    ///
    /// With [`RedisOptions::paced`] they share one probe and one pace too: calls come back to a pool one after another in the
    /// whole fleet.
    ///
    /// No call ever waits for Redis, and none is made on the way of a call that passes: without it each process is as safe
    /// as with [`Gate::local`]. The engine has to be built inside a tokio runtime, which carries the news.
    #[cfg(feature = "redis")]
    #[must_use]
    pub fn redis(options: RedisOptions) -> Self {
        Self { mode: Mode::Redis(Box::new(options)) }
    }

    /// What connects it with other replicas.
    #[cfg(feature = "redis")]
    pub(crate) fn redis_options(&self) -> Option<&RedisOptions> {
        match &self.mode {
            Mode::Redis(options) => Some(options),
            Mode::Off | Mode::Local => None,
        }
    }

    /// Whether calls are held at all.
    #[must_use]
    pub const fn is_on(&self) -> bool {
        !matches!(self.mode, Mode::Off)
    }

    /// The mode as it stands in labels.
    #[must_use]
    pub fn as_str(&self) -> &'static str {
        match &self.mode {
            Mode::Off => "off",
            Mode::Local => "local",
            #[cfg(feature = "redis")]
            Mode::Redis(options) => {
                if options.is_paced() {
                    "paced"
                } else {
                    "news"
                }
            }
        }
    }
}
