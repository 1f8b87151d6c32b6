//! The emulator's settings.

use std::borrow::Borrow;
use std::fmt;
use std::io;
use std::time::Duration;

use super::Emulator;
use super::dialect::Dialect;
use super::limits::{Algorithm, Failure, FailureKind, Limits, Period, RetryAfter, Spread};
use crate::core::rule::Table;
use crate::core::setting::InvalidSetting;
use crate::provider;

/// What an [`Emulator`] is to be. Without a setting it answers everything at once, with no limit, as no provider in
/// particular.
///
/// ```
/// use std::time::Duration;
/// use forbear::emulator::Emulator;
/// use forbear::emulator::limits::{Algorithm, RetryAfter};
/// use forbear::provider;
///
/// # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let emulator = Emulator::builder()
///     .speaks(provider::anthropic())
///     .requests_per_minute(60)
///     .input_tokens_per_minute(40_000)
///     .algorithm(Algorithm::FixedWindow)
///     .window(Duration::from_secs(2))
///     .retry_after(RetryAfter::Exact)
///     .seed(7)
///     .start()
///     .await?;
/// assert!(emulator.url().starts_with("http://127.0.0.1:"));
/// # Ok(()) }
/// ```
#[derive(Clone, Debug)]
#[must_use = "an emulator is started with `start`"]
pub struct EmulatorBuilder {
    pub(super) limits: Limits,
    pub(super) dialect: Dialect,
    pub(super) service_time: Spread,
    pub(super) throttle_time: Spread,
    pub(super) seed: Option<u64>,
    pub(super) port: u16,
}

impl Default for EmulatorBuilder {
    fn default() -> Self {
        Self {
            limits: Limits::new(),
            dialect: Dialect::of(provider::generic()),
            service_time: Spread::default(),
            throttle_time: Spread::default(),
            seed: None,
            port: 0,
        }
    }
}

/// Setters that go on to the limits: the documentation, the name, the type of what is set.
macro_rules! limits {
    ($($(#[$doc:meta])* $name:ident: $type:ty;)*) => {
        $($(#[$doc])* pub fn $name(mut self, $name: impl Into<$type>) -> Self {
            self.limits = self.limits.$name($name);
            self
        })*
    };
}

impl EmulatorBuilder {
    limits! {
        /// Requests per minute, or per [`EmulatorBuilder::window`] when that is not a minute.
        requests_per_minute: Option<u64>;
        /// Tokens of both sides per minute.
        tokens_per_minute: Option<u64>;
        /// Tokens sent per minute.
        input_tokens_per_minute: Option<u64>;
        /// Tokens received per minute.
        output_tokens_per_minute: Option<u64>;
        /// Requests per day.
        requests_per_day: Option<u64>;
        /// Tokens of both sides per day.
        tokens_per_day: Option<u64>;
        /// When the first day ends, from the start: 24 h.
        day_ends_at: Option<Duration>;
        /// Requests in flight at the same time.
        concurrency: Option<u32>;
        /// How long a "minute" is: 60 s. Two seconds make a demonstration quick.
        window: Duration;
        /// How the window is counted: as a token bucket.
        algorithm: Algorithm;
        /// How much of a window's quota a token bucket holds: all of it.
        burst: Option<Duration>;
        /// Whether refused requests count against the request quota: they do not.
        throttled_attempts_count: bool;
    }

    /// All limits at once, in place of those set before.
    pub fn limits(mut self, limits: Limits) -> Self {
        self.limits = limits;
        self
    }

    /// Answers as this provider does.
    ///
    /// Status, headers and bodies are then those of the table's [`answers`](crate::core::rule::Table::answers). A class the provider
    /// has no words for is answered as its nearest.
    pub fn speaks(mut self, table: impl Borrow<Table>) -> Self {
        self.dialect.table = *table.borrow();
        self
    }

    /// Which wait a refused request is told: the true one, in whole seconds.
    pub fn retry_after(mut self, retry_after: RetryAfter) -> Self {
        self.dialect.retry_after = retry_after;
        self
    }

    /// Whether answers carry the provider's quota headers: they do.
    pub fn quota_headers(mut self, quota_headers: bool) -> Self {
        self.dialect.quota_headers = quota_headers;
        self
    }

    /// Whether a refused request is told which limit refused it: it is.
    pub fn class_readable(mut self, class_readable: bool) -> Self {
        self.dialect.class_readable = class_readable;
        self
    }

    /// How long a served request takes: no time. 0 to 1 day.
    pub fn service_time(mut self, time: impl Into<Spread>) -> Self {
        self.service_time = time.into();
        self
    }

    /// How long a refusal takes: no time. 0 to 1 day.
    pub fn throttle_time(mut self, time: impl Into<Spread>) -> Self {
        self.throttle_time = time.into();
        self
    }

    /// Adds a time in which a share (0 to 1) of all requests is turned away for want of capacity.
    ///
    /// It is drawn for each request, from the [`seed`](EmulatorBuilder::seed) if one is set; the running emulator has a switch of
    /// the same name.
    pub fn overload(mut self, period: Period, share: f64) -> Self {
        self.limits = self.limits.overload(period, share);
        self
    }

    /// Adds a time in which the account may spend no more.
    pub fn spend(mut self, period: Period) -> Self {
        self.limits = self.limits.spend(period);
        self
    }

    /// Adds a time in which a share (0 to 1) of all requests fails in this way.
    pub fn failure(mut self, kind: FailureKind, period: Period, share: f64) -> Self {
        self.limits = self.limits.failure(Failure { kind, period, share });
        self
    }

    /// Makes chance repeat: shares and drawn times are the same in every run that asks in the same order.
    pub fn seed(mut self, seed: u64) -> Self {
        self.seed = Some(seed);
        self
    }

    /// The port to listen on: any that is free.
    ///
    /// A fixed one is for people who want to look with a browser or `curl`; tests take any, and run beside each other.
    pub fn port(mut self, port: u16) -> Self {
        self.port = port;
        self
    }

    /// Starts it on 127.0.0.1, on the runtime this is called on.
    ///
    /// # Errors
    /// A setting is outside its range, or the port is taken.
    ///
    /// # Cancel safety
    /// Dropped before it ends, nothing listens.
    ///
    /// # Panics
    /// Outside a tokio runtime with I/O enabled.
    pub async fn start(self) -> Result<Emulator, StartError> {
        Emulator::start(self).await
    }
}

/// Why an emulator did not start.
#[derive(Debug)]
#[non_exhaustive]
pub enum StartError {
    /// A setting is outside its range.
    Setting(InvalidSetting),
    /// The port cannot be listened on.
    Listen {
        /// The port asked for; 0 is any.
        port: u16,
        /// What the system said.
        cause: io::Error,
    },
}

impl From<InvalidSetting> for StartError {
    fn from(invalid: InvalidSetting) -> Self {
        Self::Setting(invalid)
    }
}

impl fmt::Display for StartError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Setting(invalid) => write!(f, "the emulator did not start: {invalid}"),
            Self::Listen { port, cause } => {
                write!(
                    f,
                    "the emulator did not start: 127.0.0.1:{port} cannot be listened on ({cause}); choose another port, or 0 for any"
                )
            }
        }
    }
}

impl std::error::Error for StartError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Self::Setting(invalid) => Some(invalid),
            Self::Listen { cause, .. } => Some(cause),
        }
    }
}
