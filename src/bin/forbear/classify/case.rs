//! One answer, whatever it was written down as.

use std::time::Duration;

use forbear::core::moment::WallTime;
use forbear::core::observation::Observation;
use forbear::core::rule::Table;
use forbear::core::signal::Reading;
use forbear::provider::headers::instant::rfc3339;
use http::{HeaderMap, HeaderName, HeaderValue};

/// An answer.
pub(super) struct Case {
    pub(super) status: u16,
    pub(super) headers: HeaderMap,
    pub(super) body: Option<Vec<u8>>,
}

impl Case {
    /// What the answer means to this provider, at its time.
    pub(super) fn read(&self, table: &Table, now: WallTime) -> Reading {
        let observation = Observation::status(self.status).headers(&self.headers);
        match &self.body {
            Some(body) => table.read(&observation.body(body), now),
            None => table.read(&observation, now),
        }
    }

    /// Adds a header line. A name that no message can carry names no field; in a value such bytes stand for themselves, as
    /// bytes no grammar reads.
    pub(super) fn header(&mut self, name: &str, value: &[u8]) -> Result<(), String> {
        let carried: Vec<u8> =
            value.iter().map(|&byte| if byte < b' ' && byte != b'\t' || byte == 0x7f { 0xff } else { byte }).collect();
        if let (Ok(name), Ok(value)) = (HeaderName::from_bytes(name.as_bytes()), HeaderValue::from_bytes(&carried)) {
            self.headers.try_append(name, value).map_err(|_| "more headers than an answer can hold".to_owned())?;
        }
        Ok(())
    }
}

/// An instant given by the user.
pub(super) fn instant(text: &str) -> Result<WallTime, String> {
    rfc3339(text.as_bytes()).ok_or_else(|| "an instant is written as 2026-11-30T12:00:00Z".to_owned())
}

/// A duration in seconds, as JSON numbers are written.
pub(super) fn seconds(duration: Duration) -> f64 {
    duration.as_secs_f64()
}
