//! How beginning and end may fail.

use std::error::Error;
use std::fmt;
use std::io;

use crate::core::setting::InvalidSetting;
use crate::telemetry::otlp::LostTelemetry;

/// Why [`install`](super::install) did nothing.
#[derive(Debug)]
#[non_exhaustive]
pub enum InstallError {
    /// A setting outside its range.
    Setting(InvalidSetting),
    /// A variable of the environment cannot be used.
    Environment {
        /// The variable.
        variable: String,
        /// Its value.
        value: String,
        /// What is allowed, in words.
        allowed: &'static str,
    },
    /// An exporter could not be made: mostly an endpoint that is no URL.
    Exporter(Box<dyn Error + Send + Sync>),
    /// The process has a `tracing` subscriber already.
    SubscriberTaken,
    /// The system gave no thread.
    Start(io::Error),
}

impl fmt::Display for InstallError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Setting(setting) => write!(f, "{setting}; nothing was installed"),
            Self::Environment { variable, value, allowed } => {
                write!(f, "{variable} is {value:?}; allowed: {allowed}; nothing was installed")
            }
            Self::Exporter(_) => {
                f.write_str("an OTLP exporter could not be made; nothing was installed; check the endpoint")
            }
            Self::SubscriberTaken => f.write_str(
                "a tracing subscriber is installed already; nothing was installed; keep yours, use \
                 Config::own_subscriber and add Otlp::layer to it",
            ),
            Self::Start(_) => {
                f.write_str("no thread for OTLP could be started; nothing was installed; look at the limits on threads")
            }
        }
    }
}

impl Error for InstallError {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        match self {
            Self::Exporter(source) => Some(&**source),
            Self::Start(source) => Some(source),
            Self::Setting(_) | Self::Environment { .. } | Self::SubscriberTaken => None,
        }
    }
}

/// Something could not be delivered before the end.
#[derive(Debug)]
pub struct ShutdownError {
    pub(super) lost: LostTelemetry,
    pub(super) source: Box<dyn Error + Send + Sync>,
}

impl ShutdownError {
    /// What was lost from the start to the end: every span that did not reach the collector.
    #[must_use]
    pub const fn lost(&self) -> LostTelemetry {
        self.lost
    }
}

impl fmt::Display for ShutdownError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let LostTelemetry { spans, .. } = self.lost;
        write!(f, "the last telemetry could not be delivered in time; {spans} spans are lost; check the collector")
    }
}

impl Error for ShutdownError {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        Some(&*self.source)
    }
}
