//! From a pool's numbers to the cause, and to the number to change.

mod amounts;
mod answer;
mod cause;
mod certainty;
mod chronicle;
mod counts;
mod demand;
mod evidence;
mod explain;
mod history;
mod look;
mod number;
mod objective;
#[cfg(test)]
mod play;
mod prometheus;
mod recommend;
mod rules;
mod settings;
mod supply;
mod tally;
mod text;
mod verdict;
mod window;

pub use answer::UnreadableAnswer;
pub use cause::{Cause, Certainty};
pub(crate) use chronicle::Chronicle;
pub use evidence::{Blame, Evidence, Load};
pub(crate) use history::{History, Keeping};
pub use objective::Objective;
pub use prometheus::{Enquiry, Question};
pub use recommend::{Recommendation, Retries, Rung};
pub use settings::{KnownLimit, KnownPolicy, Settings};
pub(crate) use tally::Tally;
pub use text::Scrapes;
pub use verdict::{Diagnosis, Verdict, WhyNot};
