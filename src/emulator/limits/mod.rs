//! What a provider allows, as a pure value.
//!
//! [`Limits`] are the settings, a [`Meter`] is their state. Time and chance are arguments and nothing is awaited: the
//! HTTP server beside it, the simulator and the tests drive the same model. Every quantity is an integer, so a wait is
//! exact to the nanosecond: a request that comes alone at the end of its wait is admitted, and one that comes earlier is
//! not.
//!
//! # How a quota of `Q` per window `W` is counted
//!
//! | algorithm | promise | wait until it fits | time until whole |
//! |---|---|---|---|
//! | token bucket with burst `b` | in any span `t` at most `Q·(b+t)/W` | until the missing part is refilled | until full |
//! | fixed window | at most `Q` between two boundaries | until the boundary | the same |
//! | sliding window | at most `Q` in any span of `W` | until enough has left the window | until all has left |
//!
//! A bucket holds at least one request. More tokens than it ever holds pass when it is full and leave a debt, so that the
//! rate is kept; more than `Q` never pass, in any algorithm. Days are fixed windows. All tokens of a request are charged
//! when it is admitted, and nothing is given back.
//!
//! Where refused requests count, each takes one from the window's request quota: a bucket is emptied but not driven into
//! debt, a window counts it like a served one. A caller who hammers is then locked out of all but fixed windows.
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
