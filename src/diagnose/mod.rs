//! From a pool's numbers to the cause, and to the number to change.

mod amounts;
mod cause;
mod certainty;
mod counts;
mod demand;
mod evidence;
mod explain;
mod history;
mod look;
mod number;
mod objective;
mod recommend;
mod rules;
mod settings;
mod supply;
mod tally;
mod verdict;
mod window;

pub use cause::{Cause, Certainty};
pub use evidence::{Blame, Evidence, Load};
pub(crate) use history::{History, Keeping};
pub use objective::Objective;
pub use recommend::{Recommendation, Retries, Rung};
pub use settings::{KnownLimit, KnownPolicy, Settings};
pub(crate) use tally::Tally;
pub use verdict::{Verdict, WhyNot};
