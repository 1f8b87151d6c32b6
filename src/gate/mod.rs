//! The async shell of the gate: pools as a tree, waiters in their order, permits.
//!
//! There is no spawned task: waiters share a timer that wakes the queue itself, and whoever leaves sets it for the next.

pub(crate) mod drain;
mod flow;
mod handed;
mod level;
mod line;
mod nap;
mod node;
mod permit;
mod queue;
mod sync;
mod timer;
mod turn;

pub use drain::StillInFlight;
pub(crate) use level::DEEPEST;
pub(crate) use nap::Nap;
pub(crate) use node::{Node, Trunk};
pub(crate) use permit::{OwnedPermit, Permit};
pub(crate) use turn::{Refused, Turn};

/// How calls of one process hold each other back.
///
/// ```
/// use forbear::{Forbear, Gate};
/// let forbear = Forbear::builder().gate(Gate::local()).build()?;
/// # Ok::<(), forbear::InvalidSetting>(())
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Gate {
    mode: Mode,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Mode {
    Off,
    #[default]
    Local,
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

    /// Whether calls are held at all.
    #[must_use]
    pub const fn is_on(self) -> bool {
        matches!(self.mode, Mode::Local)
    }

    /// The mode as it stands in labels.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self.mode {
            Mode::Off => "off",
            Mode::Local => "local",
        }
    }
}
