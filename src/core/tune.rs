//! Numbers that fit: a policy from a window and a deadline, and a check of any retry layer against them.
//!
//! Numbers that were right for one provider are carried to the next, where the limit counts in another window; nobody
//! notices until the incident. [`Policy::for_window`] suggests numbers, [`Policy::check`] says what numbers do that are
//! there: how many requests of a throttled call are wasted, how many calls give up before the window resets, how long a
//! call can take. Both are pure and need neither network nor dice; [`Reach`] says what is computed and from what model.
//!
//! ```
//! use std::time::Duration;
//! use forbear::Policy;
//!
//! let (minute, deadline) = (Duration::from_secs(60), Duration::from_secs(120));
//! let copied = Policy::background(deadline).base(Duration::from_secs(1)).cap(Duration::from_secs(30)).attempts(6).build()?;
//! let check = copied.check(minute, deadline)?;
//! assert!(check.gives_up() > 0.7);
//!
//! let fitting = Policy::for_window(minute).deadline(deadline).build()?;
//! assert!(fitting.check(minute, deadline)?.findings.is_empty());
//! # Ok::<(), forbear::InvalidSetting>(())
//! ```
//!
//! | file | job |
//! |---|---|
//! | `suggest`, `reasons` | numbers that fit, and why they are what they are |
//! | `layer` | a retry layer as its numbers describe it |
//! | `reach` | when its requests begin, and which come after the window's reset |
//! | `check`, `finding` | what its numbers do in a window, and what to do about it |
//! | `human` | durations and shares as people write them |

mod check;
mod finding;
mod human;
mod layer;
mod reach;
mod reasons;
mod suggest;

use std::time::Duration;

use crate::core::policy::Policy;
use crate::core::setting::InvalidSetting;

pub use check::Check;
pub use finding::{Finding, FindingKind, Severity};
pub use human::{HumanDuration, HumanPercent};
pub use layer::{Jitter, RetryLayer, StatedWaits};
pub use reach::Reach;
pub use reasons::Reason;
pub use suggest::{ForWindow, Suggestion};

impl Policy {
    /// A policy that fits a limit which counts in windows of `window` (10 ms to 24 h): its numbers follow from the deadline
    /// that is given next. See [`Suggestion`] for how.
    ///
    /// ```
    /// use std::time::Duration;
    /// use forbear::Policy;
    /// let policy = Policy::for_window(Duration::from_secs(60)).deadline(Duration::from_secs(120)).build()?;
    /// assert_eq!(policy.base(), Duration::from_secs(6));
    /// # Ok::<(), forbear::InvalidSetting>(())
    /// ```
    pub const fn for_window(window: Duration) -> ForWindow {
        ForWindow::of(window)
    }

    /// What this policy does in a window of `window` for callers who wait `deadline`, when no wait is stated and no gate
    /// holds calls back: see [`RetryLayer::check`], which takes anybody's numbers.
    ///
    /// # Errors
    /// The window is not from 10 ms to 24 h, or the deadline not from 1 ms to 7 days.
    pub fn check(&self, window: Duration, deadline: Duration) -> Result<Check, InvalidSetting> {
        RetryLayer::from(self).check(window, deadline)
    }
}
