//! What a provider allows, as a pure value.
//!
//! [`Limits`] are the settings, a [`Meter`] is their state. Time and chance are arguments and nothing is awaited: the
//! HTTP server beside it, the simulator and the tests drive the same model. Every quantity is an integer, so a wait is
//! exact to the nanosecond: a request that comes alone at the end of its wait is admitted, and one that comes earlier is
//! not.
//!
//! ```
//! use std::time::Duration;
//! use forbear::core::{dice::SeededDice, moment::Moment};
//! use forbear::emulator::limits::{Cost, Limits, Meter, Verdict};
//!
//! let mut meter = Meter::new(Limits::new().requests_per_minute(1))?;
//! let mut dice = SeededDice::new(1);
//! assert_eq!(meter.admit(Moment::START, Cost::request(), &mut dice), Verdict::Admitted);
//! let Verdict::Throttled(throttle) = meter.admit(Moment::START, Cost::request(), &mut dice) else { panic!() };
//! assert_eq!(throttle.wait, Some(Duration::from_secs(60)));
//! # Ok::<(), forbear::InvalidSetting>(())
//! ```
//!
//! | file | job |
//! |---|---|
//! | `settings`, `episode`, `spread` | what a provider allows, what goes wrong beside it, and times that are drawn |
//! | `meter` | the state: what was taken, and the judgement of a request |
//! | `quota`, `bucket`, `fixed`, `sliding` | one quota, by the three ways of counting |
//! | `verdict`, `told` | what becomes of a request, and what a refused one is told |

mod bucket;
mod episode;
mod fixed;
mod meter;
mod quota;
mod settings;
mod sliding;
mod spread;
mod told;
mod verdict;

pub use episode::{Failure, FailureKind, Overload, Period};
pub use meter::Meter;
pub use settings::{Algorithm, Limits};
pub use spread::Spread;
pub(crate) use told::whole_seconds;
pub use told::{RetryAfter, Told};
pub use verdict::{Axis, Cost, Throttle, Verdict};
