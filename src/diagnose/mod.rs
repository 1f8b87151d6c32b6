//! From a pool's numbers to the cause, and to the number to change.
//!
//! A pool that fails looks much the same whatever is wrong with it: throttles, retries, calls given up. The changes that
//! would mend it are opposites. More quota is no help to callers who retry badly, and no curve helps where more is asked
//! for than the quota can serve. This room tells them apart, and says which number to change.
//!
//! | cause | what shows it | the change |
//! |---|---|---|
//! | `quota_too_small` | more is asked for than the limit serves within the callers' patience | requests, tokens a minute |
//! | `unpaced` | less is, and many first attempts are throttled, or a gate does not suffice | the next rung of pacing |
//! | `backoff_too_fast` | less is, and retries meet the limit again, or run out of attempts | base, cap, attempts |
//! | `backoff_too_slow` | less is, retries meet no limit, and calls run out of time | base, cap, attempts |
//! | `daily_spent`, `spend_limit` | answers name it, or refusals of a pool shut for it; or nothing gets through for ten minutes, or five of a limit hardly used | stop sending; pay |
//! | `overloaded` | answers name it, or limits refuse that are hardly in use | wait, go elsewhere |
//! | `concurrency`, `provider_errors`, `caller_errors` | answers name it | run fewer; wait; repair |
//! | `unclear` | calls fail, and nothing above is shown | look at the failures |
//!
//! # What tells quota from curve
//!
//! Neither the share of throttled retries, nor attempts a call, nor how much of the quota lies idle: with a short quota and
//! with a bad curve all of them are alike. What differs is the *horizon load*: what is asked for within a stretch of time,
//! over what the limit can serve in that stretch and the callers' patience after it; the worst of stretches from half a
//! minute to a quarter of an hour, as the worst-off twentieth of the calls met it. Patience is the shortest deadline of the
//! policies in use, as first come is first served, less the time an attempt takes. Tokens are counted as they were really
//! used, so that estimates may be wrong or missing. `cargo run --release -p forbear-bench --bin confusion` holds all of it
//! against some thousand pools of which is known what mends them.
//!
//! # Where the numbers come from
//!
//! | whose | how |
//! |---|---|
//! | this process's | [`ForbearBuilder::diagnosable`](crate::ForbearBuilder::diagnosable), then [`Forbear::diagnose`](crate::Forbear::diagnose) |
//! | a fleet's, from its Prometheus | [`Enquiry`], or `forbear diagnose --prometheus URL` |
//! | a text of metrics | [`Scrapes`] |
//! | a simulated fleet's | the verdict in its [outcome](crate::simulate) |
//!
//! All of them are read by one table of numbers, each a sum of series of the [catalogue](crate::event::catalogue), and all
//! of them can be asked in PromQL: no stretch is shorter than four looks, or scrapes.
//!
//! # How sure
//!
//! [`Certainty::Firm`] has everything it rests on. [`Certainty::Likely`] lacks something: no limit is known, the load lies so
//! near the line that either may be right, the size of the fleet is unknown. [`Certainty::Provisional`] is young: a shortage
//! shows only when the stretches have filled, so nobody who retries is blamed for good within the first quarter of an hour.

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
mod promql;
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
#[cfg(feature = "simulate")]
pub(crate) use counts::Counts;
pub use evidence::{Blame, Evidence, Load};
#[cfg(feature = "simulate")]
pub(crate) use history::{History, Keeping};
pub use objective::Objective;
pub use prometheus::{Enquiry, Question};
pub use promql::RuleBook;
pub use recommend::{Recommendation, Retries, Rung};
pub use settings::{KnownLimit, KnownPolicy, Settings};
#[cfg(feature = "simulate")]
pub(crate) use tally::Tally;
pub use text::Scrapes;
pub use verdict::{Diagnosis, Verdict, WhyNot};
